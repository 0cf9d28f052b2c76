#include <fstream>
#include <nlohmann/json.hpp>

#include <weft/autograd/error.hpp>
#include <weft/train/tokenizers/pretrained_tokenizer.hpp>
#include <weft/train/tokenizers/whole_characters.hpp>
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

Sequence encoded(const json& file, const std::string& text) {
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
    const auto ids = line["ids"].get<Sequence>();
    CHECK(tokenizer.encode(text) == ids);
    CHECK(tokenizer.with_ends(ids) == line["with_ends"].get<Sequence>());
    WholeCharacters characters;
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
  CHECK(encoded(file, "ab<e>a") == Sequence{3, 4, 1});
  CHECK(encoded(file, "a <e> c") == Sequence{1, 4, 0});
  file["pre_tokenizer"] = nullptr;  // now spaces are unknown characters
  CHECK(encoded(file, "a <e> b") == Sequence{1, 0, 4, 0, 2});
  file["added_tokens"][0]["lstrip"] = true;
  CHECK(encoded(file, "a \t<e> b") == Sequence{1, 4, 0, 2});
  file["added_tokens"][0]["rstrip"] = true;
  CHECK(encoded(file, "a <e>\u3000 b") == Sequence{1, 4, 2});
  file["added_tokens"][0]["content"] = "aa";
  file["added_tokens"][0]["single_word"] = true;
  CHECK(encoded(file, "aab aa baa") == Sequence{1, 3, 4, 2, 1, 1});
  // Of two, the longer one.
  file["added_tokens"].push_back({{"id", 5}, {"content", "aa aa"}, {"normalized", false}});
  CHECK(encoded(file, "aa aa") == Sequence{5});
}

TEST_CASE("pretrained tokenizer: only the first part of a text begins it", "[train]") {
  json file = small_file();
  file["model"]["vocab"] = {{"?", 0}, {"▁", 1}, {"a", 2}, {"b", 3}};
  file["model"]["merges"] = json::array();
  file["normalizer"] = {{"type", "Lowercase"}};
  file["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}};
  file["added_tokens"].push_back({{"id", 5}, {"content", "<N>"}, {"normalized", true}});
  CHECK(encoded(file, "A") == Sequence{1, 2});
  CHECK(encoded(file, "a<e>b<n>a") == Sequence{1, 2, 4, 3, 5, 2});
  CHECK(encoded(file, "a<n>b") == Sequence{1, 2, 5, 3});
  CHECK(encoded(file, "<e>b") == Sequence{4, 3});
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
  CHECK(encoded(file, "accb") == Sequence{1, 0, 0, 2});
  file["model"]["fuse_unk"] = true;
  CHECK(encoded(file, "accb cc") == Sequence{1, 0, 2, 0});
  file["model"]["unk_token"] = nullptr;
  CHECK(encoded(file, "acb") == Sequence{3});  // dropped before pairs are merged
}

TEST_CASE("pretrained tokenizer: rejects what it cannot follow", "[train]") {
  const auto changed = [](const char* pointer, const json& value) {
    json file = small_file();
    file[json::json_pointer(pointer)] = value;
    return error_of(file);
  };
  CHECK(changed("/model/type", "WordLevel") ==
        "\"tokenizer.json\": model: expected BPE, Unigram or WordPiece, got 'WordLevel'");
  CHECK(changed("/normalizer", {{"type", "Nmt"}}) ==
        "\"tokenizer.json\": normalizer: expected NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, "
        "Strip, Prepend, Replace, Precompiled or BertNormalizer, got 'Nmt'");
  CHECK(changed("/pre_tokenizer/type", "UnicodeScripts") ==
        "\"tokenizer.json\": pre_tokenizer: expected ByteLevel, Split, Digits, Punctuation, "
        "Metaspace, WhitespaceSplit or BertPreTokenizer, got 'UnicodeScripts'");
  CHECK(changed("/decoder", {{"type", "CTC"}}) ==
        "\"tokenizer.json\": decoder: expected ByteLevel, WordPiece, Metaspace, Replace, "
        "ByteFallback, Strip or Fuse, got 'CTC'");
  CHECK(changed("/post_processor", {{"type", "Other"}}) ==
        "\"tokenizer.json\": post_processor: expected TemplateProcessing, BertProcessing, "
        "RobertaProcessing or ByteLevel, got 'Other'");
  CHECK(changed("/model/vocab/a", -1) ==
        "\"tokenizer.json\": vocab: expected ids 0 … 1048575, got -1 for token 'a'");
  CHECK(changed("/model/vocab/a", 1e30).starts_with("\"tokenizer.json\": vocab: expected ids"));
  CHECK(changed("/model/vocab", 5) ==
        "\"tokenizer.json\": vocab: expected an object of tokens, got number");
  CHECK(
      changed("/model/merges/0/0", "x") ==
      "\"tokenizer.json\": pair 1 of merges: expected two tokens of the vocabulary, which has the "
      "merged one, got [\"x\",\"b\"]");
  CHECK(
      changed("/model/merges", json::array({"a b", "a b"})) ==
      "\"tokenizer.json\": pair 2 of merges: expected a pair of tokens that was not there before, "
      "got 'a b'");
  CHECK(changed("/model/dropout", 0.1) == "\"tokenizer.json\": dropout: expected none, got one");
  CHECK(changed("/added_tokens/0/id", "4") ==
        "\"tokenizer.json\": id: expected an integer, got string");
  CHECK(changed("/added_tokens/0/content", "") ==
        "\"tokenizer.json\": added_tokens: expected tokens that are not empty, got ''");
  const json split = {{"type", "Split"}, {"behavior", "Isolated"}};
  json bad_pattern = split;
  bad_pattern["pattern"] = {{"Regex", "(a"}};
  CHECK(changed("/pre_tokenizer", bad_pattern) ==
        "\"tokenizer.json\": pattern: expected a regular expression, got '(a': missing closing "
        "parenthesis");
  CHECK(changed("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "////"}}) ==
        "\"tokenizer.json\": precompiled_charsmap: expected a table of characters in base64, got a "
        "shorter text");
  CHECK(message_of<FileError>([] {
          (void)PretrainedTokenizer::from_text("{");
        }).starts_with("\"tokenizer.json\": expected JSON, got an error in line 1"));
  CHECK(message_of<FileError>([] {
          (void)PretrainedTokenizer::from_text("[]");
        }).starts_with("\"tokenizer.json\": model: expected BPE, Unigram or WordPiece"));
}

TEST_CASE("pretrained tokenizer: an expression that takes too long is an error", "[train]") {
  json file = small_file();
  file["pre_tokenizer"] = {
      {"type", "Split"}, {"behavior", "Isolated"}, {"pattern", {{"Regex", "(a+)+$"}}}};
  const auto tokenizer = PretrainedTokenizer::from_text(file.dump());
  CHECK(message_of<ValueError>([&] {
          (void)tokenizer.encode(concatenate_text(std::string(60, 'a'), 'b'));
        }).starts_with("pattern: expected an expression that matches in reasonable time"));
}

TEST_CASE("pretrained tokenizer: rejects texts that are not UTF-8 and unknown ids", "[train]") {
  const PretrainedTokenizer tokenizer = golden_tokenizer("gpt2");
  CHECK_THROWS_AS(tokenizer.encode("\xff"), ValueError);
  CHECK(message_of<ValueError>([&] { (void)tokenizer.token(700); }) ==
        "token id: expected 0 ≤ id < 700, got 700");
  CHECK_THROWS_AS(tokenizer.decode(Sequence{0, -1}), ValueError);
}
