#include <fstream>
#include <nlohmann/json.hpp>

#include <weft/autograd/error.hpp>
#include <weft/train/text/tokenizers/pretrained_tokenizer.hpp>
#include <weft/train/text/tokenizers/utf8_stream_decoder.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using nlohmann::json;

namespace {

json golden(const std::string& name) {
  return json::parse(std::ifstream(WEFT_TEST_DATA "/tokenizers/" + name + ".json"));
}

PretrainedTokenizer golden_tokenizer(const std::string& name) {
  return PretrainedTokenizer::from_text(golden(name)["tokenizer"].get<std::string>());
}

// A vocabulary of single characters, with one merge.
json small_file() {
  return json::parse(R"({
    "added_tokens": [{"id": 4, "content": "<e>", "special": true, "normalized": false}],
    "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null,
    "decoder": null,
    "model": {"type": "BPE", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2, "ab": 3},
              "merges": [["a", "b"]]}})");
}

TokenIds encoded(const json& file, const std::string& text) {
  return PretrainedTokenizer::from_text(file.dump()).encode(text);
}

std::string error_of(const json& file) {
  return message_of<FileError>([&] { (void)PretrainedTokenizer::from_text(file.dump()); });
}

}  // namespace

TEST_CASE("pretrained tokenizer: encodes and decodes as Hugging Face's library", "[train]") {
  const auto name =
      GENERATE(as<std::string>(), "gpt2", "prefix_space", "digits_apart", "whole_words", "composed",
               "prepended", "metaspace", "unknown_fused", "removed", "with_previous", "with_next",
               "contiguous", "unigram", "word_piece");
  CAPTURE(name);
  const json file = golden(name);
  const auto tokenizer = PretrainedTokenizer::from_text(file["tokenizer"].get<std::string>());
  REQUIRE(file["lines"].size() > 60);
  for (const json& line : file["lines"]) {
    const auto text = line["text"].get<std::string>();
    CAPTURE(text);
    const auto ids = line["ids"].get<TokenIds>();
    CHECK(tokenizer.encode(text) == ids);
    CHECK(tokenizer.add_special_tokens(ids) == line["with_ends"].get<TokenIds>());
    Utf8StreamDecoder characters;
    const std::string decoded = characters.add(tokenizer.decode(ids)) + characters.finish();
    CHECK(decoded == line["decoded"].get<std::string>());
  }
}

TEST_CASE("pretrained tokenizer: finds tokens by the names in the file", "[train]") {
  const PretrainedTokenizer tokenizer = golden_tokenizer("gpt2");
  const TokenId end = tokenizer.find("<|end|>").value();
  CHECK(end == 3);
  CHECK(tokenizer.is_special(end));
  CHECK(tokenizer.token(end) == "<|end|>");
  const TokenId space = tokenizer.find("Ġ").value();
  CHECK_FALSE(tokenizer.is_special(space));
  CHECK(tokenizer.token(space) == " ");
  CHECK_FALSE(tokenizer.find("no such token"));
  CHECK(tokenizer.size() == 700);
}

TEST_CASE("pretrained tokenizer: its text gives the same tokenizer", "[train]") {
  const PretrainedTokenizer tokenizer = golden_tokenizer("composed");
  const auto copy = PretrainedTokenizer::from_text(tokenizer.to_text());
  CHECK(copy.encode("weaver 12 é") == tokenizer.encode("weaver 12 é"));
}

