// check_same_bits: a computation gives the same bits on any number of threads.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <weft/autograd/tensor.hpp>
#include "tests/catch.hpp"

namespace weft {

// Runs `compute`, which returns tensors, on 1, 2, 3 and 8 threads and compares them bit for bit.
template <class Compute>
void check_same_bits(const Compute& compute) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto expected = compute();
  for (const int threads : {2, 3, 8}) {
    omp_set_num_threads(threads);
    const auto result = compute();
    REQUIRE(result.size() == expected.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      INFO("tensor " << i << " on " << threads << " threads");
      REQUIRE(result[i].shape() == expected[i].shape());
      const auto bytes = result[i].values().size_bytes();
      CHECK(std::memcmp(result[i].data(), expected[i].data(), bytes) == 0);
    }
  }
  omp_set_num_threads(before);
}

}  // namespace weft
