// Whole models against compositions of PyTorch's layers. write_models.py wrote the expected values.
#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/golden/layer_case.hpp"

using namespace weft;
using golden::LayerCase;

namespace {

constexpr Index vocabulary = 7, hiddens = 6;

template <class T>
void check_gpt(const std::string& name, const GptOptions& options) {
  const LayerCase<T> expected(name, "models.h5");
  Random random(1);
  Gpt<T> model(options, random);
  expected.check(model, {},
                 [&](auto& tape, const auto&) { return model(tape, expected.integers("tokens")); });
}

template <class T>
void check_classifier(const std::string& name, const EncoderClassifierOptions& options) {
  const LayerCase<T> expected(name, "models.h5");
  Random random(1);
  EncoderClassifier<T> model(options, random);
  expected.check(model, {}, [&](auto& tape, const auto&) {
    return model(tape, expected.integers("tokens"), expected.mask().valid_lens);
  });
}

TransformerOptions transformer(bool norm_first, Activation activation) {
  return {.num_blocks = 2,
          .num_hiddens = hiddens,
          .ffn_num_hiddens = 8,
          .num_heads = 2,
          .activation = activation,
          .norm_first = norm_first,
          .attention_bias = true};
}

}  // namespace

TEMPLATE_TEST_CASE("GPT-2 of torch's layers, with tied and untied weights", "[golden][Gpt]", float,
                   double) {
  GptOptions options{.vocabulary_size = vocabulary,
                     .max_len = 9,
                     .num_hiddens = hiddens,
                     .num_heads = 2,
                     .num_blocks = 2};
  check_gpt<TestType>("gpt_tied", options);
  options.tied = options.bias = false;
  check_gpt<TestType>("gpt_untied", options);
}

TEMPLATE_TEST_CASE("Llama of torch's layers", "[golden][Gpt]", float, double) {
  check_gpt<TestType>("gpt_llama", {.vocabulary_size = vocabulary,
                                    .num_hiddens = 16,
                                    .num_heads = 4,
                                    .num_blocks = 2,
                                    .ffn_num_hiddens = 24,
                                    .bias = false,
                                    .tied = false,
                                    .rotary = RotaryOptions{.pairs = RotaryPairs::halves},
                                    .norm = Norm::rms_norm,
                                    .norm_eps = 1e-6,
                                    .swiglu = true,
                                    .num_kv_heads = 1});
}

TEMPLATE_TEST_CASE("a classifier of torch's layers", "[golden][EncoderClassifier]", float, double) {
  check_classifier<TestType>("classifier_mean",
                             {.vocabulary_size = vocabulary,
                              .num_classes = 3,
                              .transformer = transformer(false, Activation::gelu)});
  check_classifier<TestType>("classifier_first",
                             {.vocabulary_size = vocabulary,
                              .num_classes = 3,
                              .max_len = 9,
                              .learned_positions = true,
                              .pooling = Pooling::first,
                              .transformer = transformer(true, Activation::gelu)});
}

TEMPLATE_TEST_CASE("an encoder and decoder of torch's layers", "[golden][EncoderDecoder]", float,
                   double) {
  const LayerCase<TestType> expected("encoder_decoder", "models.h5");
  Random random(1);
  EncoderDecoder<TestType> model({.source_vocabulary_size = vocabulary,
                                  .target_vocabulary_size = vocabulary + 1,
                                  .max_len = 5,
                                  .transformer = transformer(true, Activation::relu)},
                                 random);
  expected.check(model, {}, [&](auto& tape, const auto&) {
    return model(tape, expected.integers("source"), expected.mask().valid_lens,
                 expected.integers("target"));
  });
}
