#include "weft/train/pretrained/pretrained.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/safetensors/safetensors_file.hpp"
#include "weft/train/files/utf8.hpp"
#include "weft/train/weights/checkpoint.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/pretrained/internal/model_forms.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Calls `read`. Rethrows a ValueError or ShapeError as a FileError that names the file.
template <class Read>
auto in_file(const fs::path& path, const Read& read) {
  const auto named = [&](const Error& error) {
    return FileError(str_cat(quoted(path), ": ", error.what()));
  };
  try {
    return read();
  } catch (const ValueError& error) {
    throw named(error);
  } catch (const ShapeError& error) {
    throw named(error);
  }
}

// --- Models whose sizes come from a file -----------------------------------------------------

// Whether a model has a table of sinusoids. The table is computed, so its size is not limited by
// the size of a file.
template <class Options>
bool has_sinusoids(const Options&) {
  return false;
}
bool has_sinusoids(const EncoderDecoderOptions& options) {
  return !options.transformer.position_bias;
}
bool has_sinusoids(const EncoderClassifierOptions& options) { return !options.learned_positions; }

// Creates a model with zeros as weights. Throws FileError, before allocating much memory, if the
// model has more weights than the file contains. `described` is the file with the options, and
// `stored` is the number of values in `weights`.
template <class Model, class Options>
Model make_model(const Options& options, const fs::path& described, const fs::path& weights,
                 std::uint64_t stored) {
  constexpr Index most_sinusoids = Index{1} << 26;
  if constexpr (requires { options.transformer.num_hiddens; })
    if (has_sinusoids(options) && options.transformer.num_hiddens > 0 &&
        options.max_len > most_sinusoids / options.transformer.num_hiddens)
      fail_on_file(described, str_cat("max_len · num_hiddens of at most ", most_sinusoids),
                   str_cat(options.max_len, " · ", options.transformer.num_hiddens));
  // Some initializations draw the weights of a layer a second time.
  const std::uint64_t most_drawn = 2 * stored;
  Random zeros = Random::zeros(most_drawn);
  return in_file(described, [&] {
    try {
      return Model(options, zeros);
    } catch (const ValueError&) {
      if (zeros.state().draws > most_drawn)
        fail_on_file(described,
                     str_cat("a model with at most the ", stored, " weights of ", quoted(weights)),
                     "a larger model");
      throw;
    }
  });
}

// --- Checkpoints ----------------------------------------------------------------------------

constexpr const char* type_of(const GptOptions&) { return "Gpt"; }
constexpr const char* type_of(const BertOptions&) { return "Bert"; }
constexpr const char* type_of(const EncoderDecoderOptions&) { return "EncoderDecoder"; }
constexpr const char* type_of(const EncoderClassifierOptions&) { return "EncoderClassifier"; }

template <class Model>
using OptionsOf = decltype(Model::options);

template <class T, class Model>
LoadedModel<Model> load_trained(const fs::path& checkpoint, const LoadModelOptions& load_options) {
  const ModelDescription description = load_model_description(checkpoint);
  if (const std::string type = type_of(OptionsOf<Model>()); description.type != type)
    fail_on_file(checkpoint, "a checkpoint of type " + type,
                 str_cat("type '", printable(description.type), '\''));
  const auto options = in_file(checkpoint, [&] {
    return options_from<OptionsOf<Model>>(description.options, "model_options");
  });
  std::error_code error;
  const std::uintmax_t most_stored = fs::file_size(checkpoint, error) / sizeof(T);
  LoadedModel<Model> loaded{make_model<Model>(options, checkpoint, checkpoint, most_stored)};
  load_checkpoint(checkpoint, loaded.model);
  if (load_options.tokenizer) loaded.tokenizer = load_tokenizer(checkpoint);
  loaded.eos_token_ids = loaded.tokenizer.eos_token_ids();
  return loaded;
}

// --- Folders of Hugging Face models ---------------------------------------------------------

// The relevant contents of config.json and generation_config.json.
template <class Options>
struct Configuration {
  Options options;
  Index vocabulary_size = 0;
  TokenIds eos_token_ids = {};
  TokenId decoder_start_token_id = Vocabulary::bos;
};

// Whether a file contains a dataset whose name ends with `end`.
bool has_dataset(const TensorFile& weights, std::string_view end) {
  return std::ranges::any_of(weights.datasets(),
                             [&](const std::string& name) { return name.ends_with(end); });
}

