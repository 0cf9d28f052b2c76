// Grouped-query attention: MultiHeadAttentionOptions::num_kv_heads.
#include <algorithm>

#include <weft/layers/multi_head_attention.hpp>
#include <weft/layers/summary.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/golden/torch_row.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/layers/scorings.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

template <class T>
MultiHeadAttention<T> grouped(std::optional<Index> num_kv_heads, bool bias = true,
                              std::optional<RotaryOptions> rotary = {},
                              Scoring scoring = Scoring::scaled_dot_product) {
  Random random(1);
  return {{.query_size = 6,
           .key_size = 6,
           .value_size = 6,
           .num_hiddens = 8,
           .num_heads = 4,
           .num_kv_heads = num_kv_heads,
           .scoring = scoring,
           .bias = bias,
           .rotary = rotary},
          random};
}

}  // namespace

TEMPLATE_TEST_CASE("torch's grouped-query attention (enable_gqa)", "[golden][MultiHeadAttention]",
                   float, double) {
  const auto attend = [](const auto& layer) {
    return [&layer](const auto& x) { return layer(x[0], x[0], x[0], {.causal = true}); };
  };
  auto four = grouped<TestType>(4), two = grouped<TestType>(2), one = grouped<TestType>(1);
  golden::compare_with_torch<TestType>("GroupedAttention(6, 4)", {{2, 5, 6}}, four, attend(four));
  golden::compare_with_torch<TestType>("GroupedAttention(6, 2)", {{2, 5, 6}}, two, attend(two));
  golden::compare_with_torch<TestType>("GroupedAttention(6, 1)", {{2, 5, 6}}, one, attend(one));
}

TEST_CASE("gradients: grouped-query attention", "[layers][gradients][MultiHeadAttention]") {
  const Index num_kv_heads = GENERATE(1, 2);
  const Scoring scoring = GENERATE(from_range(scorings));
  auto layer = grouped<double>(num_kv_heads, true, {}, scoring);
  check_gradients(layer, {{2, 3, 6}, {2, 4, 6}}, [&](Tape<double>&, const Vars& x) {
    return layer(x[0], x[1], x[1], ValidLens{4, 2});
  });
  auto rotary = grouped<double>(num_kv_heads, false, RotaryOptions{}, scoring);
  check_gradients(rotary, {{2, 3, 6}}, [&](Tape<double>&, const Vars& x) {
    return rotary(x[0], x[0], x[0], {.causal = true});
  });
}

TEST_CASE("grouped-query attention equals attention whose key and value heads are copies",
          "[layers]") {
  const auto shared = grouped<double>(2, false, RotaryOptions{});
  auto full = grouped<double>({}, false, RotaryOptions{});
  full.W_q = shared.W_q;
  full.W_o = shared.W_o;
  // Rows of heads 0 and 1 are those of head 0, rows of heads 2 and 3 those of head 1.
  for (const auto& [from, to] : {std::pair(&shared.W_k, &full.W_k), {&shared.W_v, &full.W_v}})
    for (Index row = 0; row < 8; ++row)
      for (Index column = 0; column < 6; ++column)
        to->weight(row, column) = from->weight.value()(row / 4 * 2 + row % 2, column);
  CHECK(shared.num_kv_heads() == 2);
  CHECK(full.num_kv_heads() == 4);
  CHECK(shared.W_k.weight.shape() == Shape{4, 6});
  Random random(2);
  Tape<double> tape({.keep_attention_weights = true});
  const auto x = tape.constant(random.normal_tensor<double>({2, 5, 6}));
  const auto y = shared(x, x, x, ValidLens{5, 3});
  const auto expected = full(x, x, x, ValidLens{5, 3});
  const std::vector<Tensor<double>> weights = tape.take_attention_weights();
  CHECK(weights[0].shape() == Shape{2, 4, 5, 5});
  CHECK(same(y.value(), expected.value()));
  CHECK(same(weights[0], weights[1]));
}

TEST_CASE("grouped-query attention: prints its heads, and names numbers that do not divide",
          "[layers]") {
  CHECK(str_cat(grouped<float>(2)).starts_with("MultiHeadAttention(\n  num_kv_heads=2\n"));
  CHECK(str_cat(grouped<float>(2, true, RotaryOptions{}))
            .starts_with("MultiHeadAttention(\n  rotary_base=10000.0, num_kv_heads=2\n"));
  CHECK(str_cat(grouped<float>(4)).starts_with("MultiHeadAttention(\n  (attention)"));
  for (const Index heads : {0, 3, 8, -1})
    CHECK(message_of<ValueError>([&] { grouped<float>(heads); }) ==
          str_cat("MultiHeadAttention: num_kv_heads: expected a positive divisor of "
                  "num_heads 4, got ",
                  heads));
}
