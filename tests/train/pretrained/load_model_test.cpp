// load_gpt and the functions like it: models and tokens of checkpoints.
#include <filesystem>
#include <string>

#include <weft/layers/sequential.hpp>
#include <weft/train/data/windows.hpp>
#include <weft/train/moving_average.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include <weft/train/trainer.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/catch.hpp"
#include "tests/layers/changed_options.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
namespace fs = std::filesystem;

namespace {

const std::string alphabet = "the weft is drawn through the warp\n";

// Options in which fields have other values than by default, of a small model.
TransformerOptions small_transformer() {
  auto options = changed_options<TransformerOptions>();
  options.num_blocks = 2;
  options.num_hiddens = 8;
  options.ffn_num_hiddens = 6;
  options.num_heads = 2;
  options.head_size = 4;
  options.dropout = 0.25;
  options.rotary = RotaryOptions{.base = 50.0, .size = 2};
  options.num_kv_heads = 1;
  options.scoring = Scoring::dot_product;
  options.parallel_residual = false;
  options.window = 3;
  options.position_bias = RelativePositionBiasOptions{.num_buckets = 8, .max_distance = 20};
  return options;
}

GptOptions small_gpt() {
  GptOptions options{.vocabulary_size = 17, .max_len = 9, .num_hiddens = 8, .num_heads = 2};
  options.num_blocks = 2;
  options.num_kv_heads = 1;
  options.ffn_num_hiddens = 12;
  options.rotary = RotaryOptions{.pairs = RotaryPairs::interleaved, .size = 2};
  options.qkv_bias = true;
  options.tied = false;
  options.norm = Norm::rms_norm;
  options.norm_eps = 1e-4;
  return options;
}

template <class T>
void check_same(const Module<T>& a, const Module<T>& b) {
  const auto first = named_parameters(a), second = named_parameters(b);
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].name == second[i].name);
    CHECK(std::ranges::equal(first[i].parameter->value(), second[i].parameter->value()));
  }
}

// Saves a model and loads it again.
template <class Model, class Options, class Load>
void check_round_trip(const Options& options, const Load& load) {
  const TemporaryFolder folder;
  Random random(3);
  const Model model(options, random);
  CHECK(model.options == options);
  save_checkpoint(folder / "best.h5", model);
  for (const fs::path& path : {folder / "best.h5", folder.path()}) {
    const auto loaded = load(path);
    CHECK(loaded.model.options == options);
    check_same(model, loaded.model);
    CHECK(loaded.tokenizer.empty());
  }
}

// A model under the name of its type only, as weft 0.2 saved it.
struct Undescribed final : Module<float> {
  explicit Undescribed(const Module<float>& module) : described(module) {}
  void members(Members<float>& members) const override { described.members(members); }
  const Module<float>& described;
};

Gpt<float> gpt_of(const GptOptions& options) {
  Random random(3);
  return Gpt<float>(options, random);
}

}  // namespace

TEST_CASE("load model: each model is created from its checkpoint", "[train]") {
  check_round_trip<Gpt<float>>(small_gpt(), [](const fs::path& path) { return load_gpt(path); });
  check_round_trip<Gpt<double>>(small_gpt(),
                                [](const fs::path& path) { return load_gpt<double>(path); });
  check_round_trip<Bert<float>>(BertOptions{.vocabulary_size = 11,
                                            .max_len = 5,
                                            .first_position = 2,
                                            .num_segments = 3,
                                            .num_hiddens = 4,
                                            .num_blocks = 2,
                                            .activation = Activation::silu,
                                            .pooler = true},
                                [](const fs::path& path) { return load_bert(path); });
  TransformerOptions plain = small_transformer();
  check_round_trip<EncoderDecoder<float>>(
      EncoderDecoderOptions{.source_vocabulary_size = 7,
                            .target_vocabulary_size = 7,
                            .max_len = 12,
                            .transformer = plain,
                            .num_decoder_blocks = 3,
                            .shared_embedding = true,
                            .tied = true,
                            .scales_output = true},
      [](const fs::path& path) { return load_encoder_decoder(path); });
  plain.position_bias.reset();
  for (const bool learned : {false, true})
    check_round_trip<EncoderClassifier<float>>(
        EncoderClassifierOptions{.vocabulary_size = 7,
                                 .num_classes = 3,
                                 .max_len = 6,
                                 .learned_positions = learned,
                                 .pooling = Pooling::last,
                                 .transformer = plain},
        [](const fs::path& path) { return load_encoder_classifier(path); });
}

