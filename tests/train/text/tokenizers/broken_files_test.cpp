// Files of tokenizers and chat templates that are broken: each gets one line that says where.
#include <fstream>
#include <nlohmann/json.hpp>

#include <weft/autograd/error.hpp>
#include <weft/train/pretrained/chat_templates/chat_template.hpp>
#include <weft/train/text/tokenizers/pretrained_tokenizer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using nlohmann::json;

namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// A WordPiece tokenizer.json in which everything is there once.
json good_file() {
  return json::parse(R"({
    "added_tokens": [{"id": 1, "content": "[CLS]", "special": true, "normalized": false}],
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                   "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A"}}],
      "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]}}},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 100,
              "vocab": {"[UNK]": 0, "[CLS]": 1, "a": 2, "##b": 3}}})");
}

std::string error_of_text(const std::string& text) {
  const std::string message =
      message_of<FileError>([&] { (void)PretrainedTokenizer::from_text(text); });
  const std::string name = "\"tokenizer.json\": ";
  return message.starts_with(name) ? message.substr(name.size()) : "not named: " + message;
}

std::string error_with(const std::string& pointer, const json& value) {
  json file = good_file();
  file[json::json_pointer(pointer)] = value;
  return error_of_text(file.dump());
}

std::string error_without(const std::string& object, const std::string& name) {
  json file = good_file();
  file[json::json_pointer(object)].erase(name);
  return error_of_text(file.dump());
}

std::string error_of_template(const std::string& text) {
  return message_of<ValueError>([&] {
    const ChatTemplate chat(text);
    (void)chat.apply(std::vector<ChatMessage>{{"user", "hi"}}, false);
  });
}

}  // namespace

TEST_CASE("broken tokenizer.json: the file that the others are changed from is none", "[train]") {
  const auto tokenizer = PretrainedTokenizer::from_text(good_file().dump());
  CHECK(tokenizer.add_special_tokens(tokenizer.encode("Ab c")) == TokenIds{1, 2, 3, 0});
  CHECK(tokenizer.decode(TokenIds{1, 2, 3, 0}) == "[CLS] ab [UNK]");
  CHECK(tokenizer.decode(TokenIds{3, 3}) == "##bb");
}

TEST_CASE("broken tokenizer.json: what is no JSON", "[train]") {
  CHECK(error_of_text("{\"model\": \n}") == "expected JSON, got an error in line 2, at byte 12");
  CHECK(error_of_text("{} {}") == "expected JSON, got an error in line 1, at byte 4");
  CHECK(error_of_text("{\"a\": \"\xC3\"}").starts_with("expected JSON, got an error in line 1"));
  CHECK(error_of_text(repeated("[", 1'000'000) + repeated("]", 1'000'000)) ==
        "JSON: expected at most 100 levels, got more");
  CHECK(error_of_text(repeated("{\"type\":\"Sequence\",\"decoders\":[", 60) + repeated("]}", 60)) ==
        "JSON: expected at most 100 levels, got more");
  CHECK(error_of_text("[1e999]") == "expected JSON, got a number out of range");
  // Brackets in texts are none, whatever is escaped there.
  CHECK(error_of_text(json(repeated("[\"\\", 200)).dump()) ==
        "expected an entry 'model', as in a Hugging Face tokenizer.json, got '" +
            repeated("[\"\\", 26) + "[\"…'");
  // What Git leaves where Git LFS is not installed.
  CHECK(error_of_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n") ==
        "expected JSON, got a Git LFS pointer, not the file itself");
}