TEST_CASE("pretrained tokenizer: added tokens take what they say", "[train]") {
  json file = small_file();
  CHECK(encoded(file, "ab<e>a") == TokenIds{3, 4, 1});
  CHECK(encoded(file, "a <e> c") == TokenIds{1, 4, 0});
  file["pre_tokenizer"] = nullptr;  // now spaces are unknown characters
  CHECK(encoded(file, "a <e> b") == TokenIds{1, 0, 4, 0, 2});
  file["added_tokens"][0]["lstrip"] = true;
  CHECK(encoded(file, "a \t<e> b") == TokenIds{1, 4, 0, 2});
  file["added_tokens"][0]["rstrip"] = true;
  CHECK(encoded(file, "a <e>\u3000 b") == TokenIds{1, 4, 2});
  file["added_tokens"][0]["content"] = "aa";
  file["added_tokens"][0]["single_word"] = true;
  CHECK(encoded(file, "aab aa baa") == TokenIds{1, 3, 4, 2, 1, 1});
  // Of two, the longer one.
  file["added_tokens"].push_back({{"id", 5}, {"content", "aa aa"}, {"normalized", false}});
  CHECK(encoded(file, "aa aa") == TokenIds{5});
}

TEST_CASE("pretrained tokenizer: added tokens with the same normalized text are refused",
          "[train]") {
  json file = small_file();
  file["added_tokens"] = {{{"id", 4}, {"content", "<e>"}, {"normalized", true}},
                          {{"id", 5}, {"content", "<E>"}, {"normalized", true}}};
  CHECK(encoded(file, "<E><e>") == TokenIds{5, 4});
  file["normalizer"] = {{"type", "Lowercase"}};
  CHECK(error_of(file) ==
        "\"tokenizer.json\": added_tokens: expected tokens that differ after normalization, got "
        "ids 4 "
        "and 5 for '<e>'");
}

TEST_CASE("pretrained tokenizer: only the first part of a text begins it", "[train]") {
  json file = small_file();
  file["model"]["vocab"] = {{"?", 0}, {"▁", 1}, {"a", 2}, {"b", 3}};
  file["model"]["merges"] = json::array();
  file["normalizer"] = {{"type", "Lowercase"}};
  file["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}};
  file["added_tokens"].push_back({{"id", 5}, {"content", "<N>"}, {"normalized", true}});
  CHECK(encoded(file, "A") == TokenIds{1, 2});
  CHECK(encoded(file, "a<e>b<n>a") == TokenIds{1, 2, 4, 3, 5, 2});
  CHECK(encoded(file, "a<n>b") == TokenIds{1, 2, 5, 3});
  CHECK(encoded(file, "<e>b") == TokenIds{4, 3});
}

TEST_CASE("pretrained tokenizer: a table of characters that is cut is refused", "[train]") {
  json file = small_file();
  // 4 bytes, of which the first number says that they are 8, 5 and 4.
  for (const char* table : {"CAAAAAAAAAA=", "BQAAAAAAAAA=", "AAA="}) {
    file["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", table}};
    CHECK_THAT(error_of(file), Catch::Contains("a table of characters in base64"));
  }
}

TEST_CASE("pretrained tokenizer: characters without a token", "[train]") {
  json file = small_file();
  CHECK(encoded(file, "accb") == TokenIds{1, 0, 0, 2});
  file["model"]["fuse_unk"] = true;
  CHECK(encoded(file, "accb cc") == TokenIds{1, 0, 2, 0});
  file["model"]["unk_token"] = nullptr;
  CHECK(encoded(file, "acb") == TokenIds{3});  // dropped before pairs are merged
}

