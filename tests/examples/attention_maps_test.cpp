#include "examples/common/attention_maps.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace weft;

namespace {

EncoderDecoder<float> small_model() {
  Random random(2);
  return {
      {.source_vocabulary_size = 9,
       .target_vocabulary_size = 7,
       .max_len = 5,
       .transformer = {.num_blocks = 2, .num_hiddens = 8, .ffn_num_hiddens = 16, .num_heads = 2}},
      random};
}

}  // namespace

TEST_CASE("attention maps: there is one for each head, and its rows sum to one", "[examples]") {
  const std::vector<examples::HeatMap> maps =
      examples::cross_attention_maps(small_model(), {4, 5, 6}, {6, 5});
  REQUIRE(maps.size() == 4);
  CHECK(maps[0].title == "block 1, head 1");
  CHECK(maps[3].title == "block 2, head 2");
  for (const auto& [title, values] : maps) {
    REQUIRE(values.shape() == Shape{3, 3});  // (two answer tokens and <eos>) × three source tokens
    for (Index row = 0; row < 3; ++row)
      CHECK(std::abs(values(row, 0) + values(row, 1) + values(row, 2) - 1.0f) < 1e-5f);
  }
}

TEST_CASE("attention maps: those of a language model have weights on earlier tokens only",
          "[examples]") {
  Random random(2);
  const Gpt<float> model(
      {.vocabulary_size = 9, .max_len = 5, .num_hiddens = 8, .num_heads = 2, .num_blocks = 3},
      random);
  const std::vector<examples::HeatMap> maps = examples::self_attention_maps(model, {4, 5, 6});
  REQUIRE(maps.size() == 6);
  CHECK(maps[5].title == "block 3, head 2");
  for (const auto& [title, values] : maps) {
    REQUIRE(values.shape() == Shape{3, 3});
    CHECK(values(0, 0) == 1.0f);
    CHECK(values(1, 2) == 0.0f);
    CHECK(std::abs(values(2, 0) + values(2, 1) + values(2, 2) - 1.0f) < 1e-5f);
  }
}

TEST_CASE("attention maps: every token of an answer names a row, special ones too", "[examples]") {
  const Vocabulary vocabulary({"a"});
  CHECK(examples::answer_names(vocabulary, {4, Vocabulary::bos, Vocabulary::pad, 4}) ==
        std::vector<std::string>{"a", "<bos>", "<pad>", "a", "end"});
}
