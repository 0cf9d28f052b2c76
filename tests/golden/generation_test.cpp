// Greedy generation against transformers'. write_generation.py wrote it.
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/text/generation/generate.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

// The first `length` numbers of a row.
TokenIds row_of(const Tokens& rows, Index row, Index length) {
  const TokenId* first = rows.data() + row * rows.shape().columns();
  return {first, first + length};
}

}  // namespace

TEMPLATE_TEST_CASE("20 texts of greedy generation, alone and together", "[golden][generate]", float,
                   double) {
  const Hdf5File file(WEFT_TEST_DATA "/generation.h5");
  Random random(1);
  Gpt<TestType> model({.vocabulary_size = 61,
                       .max_len = 140,
                       .num_hiddens = 24,
                       .num_heads = 3,
                       .num_blocks = 2,
                       .tied = false},
                      random);
  (void)load_weights(file.path(), model, {.group = "weights"});
  const auto all = file.tensor<TokenId>("prompts"), lengths = file.tensor<TokenId>("lengths");
  const auto results = file.tensor<TokenId>("results");
  std::vector<TokenIds> prompts, expected;
  for (Index i = 0; i < all.shape()[0]; ++i) {
    prompts.push_back(row_of(all, i, lengths(i)));
    expected.push_back(row_of(results, i, 100));
  }
  REQUIRE(prompts.size() == 20);
  const GenerateOptions options{.max_tokens = 100, .sampling = {.temperature = 0}};
  for (std::size_t i = 0; i < prompts.size(); ++i)
    CHECK(generate(model, prompts[i], options) == expected[i]);
  CHECK(generate(model, prompts, options) == expected);
}