TEST_CASE("pretrained tokenizer: rejects what it cannot follow", "[train]") {
  const auto changed = [](const char* pointer, const json& value) {
    json file = small_file();
    file[json::json_pointer(pointer)] = value;
    return error_of(file);
  };
  CHECK(changed("/model/type", "Bytes") ==
        "\"tokenizer.json\": model: expected BPE, Unigram, WordPiece or WordLevel, got 'Bytes'");
  CHECK(changed("/normalizer", {{"type", "Uppercase"}}) ==
        "\"tokenizer.json\": normalizer: expected NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, "
        "Strip, Nmt, Prepend, Replace, Precompiled, ByteLevel or BertNormalizer, got 'Uppercase'");
  CHECK(changed("/pre_tokenizer/type", "UnicodeScripts") ==
        "\"tokenizer.json\": pre_tokenizer: expected ByteLevel, Split, Digits, Punctuation, "
        "Metaspace, Whitespace, WhitespaceSplit, BertPreTokenizer, CharDelimiterSplit or "
        "FixedLength, got 'UnicodeScripts'");
  CHECK(changed("/decoder", {{"type", "Other"}}) ==
        "\"tokenizer.json\": decoder: expected ByteLevel, WordPiece, Metaspace, Replace, "
        "ByteFallback, Fuse, Strip, BPEDecoder or CTC, got 'Other'");
  CHECK(changed("/post_processor", {{"type", "Other"}}) ==
        "\"tokenizer.json\": post_processor: expected TemplateProcessing, BertProcessing, "
        "RobertaProcessing or ByteLevel, got 'Other'");
  CHECK(changed("/vocabulary", 1) ==
        "\"tokenizer.json\": tokenizer: expected only known entries, got 'vocabulary'");
  CHECK(changed("/version", "2.0") == "\"tokenizer.json\": version: expected 1.0, got '2.0'");
  CHECK(changed("/model/alpha", 0.1) ==
        "\"tokenizer.json\": model BPE: expected only known entries, got 'alpha'");
  CHECK(changed("/pre_tokenizer/split", true) ==
        "\"tokenizer.json\": pre_tokenizer WhitespaceSplit: expected only known entries, got "
        "'split'");
  CHECK(changed("/added_tokens/0/stripped", true) ==
        "\"tokenizer.json\": added_tokens: expected only known entries, got 'stripped'");
  CHECK(changed("/model/vocab/a", -1) ==
        "\"tokenizer.json\": vocab: expected ids from 0 to 1048575, got -1 for token 'a'");
  CHECK(changed("/model/vocab/a", 1e30).starts_with("\"tokenizer.json\": vocab: expected ids"));
  CHECK(changed("/model/vocab", 5) ==
        "\"tokenizer.json\": vocab: expected an object that maps tokens to ids, got number");
  CHECK(changed("/model/merges/0/0", "x") ==
        "\"tokenizer.json\": pair 1 of merges: expected two tokens of the vocabulary that merge "
        "into a token of the vocabulary, got [\"x\",\"b\"]");
  CHECK(changed("/model/merges", json::array({"a b", "a b"})) ==
        "\"tokenizer.json\": pair 2 of merges: expected each pair of tokens once, got 'a b'");
  CHECK(changed("/model/dropout", 0.1) ==
        "\"tokenizer.json\": dropout: expected no dropout, got a dropout rate");
  CHECK(changed("/added_tokens/0/id", "4") ==
        "\"tokenizer.json\": id: expected an integer, got string");
  CHECK(changed("/added_tokens/0/content", "") ==
        "\"tokenizer.json\": added_tokens: expected nonempty tokens, got ''");
  const json split = {{"type", "Split"}, {"behavior", "Isolated"}, {"invert", false}};
  json bad_pattern = split;
  bad_pattern["pattern"] = {{"Regex", "(a"}};
  CHECK(changed("/pre_tokenizer", bad_pattern) ==
        "\"tokenizer.json\": pattern: expected a regular expression, got '(a' (end pattern with "
        "unmatched parenthesis)");
  CHECK(changed("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "////"}}) ==
        "\"tokenizer.json\": precompiled_charsmap: expected a table of characters in base64, got "
        "incomplete data");
  CHECK(message_of<FileError>([] {
          (void)PretrainedTokenizer::from_text("{");
        }).starts_with("\"tokenizer.json\": expected JSON, got an error in line 1"));
  CHECK(
      message_of<FileError>([] { (void)PretrainedTokenizer::from_text("[]"); }) ==
      "\"tokenizer.json\": expected an entry 'model', as in a Hugging Face tokenizer.json, got []");
}

TEST_CASE("pretrained tokenizer: rejects models that it cannot follow", "[train]") {
  const auto changed = [](const json& model) {
    json file = small_file();
    file["model"] = model;
    return error_of(file);
  };
  const json vocabulary = {{"[U]", 0}, {"a", 1}};
  CHECK(changed({{"type", "Unigram"}, {"vocab", vocabulary}}) ==
        "\"tokenizer.json\": vocab: expected a list of tokens, got object");
  CHECK(changed({{"type", "Unigram"}, {"vocab", json::array({json::array({"a", "b"})})}}) ==
        "\"tokenizer.json\": vocab: expected pairs of a token and its score, got [\"a\",\"b\"]");
  CHECK(changed({{"type", "WordPiece"},
                 {"vocab", vocabulary},
                 {"unk_token", "[U]"},
                 {"continuing_subword_prefix", "##"},
                 {"max_input_chars_per_word", -1}}) ==
        "\"tokenizer.json\": max_input_chars_per_word: expected at least 0, got -1");
  // With this prefix, the second token of a merge continues a word.
  CHECK(changed({{"type", "BPE"},
                 {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}},
                 {"continuing_subword_prefix", "##"},
                 {"merges", {"a b"}}}) ==
        "\"tokenizer.json\": pair 1 of merges: expected two tokens of the vocabulary that merge "
        "into a token of the vocabulary, got 'a b'");
  CHECK(changed({{"vocab", vocabulary}}) ==
        "\"tokenizer.json\": model: expected BPE, Unigram, WordPiece or WordLevel, got ''");
}

