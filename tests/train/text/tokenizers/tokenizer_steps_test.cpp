// Steps of a tokenizer.json. The expected values are those of Hugging Face's tokenizers 0.23.
#include <nlohmann/json.hpp>
#include <string>

#include <weft/autograd/error.hpp>
#include <weft/train/text/tokenizers/pretrained_tokenizer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using nlohmann::json;

namespace {

// A tokenizer of single characters and bytes, with a step.
PretrainedTokenizer tokenizer_with(const std::string& name, const json& step) {
  json file = json::parse(R"({
    "added_tokens": [], "normalizer": null, "pre_tokenizer": null, "post_processor": null,
    "decoder": null,
    "model": {"type": "BPE", "unk_token": "?", "merges": [],
              "vocab": {"?": 0, "a": 1, "b": 2, "<0xC3>": 3, "<0xA9>": 4, "<e>": 5, " ": 6}}})");
  file[name] = step;
  return PretrainedTokenizer::from_text(file.dump());
}

}  // namespace

TEST_CASE("tokenizer steps: each byte that is not part of a character is replaced", "[train]") {
  const auto tokenizer = tokenizer_with("decoder", {{"type", "ByteFallback"}});
  CHECK(tokenizer.decode(TokenIds{3, 4}) == "é");
  CHECK(tokenizer.decode(TokenIds{3, 3}) == "\uFFFD\uFFFD");
  CHECK(tokenizer.decode(TokenIds{1, 3, 1}) == "a\uFFFDa");
  CHECK(tokenizer.decode(TokenIds{3, 3, 4, 1}) == "\uFFFD\uFFFD\uFFFDa");
  CHECK(tokenizer.decode(TokenIds{3, 3, 3, 1, 4}) == "\uFFFD\uFFFD\uFFFDa\uFFFD");
}

TEST_CASE("tokenizer steps: each added token takes the spaces between it and the previous one",
          "[train]") {
  const auto tokenizer = tokenizer_with("added_tokens", {{{"id", 5},
                                                          {"content", "<e>"},
                                                          {"special", true},
                                                          {"normalized", false},
                                                          {"lstrip", true}}});
  CHECK(tokenizer.encode("a<e>b <e>a") == TokenIds{1, 5, 2, 5, 1});
  CHECK(tokenizer.encode("a <e> b  <e>  <e>") == TokenIds{1, 5, 6, 2, 5, 5});
}

TEST_CASE("tokenizer steps: an added token leaves the spaces that belong to the previous one",
          "[train]") {
  json tokens = json::array();
  tokens.push_back({{"id", 5}, {"content", "<e>"}, {"normalized", false}, {"lstrip", true}});
  tokens.push_back({{"id", 7}, {"content", "b "}, {"normalized", false}});
  const auto tokenizer = tokenizer_with("added_tokens", tokens);
  CHECK(tokenizer.encode("ab  <e>a") == TokenIds{1, 7, 5, 1});
  CHECK(tokenizer.encode("b   <e> b <e>") == TokenIds{7, 5, 6, 7, 5});
}

TEST_CASE("tokenizer steps: a single step adds tokens at the ends", "[train]") {
  const json ends{{"type", "BertProcessing"}, {"cls", {"a", 1}}, {"sep", {"b", 2}}};
  const json none{{"type", "ByteLevel"},
                  {"add_prefix_space", true},
                  {"trim_offsets", true},
                  {"use_regex", true}};
  const auto steps = [](const json& first, const json& second) {
    return tokenizer_with("post_processor",
                          {{"type", "Sequence"}, {"processors", {first, second}}});
  };
  CHECK(steps(none, ends).add_special_tokens(TokenIds{5}) == TokenIds{1, 5, 2});
  CHECK(steps(ends, none).add_special_tokens(TokenIds{5}) == TokenIds{1, 5, 2});
  CHECK(contains(message_of<FileError>([&] { (void)steps(ends, ends); }),
                 "post_processor: expected one step that adds tokens, got several steps"));
}
