#include <cmath>

#include <weft/layers/feed_forward.hpp>
#include <weft/layers/summary.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/golden/torch_row.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("gradients: SwiGLU", "[layers][gradients][SwiGLU]") {
  Random random(1);
  SwiGLU<double> layer(
      {.num_hiddens = 3, .ffn_num_hiddens = 5, .bias = GENERATE(false, true), .dropout = 0.3},
      random);
  check_gradients(layer, {{2, 4, 3}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
}

TEMPLATE_TEST_CASE("SwiGLU of torch's layers", "[golden][SwiGLU]", float, double) {
  Random random(1);
  SwiGLU<TestType> layer({.num_hiddens = 6, .ffn_num_hiddens = 10}, random);
  golden::compare_with_torch<TestType>("SwiGLU(6, 10, bias=False)", {{2, 3, 6}}, layer,
                                       [&](const auto& x) { return layer(x[0]); });
  SwiGLU<TestType> biased({.num_hiddens = 6, .ffn_num_hiddens = 10, .bias = true}, random);
  golden::compare_with_torch<TestType>("SwiGLU(6, 10, bias=True)", {{2, 3, 6}}, biased,
                                       [&](const auto& x) { return biased(x[0]); });
}

TEST_CASE("SwiGLU: one unit computed by hand", "[layers]") {
  Random random(1);
  SwiGLU<double> layer({.num_hiddens = 1, .ffn_num_hiddens = 1}, random);
  layer.w1.weight(0, 0) = std::log(3.0);  // silu(ln 3) = ln 3 · 3/4
  layer.w2.weight(0, 0) = 4.0;
  layer.w3.weight(0, 0) = 2.0;
  Tape<double> tape;
  const auto y = layer(tape.constant(Tensor<double>({1, 1}, {1.0})));
  CHECK(distance(y.value(), Tensor<double>({1, 1}, {6.0 * std::log(3.0)})) < 1e-15);
}

TEST_CASE("SwiGLU: prints its layers, and names options outside their ranges", "[layers]") {
  Random random(1);
  CHECK(str_cat(SwiGLU({.num_hiddens = 2, .ffn_num_hiddens = 4}, random)) == R"(SwiGLU(
  (w1): Linear(in_features=2, out_features=4, bias=False)
  (w2): Linear(in_features=4, out_features=2, bias=False)
  (w3): Linear(in_features=2, out_features=4, bias=False)
  (dropout): Dropout(p=0.0, inplace=False)
))");
  CHECK(message_of<ValueError>([&] { SwiGLU({.ffn_num_hiddens = 4}, random); }) ==
        "SwiGLU: num_hiddens: expected a number > 0, got 0");
  CHECK(message_of<ValueError>([&] { SwiGLU({.num_hiddens = 4}, random); }) ==
        "SwiGLU: ffn_num_hiddens: expected a number > 0, got 0");
}
