// The parts of the program gpt.
#include <cmath>
#include <filesystem>
#include <numbers>

#include <weft/autograd/error.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "examples/common/settings.hpp"
#include "examples/gpt/configuration.hpp"
#include "examples/gpt/evaluation.hpp"
#include "examples/gpt/stop_text.hpp"
#include "examples/gpt/texts.hpp"
#include "examples/gpt/tokenizer.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using namespace weft::gpt;

namespace {

std::string text_until(const std::string& stop, const std::vector<std::string>& pieces) {
  StopText text(stop);
  std::string printed;
  for (const std::string& piece : pieces) printed += text.add(piece);
  return printed + text.finish();
}

// A model that has learned nothing.
SavedModel random_model(const Tokenizer& tokenizer, Index context) {
  Random random(2);
  return {{Gpt<float>({.vocabulary_size = tokenizer.size(),
                       .max_len = context,
                       .num_hiddens = 8,
                       .num_heads = 2,
                       .num_blocks = 1},
                      random),
           tokenizer}};
}

// −log of the probability of each token of a window but the first, from one pass.
std::vector<double> losses_in_window(const SavedModel& saved, const TokenIds& window) {
  Tape tape = Tape<float>::inference();
  const Index targets = std::ssize(window) - 1;
  const Tensor<float> logits =
      saved.model(tape, Tokens({1, targets}, TokenIds(window.begin(), window.end() - 1))).value();
  std::vector<double> losses;
  for (Index i = 0; i < targets; ++i) {
    double sum = 0.0;
    for (Index j = 0; j < saved.tokenizer.size(); ++j)
      sum += std::exp(static_cast<double>(logits(0, i, j)));
    const TokenId target = window[static_cast<std::size_t>(i) + 1];
    losses.push_back(std::log(sum) - static_cast<double>(logits(0, i, target)));
  }
  return losses;
}

}  // namespace

TEST_CASE("stop text: ends a text where it begins, also across pieces", "[examples]") {
  CHECK(text_until("", {"ab", "c"}) == "abc");
  CHECK(text_until("bc", {"ab", "c", "d"}) == "a");
  CHECK(text_until("bc", {"abcd"}) == "a");
  CHECK(text_until("bc", {"ab", "b", "d"}) == "abbd");
  CHECK(text_until("bc", {"ab"}) == "ab");
  CHECK(text_until("aab", {"a", "a", "a", "b", "c"}) == "a");
  CHECK(text_until("abab", {"ab", "aab", "ab"}) == "aba");
  CHECK(text_until("abc", {"abc"}).empty());
  StopText text("bc");
  CHECK(text.add("aab") == "aa");
  CHECK_FALSE(text.is_found());
  CHECK(text.add("c").empty());
  CHECK(text.is_found());
  CHECK(text.finish().empty());
}

TEST_CASE("texts: a folder is its regular files in the order of their names", "[examples]") {
  const TemporaryFolder folder;
  write_bytes(folder / "b", "second");
  write_bytes(folder / "a", "first\n");
  std::filesystem::create_directory(folder / "aa");
  std::filesystem::create_symlink(folder / "b", folder / "c");
  CHECK(read_texts(folder.path()) == "first\nsecond");
  CHECK(read_texts(folder / "c") == "second");
}

TEST_CASE("texts: nine tenths of the characters are for training", "[examples]") {
  const std::string text = "ä123456789éA";  // 12 characters
  const TextSplit split(text);
  CHECK(split.training == "ä123456789");
  CHECK(split.validation == "éA");
  CHECK(TextSplit("").validation.empty());
}

TEST_CASE("saved model: checkpoints of earlier versions have their tokens in the configuration",
          "[examples]") {
  // As they were written once: without the options of the model, and without its tokenizer.
  struct EarlierConfiguration final : Stateful<float> {
    void state(State<float>& state) override {
      configuration.state(state);
      state.text("characters", characters);
      state.text("byte_pairs", byte_pairs);
      state.text("merges", merges);
    }
    Configuration configuration;
    std::string characters, byte_pairs, merges;
  };
  struct Undescribed final : Module<float> {
    explicit Undescribed(const Module<float>& module) : described(module) {}
    void members(Members<float>& members) const override { described.members(members); }
    const Module<float>& described;
  };
  const std::string text = "weft\nüber warp";
  const TemporaryFolder folder;
  for (const Tokenizer& tokenizer : {Tokenizer(Vocabulary::of_characters(text)),
                                     Tokenizer(BytePairEncoding::learn(text + text, 260))}) {
    EarlierConfiguration earlier;
    earlier.configuration.modern = true;
    const Tokenizer::Text texts = tokenizer.to_text();
    (tokenizer.get_if<Vocabulary>() ? earlier.characters : earlier.byte_pairs) = texts.tokens;
    earlier.merges = texts.merges;
    Random random(2);
    const GptOptions options = earlier.configuration.model_options(tokenizer.size());
    const Gpt<float> model(options, random);
    save_checkpoint(folder / "best.h5", Undescribed(model), {{"configuration", earlier}});
    for (const auto& path : {folder / "best.h5", folder.path()}) {
      const SavedModel saved = SavedModel::load(path);
      CHECK(saved.tokenizer == tokenizer);
      CHECK(saved.model.options == options);
      CHECK(saved.context() == 64);
      CHECK(std::ranges::equal(saved.model.tokens.weight.value(), model.tokens.weight.value()));
    }
    // To resume from.
    CHECK(tokenizer_of(folder / "best.h5") == tokenizer);
    CHECK(examples::load_configuration<Configuration>(folder / "best.h5").modern);
  }
}

