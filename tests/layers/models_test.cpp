// Whole models: Gpt, EncoderClassifier and EncoderDecoder.
#include <cmath>
#include <limits>

#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

const Tokens tokens({2, 4}, {3, 1, 6, 2, 5, 5, 0, 4});

GptOptions gpt_options() {
  return {.vocabulary_size = 7, .max_len = 5, .num_hiddens = 8, .num_heads = 4, .num_blocks = 2};
}

GptOptions llama_options() {
  GptOptions options = gpt_options();
  options.bias = options.tied = false;
  options.rotary = RotaryOptions{};
  options.norm = Norm::rms_norm;
  options.swiglu = true;
  options.num_kv_heads = 2;
  return options;
}

EncoderClassifierOptions classifier_options(bool learned_positions = false) {
  return {.vocabulary_size = 7,
          .num_classes = 3,
          .max_len = 5,
          .learned_positions = learned_positions,
          .transformer = {.num_blocks = 2,
                          .num_hiddens = 8,
                          .ffn_num_hiddens = 12,
                          .num_heads = 2,
                          .dropout = 0.2}};
}

EncoderDecoderOptions encoder_decoder_options() {
  return {.source_vocabulary_size = 7,
          .target_vocabulary_size = 6,
          .max_len = 4,
          .transformer = {.num_blocks = 1,
                          .num_hiddens = 8,
                          .ffn_num_hiddens = 12,
                          .num_heads = 2,
                          .dropout = 0.2}};
}

