// Configurations with entries that others replace, that are left out or that have no effect.
// write_configurations.py wrote what transformers and PEFT compute with them.
#include <fstream>
#include <nlohmann/json.hpp>

#include <weft/autograd/error.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include "tests/catch.hpp"
#include "tests/golden/comparison.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const fs::path folders = WEFT_TEST_DATA "/language_models";

// A copy of a folder whose configuration has other entries; null removes one.
struct Variant {
  TemporaryFolder folder;

  Variant(const std::string& name, const json& changes) {
    for (const auto& entry : fs::directory_iterator(folders / name))
      fs::copy_file(entry.path(), folder / entry.path().filename().string());
    const fs::path path = folder / (name == "llama_lora" ? "adapter_config.json" : "config.json");
    json config = json::parse(std::ifstream(path));
    for (const auto& [entry, value] : changes.items())
      if (value.is_null())
        config.erase(entry);
      else
        config[entry] = value;
    std::ofstream(path) << config;
  }
  void set_null(const std::string& entry) const {
    const fs::path path = folder / "config.json";
    json config = json::parse(std::ifstream(path));
    config[entry] = nullptr;
    std::ofstream(path) << config;
  }
};

Tensor<double> values_of(const std::string& name, const fs::path& folder, const Tokens& tokens) {
  Tape<double> tape = Tape<double>::inference();
  if (name.ends_with("bert") || name == "roberta")
    return load_bert<double>(folder).model(tape, tokens).value();
  const bool is_adapter = name == "llama_lora";
  auto model = load_gpt<double>(is_adapter ? folders / "llama" : folder).model;
  if (is_adapter) load_lora(folder, model);
  return model(tape, tokens).value();
}

std::string error_with(const std::string& name, const json& changes) {
  const Variant variant(name, changes);
  const Tokens tokens({1, 3}, {3, 4, 5});
  const std::string message =
      message_of<FileError>([&] { values_of(name, variant.folder.path(), tokens); });
  return message.substr(message.find(": ") + 2);
}

LoadedModel<Gpt<float>> read_with(const std::string& name, const json& changes) {
  return load_gpt(Variant(name, changes).folder.path());
}

}  // namespace

TEST_CASE("configurations: entries mean what they mean in transformers and PEFT", "[golden]") {
  const auto variants = json::parse(std::ifstream(WEFT_TEST_DATA "/configurations.json"));
  const Hdf5File expected(WEFT_TEST_DATA "/configurations.h5");
  const Tokens tokens = expected.tensor<TokenId>("tokens");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const auto name = variants[i]["folder"].get<std::string>();
    CAPTURE(variants[i]["name"].get<std::string>());
    const Variant variant(name, variants[i]["changes"]);
    const Tensor<double> all = values_of(name, variant.folder.path(), tokens);
    const Index time = all.shape()[1], size = all.shape()[2];
    Tensor<double> last({2, size});
    for (Index row = 0; row < 2; ++row)
      for (Index c = 0; c < size; ++c) last(row, c) = all(row, time - 1, c);
    CHECK(golden::relative_error(last, expected.tensor<double>(str_cat("values/", i))) < 1e-9);
  }
}

TEST_CASE("configurations: windows and ends", "[golden]") {
  CHECK(read_with("mistral", {{"sliding_window", nullptr}}).model.options.window == 4096);
  CHECK(read_with("llama", {{"sliding_window", 3}}).model.options.window == std::nullopt);
  CHECK(read_with("qwen2", {{"sliding_window", 3}}).model.options.window == std::nullopt);
  // Ids outside of the vocabulary are never generated.
  CHECK(read_with("gpt2", {{"eos_token_id", 50256}}).eos_token_ids.empty());
  CHECK(read_with("llama", {{"eos_token_id", {5, 48, -1}}}).eos_token_ids == TokenIds{5});
  const Variant variant("llama", json::object());
  std::ofstream(variant.folder / "generation_config.json") << R"({"eos_token_id": [7, 50256]})";
  CHECK(load_gpt(variant.folder.path()).eos_token_ids == TokenIds{7});
  std::ofstream(variant.folder / "generation_config.json") << R"({"eos_token_id": 50256})";
  CHECK(load_gpt(variant.folder.path()).eos_token_ids.empty());
  std::ofstream(variant.folder / "generation_config.json") << "{}";
  CHECK(load_gpt(variant.folder.path()).eos_token_ids == TokenIds{2});
  // The default of the class, unless the entry is null.
  CHECK(read_with("bloom", {{"eos_token_id", nullptr}}).eos_token_ids == TokenIds{2});
  CHECK(read_with("qwen2", {{"eos_token_id", nullptr}}).eos_token_ids.empty());
  const Variant null("llama", json::object());
  null.set_null("eos_token_id");
  CHECK(load_gpt(null.folder.path()).eos_token_ids.empty());
}

