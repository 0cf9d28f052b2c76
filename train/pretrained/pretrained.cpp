#include "weft/train/pretrained/pretrained.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/safetensors/safetensors_file.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/pretrained/internal/model_forms.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// Calls `read`, and names the file in what it throws.
template <class Read>
auto in_file(const fs::path& path, const Read& read) {
  try {
    return read();
  } catch (const ValueError& error) {
    throw FileError(str_cat(quoted(path), ": ", error.what()));
  }
}

// What read(config) says of a JSON file in a folder.
template <class Read>
auto read_config(const fs::path& path, const Read& read) {
  constexpr std::uintmax_t max_bytes = 4 << 20;
  return in_file(path, [&] {
    ModelConfig config(parse_json(read_text(path, max_bytes), path));
    return read(config);
  });
}

// The same of config.json, all of whose entries have to be read.
template <class Read>
auto read_model_config(const fs::path& folder, const Read& read) {
  return read_config(folder / "config.json", [&](ModelConfig& config) {
    auto result = read(config);
    config.check_all_read();
    return result;
  });
}

// eos_token_id of generation_config.json, or else the one given, of config.json.
TokenIds ends_in(const fs::path& folder, TokenIds ends, Index vocabulary_size) {
  const fs::path path = folder / "generation_config.json";
  if (std::error_code error; !fs::exists(path, error)) return ends;
  return read_config(path, [&](ModelConfig& config) {
    if (config.has("eos_token_id")) config.tokens("eos_token_id", ends, vocabulary_size);
    return ends;
  });
}

bool has_dataset(const fs::path& weights, std::string_view end) {
  const Names names = open_tensor_file(weights)->datasets();
  return std::ranges::any_of(names, [&](const std::string& name) { return name.ends_with(end); });
}

// The model with the weights of a folder: its embeddings have `rows` vectors.
template <class Model, class Options>
Model load(const fs::path& folder, const Options& options, const TransformerOptions& t, Index rows,
           const LoadWeightsOptions& load_options = {}) {
  const fs::path weights = pretrained_weights(folder);
  // The sizes of a configuration are as long as those of the weights, or memory is not taken.
  double stored = 0;
  const std::unique_ptr<const TensorFile> file = open_tensor_file(weights);
  for (const std::string& path : file->datasets())
    stored += static_cast<double>(file->shape(path).elements());
  const auto number = [](Index index) { return static_cast<double>(index); };
  const double heads = number(t.num_heads),
               head_size = t.head_size ? number(*t.head_size) : number(t.num_hiddens) / heads,
               of_block = 2 * (number(t.ffn_num_hiddens) + heads * head_size),
               biases = t.position_bias && !t.position_bias->alibi
                            ? heads * number(t.position_bias->num_buckets)
                            : 0;
  const double needed =
      number(t.num_hiddens) * (number(rows) + number(t.num_blocks) * of_block) + biases;
  if (needed > stored)
    fail_on_file(folder / "config.json",
                 str_cat("a model of the ", stored, " weights of ", quoted(weights)),
                 str_cat("one of more than ", needed));
  return in_file(folder / "config.json", [&] {
    Random zeros = Random::zeros();
    Model model(options, zeros);
    (void)load_weights(weights, model, load_options);
    return model;
  });
}

template <class T>
void save(const fs::path& folder, const Module<T>& model, const ModelConfig& config,
          const SaveWeightsOptions& options) {
  std::error_code error;  // or writing fails, and says why
  fs::create_directories(folder, error);
  save_weights(folder / "model.safetensors", model, options);
  const std::string text = config.entries().dump(2) + "\n";
  write_atomically(folder / "config.json", std::as_bytes(std::span(text)));
}

}  // namespace

PretrainedGpt read_pretrained_gpt(const fs::path& folder) {
  PretrainedGpt result = read_model_config(folder, [](ModelConfig& config) {
    PretrainedGpt read{gpt_options(config), {}};
    config.tokens("eos_token_id", read.ends, read.options.vocabulary_size, default_end(config));
    return read;
  });
  result.ends = ends_in(folder, std::move(result.ends), result.options.vocabulary_size);
  return result;
}

PretrainedEncoderDecoder read_pretrained_encoder_decoder(const fs::path& folder) {
  PretrainedEncoderDecoder result = read_model_config(folder, [](ModelConfig& config) {
    PretrainedEncoderDecoder read;
    read.options = t5_options(config);
    const Index tokens = read.options.target_vocabulary_size;
    TokenId padding = 0;
    config.token("pad_token_id", padding, 0, tokens);
    config.token("decoder_start_token_id", read.start, padding, tokens);
    config.tokens("eos_token_id", read.ends, tokens, 1u);
    return read;
  });
  EncoderDecoderOptions& options = result.options;
  options.tied =
      options.scales_output || !has_dataset(pretrained_weights(folder), "lm_head.weight");
  result.ends = ends_in(folder, std::move(result.ends), options.target_vocabulary_size);
  return result;
}

