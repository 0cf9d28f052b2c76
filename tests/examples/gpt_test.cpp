#include <filesystem>
#include <nlohmann/json.hpp>

#include <weft/layers/models/gpt.hpp>
#include <weft/train/text/generation/generate.hpp>
#include <weft/train/text/tokenizers/byte_pair_encoding.hpp>
#include <weft/train/text/tokenizers/utf8_stream_decoder.hpp>
#include <weft/train/weights/weights.hpp>
#include "examples/gpt/program.hpp"
#include "tests/catch.hpp"
#include "tests/examples/outcome.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

// A folder with a random model of 280 tokens.
struct ModelFolder {
  TemporaryFolder folder;
  BytePairEncoding encoding = BytePairEncoding::learn(
      "the weft is drawn through the warp, the warp is the thread that the weft is drawn through",
      280);
  Gpt<float> model = [this] {
    Random random(3);
    return Gpt<float>({.vocabulary_size = encoding.size(),
                       .max_len = 16,
                       .num_hiddens = 8,
                       .num_heads = 2,
                       .num_blocks = 1},
                      random);
  }();

  ModelFolder() {
    encoding.save(folder / "vocab.json", folder / "merges.txt");
    save_weights(folder / "model.h5", model);
    set_config("");
  }

  // `settings`, each after a comma, replace those of the same names.
  void set_config(const std::string& settings) const {
    using nlohmann::json;
    json config{{"n_layer", 1},
                {"n_head", 2},
                {"n_embd", 8},
                {"n_positions", 16},
                {"vocab_size", encoding.size()}};
    if (!settings.empty()) config.update(json::parse(str_cat("{", settings.substr(1), "}")));
    write_bytes(folder / "config.json", config.dump());
  }

  Outcome sample(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"sample", "--model", folder.path().string()});
    return outcome_of(gpt::run_program, "gpt", arguments);
  }
  // The error on sampling, which is one line.
  std::string error() const {
    const Outcome outcome = sample();
    CHECK(outcome.status == 1);
    CHECK(outcome.output.empty());
    CHECK(is_one_line(outcome.errors));
    return outcome.errors;
  }
  std::string error_with_config(const std::string& settings) const {
    set_config(settings);
    return error();
  }
};

}  // namespace

TEST_CASE("gpt sample: continues a prompt with the tokens that the library generates",
          "[examples]") {
  const ModelFolder saved;
  const Outcome outcome = saved.sample({"--prompt", "the weft", "--tokens", "30", "--seed", "4",
                                        "--top-k", "0", "--temperature", "1.5"});
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  const TokenIds ids =
      generate(saved.model, saved.encoding.encode("the weft"),
               {.max_tokens = 30,
                .sampling = {.temperature = 1.5},
                .seed = 4,
                .eos_token_ids = {*saved.encoding.find(BytePairEncoding::end_of_text)}});
  Utf8StreamDecoder characters;
  std::string expected = "the weft" + characters.add(saved.encoding.decode(ids));
  expected += characters.finish() + '\n';
  CHECK((outcome.output == expected));
  CHECK_NOTHROW(saved.encoding.encode(outcome.output));  // UTF-8
}

TEST_CASE("gpt sample: the most probable text is that of transformers' greedy search",
          "[examples]") {
  const std::string folder = WEFT_TEST_DATA "/byte_pair_encoding";
  const Outcome outcome =
      outcome_of(gpt::run_program, "gpt",
                 {"sample", "--model", folder, "--prompt", "weaver's or thread 12", "--tokens",
                  "36", "--temperature", "0"});
  CHECK(outcome.status == 0);
  CHECK((outcome.output == bytes_of(folder + "/greedy.txt")));
}

