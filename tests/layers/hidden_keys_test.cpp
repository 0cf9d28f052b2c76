#include "layers/internal/hidden_keys.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <weft/autograd/ops/mask.hpp>
#include <weft/autograd/random.hpp>
#include <weft/autograd/tape.hpp>
#include "autograd/ops/internal/mask_view.hpp"
#include "tests/catch.hpp"

namespace weft {

TEST_CASE("hidden keys: a NaN in any of several ranges of keys is replaced by zeros", "[layers]") {
  // 400 keys of 200 channels are five ranges.
  const Index keys = 400, channels = 200;
  const Tensor<double> clean = Random(1).normal_tensor<double>({1, keys, channels});
  const MaskView mask("test", {.valid_lens = {10}}, 1, 1, 1, keys);
  for (const Index bad : {10, 100, 200, 300, 399}) {
    INFO("key " << bad);
    Tensor<double> x = clean;
    x(0, bad, 7) = std::numeric_limits<double>::quiet_NaN();
    Tape<double> tape;
    const Tensor<double> y = HiddenKeys(mask).zeroed(tape.constant(x)).value();
    for (Index key = 0; key < keys; ++key) {
      const double* row = y.data() + key * channels;
      if (key < 10)
        REQUIRE(std::equal(row, row + channels, clean.data() + key * channels));
      else
        REQUIRE(std::all_of(row, row + channels, [](double value) { return value == 0.0; }));
    }
  }
}

}  // namespace weft
