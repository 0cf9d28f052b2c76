// Bert against the BertModel of transformers. write_bert.py wrote the expected values.
#include <weft/layers/models/bert.hpp>
#include "tests/catch.hpp"
#include "tests/golden/layer_case.hpp"

using namespace weft;

TEMPLATE_TEST_CASE("BERT of transformers, its states and the pooled ones", "[golden][Bert]", float,
                   double) {
  const bool is_pooled = GENERATE(false, true);
  const golden::LayerCase<TestType> expected(is_pooled ? "pooled" : "states", "bert.h5");
  Random random(1);
  Bert<TestType> model({.vocabulary_size = 7,
                        .max_len = 9,
                        .num_hiddens = 6,
                        .num_heads = 2,
                        .num_blocks = 2,
                        .ffn_num_hiddens = 8,
                        .pooler = is_pooled},
                       random);
  expected.check(model, {}, [&](auto& tape, const auto&) {
    const Var<TestType> states = model(tape, expected.integers("tokens"),
                                       expected.integers("segments"), expected.mask().valid_lens);
    return is_pooled ? model.pooled(states) : states;
  });
}