TEST_CASE("broken tokenizer.json: what is missing", "[train]") {
  CHECK(error_of_text("{}") ==
        "expected an entry 'model', as in a Hugging Face tokenizer.json, got {}");
  CHECK(error_of_text(R"("{\"class_name\": \"Tokenizer\"}")") ==
        "expected an entry 'model', as in a Hugging Face tokenizer.json, got "
        R"('{"class_name": "Tokenizer"}')");
  CHECK(error_of_text(R"({"model": null})") ==
        "model: expected BPE, Unigram, WordPiece or WordLevel, got ''");
  CHECK(error_without("/model", "vocab") == "model WordPiece: expected the entry vocab, got none");
  CHECK(error_without("/model/vocab", "[UNK]") ==
        "unk_token: expected a token of the vocabulary, got '[UNK]'");
  CHECK(error_without("/added_tokens/0", "content") ==
        "added_tokens: expected the entry content, got none");
  CHECK(error_without("/added_tokens/0", "id") == "added_tokens: expected the entry id, got none");
  CHECK(error_without("/post_processor/special_tokens", "[CLS]") ==
        "post_processor: expected special_tokens with the ids of '[CLS]', got none");
  CHECK(error_with("/normalizer", {{"type", "Replace"}, {"content", ""}}) ==
        "normalizer Replace: expected the entry pattern, got none");
  CHECK(error_with("/normalizer", {{"type", "Sequence"}}) ==
        "Sequence: expected the entry normalizers, got none");
  CHECK(error_with("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"String", "a"}}}}) ==
        "pre_tokenizer Split: expected the entry behavior, got none");
  CHECK(error_with("/model", {{"type", "Unigram"}, {"vocab", json::array()}}) ==
        "model: expected a nonempty vocabulary, got an empty vocabulary");
}

TEST_CASE("broken tokenizer.json: ids that contradict each other", "[train]") {
  CHECK(error_with("/model/vocab/a", 3) ==
        "vocab: expected each id once, got 3 again for token 'a'");
  CHECK(error_with("/model/vocab/a", 2'000'000) ==
        "vocab: expected ids from 0 to 1048575, got 2000000 for token 'a'");
  CHECK(error_with("/model/vocab/a", "2") ==
        "vocab: expected ids from 0 to 1048575, got '2' for token 'a'");
  CHECK(error_with("/added_tokens/0/id", 2) ==
        "added_tokens: expected id 1 for token '[CLS]', got 2");
  CHECK(error_with("/added_tokens/0/content", "<new>") ==
        "added_tokens: expected id 4 for token '<new>', got 1");
  CHECK(error_with("/added_tokens/0/id", -1) == "id: expected 0 ≤ id ≤ 1048575, got -1");
  CHECK(error_with("/post_processor/special_tokens/[CLS]/ids/0", 77) ==
        "post_processor: expected ids of known tokens, got 77");
  CHECK(error_with("/model",
                   json::parse(R"({"type": "Unigram", "vocab": [["a", 0.5]], "unk_id": 1})")) ==
        "unk_id: expected 0 ≤ id < 1, got 1");
}

TEST_CASE("broken tokenizer.json: entries of another type", "[train]") {
  CHECK(error_with("/added_tokens", "all") == "added_tokens: expected a list, got string");
  CHECK(error_with("/added_tokens/0", 1) == "added_tokens: expected an object, got number");
  CHECK(error_with("/added_tokens/0/special", "yes") ==
        "special: expected true or false, got string");
  CHECK(error_with("/normalizer/lowercase", 1) == "lowercase: expected true or false, got number");
  CHECK(error_with("/decoder/prefix", json::array()) == "prefix: expected a string, got array");
  CHECK(error_with("/model/max_input_chars_per_word", "100") ==
        "max_input_chars_per_word: expected an integer, got string");
  CHECK(error_with("/post_processor/single", {{"a", 1}}) == "single: expected a list, got object");
  CHECK(error_with("/model", json::parse(R"({"type": "Unigram", "vocab": [["a", "0.5"]]})")) ==
        "vocab: expected pairs of a token and its score, got [\"a\",\"0.5\"]");
  CHECK(error_with("/model/type", repeated("ä\n", 100)) ==
        "model: expected BPE, Unigram, WordPiece or WordLevel, got '" + repeated("ä\\x0a", 26) +
            "ä…'");
}

TEST_CASE("broken tokenizer_config.json and chat_template.jinja", "[train]") {
  const TemporaryFolder folder;
  const auto error_of_config = [&](const std::string& text) {
    std::ofstream(folder / "tokenizer_config.json") << text;
    const std::string message =
        message_of<FileError>([&] { (void)ChatTemplate::load(folder.path()); });
    const std::string path = folder.path().string();
    return message.substr(std::min(message.find(path) + path.size(), message.size()));
  };
  CHECK(error_of_config("{\"chat_template\": ") ==
        "/tokenizer_config.json\": expected JSON, got an error in line 1, at byte 19");
  CHECK(error_of_config(repeated("[", 200) + repeated("]", 200)) ==
        "/tokenizer_config.json\": JSON: expected at most 100 levels, got more");
  CHECK(error_of_config("[]") == "\": expected a chat template, got none");
  CHECK(error_of_config("{\"chat_template\": 5}") == "\": expected a chat template, got none");
  CHECK(error_of_config("{\"chat_template\": [{\"name\": \"default\", \"template\": 1}]}") ==
        "/tokenizer_config.json\": template: expected a string, got number");
  CHECK(error_of_config("{\"chat_template\": \"{{ 1 +* 2 }}\"}") ==
        "/tokenizer_config.json\": chat template, line 1: expected an expression, got '* 2 }}'");
  std::ofstream(folder / "chat_template.jinja") << "{{ '\xFF' }}";
  CHECK(error_of_config("{}") ==
        "/chat_template.jinja\": expected UTF-8 text, got byte 255 at position 4");
  std::ofstream(folder / "chat_template.jinja") << "";
  CHECK(error_of_config("{}") == "/chat_template.jinja\": expected text, got an empty file");
}

TEST_CASE("broken chat templates: what never ends, or grows without one", "[train]") {
  const std::string most = "chat template: expected at most 64 MiB of values and steps, got more";
  const std::string forever = "{% for i in range(100000) %}{% for j in range(100000) %}";
  CHECK(error_of_template(forever + "{% endfor %}{% endfor %}") == most);
  CHECK(error_of_template("{% for i in range(100000) %}" +
                          repeated("{% if true %}{% endif %}", 2000) + "{% endfor %}") == most);
  CHECK(error_of_template("{% set all = namespace(x='a') %}{% for i in range(100) %}"
                          "{% set all.x = all.x + all.x %}{% endfor %}") == most);
  CHECK(error_of_template("{% set all = namespace(x=[1]) %}{% for i in range(90) %}"
                          "{% set all.x = [all.x, all.x] %}{% endfor %}{{ all.x }}") == most);
  CHECK(error_of_template("{% set all = namespace(x=1) %}{% for i in range(1000) %}"
                          "{% set all.x = [all.x] %}{% endfor %}") ==
        "chat template: expected at most 100 levels of nested values, got more");
  CHECK(error_of_template("{% set all = namespace(x=1) %}{% for i in range(1000) %}"
                          "{% set all.x = all %}{% endfor %}{{ all }}") ==
        "chat template: expected at most 500 nested steps, got more");
  CHECK(error_of_template("{% set x = range(90000) | join(',') %}"
                          "{{ x.replace(',', x) }}") == most);
  CHECK(error_of_template("{% set x = range(90000) | join(',') %}{{ x.split(',')[1:] }}" +
                          repeated("{{ x[::-1] }}", 50)) == most);
}

TEST_CASE("broken chat templates: what is long or deep is read", "[train]") {
  const auto text_of = [](const std::string& text) {
    return ChatTemplate(text).apply(std::vector<ChatMessage>{{"user", "hi"}}, false);
  };
  CHECK(text_of("{{ 0" + repeated(" + 1", 50'000) + " }}") == "50000");
  CHECK(text_of("{{ 'a'" + repeated(" | trim", 20'000) + " }}") == "a");
  CHECK(text_of("{{ " + repeated("(", 90) + "1" + repeated(")", 90) + " }}") == "1");
  CHECK(
      error_of_template("{{ " + repeated("not ", 200) + "1 }}").find("at most 100 nested parts") !=
      std::string::npos);
  CHECK(error_of_template(repeated("{% if 1 %}", 200)).find("at most 100 nested parts") !=
        std::string::npos);
  CHECK(text_of("{% if 0 %}" + repeated("{% elif 0 %}", 200) + "{% endif %}") == "");
}

TEST_CASE("chat template: operators bind as in Jinja", "[train]") {
  const auto text_of = [](const std::string& text) {
    return ChatTemplate(text).apply(std::vector<ChatMessage>{{"user", "hi"}}, false);
  };
  CHECK(text_of("{{ 'a' + 1 ~ 2 }}") == "a12");
  CHECK(text_of("{{ 7 - 2 - 1 }} {{ 2 + 3 * 4 }} {{ not 1 == 2 }} {{ -3 | string }}") ==
        "4 14 True -3");
  CHECK(text_of("{{ 1 in [1] and 2 not in [1] or x.y }} {{ 'a' if 0 else 'b' if 0 else 'c' }}") ==
        "True c");
  CHECK(text_of("{{ {'a': {'b': 1}}}} {{ {'a': 1}.get('z', 'none') }} {{ [1, 2,] | length }}") ==
        "{'a': {'b': 1}} none 2");
}

TEST_CASE("chat template: elements, slices and numbers are as in Python", "[train]") {
  const auto text_of = [](const std::string& text) {
    return ChatTemplate(text).apply(std::vector<ChatMessage>{{"user", "hi"}}, false);
  };
  CHECK(text_of("{{ [1, 2, 3][0] }}{{ [1, 2, 3][-1] }}{{ [1, 2, 3][-3] }}") == "131");
  CHECK(text_of("{{ [1, 2, 3][3] }}{{ [1, 2, 3][-4] }}") == "");
  CHECK(text_of("{{ 'abcd'[-2:] }} {{ 'abcd'[:-1] }} {{ 'abcd'[1:3] }} {{ 'abcd'[::-1] }}") ==
        "cd abc bc dcba");
  CHECK(text_of("{{ 7 % 3 }} {{ -7 % 3 }}") == "1 2");
  CHECK(text_of("{{ 1 if [] else 0 }}{{ 1 if [0] else 0 }}{{ 1 if '' else 0 }}") == "010");
  // Variables of a loop end with it.
  CHECK(text_of("{% for x in [1, 2] %}{{ x }}{% endfor %}{{ x }}{{ loop }}") == "12");
}