BertOptions read_pretrained_bert(const fs::path& folder) {
  BertOptions options = read_model_config(folder, bert_options);
  const fs::path weights = pretrained_weights(folder);
  options.pooler = has_dataset(weights, "pooler.dense.weight") ||
                   has_dataset(weights, "pooler/weight");  // Hugging Face's name, and weft's
  return options;
}

fs::path pretrained_weights(const fs::path& folder) {
  std::error_code error;
  for (const char* const name : {"model.safetensors", "model.safetensors.index.json", "model.h5"})
    if (fs::exists(folder / name, error)) return folder / name;
  fail_on_file(folder, "model.safetensors, model.safetensors.index.json or model.h5",
               "none of them");
}

template <class T>
Gpt<T> load_pretrained_gpt(const fs::path& folder) {
  const GptOptions options = read_pretrained_gpt(folder).options;
  const Index positions = options.has_learned_positions() ? options.max_len : 0;
  return load<Gpt<T>>(folder, options, options.transformer(), options.vocabulary_size + positions);
}

template <class T>
EncoderDecoder<T> load_pretrained_encoder_decoder(const fs::path& folder) {
  const EncoderDecoderOptions options = read_pretrained_encoder_decoder(folder).options;
  TransformerOptions all = options.transformer;
  all.num_blocks += options.num_decoder_blocks.value_or(all.num_blocks);
  return load<EncoderDecoder<T>>(folder, options, all, options.source_vocabulary_size);
}

template <class T>
Bert<T> load_pretrained_bert(const fs::path& folder) {
  const BertOptions options = read_pretrained_bert(folder);
  // Heads for what a model was trained for are no part of a Bert.
  return load<Bert<T>>(folder, options, options.transformer(),
                       options.vocabulary_size + options.max_len + options.num_segments,
                       {.ignore_unexpected = {"cls\\..*", "(lm_head|classifier|qa_outputs)\\..*"}});
}

template <class T>
void save_pretrained_gpt(const fs::path& folder, const Gpt<T>& model,
                         const PretrainedGpt& description, StorageType storage) {
  ModelConfig config;
  const Layout layout = write_config(config, description.options);
  TokenIds ends = description.ends;
  config.tokens("eos_token_id", ends, description.options.vocabulary_size);
  save(folder, model, config, {.layout = layout, .storage = storage});
}

template <class T>
void save_pretrained_encoder_decoder(const fs::path& folder, const EncoderDecoder<T>& model,
                                     const PretrainedEncoderDecoder& description,
                                     StorageType storage) {
  ModelConfig config;
  write_config(config, description.options);
  TokenId start = description.start;
  TokenIds ends = description.ends;
  const Index tokens = description.options.target_vocabulary_size;
  config.token("decoder_start_token_id", start, start, tokens);
  config.tokens("eos_token_id", ends, tokens);
  save(folder, model, config, {.layout = Layout::t5, .storage = storage});
}

template <class T>
void save_pretrained_bert(const fs::path& folder, const Bert<T>& model, const BertOptions& options,
                          StorageType storage) {
  ModelConfig config;
  write_config(config, options);
  save(folder, model, config, {.layout = Layout::bert, .storage = storage});
}

template Gpt<float> load_pretrained_gpt(const fs::path&);
template Gpt<double> load_pretrained_gpt(const fs::path&);
template EncoderDecoder<float> load_pretrained_encoder_decoder(const fs::path&);
template EncoderDecoder<double> load_pretrained_encoder_decoder(const fs::path&);
template Bert<float> load_pretrained_bert(const fs::path&);
template Bert<double> load_pretrained_bert(const fs::path&);
template void save_pretrained_gpt(const fs::path&, const Gpt<float>&, const PretrainedGpt&,
                                  StorageType);
template void save_pretrained_gpt(const fs::path&, const Gpt<double>&, const PretrainedGpt&,
                                  StorageType);
template void save_pretrained_encoder_decoder(const fs::path&, const EncoderDecoder<float>&,
                                              const PretrainedEncoderDecoder&, StorageType);
template void save_pretrained_encoder_decoder(const fs::path&, const EncoderDecoder<double>&,
                                              const PretrainedEncoderDecoder&, StorageType);
template void save_pretrained_bert(const fs::path&, const Bert<float>&, const BertOptions&,
                                   StorageType);
template void save_pretrained_bert(const fs::path&, const Bert<double>&, const BertOptions&,
                                   StorageType);

}  // namespace weft
