// Folders of models of Hugging Face with one thing broken: loading them throws one clear line that
// names the file, and the model is unchanged.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <weft/train/files/safetensors/safetensors_file.hpp>
#include <weft/train/pretrained/chat_templates/chat_template.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include <weft/train/text/tokenizers/pretrained_tokenizer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

const fs::path golden = WEFT_TEST_DATA "/language_models";
const std::string index_name = "model.safetensors.index.json",
                  first_shard = "model-00001-of-00007.safetensors",
                  second_shard = "model-00002-of-00007.safetensors",
                  last_shard = "model-00007-of-00007.safetensors";

// A whole folder of the golden models, with a tokenizer and a chat template.
struct Folder {
  TemporaryFolder folder;

  explicit Folder(const std::string& model) {
    for (const auto& entry : fs::directory_iterator(golden / model))
      fs::copy_file(entry.path(), folder / entry.path().filename().string());
    if (model == "llama_lora") return;
    write_bytes(folder / "tokenizer.json",
                R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":[["a","b"]]}})");
    write_bytes(folder / "chat_template.jinja",
                "{% for m in messages %}{{ m.content }}{% endfor %}");
    write_bytes(folder / "generation_config.json", R"({"eos_token_id": 2})");
  }

  fs::path operator/(const std::string& name) const { return folder / name; }
  void edit(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = bytes_of(folder / name);
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    write_bytes(folder / name, text.replace(at, from.size(), to));
  }
  // Changes the header of a safetensors file, also its length.
  void edit_header(const std::string& name, const std::string& from, const std::string& to) const {
    edit(name, from, to);
    std::string bytes = bytes_of(folder / name);
    std::uint64_t size;
    std::memcpy(&size, bytes.data(), sizeof size);
    size += to.size() - from.size();
    std::memcpy(bytes.data(), &size, sizeof size);
    write_bytes(folder / name, bytes);
  }
};

// Reads everything in a folder, the weights into the model.
void load(const fs::path& folder, Gpt<float>& model) {
  if (fs::exists(folder / "adapter_config.json")) {
    (void)load_lora(folder, model);
    return;
  }
  (void)PretrainedTokenizer::load(folder / "tokenizer.json");
  (void)ChatTemplate::load(folder);
  (void)load_gpt(folder);
  (void)load_weights(pretrained_weights(folder), model);
}

struct Case {
  const char* what;
  std::string file;  // that the message names
  const char* expected;
  std::function<void(const Folder&)> damage;
};

using Cases = std::vector<Case>;

void replace(const fs::path& path, const std::function<void(const fs::path&)>& make) {
  fs::remove(path);
  make(path);
}
void make_pipe(const fs::path& path) { REQUIRE(::mkfifo(path.c_str(), 0666) == 0); }
void make_folder(const fs::path& path) { fs::create_directory(path); }
void make_link_loop(const fs::path& path) { fs::create_symlink(path.filename(), path); }
void cut(const fs::path& path, std::uintmax_t bytes) {
  fs::resize_file(path, fs::file_size(path) - bytes);
}
std::string deep(std::size_t levels, const std::string& open = "[",
                 const std::string& close = "]") {
  std::string text;
  for (std::size_t i = 0; i < levels; ++i) text += open;
  text += "0";
  for (std::size_t i = 0; i < levels; ++i) text += close;
  return text;
}

// Not there, of another kind, or without contents.
Cases no_file(const std::string& name) {
  return {
      {"a pipe", name, "got a device, pipe or socket",
       [name](const Folder& f) { replace(f / name, make_pipe); }},
      {"a folder", name, "got a directory",
       [name](const Folder& f) { replace(f / name, make_folder); }},
      {"an empty file", name, "expected", [name](const Folder& f) { write_bytes(f / name, ""); }},
      {"other bytes", name, "expected",
       [name](const Folder& f) { write_bytes(f / name, "\xff\xfe\x80 not this"); }},
  };
}