TEST_CASE("configurations: a written window is read again", "[golden]") {
  const TemporaryFolder folder;
  for (const bool is_qwen : {true, false}) {
    GptOptions options = read_with(is_qwen ? "qwen2" : "mistral", json::object()).model.options;
    options.window = is_qwen ? std::optional<Index>(5) : std::nullopt;
    Random random(1);
    save_pretrained(folder.path(), Gpt(options, random));
    const GptOptions again = load_gpt(folder.path()).model.options;
    CHECK(again.window == options.window);
    CHECK(again.qkv_bias == options.qkv_bias);
  }
}

TEST_CASE("configurations: tokens outside the vocabulary are not written", "[golden]") {
  const TemporaryFolder folder;
  const Gpt<float> gpt = read_with("gpt2", json::object()).model;
  const TokenId size = static_cast<TokenId>(gpt.options.vocabulary_size);
  for (const TokenIds& ids : {TokenIds{size}, TokenIds{0, -1}})
    CHECK_THROWS_WITH(save_pretrained(folder.path(), gpt, {.eos_token_ids = ids}),
                      Catch::Contains("eos_token_id: expected a token from 0 to"));
  save_pretrained(folder.path(), gpt, {.eos_token_ids = {0, size - 1}});
  CHECK(load_gpt(folder.path()).eos_token_ids == TokenIds{0, size - 1});
}

TEST_CASE("configurations: entries without effect are accepted", "[golden]") {
  const json entries = {{"unsloth_version", "2025.1"},
                        {"num_labels", 3},
                        {"is_decoder", false},
                        {"output_hidden_states", true},
                        {"sentence_transformers", {{"version", "1"}}},
                        {"max_length", 20},
                        {"author", "A"},
                        {"eos_token", "</s>"},
                        {"pruned_heads", json::object()}};
  for (const auto& [name, value] : entries.items())
    for (const char* const folder : {"gpt2", "llama", "bloom", "bert", "roberta"}) {
      CAPTURE(name, folder);
      const Variant variant(folder, {{name, value}});
      CHECK_NOTHROW(values_of(folder, variant.folder.path(), Tokens({1, 2}, {3, 4})));
    }
}

TEST_CASE("configurations: entries of published models without effect are accepted", "[golden]") {
  CHECK_NOTHROW(read_with("gpt2", {{"n_special", 0}, {"predict_special_tokens", true}}));
  CHECK_NOTHROW(read_with("qwen2", {{"use_mrope", false}}));
  const json tiny = {{"cell", json::object()},
                     {"emb_size", 312},
                     {"pre_trained", ""},
                     {"structure", json::array()},
                     {"training", ""}};
  const Variant variant("bert", tiny);
  CHECK_NOTHROW(values_of("bert", variant.folder.path(), Tokens({1, 2}, {3, 4})));
}

