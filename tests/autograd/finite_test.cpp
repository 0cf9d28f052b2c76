#include <limits>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/finite.hpp>
#include "tests/catch.hpp"

using namespace weft;

TEMPLATE_TEST_CASE("finite: the first NaN or infinity of either sign is found anywhere",
                   "[autograd]", float, double) {
  using Limits = std::numeric_limits<TestType>;
  std::vector<TestType> values(37, Limits::max());
  values[5] = Limits::lowest();
  CHECK(first_non_finite<TestType>(values) == -1);
  CHECK(all_finite(values.data(), std::ssize(values)));
  CHECK(first_non_finite<TestType>({}) == -1);
  for (const TestType wrong : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()})
    for (const std::size_t at : {0u, 7u, 8u, 36u}) {
      std::vector<TestType> changed = values;
      changed[at] = changed[36] = wrong;
      CHECK(first_non_finite<TestType>(changed) == static_cast<Index>(at));
      CHECK_FALSE(all_finite(changed.data(), std::ssize(changed)));
    }
}
