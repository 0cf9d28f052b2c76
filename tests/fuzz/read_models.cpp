// A libFuzzer target: any bytes as a file of a model of Hugging Face. The first byte says which:
// 's' for safetensors, 'c' for config.json, 't' for tokenizer.json, 'j' for a chat template;
// otherwise the bytes are a text, which every one of some tokenizers encodes.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/train/tokenizers/chat_template.hpp>
#include <weft/train/tokenizers/pretrained_tokenizer.hpp>
#include <weft/train/weights/pretrained.hpp>
#include <weft/train/weights/safetensors_file.hpp>

namespace {

using namespace weft;
namespace fs = std::filesystem;

// Files are refused by exceptions of weft, and by nothing else.
template <class Function>
void attempt(const Function& function) {
  try {
    function();
  } catch (const Error&) {
  }
}

const fs::path& folder() {
  static const fs::path path = [] {
    std::string name = (fs::temp_directory_path() / "weft-fuzz-XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    return fs::path(name);
  }();
  return path;
}

const fs::path& write(const fs::path& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
  return path;
}

void read_safetensors(const std::string& contents) {
  static const fs::path path = folder() / "model.safetensors";
  const SafetensorsFile file(write(path, contents));
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

void read_config(const std::string& contents) {
  static const fs::path path = folder() / "config.json";
  write(path, contents);
  attempt([] { (void)read_pretrained_bert(folder()); });
  attempt([] { (void)read_pretrained_encoder_decoder(folder()); });
  (void)read_pretrained_gpt(folder());
}

const std::string sample =
    "Weaving, don't\u00a0 weave 2026! e\u0301 \u7e54 <|end|></s>\t\n  \U0001F9F5 ";

void encode(const PretrainedTokenizer& tokenizer, const std::string& text) {
  attempt([&] { (void)tokenizer.decode(tokenizer.with_ends(tokenizer.encode(text))); });
}

void render(const std::string& text) {
  const ChatTemplate chat(text, {"<s>", "</s>"});
  const std::vector<ChatMessage> messages = {
      {"system", "s"}, {"user", "hi"}, {"assistant", "ho"}, {"user", sample}};
  attempt([&] { (void)chat.apply(messages, true); });
  attempt([&] { (void)chat.parts(messages); });
}

// Learned from these, and from the golden files when fuzz.sh says where they are.
const std::vector<PretrainedTokenizer>& tokenizers() {
  static const std::vector<PretrainedTokenizer> all = [] {
    std::vector<PretrainedTokenizer> read;
    if (const char* const folder_of_all = std::getenv("WEFT_TOKENIZERS"))
      for (const auto& entry : fs::directory_iterator(folder_of_all))
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
    case 'c':
      attempt([&] { read_config(rest); });
      break;
    case 't':
      attempt([&] { encode(PretrainedTokenizer::from_text(rest), sample); });
      break;
    case 'j':
      attempt([&] { render(rest); });
      break;
    default:
      for (const PretrainedTokenizer& tokenizer : tokenizers()) encode(tokenizer, all);
  }
  return 0;
}
