#include <limits>

#include <weft/autograd/ops/mask_rows.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("mask_rows: rows that are not kept become zeros, even if they are NaN", "[autograd]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor<bool> kept({2, 2}, {true, false, false, true});
  Tape<double> tape;
  Parameter<double> x(Tensor<double>({2, 2, 2}, {1, 2, nan, 4, 5, nan, 7, 8}));
  const Var y = mask_rows(tape.parameter(x), kept);
  CHECK(same(y.value(), Tensor<double>({2, 2, 2}, {1, 2, 0, 0, 0, 0, 7, 8})));
  tape.backward(y, Tensor<double>({2, 2, 2}, {1, 2, 3, 4, nan, nan, 7, 8}));
  CHECK(same(x.grad(), Tensor<double>({2, 2, 2}, {1, 2, 0, 0, 0, 0, 7, 8})));
}

TEST_CASE("mask_rows: shapes that do not match throw", "[autograd]") {
  Tape<double> tape;
  const Var x = tape.constant(Tensor<double>({2, 3, 4}));
  CHECK(message_of<ShapeError>([&] {
          mask_rows(x, Tensor<bool>({2, 4}));
        }) == "mask_rows: expected kept of shape [2, 3] for x of shape [2, 3, 4], got [2, 4]");
  CHECK(contains(message_of<ShapeError>([&] {
                   mask_rows(tape.constant(Tensor<double>(Shape())), Tensor<bool>(Shape()));
                 }),
                 "mask_rows: expected"));
}

namespace weft {

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"mask_rows",
       "of a batch of matrices",
       {{2, 3, 2}},
       {{40, 60, 25}},
       [](const auto& x) { return mask_rows(x[0], random_allowed(x[0].shape().without(-1))); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