TEST_CASE("load model: tokens of each kind", "[train]") {
  const auto byte_pairs = BytePairEncoding::learn(alphabet + alphabet, 270);
  const auto pretrained = PretrainedTokenizer::from_text(
      R"({"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"t":0,"h":1,"e":2,"th":3},"merges":[["t","h"]]}})");
  const TemporaryFolder folder;
  const auto check = [&](const Tokenizer& tokenizer, const std::string& text) {
    GptOptions options = small_gpt();
    options.vocabulary_size = tokenizer.size();
    save_checkpoint(folder / "model.h5", gpt_of(options), {{"tokenizer", tokenizer}});
    const auto loaded = load_gpt(folder / "model.h5");
    CHECK(loaded.tokenizer == tokenizer);
    CHECK(loaded.tokenizer.encode(text) == tokenizer.encode(text));
    CHECK(loaded.tokenizer.decode(loaded.tokenizer.encode(text)) == text);
    CHECK(loaded.eos_token_ids == tokenizer.eos_token_ids());
    CHECK(load_gpt(folder / "model.h5", {.tokenizer = false}).tokenizer.empty());
  };
  check(Vocabulary::of_characters(alphabet), "the warp\n");
  check(byte_pairs, "the \xC3\xA4 warp");
  check(pretrained, "the");
  CHECK(load_gpt(folder / "model.h5").tokenizer.get_if<PretrainedTokenizer>());

  CHECK(load_tokenizer(folder / "model.h5") == Tokenizer(pretrained));
  CHECK(load_tokenizer(folder / "model.h5", "letters").empty());
  CHECK(message_of<ValueError>([] { (void)Tokenizer().encode("a"); }) ==
        "tokenizer: expected tokens, got a model without tokens");
  CHECK(message_of<ValueError>([] {
          (void)Tokenizer(Vocabulary::of_characters("a")).encode("b");
        }) == "text: expected characters that the model knows (1 of them), got 'b'");
  CHECK(message_of<ValueError>([] { (void)Tokenizer::from_text({.kind = "words"}); }) ==
        "tokenizer: kind: expected characters, byte_pairs, tokenizer.json or none, got 'words'");
  write_bytes(folder / "merges.txt", "");
  CHECK(
      contains(message_of<FileError>([&] { (void)Tokenizer::load(folder.path()); }), "vocab.json"));
  // A model may have more ids than its tokenizer.
  CHECK(Tokenizer(pretrained).decode(TokenIds{3, 4, 2, 5}) == "the");
  CHECK(Tokenizer(pretrained).token(4).empty());
  const auto with_ends = PretrainedTokenizer::from_text(
      R"({"model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"a":1}},
          "post_processor":{"type":"BertProcessing","cls":["?",0],"sep":["a",1]}})");
  CHECK(Tokenizer(with_ends).encode_with_ends("a") == TokenIds{0, 1, 1});
  CHECK(Tokenizer(with_ends).encode("a") == TokenIds{1});
}

TEST_CASE("load model: a trainer's checkpoint has the tokens, and the average", "[train]") {
  const TemporaryFolder folder;
  const Vocabulary letters = Vocabulary::of_characters(alphabet);
  const TokenIds ids = letters.encode_text(alphabet + alphabet);
  WindowBatches<TokenId> windows(Tokens({std::ssize(ids)}, ids), {.length = 8});
  GptOptions options = small_gpt();
  options.vocabulary_size = letters.size();
  Gpt<float> model = gpt_of(options);
  AdamW optimizer(model, {.lr = 0.01f});
  ExponentialMovingAverage average(model, 0.5);
  const auto train = [&](const Tokenizer& tokenizer, std::int64_t epochs) {
    Trainer trainer(model, optimizer, windows,
                    [&](Tape<float>& tape, const TensorBatch<TokenId>& batch) {
                      return model.loss(tape, batch.inputs, batch.targets);
                    },
                    {.epochs = epochs, .folder = folder.path(), .resume = true});
    CHECK(message_of<ValueError>(
              [&] { trainer.register_for_checkpointing("model_options", tokenizer); }) ==
          "trainer: register_for_checkpointing: expected an unused name, got "
          "'model_options'");
    trainer.register_for_checkpointing("tokenizer", tokenizer);
    trainer.track_average(average);
    trainer.run();
  };
  train(letters, 2);
  const auto loaded = load_gpt(folder / "last.h5");
  CHECK(loaded.tokenizer == Tokenizer(letters));
  average.swap();
  check_same(model, loaded.model);
  average.swap();
  // Resumed with the same tokens only.
  CHECK(contains(message_of<ValueError>([&] { train(Vocabulary::of_characters("ab"), 3); }),
                 "tokenizer: expected the tokens of the checkpoint, got different tokens"));
  train(letters, 3);
}

