#include <utility>

#include <weft/autograd/ops/mask.hpp>
#include "tests/autograd/ops/attention_run.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {

TEST_CASE("attention: a window and a mask of keys equal the boolean mask of both", "[autograd]") {
  // In blocks, in a tile of keys, and in several.
  const auto [queries, keys] =
      GENERATE(std::pair<Index, Index>{5, 7}, std::pair<Index, Index>{70, 90},
               std::pair<Index, Index>{300, 300}, std::pair<Index, Index>{40, 400});
  const bool causal = GENERATE(false, true);
  const Index batch = 2, window = 9;
  AttentionRun run = random_run(batch, queries, keys, 4);
  Random random(4);
  Tensor<bool> key_mask({batch, keys}), allowed({batch, queries, keys});
  for (bool& value : key_mask) value = random.uniform() < 0.6;
  for (Index b = 0; b < batch; ++b)
    for (Index query = 0; query < queries; ++query)
      for (Index key = 0; key < keys; ++key) {
        const Index distance = query + keys - queries - key;  // of a key before the query
        allowed(b, query, key) =
            key_mask(b, key) && distance < window && (distance >= 0 || !causal);
      }
  AttentionRun expected = run;
  run.attend({.mask = {.causal = causal, .window = window, .keys = key_mask}});
  expected.attend({.mask = {.allowed = allowed}});
  CHECK(distance(run.y, expected.y) < 1e-14);
  CHECK(distance(run.q.grad(), expected.q.grad()) < 1e-13);
  CHECK(distance(run.k.grad(), expected.k.grad()) < 1e-13);
  CHECK(distance(run.v.grad(), expected.v.grad()) < 1e-13);
}

TEST_CASE("attention: a mask of one head or one sequence is that of all", "[autograd]") {
  AttentionRun run = random_run(2, 70, 90, 4);
  Random random(4);
  Tensor<bool> one({1, 1, 70, 90}), all({2, 2, 70, 90});
  for (bool& value : one) value = random.uniform() < 0.6;
  for (Index i = 0; i < all.size(); ++i) all.data()[i] = one.data()[i % one.size()];
  AttentionRun expected = run;
  run.attend({.num_heads = 2, .mask = {.allowed = one}});
  expected.attend({.num_heads = 2, .mask = {.allowed = all}});
  CHECK(distance(run.y, expected.y) == 0.0);
}

}  // namespace weft