void read(ModelConfig& config, const TensorFile&, Configuration<GptOptions>& result) {
  result.options = gpt_options(config);
  result.vocabulary_size = result.options.vocabulary_size;
  config.tokens("eos_token_id", result.eos_token_ids, result.vocabulary_size, default_end(config));
}

void read(ModelConfig& config, const TensorFile& weights,
          Configuration<EncoderDecoderOptions>& result) {
  result.options = t5_options(config);
  const Index tokens = result.vocabulary_size = result.options.target_vocabulary_size;
  TokenId padding = 0;
  config.token("pad_token_id", padding, 0, tokens);
  config.token("decoder_start_token_id", result.decoder_start_token_id, padding, tokens);
  config.tokens("eos_token_id", result.eos_token_ids, tokens, 1u);
  result.options.tied = result.options.scales_output || !has_dataset(weights, "lm_head.weight");
}

void read(ModelConfig& config, const TensorFile& weights, Configuration<BertOptions>& result) {
  result.options = bert_options(config);
  result.vocabulary_size = result.options.vocabulary_size;
  result.options.pooler = has_dataset(weights, "pooler.dense.weight") ||
                          has_dataset(weights, "pooler/weight");  // the name in weft's files
}

// Calls read(config) with the contents of a JSON file.
template <class Read>
void read_config(const fs::path& path, const Read& read) {
  constexpr std::uintmax_t max_bytes = 4 << 20;
  in_file(path, [&] {
    ModelConfig config(parse_json(read_text(path, max_bytes), path));
    read(config);
  });
}

template <class Options>
Configuration<Options> read_configuration(const fs::path& folder, const TensorFile& weights) {
  Configuration<Options> result;
  read_config(folder / "config.json", [&](ModelConfig& config) {
    read(config, weights, result);
    config.check_all_read();
  });
  if (std::is_same_v<Options, BertOptions>) return result;
  const fs::path path = folder / "generation_config.json";
  if (std::error_code error; fs::exists(path, error))
    read_config(path, [&](ModelConfig& config) {
      if (config.has("eos_token_id"))
        config.tokens("eos_token_id", result.eos_token_ids, result.vocabulary_size);
    });
  return result;
}

std::uint64_t count_numbers(const TensorFile& weights) {
  std::uint64_t count = 0;
  for (const std::string& path : weights.datasets())
    count += static_cast<std::uint64_t>(weights.shape(path).elements());
  return count;
}

template <class Model>
LoadedModel<Model> load_folder(const fs::path& folder, const LoadModelOptions& load_options,
                               const LoadWeightsOptions& weight_options = {}) {
  const fs::path path = pretrained_weights(folder);
  const std::unique_ptr<const TensorFile> weights = open_tensor_file(path);
  auto [options, vocabulary_size, eos_token_ids, start] =
      read_configuration<OptionsOf<Model>>(folder, *weights);
  Tokenizer tokenizer;
  if (load_options.tokenizer) tokenizer = Tokenizer::load(folder);
  if (tokenizer.size() > vocabulary_size)
    fail_on_file(
        folder / "config.json",
        str_cat("vocab_size of at least the ", tokenizer.size(), " tokens of the tokenizer"),
        str_cat(vocabulary_size));
  LoadedModel<Model> loaded{
      make_model<Model>(options, folder / "config.json", path, count_numbers(*weights)),
      std::move(tokenizer)};
  (void)load_weights(*weights, loaded.model, weight_options);
  loaded.eos_token_ids = std::move(eos_token_ids);
  loaded.decoder_start_token_id = start;
  return loaded;
}

// Loads a checkpoint, or calls `load_pretrained` if `path` is a folder with config.json.
template <class T, class Model, class Load>
LoadedModel<Model> load_model(const fs::path& path, const LoadModelOptions& options,
                              const Load& load_pretrained) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return load_trained<T, Model>(path, options);
  if (fs::exists(fs::symlink_status(path / "config.json", error))) return load_pretrained();
  if (fs::exists(path / "best.h5", error)) return load_trained<T, Model>(path / "best.h5", options);
  fail_on_file(path / "config.json", "this file, or best.h5 in the same folder", "neither file");
}

template <class T>
void save(const fs::path& folder, const Module<T>& model, const ModelConfig& config,
          const SaveWeightsOptions& options) {
  std::error_code error;  // ignored: if it fails, writing the files throws with the reason
  fs::create_directories(folder, error);
  save_weights(folder / "model.safetensors", model, options);
  const std::string text = config.entries().dump(2) + "\n";
  write_atomically(folder / "config.json", std::as_bytes(std::span(text)));
}

}  // namespace