TEST_CASE("pretrained tokenizer: an unknown word without a token for it is an error", "[train]") {
  const std::string message = "unk_token: expected a token of the vocabulary, got '[U]'";
  json file = small_file();
  file["model"]["unk_token"] = "[U]";
  CHECK(encoded(file, "ab") == TokenIds{3});
  CHECK(message_of<ValueError>([&] { (void)encoded(file, "z"); }) == message);
  file["added_tokens"] = json::array();
  file["model"] = {{"type", "WordLevel"}, {"vocab", {{"a", 0}}}, {"unk_token", "[U]"}};
  CHECK(encoded(file, "a") == TokenIds{0});
  CHECK(message_of<ValueError>([&] { (void)encoded(file, "z"); }) == message);
}

TEST_CASE("pretrained tokenizer: the type of a model that does not state it", "[train]") {
  json file = small_file();
  file["added_tokens"] = json::array();
  const auto ids_with = [&](const char* model) {
    file["model"] = json::parse(model);
    return encoded(file, "ab c");
  };
  CHECK(ids_with(R"({"vocab": {"?": 0, "a": 1, "b": 2, "ab": 3}, "unk_token": "?",
                     "merges": ["a b"]})") == TokenIds{3, 0});
  CHECK(ids_with(R"({"vocab": {"?": 0, "a": 1, "##b": 2}, "unk_token": "?",
                     "continuing_subword_prefix": "##", "max_input_chars_per_word": 9})") ==
        TokenIds{1, 2, 0});
  CHECK(ids_with(R"({"vocab": [["?", 0], ["a", -1], ["b", -1], ["ab", -9]], "unk_id": 0})") ==
        TokenIds{1, 2, 0});
  CHECK(ids_with(R"({"vocab": {"?": 0, "a": 1, "ab": 3}, "unk_token": "?"})") == TokenIds{3, 0});
}

TEST_CASE("pretrained tokenizer: an expression that takes too long is an error", "[train]") {
  json file = small_file();
  file["pre_tokenizer"] = {{"type", "Split"},
                           {"behavior", "Isolated"},
                           {"invert", false},
                           {"pattern", {{"Regex", "(a+)+$"}}}};
  const auto tokenizer = PretrainedTokenizer::from_text(file.dump());
  CHECK(message_of<ValueError>([&] {
          (void)tokenizer.encode(str_cat(std::string(60, 'a'), 'b'));
        }).starts_with("pattern: expected an expression that matches in reasonable time"));
}

