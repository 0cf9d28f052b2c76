// A libFuzzer target: any bytes as a file of a model of Hugging Face. The first byte says which:
// 's' for safetensors, 'i' for their index, 'c' for config.json, 'g' for generation_config.json,
// 'a' for adapter_config.json and the adapters with a NUL between them, 't' for tokenizer.json, 'o'
// for tokenizer_config.json, 'j' for a chat template, 'k' for a whole model of Keras, 'n' for the
// config.json of one; otherwise the bytes are a text, which every one of some tokenizers encodes.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <vector>

#include <weft/layers/summary.hpp>
#include <weft/train/files/safetensors/safetensors_file.hpp>
#include <weft/train/pretrained/chat_templates/chat_template.hpp>
#include <weft/train/pretrained/keras/keras_files.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include <weft/train/text/tokenizers/pretrained_tokenizer.hpp>
#include "tests/fuzz/input.hpp"
#include "train/pretrained/keras/internal/zip_archive.hpp"

namespace {

using namespace weft;
namespace fs = std::filesystem;

void read_safetensors(const std::string& contents) {
  const fs::path path = write("model.safetensors", contents);
  const SafetensorsFile file(path);
  for (const std::string& name : file.datasets())
    attempt([&] {
      const StoredDataset tensor = file.dataset(name);
      attempt([&] { tensor.tensor<float>(); });
      attempt([&] { tensor.tensor<std::int32_t>(); });
    });
  static Random random(1);
  static Gpt<float> gpt({.vocabulary_size = 7,
                         .num_hiddens = 4,
                         .num_heads = 2,
                         .num_blocks = 2,
                         .bias = false,
                         .rotary = RotaryOptions{},
                         .norm = Norm::rms_norm,
                         .swiglu = true},
                        random);
  attempt([&] {
    (void)load_weights(path, gpt, {.ignore_missing = {".*"}, .ignore_unexpected = {".*"}});
  });
}

// Reads the file along with the weights of small models.
void read_config(const char* name, const std::string& contents) {
  static const fs::path models = data_folder() / "language_models";
  for (const std::string model : {"gpt2", "llama", "bert", "t5_gated"}) {
    const fs::path own = write(str_cat(name, '/', model, '/', name), contents).parent_path();
    for (const char* file : {"config.json", "model.safetensors"})
      if (!fs::exists(own / file)) fs::create_symlink(models / model / file, own / file);
    attempt([&] { (void)load_gpt(own); });
    attempt([&] { (void)load_encoder_decoder(own); });
    attempt([&] { (void)load_bert(own); });
  }
}

void read_adapter(const std::string& contents) {
  const auto [config, weights] = parts_of(contents);
  write("adapter/adapter_model.safetensors", weights);
  Random random(1);
  Gpt<float> gpt({.vocabulary_size = 7, .num_hiddens = 16, .num_heads = 4, .num_blocks = 2},
                 random);
  (void)load_lora(write("adapter/adapter_config.json", config).parent_path(), gpt);
}

const std::string sample =
    "Weaving, don't\u00a0 weave 2026! e\u0301 \u7e54 <|end|></s>\t\n  \U0001F9F5 ";

void encode(const PretrainedTokenizer& tokenizer, const std::string& text) {
  attempt([&] { (void)tokenizer.decode(tokenizer.add_special_tokens(tokenizer.encode(text))); });
}

void render(const std::string& text) {
  const ChatTemplate chat(text, {.bos = "<s>", .eos = "</s>", .others = {}});
  const std::vector<ChatMessage> messages = {
      {"system", "s"}, {"user", "hi"}, {"assistant", "ho"}, {"user", sample}};
  attempt([&] { (void)chat.apply(messages, true); });
  attempt([&] { (void)chat.parts(messages); });
}

void read_keras(const fs::path& path) {
  const KerasModel<float> model = load_keras(path);
  std::ostringstream shown;
  shown << model << model.training_loss();
  (void)model.inputs();
  attempt([&] { save_keras(write("again.keras", ""), model); });
  attempt([&] { save_keras(write("again.h5", ""), model); });
}

// Reads the file along with the weights of a model.
void read_keras_config(const std::string& contents) {
  static const ZipMembers original = read_zip(data_folder() / "sines.keras");
  ZipMembers members = original;
  members["config.json"] = contents;
  const fs::path path = write("config.keras", "");
  write_zip(path, members);
  read_keras(path);
}

const std::vector<PretrainedTokenizer>& tokenizers() {
  static const std::vector<PretrainedTokenizer> all = [] {
    std::vector<PretrainedTokenizer> read;
    for (const auto& entry : fs::directory_iterator(data_folder() / "tokenizers"))
      read.push_back(PretrainedTokenizer::load(entry.path()));
    return read;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::string rest = all.empty() ? "" : all.substr(1);
  switch (all.empty() ? ' ' : all.front()) {
    case 's':
      attempt([&] { read_safetensors(rest); });
      break;
    case 'i':
      attempt([&] { open_tensor_file(write("model.safetensors.index.json", rest)); });
      break;
    case 'c':
      read_config("config.json", rest);
      break;
    case 'g':
      read_config("generation_config.json", rest);
      break;
    case 'a':
      attempt([&] { read_adapter(rest); });
      break;
    case 't':
      attempt([&] { encode(PretrainedTokenizer::from_text(rest), sample); });
      break;
    case 'o':
      attempt([&] {
        (void)ChatTemplate::load(write("chat/tokenizer_config.json", rest).parent_path());
      });
      break;
    case 'j':
      attempt([&] { render(rest); });
      break;
    case 'k':
      attempt([&] { read_keras(write("model.keras", rest)); });
      break;
    case 'n':
      attempt([&] { read_keras_config(rest); });
      break;
    default:
      for (const PretrainedTokenizer& tokenizer : tokenizers()) encode(tokenizer, all);
  }
  return 0;
}
