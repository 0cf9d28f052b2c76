// Added tokens that end with spaces. The expected ids are those of Hugging Face's tokenizers 0.23.
#include <nlohmann/json.hpp>
#include <string>

#include <weft/train/text/tokenizers/pretrained_tokenizer.hpp>
#include "tests/catch.hpp"

using namespace weft;
using nlohmann::json;

TEST_CASE("added tokens: a token leaves the spaces that belong to the previous token", "[train]") {
  const json file = json::parse(R"({
    "added_tokens": [
      {"id": 3, "content": "<e>", "special": true, "normalized": false, "lstrip": true},
      {"id": 4, "content": "b ", "special": true, "normalized": false}],
    "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": null,
    "model": {"type": "BPE", "unk_token": "?", "merges": [], "vocab": {"?": 0, "a": 1, " ": 2}}})");
  const auto tokenizer = PretrainedTokenizer::from_text(file.dump());
  CHECK(tokenizer.encode("ab <e>a") == TokenIds{1, 4, 3, 1});
  CHECK(tokenizer.encode("ab   <e>a") == TokenIds{1, 4, 3, 1});
  CHECK(tokenizer.encode("b   <e> b <e>") == TokenIds{4, 3, 2, 4, 3});
}