TEST_CASE("load model: checkpoints without options or of another model are refused", "[train]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "model.h5";
  Gpt<float> model = gpt_of(small_gpt());
  save_checkpoint(path, Undescribed(model));
  CHECK(contains(message_of<FileError>([&] { load_gpt(path); }),
                 "model.h5\": expected a checkpoint with the options of its model, got a "
                 "checkpoint without options, written by weft "));
  // It can be loaded into a model that a program has created, as can one with options.
  load_checkpoint(path, model);
  save_checkpoint(path, model);
  load_checkpoint(path, model);
  GptOptions other = small_gpt();
  other.num_blocks = 1;
  Gpt<float> smaller = gpt_of(other);
  CHECK(contains(message_of<FileError>([&] { load_checkpoint(path, smaller); }), "unexpected ("));

  CHECK(contains(message_of<FileError>([&] { load_bert(path); }),
                 "expected a checkpoint of type Bert, got type 'Gpt'"));
  CHECK(contains(message_of<FileError>([&] { load_gpt<double>(path); }), "float64"));
  CHECK(contains(message_of<FileError>([&] { load_gpt(folder / "none.h5"); }), "none.h5"));
  CHECK(contains(
      message_of<FileError>([&] { load_gpt(folder.path()); }),
      "config.json\": expected this file, or best.h5 in the same folder, got neither file"));
  write_bytes(folder / "config.json", "{}");
  CHECK(contains(message_of<FileError>([&] { load_encoder_classifier(folder.path()); }),
                 "expected a checkpoint of an EncoderClassifier, got a folder with config.json"));
}

namespace {

// A model that says of itself what a test wants.
struct Described final : Module<float> {
  void members(Members<float>& members) const override { model.members(members); }
  std::optional<ModelDescription> description() const override { return says; }
  Gpt<float> model = gpt_of(small_gpt());
  ModelDescription says = *model.description();
};

}  // namespace

TEST_CASE("load model: other options are errors that name them, before memory is taken",
          "[train]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "model.h5";
  const auto error_with = [&](const auto& change) {
    Described model;
    change(model.says.options);
    save_checkpoint(path, model);
    const std::string message = message_of<FileError>([&] { load_gpt(path); });
    CHECK(contains(message, "model.h5\""));
    return message;
  };
  CHECK(contains(error_with([](OptionValues& o) { o.erase("tied"); }),
                 "model_options: expected a value of its type for each option, got no value of "
                 "tied"));
  CHECK(contains(error_with([](OptionValues& o) { o["colour.of.it"] = "red"; }),
                 "the unknown option colour.of.it"));
  CHECK(contains(error_with([](OptionValues& o) { o["num_heads"] = 2.0; }),
                 "2 instead of an integer for num_heads"));
  CHECK(contains(error_with([](OptionValues& o) { o["num_heads"] = std::int64_t{3}; }),
                 "MultiHeadAttention: expected"));
  for (const char* const name : {"num_blocks", "num_hiddens", "vocabulary_size"})
    for (const std::int64_t size : {std::int64_t{1} << 31, std::int64_t{1} << 62})
      CHECK_FALSE(error_with([&](OptionValues& o) { o[name] = size; }).empty());
  CHECK(contains(error_with([](OptionValues& o) { o["num_blocks"] = std::int64_t{1} << 40; }),
                 "got a larger model"));

  Random random(1);
  save_checkpoint(
      path, EncoderClassifier<float>({.vocabulary_size = 3,
                                      .num_classes = 2,
                                      .max_len = 4,
                                      .transformer = {.num_hiddens = 2, .ffn_num_hiddens = 2}},
                                     random));
  CHECK_NOTHROW(load_encoder_classifier(path));
}
