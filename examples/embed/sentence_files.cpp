#include "examples/embed/sentence_files.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include <weft/autograd/enum_names.hpp>
#include <weft/train/files/safetensors/safetensors_file.hpp>
#include <weft/train/files/utf8.hpp>
#include "examples/common/json_config.hpp"

namespace weft::embed {
namespace {

namespace fs = std::filesystem;
using examples::JsonConfig;

// A sentence-transformers module: its class and its folder.
struct Module {
  std::string type;  // the name of its class
  fs::path folder;
};

constexpr EnumNames<Pooling, 5> pooling_modes{{
    {Pooling::first, "cls"},
    {Pooling::max, "max"},
    {Pooling::mean, "mean"},
    {Pooling::mean, "mean_sqrt_len_tokens"},
    {Pooling::last, "lasttoken"},
}};

constexpr EnumNames<Activation, 6> torch_activations{{
    {Activation::none, "torch.nn.modules.linear.Identity"},
    {Activation::tanh, "torch.nn.modules.activation.Tanh"},
    {Activation::relu, "torch.nn.modules.activation.ReLU"},
    {Activation::gelu, "torch.nn.modules.activation.GELU"},
    {Activation::silu, "torch.nn.modules.activation.SiLU"},
    {Activation::sigmoid, "torch.nn.modules.activation.Sigmoid"},
}};

// Throws FileError unless a field is absent or has one of the `allowed` values.
void require(const JsonConfig& config, const std::string& name,
             std::initializer_list<nlohmann::json> allowed) {
  if (config.has(name) && std::ranges::find(allowed, config.at(name)) == allowed.end())
    config.fail_on(name, allowed.begin()->dump());
}

std::vector<Module> modules_in(const fs::path& folder) {
  const fs::path path = folder / "modules.json";
  if (!fs::exists(path)) return {{"Transformer", folder}, {"Pooling", folder / "1_Pooling"}};
  std::vector<Module> modules;
  for (const JsonConfig& module : JsonConfig::list_in(path)) {
    const std::string type = module.text("type");
    const fs::path part = module.text("path", "");
    if (part.is_absolute() || std::ranges::count(part, fs::path("..")) > 0)
      module.fail_on("path", "a folder below that of modules.json");
    modules.push_back({type.substr(type.rfind('.') + 1), part.empty() ? folder : folder / part});
    const std::string& name = modules.back().type;
    const bool is_last = modules.size() > 1 && modules[modules.size() - 2].type == "Normalize";
    const std::size_t place = modules.size();
    if ((place == 1 && name != "Transformer") || (place == 2 && name != "Pooling") ||
        (place > 2 && name != "Dense" && name != "Normalize") || (is_last && name != "Normalize"))
      module.fail_on("type",
                     "Transformer, Pooling, any number of Dense, and Normalize, in this order");
  }
  if (modules.size() < 2)
    fail<FileError>(str_cat("configuration '", path.string(), "'"),
                    "at least the modules Transformer and Pooling", modules.size());
  return modules;
}

// Throws FileError if the special tokens have other names than BERT's.
void check_special_tokens(const JsonConfig& config) {
  for (const auto& [name, expected] :
       {std::pair("cls_token", "[CLS]"), {"sep_token", "[SEP]"}, {"unk_token", "[UNK]"}}) {
    const nlohmann::json& token = config.at(name);
    const nlohmann::json text =
        token.is_object() ? token.value("content", nlohmann::json()) : token;
    if (!text.is_null() && text != expected) config.fail_on(name, expected);
  }
}

// Throws FileError for an added token that is neither in added_tokens.json nor a special token of
// BERT.
void check_added_token(const JsonConfig& config, const char* field, const nlohmann::json& token,
                       const WordPieceOptions& options) {
  constexpr std::array<std::string_view, 5> special{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  const nlohmann::json content =
      token.is_object() ? token.value("content", nlohmann::json()) : token;
  const std::string text = content.is_string() ? content.get<std::string>() : "";
  if (std::ranges::find(special, text) == special.end() && !options.added_tokens.contains(text))
    fail<FileError>(config.what(), str_cat("tokens of added_tokens.json as ", field),
                    content.dump());
}

void read_tokenizer(const fs::path& folder, SentenceFiles& files) {
  if (const fs::path path = folder / "added_tokens.json"; fs::exists(path)) {
    const JsonConfig config(path);
    for (const std::string& name : config.names())
      files.tokenizer.added_tokens.emplace(name, static_cast<TokenId>(config.size(name)));
  }
  if (const fs::path path = folder / "special_tokens_map.json"; fs::exists(path))
    check_special_tokens(JsonConfig(path));
  // Hugging Face's BertTokenizer prefers the vocabulary and the added tokens of tokenizer.json.
  files.vocabulary = folder / "vocab.txt";
  if (const fs::path path = folder / "tokenizer.json"; fs::exists(path)) {
    files.vocabulary = path;
    const JsonConfig config(path, max_vocabulary_bytes);
    for (const nlohmann::json& token : config.at("added_tokens"))
      check_added_token(config, "added_tokens", token, files.tokenizer);
  }
  const fs::path path = folder / "tokenizer_config.json";
  if (!fs::exists(path)) return;
  const JsonConfig config(path);
  check_special_tokens(config);
  require(config, "tokenize_chinese_chars", {true});
  require(config, "truncation_side", {"right"});
  require(config, "tokenizer_class",
          {"BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "DistilBertTokenizerFast"});
  files.tokenizer.lower_case = config.flag("do_lower_case", true);
  if (config.has("strip_accents")) files.tokenizer.strip_accents = config.flag("strip_accents");
  if (const double limit = config.number("model_max_length", 1e9); limit < 1e9)
    files.max_len = config.size("model_max_length");
  for (const nlohmann::json& token : config.at("added_tokens_decoder"))
    check_added_token(config, "added_tokens_decoder", token, files.tokenizer);
}

void read_transformer(const fs::path& folder, SentenceFiles& files) {
  files.transformer = folder;
  // transformers would apply the adapters, to the weights in this folder or to another model.
  if (fs::exists(folder / "adapter_config.json"))
    fail<FileError>(str_cat("folder '", folder.string(), "'"), "a model without adapters",
                    "adapter_config.json");
  read_tokenizer(folder, files);
  for (const char* const kind :
       {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"}) {
    const fs::path path = folder / str_cat("sentence_", kind, "_config.json");
    if (!fs::exists(path)) continue;
    const JsonConfig config(path);
    config.check_names({"max_seq_length", "do_lower_case", "transformer_task", "modality_config",
                        "module_output_name", "unpad_inputs"});
    require(config, "transformer_task", {"feature-extraction"});
    require(config, "module_output_name", {"token_embeddings"});
    if (config.has("max_seq_length")) files.max_len = config.size("max_seq_length");
    if (config.flag("do_lower_case", false)) {
      // sentence-transformers converts to lower case before the tokenizer, whose setting for
      // accents remains.
      WordPieceOptions& options = files.tokenizer;
      options.strip_accents = options.strip_accents.value_or(options.lower_case);
      options.lower_case = true;
    }
    return;
  }
}

// Reads the pooling settings. Returns whether the pooled vector includes the prompt.
bool read_pooling(const fs::path& folder, SentenceFiles& files) {
  const fs::path path = folder / "config.json";
  if (!fs::exists(path)) return true;
  const JsonConfig config(path);
  config.check_names({"word_embedding_dimension", "embedding_dimension", "include_prompt",
                      "pooling_mode", "pooling_mode_cls_token", "pooling_mode_max_tokens",
                      "pooling_mode_mean_tokens", "pooling_mode_mean_sqrt_len_tokens",
                      "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"});
  std::vector<std::string> modes;
  if (config.has("pooling_mode")) {
    const nlohmann::json& mode = config.at("pooling_mode");
    for (const nlohmann::json& one : mode.is_array() ? mode : nlohmann::json::array({mode}))
      modes.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  } else {
    for (const auto& [field, mode] : {std::pair("pooling_mode_cls_token", "cls"),
                                      {"pooling_mode_max_tokens", "max"},
                                      {"pooling_mode_mean_tokens", "mean"},
                                      {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
                                      {"pooling_mode_weightedmean_tokens", "weightedmean"},
                                      {"pooling_mode_lasttoken", "lasttoken"}})
      if (config.flag(field, false)) modes.emplace_back(mode);
    if (modes.empty()) modes.emplace_back("mean");
  }
  const auto mode = std::ranges::find(pooling_modes, modes.front(),
                                      [](const auto& named) { return std::string(named.second); });
  if (modes.size() != 1 || mode == pooling_modes.end()) {
    std::string all;
    for (const std::string& one : modes) all += (all.empty() ? "" : " and ") + one;
    fail<FileError>(config.what(),
                    "cls, max, mean, mean_sqrt_len_tokens or lasttoken as pooling mode", all);
  }
  files.pooling = mode->first;
  files.is_divided_by_root = modes.front() == "mean_sqrt_len_tokens";
  return config.flag("include_prompt", true);
}

DenseLayer dense_in(const fs::path& folder) {
  const JsonConfig config(folder / "config.json");
  config.check_names({"in_features", "out_features", "bias", "activation_function",
                      "module_input_name", "module_output_name", "use_residual"});
  require(config, "use_residual", {false});
  for (const char* const name : {"module_input_name", "module_output_name"})
    require(config, name, {"sentence_embedding"});
  const std::string name = config.text("activation_function", "torch.nn.modules.activation.Tanh");
  const auto activation = std::ranges::find(
      torch_activations, name, [](const auto& named) { return std::string(named.second); });
  if (activation == torch_activations.end())
    config.fail_on("activation_function", "Identity, Tanh, ReLU, GELU, SiLU or Sigmoid of torch");
  const Index rows = config.size("out_features"), columns = config.size("in_features");
  const bool bias = config.flag("bias", true);
  // Read the weight first, which checks the sizes before memory is allocated for them.
  const SafetensorsFile file(folder / "model.safetensors");
  Tensor<float> weight = file.tensor<float>("linear.weight", {rows, columns});
  Random zeros = Random::zeros();
  DenseLayer layer{
      Linear<float>({.in_features = columns, .out_features = rows, .bias = bias}, zeros),
      activation->first};
  layer.linear.weight.set_value(std::move(weight));
  if (bias) layer.linear.bias->set_value(file.tensor<float>("linear.bias", {rows}));
  return layer;
}

std::string prompt_in(const fs::path& folder) {
  const fs::path path = folder / "config_sentence_transformers.json";
  if (!fs::exists(path)) return "";
  const JsonConfig config(path);
  config.check_names(
      {"__version__", "default_prompt_name", "model_type", "prompts", "similarity_fn_name"});
  require(config, "model_type", {"SentenceTransformer"});
  if (!config.has("default_prompt_name")) return "";
  const std::string name = config.text("default_prompt_name");
  const nlohmann::json& prompts = config.at("prompts");
  const auto prompt = prompts.find(name);
  if (!prompts.is_object() || prompt == prompts.end() || !prompt->is_string())
    config.fail_on("default_prompt_name", "the name of one of the prompts");
  return prompt->get<std::string>();
}

}  // namespace

SentenceFiles read_sentence_files(const fs::path& folder) {
  SentenceFiles files;
  files.prompt = prompt_in(folder);
  for (const auto& [type, path] : modules_in(folder)) {
    if (type == "Transformer") read_transformer(path, files);
    if (type == "Pooling" && !read_pooling(path, files) && !files.prompt.empty())
      fail<FileError>(str_cat("configuration '", (path / "config.json").string(), "'"),
                      "true as include_prompt with a default prompt", "false");
    if (type == "Dense") files.dense.push_back(dense_in(path));
  }
  // Without a Dense module, mean_sqrt_len_tokens and mean have the same direction.
  if (files.is_divided_by_root && !files.dense.empty())
    fail<FileError>(str_cat("folder '", folder.string(), "'"),
                    "cls, max, mean or lasttoken before a Dense module", "mean_sqrt_len_tokens");
  return files;
}

}  // namespace weft::embed