TEST_CASE("gpt sample: without a prompt, and several samples", "[examples]") {
  const ModelFolder saved;
  const auto text = [&](const std::string& seed) {
    const Outcome outcome = saved.sample({"--tokens", "5", "--seed", seed});
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  const Outcome both = saved.sample({"--tokens", "5", "--seed", "1", "--samples", "2"});
  CHECK((both.output == text("1") + "---------------\n" + text("2")));
  CHECK(text("1") != text("2"));
}

TEST_CASE("gpt sample: a text ends before the stop text", "[examples]") {
  const ModelFolder saved;
  const std::string all = saved.sample({"--prompt", "the weft", "--tokens", "40"}).output;
  const std::string stop = all.substr(20, 3);
  const Outcome stopped = saved.sample({"--prompt", "the weft", "--tokens", "40", "--stop", stop});
  CHECK((stopped.output == all.substr(0, all.find(stop, 8)) + "\n"));
  CHECK_FALSE(contains(stopped.errors, "40 tokens"));
}

TEST_CASE("gpt sample: reads weights under the names of GPT-2 and of nanoGPT", "[examples]") {
  ModelFolder saved;
  const std::string expected = saved.sample().output;
  for (const Layout layout : {Layout::gpt2, Layout::nanogpt, Layout::pytorch}) {
    save_weights(saved.folder / "model.h5", saved.model, {.layout = layout});
    CHECK((saved.sample().output == expected));
  }
}

TEST_CASE("gpt sample: reads the settings of GPT-2 and of nanoGPT", "[examples]") {
  const ModelFolder saved;
  const std::string expected = saved.sample().output;
  saved.set_config(
      ", \"n_ctx\": 16, \"n_inner\": null, \"activation_function\": \"gelu_new\", "
      "\"layer_norm_epsilon\": 1e-05, \"model_type\": \"gpt2\", \"scale_attn_weights\": true, "
      "\"tie_word_embeddings\": true, \"resid_pdrop\": 0.1, \"architectures\": [\"GPT2\"]");
  CHECK((saved.sample().output == expected));
  saved.set_config(", \"n_positions\": null, \"block_size\": 16, \"bias\": true, \"n_inner\": 32");
  CHECK((saved.sample().output == expected));
  saved.set_config(", \"activation_function\": \"gelu\", \"layer_norm_epsilon\": 0.5");
  CHECK((saved.sample().output != expected));
}

TEST_CASE("gpt sample: bad settings are an error", "[examples]") {
  const ModelFolder saved;
  const auto error = [&](const std::string& settings) { return saved.error_with_config(settings); };
  CHECK(
      contains(error(", \"n_layer\": null"), "config.json\": n_layer: expected a value, got null"));
  CHECK(contains(error(", \"n_embd\": -8"),
                 "config.json\": n_embd: expected an integer from 1 to 2147483647, got -8"));
  CHECK(contains(error(", \"n_head\": 3"), "config.json\": MultiHeadAttention: expected"));
  for (const char* const size : {"n_embd", "n_layer"})
    CHECK(
        contains(error(str_cat(", \"", size, "\": 2147483647")), "model.h5\", got a larger model"));
  CHECK(contains(error(", \"vocab_size\": 260"),
                 str_cat("config.json\": expected vocab_size of at least the ",
                         saved.encoding.size(), " tokens of the tokenizer, got 260")));
  CHECK(contains(error(", \"activation_function\": \"gulu\""),
                 "config.json\": activation_function: expected one of gelu_new, "));
  CHECK(contains(error(", \"scale_attn_by_inverse_layer_idx\": true"),
                 "scale_attn_by_inverse_layer_idx: expected false, got true"));
  CHECK(contains(error(", \"n_inner\": {}"), "n_inner: expected an integer, got object"));
  CHECK(contains(error(", \"layer_norm_epsilon\": \"x\""),
                 "layer_norm_epsilon: expected a number, got string"));
  CHECK(contains(
      error(", \"model_type\": \"mamba\""),
      "model_type: expected gpt2, llama, mistral, qwen2, qwen3, gpt_neox or bloom, got 'mamba'"));
  CHECK(contains(error(", \"frobnicate\": 3"), "frobnicate: expected a known entry, got 3"));
  write_bytes(saved.folder / "config.json", "{\"n_layer\": 1,}");
  CHECK(contains(saved.error(), "config.json\": expected JSON, got an error in line 1"));
  write_bytes(saved.folder / "config.json", "[]");
  CHECK(contains(saved.error(), "config.json\": configuration: expected an object, got array"));
}

TEST_CASE("gpt sample: files that are missing or no weights are an error", "[examples]") {
  for (const char* name : {"config.json", "vocab.json", "merges.txt", "model.h5"}) {
    const ModelFolder saved;
    std::filesystem::remove(saved.folder / name);
    CHECK(contains(saved.error(), name));
    write_bytes(saved.folder / name, "");
    CHECK(contains(saved.error(), name));
    write_bytes(saved.folder / name, "\xFFtext");
    CHECK(contains(saved.error(), name));
    std::filesystem::remove(saved.folder / name);
    std::filesystem::create_directory(saved.folder / name);
    CHECK(contains(saved.error(), name));
  }
}

TEST_CASE("gpt sample: weights of another size are an error that names them", "[examples]") {
  const ModelFolder saved;
  saved.set_config(", \"n_positions\": 17");
  const Outcome outcome = saved.sample();
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.errors, "positions.weight"));
}

TEST_CASE("gpt: bad command lines are refused", "[examples]") {
  const ModelFolder saved;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--tokens", "0"},
                                                    {"--temperature", "-1"},
                                                    {"--top-k", "x"},
                                                    {"--seed", "-1"},
                                                    {"--samples", "0"},
                                                    {"--prompt", ""},
                                                    {"--top-p", "1.5"},
                                                    {"--top-p", "0"},
                                                    {"--min-p", "-0.5"},
                                                    {"--repetition-penalty", "0"},
                                                    {"--prompt", "a", "--interactive"},
                                                    {"--unknown"},
                                                    {"text"}}) {
    const Outcome outcome = saved.sample(arguments);
    CHECK(outcome.status == 2);
    CHECK(is_one_line(outcome.errors));
  }
  CHECK(outcome_of(gpt::run_program, "gpt", {"sing"}).status == 2);
  CHECK(outcome_of(gpt::run_program, "gpt", {}).status == 2);
  CHECK(contains(outcome_of(gpt::run_program, "gpt", {"--help"}).output, "  sample  "));
  const Outcome invalid = saved.sample({"--prompt", "\xFF"});
  CHECK(invalid.status == 1);
  CHECK(contains(invalid.errors, "expected UTF-8 text, got byte 255 at position 0"));
}