fs::path pretrained_weights(const fs::path& folder) {
  std::error_code error;
  for (const char* const name : {"model.safetensors", "model.safetensors.index.json", "model.h5"})
    if (fs::exists(folder / name, error)) return folder / name;
  fail_on_file(folder, "model.safetensors, model.safetensors.index.json or model.h5",
               "none of these files");
}

template <class T>
LoadedModel<Gpt<T>> load_gpt(const fs::path& path, const LoadModelOptions& options) {
  return load_model<T, Gpt<T>>(path, options, [&] { return load_folder<Gpt<T>>(path, options); });
}

template <class T>
LoadedModel<Bert<T>> load_bert(const fs::path& path, const LoadModelOptions& options) {
  return load_model<T, Bert<T>>(path, options, [&] {
    // A Bert has no heads for the tasks that the model was trained for.
    return load_folder<Bert<T>>(
        path, options, {.ignore_unexpected = {"cls\\..*", "(lm_head|classifier|qa_outputs)\\..*"}});
  });
}

template <class T>
LoadedModel<EncoderDecoder<T>> load_encoder_decoder(const fs::path& path,
                                                    const LoadModelOptions& options) {
  return load_model<T, EncoderDecoder<T>>(
      path, options, [&] { return load_folder<EncoderDecoder<T>>(path, options); });
}

template <class T>
LoadedModel<EncoderClassifier<T>> load_encoder_classifier(const fs::path& path,
                                                          const LoadModelOptions& options) {
  return load_model<T, EncoderClassifier<T>>(
      path, options, [&]() -> LoadedModel<EncoderClassifier<T>> {
        fail_on_file(path, "a checkpoint of an EncoderClassifier", "a folder with config.json");
      });
}

template <class T>
void save_pretrained(const fs::path& folder, const Gpt<T>& model,
                     const SavePretrainedOptions& options) {
  ModelConfig config;
  const Layout layout = write_config(config, model.options);
  TokenIds ends = options.eos_token_ids;
  config.tokens("eos_token_id", ends, model.options.vocabulary_size);
  save(folder, model, config, {.layout = layout, .storage = options.storage});
}

template <class T>
void save_pretrained(const fs::path& folder, const EncoderDecoder<T>& model,
                     const SavePretrainedOptions& options) {
  ModelConfig config;
  write_config(config, model.options);
  TokenId start = options.decoder_start_token_id;
  TokenIds ends = options.eos_token_ids;
  const Index tokens = model.options.target_vocabulary_size;
  config.token("decoder_start_token_id", start, start, tokens);
  config.tokens("eos_token_id", ends, tokens);
  save(folder, model, config, {.layout = Layout::t5, .storage = options.storage});
}

template <class T>
void save_pretrained(const fs::path& folder, const Bert<T>& model,
                     const SavePretrainedOptions& options) {
  ModelConfig config;
  write_config(config, model.options);
  save(folder, model, config, {.layout = Layout::bert, .storage = options.storage});
}

template LoadedModel<Gpt<float>> load_gpt(const fs::path&, const LoadModelOptions&);
template LoadedModel<Gpt<double>> load_gpt(const fs::path&, const LoadModelOptions&);
template LoadedModel<Bert<float>> load_bert(const fs::path&, const LoadModelOptions&);
template LoadedModel<Bert<double>> load_bert(const fs::path&, const LoadModelOptions&);
template LoadedModel<EncoderDecoder<float>> load_encoder_decoder(const fs::path&,
                                                                 const LoadModelOptions&);
template LoadedModel<EncoderDecoder<double>> load_encoder_decoder(const fs::path&,
                                                                  const LoadModelOptions&);
template LoadedModel<EncoderClassifier<float>> load_encoder_classifier(const fs::path&,
                                                                       const LoadModelOptions&);
template LoadedModel<EncoderClassifier<double>> load_encoder_classifier(const fs::path&,
                                                                        const LoadModelOptions&);
template void save_pretrained(const fs::path&, const Gpt<float>&, const SavePretrainedOptions&);
template void save_pretrained(const fs::path&, const Gpt<double>&, const SavePretrainedOptions&);
template void save_pretrained(const fs::path&, const EncoderDecoder<float>&,
                              const SavePretrainedOptions&);
template void save_pretrained(const fs::path&, const EncoderDecoder<double>&,
                              const SavePretrainedOptions&);
template void save_pretrained(const fs::path&, const Bert<float>&, const SavePretrainedOptions&);
template void save_pretrained(const fs::path&, const Bert<double>&, const SavePretrainedOptions&);

}  // namespace weft
