#include <iomanip>
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

// Prints the attention weights of `x` with a mask: a row per query, a column per key.
void show(const char* title, const SelfAttention<float>& attention, const Tensor<float>& x,
          const Mask& mask) {
  Tape tape({.recording = false, .keep_attention_weights = true});
  attention(tape.constant(x), mask);
  const Tensor<float> weights = tape.take_attention_weights()[0];  // [batch, heads, queries, keys]
  std::cout << title << "  " << weights.shape() << '\n' << std::fixed << std::setprecision(2);
  for (Index query = 0; query < weights.shape()[2]; ++query) {
    for (Index key = 0; key < weights.shape()[3]; ++key)
      std::cout << "  " << weights(0, 0, query, key);
    std::cout << '\n';
  }
}

int main() {
  Random random(1);
  const SelfAttention attention({.num_hiddens = 8, .num_heads = 2}, random);
  const Tensor<float> x = random.normal_tensor<float>({1, 4, 8});  // [batch, time, channels]

  show("no mask", attention, x, {});
  show("length 3", attention, x, ValidLens{3});
  show("causal", attention, x, {.causal = true});
  show("a length for each query", attention, x, ValidLens(Tokens({1, 4}, {4, 1, 2, 0})));

  Tensor<float> bias({1, 4, 4});
  for (Index query = 0; query < 4; ++query)
    for (Index key = 0; key < 4; ++key)
      bias(0, query, key) = -2 * static_cast<float>(std::abs(query - key));
  show("a bias of the scores", attention, x, {.bias = bias});
}