TEST_CASE("pretrained tokenizer: the limits hold for a whole text", "[train]") {
  const auto error = [](json file, const std::string& text) {
    const auto tokenizer = PretrainedTokenizer::from_text(file.dump());
    return message_of<ValueError>([&] { (void)tokenizer.encode(text); });
  };
  const auto repeated = [](const std::string& part, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += part;
    return all;
  };
  json file = small_file();
  const json split = {{"type", "Split"},
                      {"behavior", "Isolated"},
                      {"invert", false},
                      {"pattern", {{"Regex", "(a+)+$"}}}};
  // Each of these places, and each of these words, takes little for itself.
  file["pre_tokenizer"] = split;
  const std::string places = repeated(std::string(20, 'a') + "!", 1000);
  CHECK(error(file, places).starts_with("pattern: expected an expression that matches in reason"));
  file["pre_tokenizer"]["pattern"] = {{"Regex", "(a+)+$|!"}};
  CHECK(error(file, places).starts_with("pattern: expected an expression that matches in reason"));
  file["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers", {{{"type", "WhitespaceSplit"}}, split}}};
  CHECK(error(file, repeated(std::string(16, 'a') + "! ", 1000))
            .starts_with("pattern: expected an expression that matches in reasonable time"));

  // Ten bytes that would become ten gigabytes.
  const std::string limit =
      "text: expected tokenizer steps whose cost is in proportion to the text";
  file = small_file();
  const json growth = {
      {"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(100, 'a')}};
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", json(4, growth)}};
  CHECK(error(file, std::string(10, 'a')).starts_with(limit));
  json decoding = small_file();
  decoding["decoder"] = {{"type", "Sequence"}, {"decoders", json(2, growth)}};
  const auto decoder = PretrainedTokenizer::from_text(decoding.dump());
  CHECK(
      message_of<ValueError>([&] { (void)decoder.decode(TokenIds(1000, 1)); }).starts_with(limit));

  // Tokens of 50,000 bytes that begin at each byte of the text.
  file = small_file();
  file["pre_tokenizer"] = nullptr;
  const std::string token(50'000, 'a'), text(100'000, 'a');
  file["added_tokens"][0]["content"] = token + "b";
  CHECK(error(file, text).starts_with(limit));
  file = small_file();
  file["added_tokens"] = json::array();
  file["pre_tokenizer"] = nullptr;
  json tokens = json::parse(R"([["?", 0], ["a", -1]])");
  tokens.push_back({token, -9});
  file["model"] = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", tokens}};
  CHECK(error(file, text).starts_with(limit));
  CHECK(error(file, "aaa").empty());
}

TEST_CASE(
    "pretrained tokenizer: encodes and decodes as Hugging Face's library, whatever is combined",
    "[train]") {
  const json cases = json::parse(std::ifstream(WEFT_TEST_DATA "/combinations.json"));
  REQUIRE(cases.size() >= 20);
  for (const json& one : cases) {
    CAPTURE(one["tokenizer"].dump());
    const auto tokenizer = PretrainedTokenizer::from_text(one["tokenizer"].dump());
    for (std::size_t i = 0; i < one["texts"].size(); ++i) {
      const auto text = one["texts"][i].get<std::string>();
      CAPTURE(text);
      const TokenIds ids = tokenizer.encode(text);
      CHECK(ids == one["encoded"][i]["ids"].get<TokenIds>());
      CHECK(tokenizer.add_special_tokens(ids) == one["encoded"][i]["ends"].get<TokenIds>());
    }
    for (std::size_t i = 0; i < one["ids"].size(); ++i) {
      const auto ids = one["ids"][i].get<TokenIds>();
      CAPTURE(ids);
      Utf8StreamDecoder characters;
      const std::string decoded = characters.add(tokenizer.decode(ids)) + characters.finish();
      CHECK(decoded == one["decoded"][i].get<std::string>());
    }
  }
}

TEST_CASE("pretrained tokenizer: of divisions with equal scores, the library's counts", "[train]") {
  json file = small_file();
  file["added_tokens"] = json::array();
  file["pre_tokenizer"] = nullptr;
  file["model"] = {
      {"type", "Unigram"},
      {"unk_id", 0},
      {"vocab", json::parse(R"([["?", 0], ["a", -1], ["b", -1], ["aa", -1], ["ab", -1]])")}};
  CHECK(encoded(file, "aaa") == TokenIds{1, 3});
  CHECK(encoded(file, "aab") == TokenIds{1, 4});
  // Unknown characters beside each other are one token, also beside "?" itself.
  CHECK(encoded(file, "aç?éa") == TokenIds{1, 0, 1});
  // An unknown character costs 10 more than the least probable token.
  json probable = file;
  probable["model"]["vocab"] = json::parse(R"([["?", 0], ["a", 2], ["ab", -8]])");
  CHECK(encoded(probable, "ab") == TokenIds{2});
  file["model"]["unk_id"] = nullptr;
  CHECK(message_of<ValueError>([&] { (void)encoded(file, "ç"); }) ==
        "unk_id: expected an id, because the text contains unknown characters, got none");
}

TEST_CASE("pretrained tokenizer: matches beside each other and their words", "[train]") {
  json file = small_file();
  file["added_tokens"] = json::array();
  file["model"]["continuing_subword_prefix"] = "#";
  file["model"]["merges"] = json::array();
  file["model"]["vocab"] = {{"?", 0}, {"a", 1}, {"b", 2}, {"#a", 3}, {"#b", 4}};
  const auto split = [&](const char* pattern, const char* behavior, bool invert,
                         const std::string& text) {
    file["pre_tokenizer"] = {{"type", "Split"},
                             {"pattern", {{"Regex", pattern}}},
                             {"behavior", behavior},
                             {"invert", invert}};
    return encoded(file, text);
  };
  CHECK(split("b", "Removed", false, "abba") == TokenIds{1, 1});
  CHECK(split("b", "Isolated", false, "abba") == TokenIds{1, 2, 2, 1});
  CHECK(split("b", "MergedWithPrevious", false, "abba") == TokenIds{1, 4, 2, 1});
  CHECK(split("b", "MergedWithNext", false, "abba") == TokenIds{1, 2, 2, 3});
  CHECK(split("b", "Contiguous", false, "abba") == TokenIds{1, 2, 4, 1});
  CHECK(split("b", "Removed", true, "abba") == TokenIds{2, 2});
  CHECK(split("b", "MergedWithPrevious", true, "abba") == TokenIds{1, 2, 2, 3});
  CHECK(split("b", "MergedWithNext", true, "abba") == TokenIds{1, 4, 2, 1});
  // Empty matches divide, too.
  CHECK(split("(?=b)", "Isolated", false, "aabab") == TokenIds{1, 3, 2, 3, 2});
}

TEST_CASE("pretrained tokenizer: entries whose absence has no meaning are required", "[train]") {
  json file = small_file();
  file["added_tokens"][0].erase("normalized");
  CHECK(error_of(file) ==
        "\"tokenizer.json\": added_tokens: expected the entry normalized, got none");
  file = small_file();
  file["pre_tokenizer"] = {{"type", "ByteLevel"}, {"trim_offsets", true}};
  CHECK(
      error_of(file) ==
      "\"tokenizer.json\": pre_tokenizer ByteLevel: expected the entry add_prefix_space, got none");
  file["pre_tokenizer"] = {{"type", "Metaspace"},
                           {"replacement", "_"},
                           {"prepend_scheme", "first"},
                           {"add_prefix_space", false}};
  CHECK(error_of(file) ==
        "\"tokenizer.json\": prepend_scheme: expected never, because add_prefix_space is false, "
        "got 'first'");
  file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "__"}};
  CHECK(error_of(file) == "\"tokenizer.json\": replacement: expected one character, got '__'");
}

