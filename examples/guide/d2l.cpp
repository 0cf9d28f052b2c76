#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

int main() {
  Random random(1);
  Tape tape = Tape<>::inference();
  const auto normal = [&](Shape shape) {
    return tape.constant(random.normal_tensor<float>(shape));
  };
  const auto show = [](const char* section, const Var<float>& y) {
    std::cout << section << "  " << y.shape() << '\n';
  };

  const KernelRegression regression({.kernel = Kernel::gaussian});
  show("11.2 attention pooling     ", regression(normal({50}), normal({40}), normal({40})));

  const Var queries = normal({2, 1, 20}), keys = normal({2, 10, 2}), values = normal({2, 10, 4});
  const AttentionPooling additive({.scoring = Scoring::additive,
                                   .additive = {.query_size = 20, .key_size = 2, .num_hiddens = 8}},
                                  random);
  show("11.3 additive attention    ", additive(queries, keys, values, ValidLens{2, 6}));
  const AttentionPooling<float> dot_product({.dropout = 0.5}, random);
  show("11.3 scaled dot product    ",
       dot_product(normal({2, 1, 2}), keys, values, ValidLens{2, 6}));

  const MultiHeadAttention attention({.query_size = 100,
                                      .key_size = 100,
                                      .value_size = 100,
                                      .num_hiddens = 100,
                                      .num_heads = 5,
                                      .dropout = 0.5},
                                     random);
  const Var x = normal({2, 4, 100}), y = normal({2, 6, 100});
  show("11.5 multi-head attention  ", attention(x, y, y, ValidLens{3, 2}));

  const PositionalEncoding encoding({.num_hiddens = 32});
  show("11.6 positional encoding   ", encoding(tape.constant(Tensor<float>({1, 60, 32}))));

  const TransformerEncoder encoder(
      {.num_blocks = 2, .num_hiddens = 24, .ffn_num_hiddens = 48, .num_heads = 8, .dropout = 0.5},
      random);
  show("11.7 transformer encoder   ", encoder(normal({2, 100, 24}), ValidLens{3, 2}));
}