// Each of the messages has one line and names its file; the model is as it was.
void check(const std::string& base, const Cases& cases) {
  Random zeros = Random::zeros();
  const GptOptions options = load_gpt(golden / "llama").model.options;
  for (const auto& [what, file, expected, damage] : cases) {
    INFO(base << ": " << file << ": " << what);
    const Folder folder(base);
    Gpt<float> model(options, zeros);
    for (const auto& [name, parameter] : named_parameters(model))
      std::ranges::fill(parameter->values(), 5.0f);
    damage(folder);
    const std::string message = message_of<Error>([&] { load(folder.folder.path(), model); });
    CHECK_THAT(message,
               Catch::Contains((file.empty() ? folder.folder.path() : folder / file).string()));
    CHECK_THAT(message, Catch::Contains(expected));
    CHECK_THAT(message, Catch::StartsWith("cannot read ") ||
                            (Catch::Contains("expected ") && Catch::Contains(", got ")));
    CHECK(std::ranges::none_of(
        message, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
    CHECK(message.size() < 1000);
    const auto parameters = named_parameters(model);
    CHECK(std::ranges::all_of(parameters, [](const auto& entry) {
      return std::ranges::all_of(entry.parameter->value(), [](float x) { return x == 5.0f; });
    }));
    for (const auto& [name, linear] : named_linear_layers(model)) CHECK_FALSE(linear->map);
  }
}

Cases operator+(Cases a, const Cases& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Texts of a file that are replaced.
Cases edits(const std::string& file,
            const std::vector<std::array<const char*, 4>>& what_expected_from_to,
            void (Folder::*edit)(const std::string&, const std::string&, const std::string&)
                const = &Folder::edit) {
  Cases cases;
  for (const auto& [what, expected, from, to] : what_expected_from_to)
    cases.push_back({what, file, expected,
                     [=, old = from, text = to](const Folder& f) { (f.*edit)(file, old, text); }});
  return cases;
}

}  // namespace

TEST_CASE("broken folders: whole ones load", "[train]") {
  Random zeros = Random::zeros();
  Gpt<float> model(load_gpt(golden / "llama").model.options, zeros);
  for (const char* const base : {"llama", "llama_sharded", "llama_lora"})
    CHECK_NOTHROW(load(Folder(base).folder.path(), model));
}

TEST_CASE("broken folders: shards and their index", "[train]") {
  const std::string first = "\"lm_head.weight\": \"" + first_shard + '"';
  const auto index = [&](const std::string& entry) {
    return [=](const Folder& f) { f.edit(index_name, first, entry); };
  };
  const std::string shown = "expected names of files in the directory of the index, got ";
  Cases cases = no_file(index_name) + no_file(second_shard);
  cases.push_back({"no shard", second_shard, "No such file",
                   [](const Folder& f) { fs::remove(f / second_shard); }});
  cases.push_back({"a shard that is a link to itself", second_shard, "cannot read",
                   [](const Folder& f) { replace(f / second_shard, make_link_loop); }});
  cases.push_back({"a shard that was cut", last_shard, "expected a complete file",
                   [](const Folder& f) { cut(f / last_shard, 1); }});
  for (const char* const path :
       {"../outside.safetensors", "/etc/passwd", "a/b.safetensors", ".", "..", ""})
    cases.push_back({"another place", index_name,
                     "expected names of files in the directory of the index",
                     index(str_cat("\"lm_head.weight\": \"", path, '"'))});
  cases =
      cases +
      Cases{
          {"a NUL in a name", index_name, "expected names of files in the directory of the index",
           index(R"("lm_head.weight": "a\u0000b.safetensors")")},
          {"a number as name", index_name,
           "expected names of files in the directory of the index, got 5",
           index("\"lm_head.weight\": 5")},
          {"the wrong shard", second_shard, "which the index lists",
           index("\"lm_head.weight\": \"" + second_shard + '"')},
          {"a tensor that is nowhere", first_shard, "which the index lists",
           index(first + ", \"other.weight\": \"" + first_shard + '"')},
          {"a tensor that is not listed", second_shard, "got the tensor model.embed_tokens.weight",
           [](const Folder& f) {
             f.edit(index_name, "\"model.embed_tokens.weight\"", "\"model.embed\"");
           }},
          {"a name twice", index_name, "once", index(first + ", " + first)},
          {"no map", index_name, "expected an index with a weight_map",
           [](const Folder& f) { f.edit(index_name, "weight_map", "weights"); }},
          {"a list", index_name, "expected",
           [](const Folder& f) { write_bytes(f / index_name, "[1, 2]"); }},
          {"deep", index_name, "levels",
           [](const Folder& f) {
             write_bytes(f / index_name, R"({"weight_map": {"a": )" + deep(1'000'000) + "}}");
           }},
          {"enormous", index_name, "bytes",
           [](const Folder& f) { fs::resize_file(f / index_name, std::uintmax_t{1} << 36); }},
          {"cut", index_name, "expected", [](const Folder& f) { cut(f / index_name, 20); }}};
  check("llama_sharded", cases);
}

TEST_CASE("broken folders: tensors and their places", "[train]") {
  const std::string file = "model.safetensors";
  Cases cases =
      no_file(file) +
      edits(
          file,
          {
              {"overlapping", "expected model.embed_tokens.weight at byte 4608", "[4608,9216]",
               "[4604,9216]"},
              {"a hole", "expected model.embed_tokens.weight at byte 4608", "[4608,9216]",
               "[4612,9216]"},
              {"the end before the start", "expected model.embed_tokens.weight", "[4608,9216]",
               "[4608,4600]"},
              {"out of range", "expected", "[4608,9216]", "[4608,99216]"},
              {"offsets that overflow", "expected", "[4608,9216]", "[4608,18446744073709551615]"},
              {"a negative offset", "expected integers ≥ 0 as data_offsets, got -1", "[4608,9216]",
               "[-1,9216]"},
              {"an offset that is a fraction", "expected integers ≥ 0", "[4608,9216]",
               "[4608.5,9216]"},
              {"three offsets", "two data_offsets", "[4608,9216]", "[4608,9216,1]"},
              {"a negative size", "expected integers ≥ 0 as shape, got -48", "[48,24]", "[-48,24]"},
              {"sizes that overflow", "expected", "[48,24]", "[4611686018427387904,4]"},
              {"another size", "expected lm_head.weight of 1200 elements of 32 bits", "[48,24]",
               "[50,24]"},
              {"deep sizes", "expected", "[48,24]", "[[[[48]]],24]"},
              {"transposed", "expected [48, 24], got [24, 48]", "[48,24]", "[24,48]"},
              {"another rank", "expected [48, 24], got [1152]", "[48,24]", "[1152]"},
              {"8-bit numbers", "expected", R"("F32")", R"("F8_E4M3")"},
              {"integers", "expected floating-point numbers, got int32", R"("F32")", R"("I32")"},
              {"a type that is a number", "expected a dtype", R"("F32")", "32"},
              {"another name", "similar name: lm_heat.weight", "lm_head.weight", "lm_heat.weight"},
              {"a name twice", "once", "model.embed_tokens.weight", "lm_head.weight"},
              {"control characters in a name", "lm_\\x0a\\x1b[2Jhead.weight", "lm_head.weight",
               R"(lm_\n\u001b[2Jhead.weight)"},
              {"no name", "names of 1 to 1024 bytes", "lm_head.weight", ""},
              {"a tensor that is a list", "two data_offsets", R"("lm_head.weight":{)",
               R"("x":[],"lm_head.weight":{)"},
          },
          &Folder::edit_header);
  cases =
      cases +
      Cases{{"cut in the header", file, "expected a header of",
             [&](const Folder& f) { fs::resize_file(f / file, 100); }},
            {"cut in the length", file, "expected a safetensors file, got 5 bytes",
             [&](const Folder& f) { fs::resize_file(f / file, 5); }},
            {"cut in the data", file, "expected a complete file",
             [&](const Folder& f) { cut(f / file, 1); }},
            {"more data", file, "expected a complete file",
             [&](const Folder& f) { write_bytes(f / file, bytes_of(f / file) + '\0'); }},
            {"an enormous header", file, "expected a header of at most",
             [&](const Folder& f) {
               f.edit(file, bytes_of(f / file).substr(0, 8), "\xff\xff\xff\xff\xff\xff\xff\x7f");
             }},
            {"a deep header", file, "levels",
             [&](const Folder& f) {
               const std::string text = R"({"a":)" + deep(1'000'000, R"({"a":)", "}") + "}";
               std::string bytes(8, '\0');
               for (std::size_t i = 0; i < 8; ++i)
                 bytes[i] = static_cast<char>(text.size() >> (8 * i));
               write_bytes(f / file, bytes + text);
             }},
            {"a NaN", file, "/lm_head.weight: expected finite numbers, got nan at [0, 0]",
             [&](const Folder& f) {
               const std::string bytes = bytes_of(f / file);
               write_bytes(f / file, std::string(bytes).replace(bytes.size() - 46'560, 4,
                                                                std::string("\0\0\xc0\x7f", 4)));
             }},
            {"HDF5", file, "expected a header of at most",
             [&](const Folder& f) {
               fs::copy_file(golden / "llama/expected.h5", f / file,
                             fs::copy_options::overwrite_existing);
             }},
            {"safetensors under the name of HDF5", "model.h5", "expected an HDF5 file",
             [&](const Folder& f) { fs::rename(f / file, f / "model.h5"); }},
            {"none", "", "expected model.safetensors",
             [&](const Folder& f) { fs::remove(f / file); }}};
  check("llama", cases);
}

TEST_CASE("broken folders: config.json", "[train]") {
  const std::string file = "config.json";
  Cases cases =
      no_file(file) +
      edits(
          file,
          {
              {"a text for a size", "hidden_size: expected an integer, got string", "size\": 24",
               "size\": \"24\""},
              {"a fraction for a size", "hidden_size: expected an integer, got number",
               "size\": 24", "size\": 24.5"},
              {"a list for a size", "hidden_size: expected an integer, got array", "size\": 24",
               "size\": [24]"},
              {"no size", "hidden_size: expected a value, got null", "size\": 24", "size\": null"},
              {"size 0", "hidden_size: expected an integer from 1", "size\": 24", "size\": 0"},
              {"a negative size", "hidden_size: expected an integer from 1", "size\": 24",
               "size\": -24"},
              {"an enormous size", "hidden_size: expected an integer from 1", "size\": 24",
               "size\": 99999999999999"},
              {"a size beyond all integers", "expected", "size\": 24",
               "size\": 99999999999999999999999"},
              {"a number beyond all numbers", "expected JSON", "size\": 24", "size\": 1e999"},
              {"sizes beyond the weights", "expected a model with at most the", "layers\": 2",
               "layers\": 2147483647"},
              {"more heads", "expected", "heads\": 4", "heads\": 5"},
              {"no heads for keys", "key_value_heads: expected", "heads\": 2", "heads\": 0"},
              {"another number of heads for keys", "expected", "heads\": 2", "heads\": 3"},
              {"another model", "model_type: expected gpt2, llama", "_type\": \"llama\"",
               "_type\": \"mamba\""},
              {"a model that is a number", "model_type: expected a string", "_type\": \"llama\"",
               "_type\": 5"},
              {"a line break in the model", "got 'ma\\x0amba'", "_type\": \"llama\"",
               "_type\": \"ma\\nmba\""},
              {"an unknown entry", "logit_softcap: expected a known entry, got 30",
               "\"hidden_act\"", "\"logit_softcap\": 30, \"hidden_act\""},
              {"a deep entry", "levels", "\"hidden_act\"", "\"deep\": DEEP, \"hidden_act\""},
              {"another activation", "hidden_act: expected", "\"silu\"", "\"relu\""},
              {"another scaling", "rope_scaling: expected default, linear or llama3, got 'yarn'",
               "\"rope_type\": \"default\"", "\"rope_type\": \"yarn\""},
              {"scaling without its factor", "factor: expected an entry",
               "\"rope_type\": \"default\"", "\"rope_type\": \"linear\""},
              {"no base of positions", "expected", "\"rope_theta\": 10000.0", "\"rope_theta\": 0"},
              {"eps as text", "rms_norm_eps: expected a number", "1e-05", "\"small\""},
              {"negative eps", "expected", "1e-05", "-1"},
              {"a flag that is a number", "attention_bias: expected true or false", "bias\": false",
               "bias\": 0"},
              {"an end that is a text", "eos_token_id: expected an integer", "eos_token_id\": 2",
               "eos_token_id\": \"</s>\""},
              {"an entry twice", "once", "\"hidden_act\"", "\"hidden_size\": 48, \"hidden_act\""},
              {"another kind of layers", "layer_types: expected full_attention", "\"hidden_act\"",
               "\"layer_types\": [\"linear_attention\"], \"hidden_act\""},
          });
  for (Case& entry : cases)
    if (std::string(entry.what) == "a deep entry")
      entry.damage = [&](const Folder& f) {
        f.edit(file, "\"hidden_act\"", "\"deep\": " + deep(1'000'000) + ", \"hidden_act\"");
      };
  cases = cases +
          Cases{{"none", file, "got neither file", [&](const Folder& f) { fs::remove(f / file); }},
                {"a link to itself", file, "cannot read",
                 [&](const Folder& f) { replace(f / file, make_link_loop); }},
                {"cut", file, "expected JSON, got an error in line",
                 [&](const Folder& f) { cut(f / file, 30); }},
                {"a list", file, "expected an object, got array",
                 [&](const Folder& f) { write_bytes(f / file, "[]"); }},
                {"enormous", file, "expected a file of at most",
                 [&](const Folder& f) { fs::resize_file(f / file, std::uintmax_t{1} << 36); }},
                {"a larger vocabulary", "model.safetensors", "expected [49, 24], got [48, 24]",
                 [&](const Folder& f) { f.edit(file, "size\": 48", "size\": 49"); }},
                {"biases that the weights lack", "model.safetensors", "missing (6)",
                 [&](const Folder& f) { f.edit(file, "mlp_bias\": false", "mlp_bias\": true"); }},
                {"a broken second configuration", "generation_config.json", "expected JSON",
                 [](const Folder& f) { write_bytes(f / "generation_config.json", "{"); }},
                {"ends of another kind", "generation_config.json",
                 "eos_token_id: expected an integer", [](const Folder& f) {
                   write_bytes(f / "generation_config.json", R"({"eos_token_id": [2, 0.5]})");
                 }}};
  check("llama", cases);
}

TEST_CASE("broken folders: the tokenizer and the chat template", "[train]") {
  const std::string tokenizer = "tokenizer.json", chat = "chat_template.jinja";
  Cases cases =
      no_file(tokenizer) +
      edits(tokenizer, {{"another kind", "expected", "\"BPE\"", "\"WordLevel\""},
                        {"an id that is a text", "expected", "\"a\":0", "\"a\":\"0\""},
                        {"an enormous id", "expected", "\"a\":0", "\"a\":99999999999"},
                        {"a merge of no tokens", "expected", "[\"a\",\"b\"]", "[\"x\",\"y\"]"},
                        {"cut", "expected JSON", "]]}}", "]]"}});
  cases =
      cases + Cases{{"no tokenizer", tokenizer, "got no such file",
                     [&](const Folder& f) { fs::remove(f / tokenizer); }},
                    {"a deep tokenizer", tokenizer, "levels",
                     [&](const Folder& f) { write_bytes(f / tokenizer, deep(1'000'000)); }},
                    {"no template", "", "expected", [&](const Folder& f) { fs::remove(f / chat); }},
                    {"an error of the template", chat, "expected",
                     [&](const Folder& f) { write_bytes(f / chat, "{% for m in %}"); }},
                    {"an unknown statement", chat, "expected",
                     [&](const Folder& f) { write_bytes(f / chat, "{% macro x %}"); }},
                    {"a statement without an end", chat, "expected",
                     [&](const Folder& f) { write_bytes(f / chat, "{% if messages %}a"); }},
                    {"deep brackets", chat, "expected", [&](const Folder& f) {
                       write_bytes(f / chat, "{{ " + deep(100'000, "(", ")") + " }}");
                     }}};
  check("llama", cases);
}

TEST_CASE("broken folders: adapters", "[train]") {
  const std::string config = "adapter_config.json", weights = "adapter_model.safetensors";
  Cases cases =
      no_file(weights) + no_file(config) +
      edits(config,
            {{"another kind", "peft_type: expected \"LORA\", got 'IA3'", "\"LORA\"", "\"IA3\""},
             {"rank 0", "expected", "\"r\": 3", "\"r\": 0"},
             {"an enormous rank", "expected", "\"r\": 3", "\"r\": 3000000000000"},
             {"a rank that is a text", "r: expected an integer", "\"r\": 3", "\"r\": \"3\""},
             {"other arithmetic", "use_dora: expected false, got true", "\"use_dora\": false",
              "\"use_dora\": true"},
             {"layers that are repeated", "layer_replication: expected null",
              "\"layer_replication\": null", "\"layer_replication\": [[0, 2]]"},
             {"ranks that are a list", "rank_pattern: expected an object", "\"rank_pattern\": {}",
              "\"rank_pattern\": [5]"},
             {"a pattern that is no expression", "rank_pattern: expected a regular expression",
              "\"rank_pattern\": {}", "\"rank_pattern\": {\"(\": 5}"},
             {"an unknown entry", "lora_scale: expected a known entry", "\"rank_pattern\"",
              "\"lora_scale\": 2, \"rank_pattern\""},
             {"an initialization that changes the model", "init_lora_weights: expected true, false",
              "\"init_lora_weights\": true", "\"init_lora_weights\": \"pissa\""},
             {"targets without these layers", "target_modules: expected all layers",
              "\"down_proj\"", "\"none_such\""}}) +
      edits(weights,
            {{"a layer that the model lacks", "expected adapters of linear layers", "layers.0.",
              "layers.7."},
             {"another prefix", "expected only names base_model.model.", "base_model.model.",
              "other_model.model."}},
            &Folder::edit_header);
  cases.push_back(
      {"none", weights, "No such file", [&](const Folder& f) { fs::remove(f / weights); }});
  for (const auto& [what, rank] :
       {std::pair("another rank", "4"), {"an enormous one", "2000000000"}})
    cases.push_back({what, weights, "expected shape [", [&config, own = rank](const Folder& f) {
                       f.edit(config, "\"r\": 3", std::string("\"r\": ") + own);
                     }});
  cases.push_back({"of another model", weights, "expected", [&](const Folder& f) {
                     fs::copy_file(golden / "qwen2/model.safetensors", f / weights,
                                   fs::copy_options::overwrite_existing);
                   }});
  check("llama_lora", cases);
}

TEST_CASE("broken folders: a file is cut or replaced while it is open", "[train]") {
  const Folder folder("llama");
  const fs::path path = folder / "model.safetensors", other = folder / "other";
  const SafetensorsFile open(path);
  const std::string bytes = bytes_of(path);
  // Replaced as programs do it: what is open stays as it was.
  write_bytes(other, "other contents");
  fs::rename(other, path);
  CHECK(open.tensor<float>("lm_head.weight").shape() == Shape{48, 24});
  CHECK_THROWS_AS(SafetensorsFile(path), FileError);

  write_bytes(path, bytes);
  const SafetensorsFile cut_later(path);
  fs::resize_file(path, bytes.size() - 40'000);
  CHECK(cut_later.tensor<float>("lm_head.weight").shape() == Shape{48, 24});
  CHECK_THAT(message_of<FileError>([&] { cut_later.tensor<float>("model.norm.weight"); }),
             Catch::EndsWith("model.safetensors\" /model.norm.weight: expected data that can be "
                             "read, got a read error or a truncated file"));
}

}  // namespace weft
