#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

// Predicts a number from a sequence of vectors.
template <class T = float>
struct Reader : Module<T> {
  Reader(Index channels, Random& random)
      : encoder({.num_blocks = 2, .num_hiddens = channels, .ffn_num_hiddens = 32, .num_heads = 2},
                random),
        pooling(Pooling::mean),
        head({.in_features = channels, .out_features = 1}, random) {}

  // Maps x [batch, time, channels] with lengths [batch] to [batch].
  Var<T> operator()(const Var<T>& x, const ValidLens& valid_lens = {}) const {
    return squeeze(head(pooling(encoder(x, valid_lens), valid_lens)), -1);
  }

  void members(Members<T>& members) const override {
    members.type("Reader");
    members("encoder", encoder);
    members("head", head);
  }

  TransformerEncoder<T> encoder;
  SequencePooling<T> pooling;
  Linear<T> head;
};

int main() {
  Random random(1);
  Reader model(8, random);
  std::cout << model << '\n';

  for (const auto& [name, parameter] : named_parameters(model))
    if (name.starts_with("head")) std::cout << name << ' ' << parameter->shape() << '\n';

  std::cout << freeze(model) << " tensors frozen, ";
  std::cout << unfreeze(model, "head") << " of them trained again\n";

  // Replaces the feed-forward network of the first block.
  model.encoder.blocks[0].ffn =
      AnyLayer<float>(SwiGLU({.num_hiddens = 8, .ffn_num_hiddens = 16}, random));
  std::cout << count_parameters(model) << " parameters\n";
}
