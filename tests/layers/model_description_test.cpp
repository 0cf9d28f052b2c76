// The options of models by name: written and read again, strictly.
#include <map>
#include <optional>
#include <string>
#include <type_traits>

#include <weft/layers/model_description.hpp>
#include <weft/layers/models/bert.hpp>
#include <weft/layers/models/encoder_classifier.hpp>
#include <weft/layers/models/encoder_decoder.hpp>
#include <weft/layers/models/gpt.hpp>
#include "tests/catch.hpp"
#include "tests/layers/changed_options.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

// A value for any field; for an optional one, of its value, so that there is one conversion.
template <class Field>
constexpr bool is_optional = false;
template <class Value>
constexpr bool is_optional<std::optional<Value>> = true;
struct AnyField {
  template <class Field>
  requires(!is_optional<Field>) operator Field() const { return Field{}; }
};

// The number of fields of an aggregate.
template <class Options, class... Fields>
constexpr std::size_t count_members() {
  if constexpr (requires { Options{Fields{}..., AnyField{}}; })
    return count_members<Options, Fields..., AnyField>();
  else
    return sizeof...(Fields);
}

template <class Options>
std::size_t count_listed() {
  std::size_t count = 0;
  Options options;
  Options::for_each_field(options, [&](const char*, auto&, const auto&...) { ++count; });
  return count;
}

template <class Options>
std::string error_with(const OptionValues& values) {
  return message_of<ValueError>([&] { options_from<Options>(values, "options"); });
}

}  // namespace

TEMPLATE_TEST_CASE("model description: the list of fields has every field", "[layers]", GptOptions,
                   BertOptions, EncoderDecoderOptions, EncoderClassifierOptions, TransformerOptions,
                   RotaryOptions, RotaryBand, RelativePositionBiasOptions) {
  CHECK(count_listed<TestType>() == count_members<TestType>());
}

TEMPLATE_TEST_CASE("model description: every option is read as it was written", "[layers]",
                   GptOptions, BertOptions, EncoderDecoderOptions, EncoderClassifierOptions) {
  const TestType defaults;
  CHECK((options_from<TestType>(option_values(defaults), "options") == defaults));
  const auto changed = changed_options<TestType>();
  const OptionValues values = option_values(changed);
  CHECK((options_from<TestType>(values, "options") == changed));
  // No value is that of the defaults.
  const OptionValues default_values = option_values(defaults);
  for (const auto& [name, value] : default_values) {
    CAPTURE(name);
    CHECK(values.at(name) != value);
  }
  CHECK(values.size() > default_values.size());
}

TEST_CASE("model description: names and values of a Gpt", "[layers]") {
  Random random(1);
  const Gpt model({.vocabulary_size = 5,
                   .num_hiddens = 4,
                   .bias = false,
                   .rotary = RotaryOptions{.pairs = RotaryPairs::interleaved, .size = 2}},
                  random);
  const auto description = model.description();
  REQUIRE(description);
  CHECK(description->type == "Gpt");
  const OptionValues& values = description->options;
  CHECK(values.at("vocabulary_size") == OptionValue(std::int64_t{5}));
  CHECK(values.at("bias") == OptionValue(std::int64_t{0}));
  CHECK(values.at("tied") == OptionValue(std::int64_t{1}));
  CHECK(values.at("activation") == OptionValue("gelu_tanh"));
  CHECK(values.at("rotary.base") == OptionValue(10000.0));
  CHECK(values.at("rotary.pairs") == OptionValue("interleaved"));
  CHECK(values.at("rotary.size") == OptionValue(std::int64_t{2}));
  CHECK_FALSE(values.contains("rotary.band.low"));
  CHECK_FALSE(values.contains("num_kv_heads"));
}

TEST_CASE("model description: missing, unknown and wrong values are errors that name them",
          "[layers]") {
  const OptionValues values = option_values(GptOptions{.vocabulary_size = 5, .num_hiddens = 4});
  const std::string begin = "options: expected a value of its type for each option, got ";
  OptionValues changed = values;
  changed.erase("tied");
  CHECK(error_with<GptOptions>(changed) == begin + "no value of tied");
  changed.emplace("colour", "red");
  CHECK(error_with<GptOptions>(changed) == begin + "no value of tied, the unknown option colour");
  const auto with = [&](const std::string& name, const OptionValue& value) {
    OptionValues other = values;
    other[name] = value;
    return error_with<GptOptions>(other);
  };
  CHECK(with("num_heads", "two") == begin + "two instead of an integer for num_heads");
  CHECK(with("num_heads", 2.0) == begin + "2 instead of an integer for num_heads");
  CHECK(with("norm_eps", std::int64_t{1}) == begin + "1 instead of a number for norm_eps");
  CHECK(with("bias", std::int64_t{2}) == begin + "2 instead of 0 or 1 for bias");
  CHECK(with("window", "\n") == begin + "\\x0a instead of an integer for window");
  CHECK(contains(with("activation", "gulu"), "activation: expected one of none, relu, "));
  CHECK(contains(with("norm", std::int64_t{1}), "1 instead of a string for norm"));
  // A part of optional options.
  CHECK(contains(with("rotary.base", 10.0), "no value of rotary.pairs, "));
  CHECK(contains(with("rotary.colour", 10.0), "the unknown option rotary.colour"));
  CHECK(contains(with("rotaryx", 10.0), "got the unknown option rotaryx"));
}

TEST_CASE("model description: a module has none", "[layers]") {
  Random random(1);
  CHECK_FALSE(Linear<float>({.in_features = 2, .out_features = 3}, random).description());
}
