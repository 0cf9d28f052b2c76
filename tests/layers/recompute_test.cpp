// Blocks that are recomputed in backward: the same results with less memory.
#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

// An encoder and a decoder of six blocks each.
struct Model : Module<float> {
  Model(bool recompute, Random& random)
      : encoder(options(recompute), random), decoder(options(recompute), random) {}
  static TransformerOptions options(bool recompute) {
    return {.num_blocks = 6,
            .num_hiddens = 16,
            .ffn_num_hiddens = 64,
            .num_heads = 2,
            .dropout = 0.2,
            .recompute = recompute};
  }
  void members(Members<float>& members) const override {
    members("encoder", encoder);
    members("decoder", decoder);
  }
  TransformerEncoder<float> encoder;
  TransformerDecoder<float> decoder;
};

struct PassResult {
  std::vector<Tensor<float>> results;  // the output, then all gradients
  std::size_t bytes;

  explicit PassResult(bool recompute) {
    Random random(1);
    Model model(recompute, random);
    Parameter<float> x(random.normal_tensor<float>({4, 20, 16}));
    Tape<float> tape({.training = true, .seed = 9});
    const ValidLens lengths{20, 3, 11, 20};
    const Var<float> input = tape.parameter(x);
    const Var<float> y = model.decoder(input, model.encoder(input, lengths), lengths);
    results.push_back(y.value());
    tape.backward(y, Tensor<float>::full(y.shape(), 1.0F));
    for (const auto& [name, parameter] : named_parameters(model))
      results.push_back(parameter->grad());
    results.push_back(x.grad());
    bytes = tape.memory().bytes_held;
  }
};

}  // namespace

TEST_CASE("recompute: the same results with less memory, including dropout", "[layers]") {
  const PassResult stored(false), recomputed(true);
  CHECK(same(recomputed.results[0], stored.results[0]));
  for (std::size_t i = 1; i < stored.results.size(); ++i)
    CHECK(distance(recomputed.results[i], stored.results[i]) < 1e-5);
  CHECK(recomputed.bytes < stored.bytes / 3);
}

TEST_CASE("recompute: attention weights are still returned", "[layers]") {
  Random random(1);
  const Model model(true, random);
  Tape<float> tape({.keep_attention_weights = true});
  model.encoder(tape.constant(Tensor<float>({1, 3, 16})));
  CHECK(tape.take_attention_weights().size() == 6);
}

TEST_CASE("recompute: nothing to differentiate, and inputs of two tapes", "[layers]") {
  Tape<float> tape, other;
  const auto twice = [](const Var<float>& x) { return x + x; };
  const Var<float> x = tape.constant(Tensor<float>::full({2}, 3.0F));
  const Var<float> y = recompute(twice, x);
  CHECK(y.value()(1) == 6.0F);
  CHECK(y.node() == no_node);
  Tape<float> inference = Tape<float>::inference();
  CHECK(recompute(twice, inference.constant(x.value())).value()(0) == 6.0F);
  const auto sum = [](const Var<float>& a, const Var<float>& b) { return a + b; };
  CHECK(message_of<Error>([&] { recompute(sum, x, other.constant(x.value())); }) ==
        "recompute: expected inputs on one tape, got inputs on different tapes (write "
        "tape.constant(x) for a tensor x)");
  CHECK(message_of<Error>([&] {
          recompute([&](const Var<float>& a) { return a + x; }, tape.constant(x.value()));
        }) ==
        "add: expected inputs on one tape, got inputs on different tapes (write tape.constant(x) "
        "for a tensor x)");
}
