#include <sstream>

#include <weft/layers/norm.hpp>
#include <weft/layers/summary.hpp>
#include "tests/catch.hpp"
#include "tests/golden/torch_row.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("gradients: RMS norm", "[layers][gradients][RMSNorm]") {
  RMSNorm<double> layer({.num_hiddens = 5});
  check_gradients(layer, {{2, 3, 5}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
}

TEMPLATE_TEST_CASE("torch.nn.RMSNorm", "[golden][RMSNorm]", float, double) {
  RMSNorm<TestType> layer({.num_hiddens = 6, .eps = 1e-3});
  golden::compare_with_torch<TestType>("torch.nn.RMSNorm(6, eps=0.001)", {{2, 3, 6}}, layer,
                                       [&](const auto& x) { return layer(x[0]); });
}

TEST_CASE("RMS norm: prints as PyTorch's does, and names options outside their ranges",
          "[layers]") {
  std::ostringstream out;
  out << RMSNorm<float>({.num_hiddens = 6});
  CHECK(out.str() == "RMSNorm((6,), eps=1e-05, elementwise_affine=True)");
  CHECK(message_of<ValueError>([] { RMSNorm<float>({.num_hiddens = 0}); }) ==
        "RMSNorm: num_hiddens: expected a number > 0, got 0");
  CHECK(message_of<ValueError>([] { RMSNorm<float>({.num_hiddens = 1, .eps = -1}); }) ==
        "RMSNorm: eps: expected a number ≥ 0, got -1");
}
