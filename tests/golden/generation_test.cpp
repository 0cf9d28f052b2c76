// Generation against transformers'. write_generation.py wrote it.
#include <algorithm>
#include <string>
#include <vector>

#include <weft/autograd/ops/shaping.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/text/generation/beam_search.hpp>
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

// The model of the file, and its prompts.
template <class T>
struct Golden {
  Golden() { (void)load_weights(file.path(), model, {.group = "weights"}); }

  std::vector<TokenIds> prompts() const {
    const auto all = file.tensor<TokenId>("prompts"), lengths = file.tensor<TokenId>("lengths");
    std::vector<TokenIds> rows;
    for (Index i = 0; i < all.shape()[0]; ++i) rows.push_back(row_of(all, i, lengths(i)));
    return rows;
  }
  // The rows of a dataset, each up to the first -1.
  std::vector<TokenIds> rows(const std::string& name) const {
    const auto all = file.tensor<TokenId>(name);
    std::vector<TokenIds> rows;
    for (Index i = 0; i < all.shape()[0]; ++i) {
      rows.push_back(row_of(all, i, all.shape()[1]));
      rows.back().erase(std::ranges::find(rows.back(), -1), rows.back().end());
    }
    return rows;
  }

  Hdf5File file{WEFT_TEST_DATA "/generation.h5"};
  Random random{1};
  Gpt<T> model{{.vocabulary_size = 61,
                .max_len = 140,
                .num_hiddens = 24,
                .num_heads = 3,
                .num_blocks = 2,
                .tied = false},
               random};
};

}  // namespace

TEMPLATE_TEST_CASE("20 texts of greedy generation, alone and together", "[golden][generate]", float,
                   double) {
  const Golden<TestType> golden;
  const std::vector<TokenIds> prompts = golden.prompts(), expected = golden.rows("results");
  REQUIRE(prompts.size() == 20);
  const GenerateOptions options{.max_tokens = 100, .sampling = {.temperature = 0}};
  for (std::size_t i = 0; i < prompts.size(); ++i)
    CHECK(generate(golden.model, prompts[i], options) == expected[i]);
  CHECK(generate(golden.model, prompts, options) == expected);
}

TEMPLATE_TEST_CASE("transformers' no_repeat_ngram_size and min_new_tokens", "[golden][generate]",
                   float, double) {
  const Golden<TestType> golden;
  CHECK(generate(golden.model, golden.prompts(),
                 {.max_tokens = 100, .sampling = {.temperature = 0, .no_repeat_ngram_size = 3}}) ==
        golden.rows("no_repeat"));
  CHECK(generate(golden.model, golden.prompts(),
                 {.max_tokens = 100,
                  .min_tokens = 25,
                  .sampling = {.temperature = 0},
                  .eos_token_ids = {0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60}}) ==
        golden.rows("ended"));
}

TEMPLATE_TEST_CASE("transformers' beam search without repeated pairs of tokens",
                   "[golden][beam_search]", float, double) {
  const Golden<TestType> golden;
  const std::vector<TokenIds> expected = golden.rows("beams");
  REQUIRE(expected.size() == 20);
  const auto next = [&](const Prefixes& prefixes) {
    Tape<TestType> tape = Tape<TestType>::inference();
    const Var<TestType> logits = golden.model(tape, prefixes.tokens);
    const Index time = prefixes.tokens.shape()[1];
    return squeeze(log_softmax(slice(logits, 1, time - 1, time)), 1).value();
  };
  for (TokenId first = 0; first < 20; ++first)
    CHECK(beam_search<TestType>(next, 1,
                                {.beam_width = 4,
                                 .max_len = 20,
                                 .bos = first,
                                 .eos_token_ids = {},
                                 .no_repeat_ngram_size = 2})[0]
              .front()
              .tokens == expected[static_cast<std::size_t>(first)]);
}