TEST_CASE("pretrained tokenizer: added tokens are decoded as other tokens", "[train]") {
  json file = small_file();
  file["added_tokens"] = {{{"id", 4}, {"content", "▁▁"}, {"normalized", false}},
                          {{"id", 5}, {"content", "<N>"}, {"normalized", true}}};
  file["normalizer"] = {{"type", "Lowercase"}};
  file["decoder"] = {{"type", "Sequence"},
                     {"decoders",
                      {{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
                       {{"type", "Fuse"}},
                       {{"type", "Strip"}, {"content", "a"}, {"start", 1}, {"stop", 0}}}}};
  const auto tokenizer = PretrainedTokenizer::from_text(file.dump());
  CHECK(tokenizer.decode(TokenIds{1, 4, 1, 5}) == "  a<n>");
  CHECK(tokenizer.token(4) == "  ");
  CHECK(tokenizer.token(1) == "a");
}

TEST_CASE("pretrained tokenizer: rejects texts that are not UTF-8 and unknown ids", "[train]") {
  const PretrainedTokenizer tokenizer = golden_tokenizer("gpt2");
  CHECK_THROWS_AS(tokenizer.encode("\xff"), ValueError);
  CHECK(message_of<ValueError>([&] { (void)tokenizer.token(700); }) ==
        "token id: expected a value from 0 to 699, got 700");
  CHECK_THROWS_AS(tokenizer.decode(TokenIds{0, -1}), ValueError);
}

TEST_CASE("pretrained tokenizer: options that are null or left out", "[train]") {
  json file = small_file();
  // Accents are stripped if letters become lower case.
  file["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", false},
                        {"handle_chinese_chars", false},
                        {"strip_accents", nullptr},
                        {"lowercase", false}};
  CHECK(encoded(file, "á") == TokenIds{0});
  file["normalizer"]["lowercase"] = true;
  CHECK(encoded(file, "Á") == TokenIds{1});
  file["normalizer"] = nullptr;
  file["pre_tokenizer"] = {{"type", "FixedLength"}};
  CHECK(encoded(file, "ababab") == TokenIds{3, 3, 1, 2});
}

