#include <cstdint>
#include <limits>

#include <weft/autograd/error.hpp>
#include <weft/train/training_progress.hpp>
#include "tests/catch.hpp"

using namespace weft;

TEST_CASE("training progress: counts that training could not add to are refused", "[train]") {
  using Progress = TrainingProgress<float>;
  for (std::int64_t Progress::*count :
       {&Progress::step, &Progress::epoch, &Progress::batch, &Progress::micro_step,
        &Progress::best_step, &Progress::validations_without_improvement, &Progress::label_sum}) {
    Progress progress(TrainingIdentity{});
    progress.*count = std::int64_t{1} << 60;
    progress.check_state();
    for (const std::int64_t wrong : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
      progress.*count = wrong;
      CHECK_THROWS_AS(progress.check_state(), ValueError);
    }
  }
}
