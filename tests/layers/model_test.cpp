// A complete model: float and double, one thread and several, and heap allocations.
#include <weft/layers.hpp>
#include <weft/train.hpp>
#include "tests/allocations.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

using namespace weft;

namespace {

// An encoder-decoder that maps letters to logits of phones.
template <class T>
struct Model : Module<T> {
  explicit Model(Random& random)
      : embedding({.num_embeddings = 11, .embedding_dim = 32}, random),
        position({.num_hiddens = 32, .dropout = 0.1, .max_len = 40}),
        encoder(options(), random),
        decoder(options(), random),
        output({.in_features = 32, .out_features = 11}, random) {}

  static TransformerOptions options() {
    return {.num_blocks = 2,
            .num_hiddens = 32,
            .ffn_num_hiddens = 64,
            .num_heads = 4,
            .dropout = 0.1,
            .norm_first = true};
  }

  Var<T> operator()(Tape<T>& tape, const Tokens& source, const Tokens& target,
                    const ValidLens& valid_lens) const {
    const Var<T> memory = encoder(position(embedding(tape, source)), valid_lens);
    return output(decoder(position(embedding(tape, target)), memory, valid_lens));
  }

  void members(Members<T>& members) const override {
    members.type("Model");
    members("embedding", embedding);
    members("position", position);
    members("encoder", encoder);
    members("decoder", decoder);
    members("output", output);
  }

  Embedding<T> embedding;
  PositionalEncoding<T> position;
  TransformerEncoder<T> encoder;
  TransformerDecoder<T> decoder;
  Linear<T> output;
};

Tokens random_tokens(Random& random, Shape shape) {
  Tokens tokens(shape);
  for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(11));
  return tokens;
}

// Forward and backward of a model in training: the logits, then all gradients.
std::vector<Tensor<float>> run(Model<float>& model) {
  Random random(3);
  const Tokens source = random_tokens(random, {16, 20}), target = random_tokens(random, {16, 18});
  std::vector<std::int32_t> lengths;
  for (int i = 0; i < 16; ++i) lengths.push_back(static_cast<std::int32_t>(random.below(21)));
  Tape tape({.training = true, .seed = 5});
  const Var logits = model(tape, source, target, ValidLens(lengths));
  tape.backward(cross_entropy(logits, random_tokens(random, {16, 18})));
  std::vector<Tensor<float>> results{logits.value()};
  for (const auto& [name, parameter] : named_parameters(model)) {
    results.push_back(parameter->grad().clone());
    parameter->zero_grad();
  }
  return results;
}

}  // namespace

TEST_CASE("model: the same bits on any number of threads", "[layers]") {
  Random random(1);
  Model<float> model(random);
  check_same_bits([&] { return run(model); });
}

TEST_CASE("model: float agrees with double", "[layers]") {
  Random random(1), same_random(1);
  Model<float> single(random);
  Model<double> twice(same_random);
  const Tokens source = random_tokens(random, {4, 9}), target = random_tokens(random, {4, 7});
  const Tokens labels = random_tokens(random, {4, 7});
  const ValidLens lengths{9, 5, 1, 3};
  Tape<float> tape({.training = true, .seed = 5});
  Tape<double> double_tape({.training = true, .seed = 5});
  const Var y = single(tape, source, target, lengths);
  const Var z = twice(double_tape, source, target, lengths);
  CHECK(distance(y.value(), z.value()) < 1e-5);
  tape.backward(cross_entropy(y, labels));
  double_tape.backward(cross_entropy(z, labels));
  const auto gradients = named_parameters(single);
  const auto double_gradients = named_parameters(twice);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    INFO(gradients[i].name);
    CHECK(distance(gradients[i].parameter->grad(), double_gradients[i].parameter->grad()) < 1e-5);
  }
}

TEST_CASE("model: no heap allocation from the second step on", "[layers]") {
  Random random(1);
  Model<float> model(random);
  const Tokens source = random_tokens(random, {4, 9}), target = random_tokens(random, {4, 7});
  const Tokens labels = random_tokens(random, {4, 7});
  const ValidLens lengths{9, 5, 1, 3};
  AdamW<float> optimizer(model, {.lr = 1e-3});
  Tape tape({.training = true, .seed = 5});
  ParallelPass<float> pass(named_parameters(model), 2, {.training = true, .seed = 5});
  const auto loss = [&](Tape<float>& own) {
    return cross_entropy(model(own, source, target, lengths), labels, {.label_smoothing = 0.1});
  };
  const auto update = [&] { optimizer.step(clip_factor(optimizer.grad_norm(), 1.0)); };
  const auto step_of = [&](Tape<float>& own) {
    const std::int64_t before = allocations;
    own.backward(loss(own));
    update();
    return allocations - before;
  };
  const auto step = [&] { return step_of(tape); };
  const auto step_in_parts = [&] {
    const std::int64_t before = allocations;
    pass.add_gradients(tape.step(), 2, [&](Tape<float>& own, Index) { return loss(own); });
    update();
    return allocations - before;
  };
  CHECK(step() > 0);
  CHECK(step() == 0);
  CHECK(step() == 0);
  CHECK(step_in_parts() > 0);
  CHECK(step_in_parts() == 0);
  CHECK(step_in_parts() == 0);
}

TEST_CASE("model: no heap allocation per generated token", "[layers]") {
  const bool modern = GENERATE(false, true);
  Random random(1);
  GptOptions options{.vocabulary_size = 30, .max_len = 64, .num_hiddens = 32, .num_heads = 4};
  if (modern) {
    options.rotary.emplace();
    options.norm = Norm::rms_norm;
    options.swiglu = true;
    options.num_kv_heads = 2;
  }
  const Gpt<float> model(options, random);
  Tape tape = Tape<float>::inference();
  KeyValueCache<float> cache = model.make_cache(3, 40);
  const Tokens tokens({3, 1}, {1, 2, 3});
  const auto step = [&] {
    const std::int64_t before = allocations;
    static_cast<void>(model.logits(model.extend(tape, tokens, cache)));
    tape.clear();
    return allocations - before;
  };
  for (int i = 0; i < 3; ++i) step();
  std::int64_t total = 0;
  for (int i = 0; i < 30; ++i) total += step();
  CHECK(total == 0);
}

TEST_CASE("model: no heap allocation by recurrent layers and convolutions", "[layers]") {
  Random random(1);
  struct Layers : Module<float> {
    explicit Layers(Random& random_numbers)
        : convolution({.in_channels = 5, .out_channels = 8, .kernel_size = 3, .padding = 1},
                      random_numbers),
          rnn({.input_size = 8, .num_hiddens = 8, .num_layers = 2}, random_numbers),
          gru({.input_size = 8, .num_hiddens = 8, .num_layers = 3}, random_numbers) {}
    void members(Members<float>& members) const override {
      members("convolution", convolution);
      members("rnn", rnn);
      members("gru", gru);
    }
    Conv1d<float> convolution;
    RNN<float> rnn;
    GRU<float> gru;
  } layers(random);
  const auto x = random.normal_tensor<float>({3, 7, 5});
  const ValidLens lengths{7, 2, 0};
  AdamW<float> optimizer(layers, {.lr = 1e-3});
  Tape tape({.training = true});
  const auto step = [&] {
    const std::int64_t before = allocations;
    const auto below = layers.rnn(layers.convolution(tape.constant(x), lengths), lengths);
    const Var states = layers.gru(below.states, lengths).final_states;
    tape.backward(mean(states * states));
    optimizer.step();
    return allocations - before;
  };
  CHECK(step() > 0);
  CHECK(step() == 0);
  CHECK(step() == 0);
}