TEST_CASE("pretrained tokenizer: what comes before the first character", "[train]") {
  json file = small_file();
  file["added_tokens"] = json::array();
  const json replace = {{"type", "Replace"}, {"pattern", {{"String", "x"}}}, {"content", ""}};
  file["normalizer"] = {{"type", "Sequence"},
                        {"normalizers", {replace, {{"type", "Prepend"}, {"prepend", "a"}}}}};
  CHECK(encoded(file, "x") == TokenIds());
  CHECK(encoded(file, "xb") == TokenIds{3});
  file["model"]["vocab"] = {{"?", 0}, {"▁", 1}, {"a", 2}, {"b", 3}};
  file["model"]["merges"] = json::array();
  const json metaspace = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}};
  // A text without its first character has no first word.
  file["normalizer"] = replace;
  file["pre_tokenizer"] = metaspace;
  CHECK(encoded(file, "a") == TokenIds{1, 2});
  CHECK(encoded(file, "xa") == TokenIds{2});
  file["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers", {{{"type", "WhitespaceSplit"}}, metaspace}}};
  CHECK(encoded(file, "a b") == TokenIds{1, 2, 3});
}

TEST_CASE("pretrained tokenizer: two steps write bytes as letters twice", "[train]") {
  json file = json::parse(golden("gpt2")["tokenizer"].get<std::string>());
  const json step = {{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", true},
                     {"use_regex", false}};
  file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {step, step}}};
  CHECK(encoded(file, " a") == TokenIds{132, 258, 68});
  file["pre_tokenizer"] = step;
  CHECK(encoded(file, " a") == TokenIds{224, 68});
}
