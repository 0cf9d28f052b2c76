#include "weft/train/report/report_section.hpp"

#include <weft/autograd.hpp>
#include <weft/layers/linear.hpp>
#include <weft/train/report/profile.hpp>
#include "tests/catch.hpp"

using namespace weft;

TEST_CASE("report section: a flame graph has the time of each operation, forward and backward",
          "[report]") {
  Random random(1);
  const Linear<float> model({.in_features = 3, .out_features = 2}, random);
  Profile profile(model);
  Tape<float> tape({.training = true, .observer = &profile});
  const Tensor<float> inputs({4, 3});
  for (int step = 0; step < 3; ++step) {
    tape.backward(sum(tanh(model(tape.constant(inputs)))));
    profile.end_step();
  }
  ReportSection section;
  section.flame_graph("time", profile);
  const ReportBlock& block = section.blocks().front();
  CHECK(block.title == "time");
  REQUIRE(block.counts.shape() == Shape{std::ssize(block.rows), 4});
  double forward = 0.0, backward = 0.0;
  for (Index i = 0; i < block.counts.shape()[0]; ++i) {
    forward += block.counts(i, 0);
    backward += block.counts(i, 1);
  }
  // In milliseconds for each of two steps: the first one only prepares.
  const ProfileRow all = profile.layers().front();
  CHECK(forward == Approx(1e3 * all.forward_seconds / 2));
  CHECK(backward == Approx(1e3 * all.backward_seconds / 2));
}
