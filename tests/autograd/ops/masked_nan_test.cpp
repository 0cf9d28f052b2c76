#include "autograd/ops/internal/masked_nan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <weft/autograd/ops/mask.hpp>
#include <weft/autograd/random.hpp>
#include <weft/autograd/tape.hpp>
#include "autograd/ops/internal/mask_view.hpp"
#include "tests/catch.hpp"

namespace weft {

TEST_CASE("hidden keys: a NaN in any of several ranges of keys is replaced by zeros",
          "[autograd]") {
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

TEST_CASE("finite keys: a NaN in any of several ranges marks its row and leaves zeros there",
          "[autograd]") {
  // 2 · 200 keys of 100 channels are three ranges.
  const Index keys = 200, channels = 100;
  const Tensor<double> clean = Random(1).normal_tensor<double>({2, keys, channels});
  for (const bool in_values : {false, true})
    for (const Index bad : {0, 150, 250, 399}) {
      INFO("key " << bad);
      Tensor<double> x = clean;
      x.data()[bad * channels + 7] = std::numeric_limits<double>::infinity();
      Tape<double> tape;
      const FiniteKeys<double> finite =
          finite_keys(tape.constant(in_values ? clean : x), tape.constant(in_values ? x : clean));
      REQUIRE(finite.marks.shape() == Shape{2, keys});
      for (Index key = 0; key < 2 * keys; ++key) {
        REQUIRE(std::isnan(finite.marks.data()[key]) == (key == bad));
        const double expected = key == bad ? 0.0 : clean.data()[key * channels + 3];
        REQUIRE(finite.keys.value().data()[key * channels + 3] == expected);
        REQUIRE(finite.values.value().data()[key * channels + 3] == expected);
      }
    }
}

}  // namespace weft