// The root mean square of a parameter's elements.
double root_mean_square(const Tensor<float>& values) {
  double squares = 0.0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

TEST_CASE("gradients: GPT, in GPT-2's and Llama's form", "[layers][gradients][Gpt]") {
  Random random(1);
  GptOptions options = GENERATE(gpt_options(), llama_options());
  options.dropout = 0.2;
  options.num_blocks = 1;
  Gpt<double> model(options, random);
  // Weights that are not as small as those of the initialization.
  for (const auto& [name, parameter] : named_parameters(model))
    parameter->set_value(random.normal_tensor<double>(parameter->shape(), 0.0, 0.5));
  check_gradients(model, {}, [&](Tape<double>& tape, const Vars&) { return model(tape, tokens); });
}

TEST_CASE("gradients: classifier", "[layers][gradients][EncoderClassifier]") {
  Random random(1);
  EncoderClassifierOptions options = classifier_options(GENERATE(false, true));
  options.pooling = GENERATE(Pooling::mean, Pooling::first);
  EncoderClassifier<double> model(options, random);
  check_gradients(model, {}, [&](Tape<double>& tape, const Vars&) {
    return model(tape, tokens, ValidLens{4, 2});
  });
}

TEST_CASE("gradients: encoder-decoder model", "[layers][gradients][EncoderDecoder]") {
  Random random(1);
  EncoderDecoder<double> model(encoder_decoder_options(), random);
  const Tokens target({2, 3}, {1, 4, 5, 1, 2, 0});
  check_gradients(model, {}, [&](Tape<double>& tape, const Vars&) {
    return model(tape, tokens, ValidLens{4, 2}, target);
  });
}

TEST_CASE("GPT: the loss is that of the logits, also of more targets than it has logits at a time",
          "[layers]") {
  constexpr TokenId ignored = -100;
  Random random(1);
  GptOptions options = GENERATE(gpt_options(), llama_options());
  options.max_len = 300;
  Gpt<double> model(options, random);
  for (const Index batch : {1, 5}) {
    Tokens input({batch, 300}), targets({batch, 300});
    for (Index i = 0; i < input.size(); ++i) {
      input.data()[i] = static_cast<TokenId>(random.below(7));
      targets.data()[i] = i % 5 == 2 ? ignored : static_cast<TokenId>(random.below(7));
    }
    const Mask mask = ValidLens(std::vector<std::int32_t>(static_cast<std::size_t>(batch), 250));
    const auto gradients = [&](bool is_whole) {
      zero_grad(model);
      Tape<double> tape;
      const Var<double> loss = is_whole ? cross_entropy(model(tape, input, mask), targets)
                                        : model.loss(tape, input, targets, mask);
      std::vector<double> values{loss.item()};
      tape.backward(loss);
      for (const auto& [name, parameter] : named_parameters(model))
        for (const double value : parameter->grad()) values.push_back(value);
      return values;
    };
    const std::vector<double> expected = gradients(true), actual = gradients(false);
    for (std::size_t i = 0; i < expected.size(); ++i)
      REQUIRE(actual[i] == Approx(expected[i]).margin(1e-14));
    Tape<double> inference = Tape<double>::inference();
    CHECK(model.loss(inference, input, targets, mask).item() == Approx(expected[0]));
  }
  Tape<double> tape;
  CHECK(message_of<ShapeError>([&] {
          model.loss(tape, tokens, Tokens({2, 3}));
        }) == "Gpt: targets: expected [2, 4], got [2, 3]");
  CHECK_THROWS_AS(model.loss(tape, tokens, Tokens({4, 2})), ShapeError);
  CHECK(model.loss(tape, tokens, Tokens::full({2, 4}, ignored)).item() == 0.0);
}

TEST_CASE("gradients: encoder-decoder model in T5's form", "[layers][gradients][EncoderDecoder]") {
  Random random(1);
  EncoderDecoderOptions options = encoder_decoder_options();
  TransformerOptions& transformer = options.transformer;
  transformer.scoring = Scoring::dot_product;
  transformer.norm_first = true;
  transformer.norm = Norm::rms_norm;
  transformer.ffn_bias = false;
  transformer.swiglu = GENERATE(false, true);
  transformer.gate_activation = Activation::gelu_tanh;
  transformer.position_bias = RelativePositionBiasOptions{.num_buckets = 6, .max_distance = 4};
  transformer.recompute = GENERATE(false, true);
  options.num_decoder_blocks = 2;
  options.target_vocabulary_size = options.source_vocabulary_size;
  options.shared_embedding = options.tied = options.scales_output = true;
  EncoderDecoder<double> model(options, random);
  CHECK(model.decoder.blocks.size() == 2);
  for (const auto& [name, parameter] : named_parameters(model))
    parameter->set_value(random.normal_tensor<double>(parameter->shape(), 0.0, 0.5));
  const Tokens target({2, 3}, {1, 4, 5, 1, 2, 0});
  check_gradients(model, {}, [&](Tape<double>& tape, const Vars&) {
    return model(tape, tokens, ValidLens{4, 2}, target);
  });
  // Without positions, the embeddings of both texts are dropped.
  transformer.dropout = 1.0;
  const EncoderDecoder<double> dropped(options, random);
  Tape<double> tape({.training = true});
  const Var<double> memory = tape.constant(random.normal_tensor<double>({2, 4, 8}));
  for (const double state : dropped.encode(tape, tokens, {}).value()) CHECK(state == 0.0);
  for (const double state : dropped.decode(target, memory, {}).value()) CHECK(state == 0.0);
  options.target_vocabulary_size = 5;
  CHECK(message_of<ValueError>([&] { EncoderDecoder<float>(options, random); }) ==
        "EncoderDecoder: target_vocabulary_size: expected source_vocabulary_size, 7, with a "
        "shared embedding, got 5");
}

TEST_CASE("GPT: logits depend on tokens up to their position only", "[layers]") {
  Random random(1);
  const Gpt<double> model(GENERATE(gpt_options(), llama_options()), random);
  Tape<double> tape({.recording = false, .keep_attention_weights = true});
  const Tensor<double> logits = model(tape, tokens).value();
  REQUIRE(logits.shape() == Shape{2, 4, 7});
  CHECK(tape.take_attention_weights().size() == 2);
  Tokens changed = tokens;
  changed(0, 2) = 0;
  const Tensor<double> other = model(tape, changed).value();
  for (Index c = 0; c < 7; ++c) {
    CHECK(other(0, 0, c) == logits(0, 0, c));
    CHECK(other(0, 1, c) == logits(0, 1, c));
    CHECK(other(0, 2, c) != logits(0, 2, c));
    CHECK(other(1, 3, c) == logits(1, 3, c));
  }
}

TEST_CASE("GPT: tied weights are one parameter, and the options decide which others there are",
          "[layers]") {
  Random random(1);
  const auto names = [&](const GptOptions& options) {
    Gpt<float> model(options, random);
    std::vector<std::string> all;
    for (const auto& [name, parameter] : named_parameters(model)) all.push_back(name);
    return all;
  };
  const auto contains_name = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  GptOptions options = gpt_options();
  const auto tied = names(options);
  CHECK(tied.front() == "tokens.weight");
  CHECK(tied[1] == "positions.weight");
  CHECK(tied.back() == "blocks.norm.bias");
  CHECK(contains_name(tied, "blocks.1.ffn.dense2.bias"));
  Gpt<float> model(options, random);
  CHECK(count_parameters(model) == 7 * 8 + 5 * 8 + 2 * (12 * 64 + 13 * 8) + 2 * 8);
  REQUIRE(tied_names(model).size() == 1);
  CHECK(tied_names(model)[0].name == "output.weight");
  options.tied = false;
  CHECK(names(options).back() == "output.weight");
  options.bias = false;
  for (const std::string& name : names(options)) CHECK_FALSE(name.ends_with("bias"));
  const auto llama = names(llama_options());
  CHECK_FALSE(contains_name(llama, "positions.weight"));
  CHECK(contains_name(llama, "blocks.0.ffn.w3.weight"));
}

TEST_CASE("GPT: initialized as GPT-2", "[layers]") {
  Random random(1);
  GptOptions options = gpt_options();
  options.vocabulary_size = 200;
  options.num_hiddens = 64;
  options.num_blocks = 8;
  options.max_len = 50;
  options.swiglu = GENERATE(false, true);
  options.zero_init = GENERATE(false, true);
  options.tied = false;
  Gpt<float> model(options, random);
  for (const auto& [name, parameter] : named_parameters(model)) {
    INFO(name);
    const bool is_residual = name.ends_with("W_o.weight") || name.ends_with("dense2.weight") ||
                             name.ends_with("w2.weight");
    const double expected = name.ends_with("bias")                                          ? 0.0
                            : name.find("norm") != std::string::npos                        ? 1.0
                            : options.zero_init && (is_residual || name == "output.weight") ? 0.0
                            : is_residual                                                   ? 0.005
                                                                                            : 0.02;
    CHECK(std::abs(root_mean_square(parameter->value()) - expected) <= 0.05 * expected);
  }
}

TEST_CASE("classifier: neither padding nor the batch changes the logits of a sequence",
          "[layers]") {
  Random random(1);
  for (const auto& [pooling, name] : pooling_names) {
    INFO(name);
    EncoderClassifierOptions options = classifier_options();
    options.pooling = pooling;
    const EncoderClassifier<double> model(options, random);
    Tape<double> tape = Tape<double>::inference();
    const Tensor<double> logits = model(tape, tokens, ValidLens{4, 2}).value();
    REQUIRE(logits.shape() == Shape{2, 3});
    const Tensor<double> alone = model(tape, Tokens({1, 2}, {5, 5})).value();
    for (Index c = 0; c < 3; ++c) CHECK(std::abs(alone(0, c) - logits(1, c)) < 1e-12);
  }
}

TEST_CASE("encoder-decoder model: neither padding nor later tokens change the logits", "[layers]") {
  Random random(1);
  const EncoderDecoder<double> model(encoder_decoder_options(), random);
  Tape<double> tape = Tape<double>::inference();
  const Tensor<double> logits =
      model(tape, tokens, ValidLens{4, 2}, Tokens({2, 3}, {1, 4, 5, 1, 2, 0})).value();
  REQUIRE(logits.shape() == Shape{2, 3, 6});
  const Tensor<double> alone =
      model(tape, Tokens({1, 2}, {5, 5}), {}, Tokens({1, 2}, {1, 2})).value();
  for (Index t = 0; t < 2; ++t)
    for (Index c = 0; c < 6; ++c) CHECK(std::abs(alone(0, t, c) - logits(1, t, c)) < 1e-12);
  Tape<double> keeping({.recording = false, .keep_attention_weights = true});
  const auto memory = model.encode(keeping, tokens, ValidLens{4, 2});
  CHECK(keeping.take_attention_weights().size() == 1);
  model.decode(Tokens({2, 3}), memory, ValidLens{4, 2});
  const std::vector<Tensor<double>> decoder = keeping.take_attention_weights();
  REQUIRE(decoder.size() == 2);
  CHECK(decoder[0].shape() == Shape{2, 2, 3, 3});
  CHECK(decoder[1].shape() == Shape{2, 2, 3, 4});
}

TEST_CASE("models: invalid options and inputs throw", "[layers]") {
  Random random(1);
  GptOptions gpt = gpt_options();
  gpt.vocabulary_size = 0;
  CHECK(message_of<ValueError>([&] { Gpt<float>(gpt, random); }) ==
        "Gpt: vocabulary_size: expected a number > 0, got 0");
  gpt = gpt_options();
  gpt.num_blocks = 0;
  CHECK(message_of<ValueError>([&] { Gpt<float>(gpt, random); }) ==
        "TransformerEncoder: num_blocks: expected a number > 0, got 0");
  // Four times as many are no number.
  constexpr Index largest = std::numeric_limits<Index>::max();
  CHECK(GptOptions{.num_hiddens = largest}.transformer().ffn_num_hiddens == largest);
  CHECK(BertOptions{.num_hiddens = largest}.transformer().ffn_num_hiddens == largest);
  EncoderClassifierOptions classifier = classifier_options();
  classifier.num_classes = 0;
  CHECK(message_of<ValueError>([&] { EncoderClassifier<float>(classifier, random); }) ==
        "EncoderClassifier: num_classes: expected a number > 0, got 0");
  EncoderDecoderOptions pair = encoder_decoder_options();
  pair.max_len = 0;
  CHECK(message_of<ValueError>([&] { EncoderDecoder<float>(pair, random); }) ==
        "EncoderDecoder: max_len: expected a number > 0, got 0");
  pair.max_len = std::numeric_limits<Index>::max();
  CHECK_THROWS_AS(EncoderDecoder<float>(pair, random), ShapeError);

  Tape tape;
  const Gpt<float> model(gpt_options(), random);
  CHECK(message_of<ShapeError>([&] { model(tape, Tokens({3})); }) ==
        "Gpt: tokens: expected shape [batch, time], got [3]");
  CHECK(message_of<ValueError>([&] {
          model(tape, Tokens({1, 6}));
        }) ==
        "LearnedPositionalEncoding: expected a sequence length of at most 5 (max_len), got 6");
  CHECK_THROWS_AS(model(tape, Tokens({1, 1}, {7})), ValueError);
  const EncoderClassifier<float> classify(classifier_options(), random);
  CHECK(message_of<ShapeError>([&] { classify(tape, Tokens({3})); }) ==
        "EncoderClassifier: tokens: expected shape [batch, time], got [3]");
  const EncoderDecoder<float> translate(encoder_decoder_options(), random);
  CHECK(message_of<ShapeError>([&] { translate.encode(tape, Tokens({3})); }) ==
        "EncoderDecoder: source: expected shape [batch, time], got [3]");
  CHECK_THROWS_AS(translate.encode(tape, Tokens({1, 6})), ValueError);
  // A target has <bos> before max_len tokens.
  const Var<float> memory = translate.encode(tape, Tokens({1, 2}));
  const Index positions = encoder_decoder_options().max_len + 1;
  CHECK(translate.decode(Tokens({1, positions}), memory).shape()[1] == positions);
  CHECK_THROWS_AS(translate.decode(Tokens({1, positions + 1}), memory), ValueError);
}
