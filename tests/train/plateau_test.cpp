// When validations reach a plateau, as in PyTorch's ReduceLROnPlateau.
#include <vector>

#include <weft/train/training_progress.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

// Returns for each validation whether it reduces the learning rate.
std::vector<bool> reductions(const Plateau& plateau, const std::vector<double>& validations) {
  TrainingProgress<float> progress(TrainingIdentity{});
  std::vector<bool> reduces;
  for (const double value : validations) reduces.push_back(progress.add_validation(value, plateau));
  return reduces;
}

}  // namespace

TEST_CASE("plateau: the threshold is relative to the best value, above and below 0", "[train]") {
  const Plateau plateau{.patience = 0, .threshold = 0.125};
  CHECK(reductions(plateau, {8.0, 7.5, 6.5}) == std::vector{false, true, false});
  // A value must be below -8 - 1.
  CHECK(reductions(plateau, {-8.0, -8.5, -9.5}) == std::vector{false, true, false});
  CHECK(reductions(plateau, {1.0, -8.0, -8.5}) == std::vector{false, false, true});
}

TEST_CASE("plateau: a value must be below the best by both the threshold and min_delta",
          "[train]") {
  const Plateau plateau{.patience = 0, .threshold = 0.125, .min_delta = 2.0};
  CHECK(reductions(plateau, {8.0, 6.5, 5.5}) == std::vector{false, true, false});
  CHECK(reductions(plateau, {-32.0, -35.0, -37.0}) == std::vector{false, true, false});
}