TEST_CASE("saved model: a checkpoint without tokens is refused", "[examples]") {
  const TemporaryFolder folder;
  Random random(1);
  save_checkpoint(folder / "best.h5", Gpt<float>({.vocabulary_size = 3, .num_hiddens = 4}, random));
  CHECK(contains(message_of<FileError>([&] { SavedModel::load(folder.path()); }),
                 "expected a model with a tokenizer, got no tokenizer"));
}

TEST_CASE("tokens: a text begins after the end of another one, or a line break", "[examples]") {
  const BytePairEncoding byte_pairs = BytePairEncoding::learn("weft weft", 260);
  CHECK(beginning_of_text(byte_pairs) == TokenIds{*byte_pairs.find("<|endoftext|>")});
  CHECK(beginning_of_text(Vocabulary::of_characters("b\na")) == TokenIds{0});
  CHECK(contains(
      message_of<ValueError>([] { (void)beginning_of_text(Vocabulary::of_characters("ab")); }),
      "prompt: expected text, because the model has no token"));
}

TEST_CASE("configuration of gpt: every preset is in range, and its state has every setting",
          "[examples]") {
  for (const std::string& name : Configuration::presets)
    CHECK_NOTHROW(Configuration::preset(name).check_state());
  CHECK(Configuration::preset("cpu").model_options(65).ffn_num_hiddens.value_or(512) == 512);
  CHECK(Configuration::preset("gpt2").bias);
  CHECK(Configuration::preset("cpu").model_options(65) ==
        GptOptions{.vocabulary_size = 65,
                   .max_len = 64,
                   .num_hiddens = 128,
                   .num_heads = 4,
                   .num_blocks = 4,
                   .bias = false,
                   .activation = Activation::gelu});
  CHECK(Configuration::preset("muon").model_options(65) ==
        GptOptions{.vocabulary_size = 65,
                   .max_len = 64,
                   .num_hiddens = 128,
                   .num_heads = 4,
                   .num_blocks = 4,
                   .ffn_num_hiddens = 384,
                   .bias = false,
                   .tied = false,
                   .activation = Activation::gelu,
                   .rotary = RotaryOptions(),
                   .norm = Norm::rms_norm,
                   .swiglu = true,
                   .num_kv_heads = 2,
                   .qk_norm = true,
                   .zero_init = true});
  Configuration squared_relu;
  squared_relu.rms_norm = squared_relu.rotary = squared_relu.squared_relu = true;
  CHECK(squared_relu.model_options(65) == GptOptions{.vocabulary_size = 65,
                                                     .max_len = 64,
                                                     .num_hiddens = 128,
                                                     .num_heads = 4,
                                                     .num_blocks = 4,
                                                     .bias = false,
                                                     .activation = Activation::squared_relu,
                                                     .rotary = RotaryOptions(),
                                                     .norm = Norm::rms_norm});
  // (12 - 3) · 128² / (3 · 128)
  CHECK(Configuration::preset("three-minutes").model_options(65).ffn_num_hiddens == 384);
}

TEST_CASE("configuration of gpt: settings that contradict each other are an error that names them",
          "[examples]") {
  const auto error = [](const auto& change) {
    Configuration configuration;
    change(configuration);
    return message_of<ValueError>([&] { configuration.check_state(); });
  };
  for (const auto& [name, setting] : {std::pair("rms-norm", &Configuration::rms_norm),
                                      {"rotary", &Configuration::rotary},
                                      {"squared-relu", &Configuration::squared_relu}})
    CHECK(error([flag = setting](Configuration& it) { it.modern = it.*flag = true; }) ==
          str_cat(name, ": expected false, because modern is set, got true"));
  CHECK(error([](Configuration& it) {
          it.rotary = true;
          it.heads = 128;
        }) == "heads: expected an even width / heads, with --rotary, got 1");
  CHECK(
      contains(error([](Configuration& it) { it.final_lr = 1.0; }), "final-lr: expected at most"));
  CHECK(contains(error([](Configuration& it) { it.adamw_lr_factor = 0.3; }),
                 "adamw-lr-factor: expected 0.1, because muon is not set, got 0.3"));
}

