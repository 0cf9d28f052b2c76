#include "train/report/internal/layer_names.hpp"

#include <weft/layers/linear.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

// One layer under two names.
struct TiedLayers : Module<float> {
  void members(Members<float>& members) const override {
    members.type("TiedLayers");
    members("first", layer);
    members("second", layer);
  }

  Random random{1};
  Linear<float> layer{{.in_features = 3, .out_features = 4}, random};
};

}  // namespace

TEST_CASE("layer names: a parameter of two layers counts once, in the first", "[report]") {
  const TiedLayers model;
  const LayerNames names(model);
  REQUIRE(names.size() == 3);
  CHECK(names.parameters(0) == 16);
  CHECK(names.name(1) == "first");
  CHECK(names.parameters(1) == 16);
  CHECK(names.name(2) == "second");
  CHECK(names.parameters(2) == 0);
  CHECK(names.of_parameter(&model.layer.weight) == 1);
}