TEST_CASE("configurations: what is not supported is refused by name", "[golden]") {
  const json nested = {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 5.0}}}};
  CHECK(error_with("llama", {{"rope_parameters", nested}})
            .starts_with("rope_parameters: expected only known entries, got full_attention: {"));
  const json yarn = {{"rope_type", "yarn"}, {"factor", 4.0}};
  CHECK(error_with("llama", {{"rope_scaling", yarn}}) ==
        "rope_scaling: expected default, linear or llama3, got 'yarn'");
  const json part = {{"rope_type", "linear"}, {"factor", 2.0}, {"partial_rotary_factor", 0.5}};
  CHECK(error_with("llama", {{"rope_parameters", part}}) ==
        "partial_rotary_factor: expected 1 with this model and rope_type, got 0.5");
  CHECK(error_with("qwen2", {{"use_sliding_window", true},
                             {"sliding_window", 5},
                             {"max_window_layers", 1},
                             {"layer_types", nullptr}}) ==
        "sliding_window: expected a window in all layers or in no layer, got a window in 1 of 2 "
        "layers");
  CHECK(error_with("mistral", {{"layer_types", {"full_attention", "sliding_attention"}}}) ==
        "sliding_window: expected a window in all layers or in no layer, got a window in 1 of 2 "
        "layers");
  CHECK(error_with("mistral", {{"layer_types", {"full_attention"}}})
            .starts_with("layer_types: expected a list of 2 types, got"));
  CHECK(error_with("llama", {{"quantization_config", {{"quant_method", "fp8"}}}})
            .starts_with("quantization_config: expected a known entry"));
  CHECK(error_with("llama", {{"pruned_heads", {{"0", {1}}}}})
            .starts_with("pruned_heads: expected a known entry"));
  CHECK(error_with("bloom", {{"slow_but_exact", true}, {"pretraining_tp", 2}}) ==
        "slow_but_exact: expected false with a pretraining_tp above 1, got true");
  for (const char* const kind : {"pissa", "pissa_niter_4", "olora", "corda", "loftq", "lora_ga"})
    CHECK(error_with("llama_lora", {{"init_lora_weights", kind}})
              .starts_with("init_lora_weights: expected true, false, gaussian"));
  CHECK(error_with("llama_lora", {{"lora_scale", 2}}) ==
        "lora_scale: expected a known entry, got 2");
  for (const json& change :
       {json{{"target_modules", {"q_proj"}}}, json{{"target_modules", ".*q_proj"}},
        json{{"exclude_modules", {"v_proj"}}}, json{{"layers_to_transform", {1}}}})
    CHECK(error_with("llama_lora", change)
              .starts_with("target_modules: expected all layers with adapter weights, got a list "
                           "without model."));
  CHECK(error_with("llama_lora", {{"alpha_pattern", {{"q_proj", 1}, {".*proj", 2}}}})
            .starts_with("alpha_pattern: expected one value for each layer, got "));
}

TEST_CASE("configurations: null is refused where transformers refuses it", "[golden]") {
  const Variant variant("gpt_neox", json::object());
  variant.set_null("use_parallel_residual");
  CHECK(message_of<FileError>([&] {
          load_gpt(variant.folder.path());
        }).ends_with("use_parallel_residual: expected a value, got null"));
}

TEST_CASE("configurations: entries that a file does not state have the values of transformers",
          "[golden]") {
  const auto gpt = [](const std::string& name, const json& changes) {
    return read_with(name, changes).model.options;
  };
  CHECK(gpt("gpt_neox", {{"use_parallel_residual", nullptr}}).parallel_residual);
  CHECK(gpt("gpt2", {{"n_ctx", 5}}) == gpt("gpt2", json::object()));
  CHECK(gpt("qwen2", {{"use_sliding_window", true},
                      {"sliding_window", 5},
                      {"max_window_layers", nullptr},
                      {"layer_types", nullptr}})
            .window == std::nullopt);  // the first 28 layers have none
  CHECK(error_with("qwen2", {{"num_key_value_heads", nullptr}}) ==
        "MultiHeadAttention: num_kv_heads: expected a positive divisor of num_heads 4, got 32");
  const Variant mistral("mistral", json::object());
  mistral.set_null("sliding_window");
  CHECK(load_gpt(mistral.folder.path()).model.options.window == std::nullopt);

  const Variant t5(
      "t5", {{"relative_attention_max_distance", nullptr}, {"scale_decoder_outputs", nullptr}});
  t5.set_null("tie_word_embeddings");
  const EncoderDecoderOptions options = load_encoder_decoder(t5.folder.path()).model.options;
  CHECK(options.transformer.position_bias->max_distance == 128);
  CHECK(options.scales_output);
}

TEST_CASE("configurations: a BERT in weft's format has its pooler and two segments", "[golden]") {
  const Variant variant("bert", {{"type_vocab_size", nullptr}});
  const Bert<float> bert = load_bert(variant.folder.path()).model;
  REQUIRE(bert.options.pooler);
  CHECK(bert.options.num_segments == 2);
  save_weights(variant.folder / "model.h5", bert);
  fs::remove(variant.folder / "model.safetensors");
  CHECK(load_bert(variant.folder.path()).model.options == bert.options);
}

TEST_CASE("configurations: a tokenizer with more tokens than the model is refused", "[golden]") {
  const Variant variant("gpt2", json::object());
  json tokens = json::array();
  for (int id = 0; id < 60; ++id) tokens.push_back({str_cat("t", id), -1.0});
  const json file = {{"model", {{"type", "Unigram"}, {"vocab", tokens}}}};
  std::ofstream(variant.folder / "tokenizer.json") << file;
  CHECK(contains(message_of<FileError>([&] { load_gpt(variant.folder.path()); }),
                 "vocab_size of at least the 60 tokens of the tokenizer"));
}