TEST_CASE(
    "configuration of gpt: a checkpoint that does not say how rotary positions pair channels is "
    "an error",
    "[examples]") {
  // As they were written once.
  struct Older final : Stateful<float> {
    struct Others final : State<float> {
      explicit Others(State<float>& all) : state(all) {}
      void tensor(const std::string& name, Tensor<float>& value) override {
        state.tensor(name, value);
      }
      void integer(const std::string& name, std::int64_t& value) override {
        state.integer(name, value);
      }
      void flag(const std::string& name, bool& value) override { state.flag(name, value); }
      void number(const std::string& name, double& value) override { state.number(name, value); }
      void text(const std::string& name, std::string& value) override {
        if (name != "rotary_pairs") state.text(name, value);
      }
      State<float>& state;
    };
    void state(State<float>& state) override {
      Others others(state);
      configuration.state(others);
    }
    Configuration configuration;
  } older;
  const TemporaryFolder folder;
  const SavedModel model = random_model(Tokenizer(Vocabulary::of_characters("ab")), 5);
  save_checkpoint(folder / "older.h5", model.model, {{"configuration", older}});
  CHECK(contains(message_of<FileError>([&] {
                   (void)examples::load_configuration<Configuration>(folder / "older.h5");
                 }),
                 "missing (1): rotary_pairs"));
  older.configuration.rotary_pairs = "interleaved";
  save_checkpoint(folder / "other.h5", model.model, {{"configuration", older.configuration}});
  CHECK(contains(message_of<ValueError>([&] {
                   (void)examples::load_configuration<Configuration>(folder / "other.h5");
                 }),
                 "rotary_pairs: expected halves, which the model uses, got 'interleaved'"));
}

TEST_CASE("evaluation: a model without knowledge has the loss ln V", "[examples]") {
  const std::string text = "the weft\nand the warp\n\nare threads";
  const Tokenizer tokenizer(Vocabulary::of_characters(text));
  SavedModel saved = random_model(tokenizer, 5);
  for (auto& [name, parameter] : named_parameters(saved.model))
    parameter->set_value(Tensor<float>(parameter->value().shape()));
  const TextLoss loss = sum_of(losses_of_lines(saved, text));
  const double expected = std::log(static_cast<double>(tokenizer.size()));
  CHECK(std::abs(loss.mean() - expected) < 1e-6);
  CHECK(std::abs(loss.perplexity() - static_cast<double>(tokenizer.size())) < 1e-4);
  const auto bytes = static_cast<double>(text.size());
  CHECK(std::abs(loss.bits_per_byte() - expected / std::numbers::ln2 * (bytes - 1) / bytes) < 1e-6);
}

TEST_CASE("evaluation: each token but the first is predicted once, from those of its window",
          "[examples]") {
  const std::string text = "the weft\nand warp\n\n\nof looms";
  for (const Tokenizer& tokenizer : {Tokenizer(Vocabulary::of_characters(text)),
                                     Tokenizer(BytePairEncoding::learn(text + text, 270))}) {
    const SavedModel saved = random_model(tokenizer, 4);
    const TokenIds ids = tokenizer.encode(text);
    std::vector<double> expected;
    for (Index begin = 0; begin + 1 < std::ssize(ids); begin += 4) {
      const Index end = std::min(begin + 5, std::ssize(ids));
      const TokenIds window(ids.begin() + begin, ids.begin() + end);
      const std::vector<double> losses = losses_in_window(saved, window);
      expected.insert(expected.end(), losses.begin(), losses.end());
    }
    const std::vector<TextLoss> lines = losses_of_lines(saved, text);
    REQUIRE(lines.size() == 5);
    std::size_t token = 1, begin = tokenizer.token(ids[0]).size(), line_end = 0, bytes = 0;
    for (const TextLoss& line : lines) {
      line_end += line.bytes;
      bytes += line.bytes;
      double nats = 0.0;
      Index tokens = 0;
      for (; token < ids.size() && begin < line_end; ++token, ++tokens) {
        nats += expected[token - 1];
        begin += tokenizer.token(ids[token]).size();
      }
      CHECK(line.tokens == tokens);
      CHECK(std::abs(line.nats - nats) < 1e-4);
    }
    CHECK(bytes == text.size());
    CHECK(sum_of(lines).tokens == std::ssize(ids) - 1);
  }
}
