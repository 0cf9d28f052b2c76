// TrainingWarnings: detects signs of problems during training, and suggests what to try.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

// The effect of a step on a parameter.
struct ParameterUpdate {
  std::string name;
  bool is_matrix = false;  // whether the parameter has at least two axes
  bool has_gradient = false;
  // The root mean squares of its gradient and its values, and of the step's change of the values.
  double gradient = 0.0, value = 0.0, change = 0.0;
  std::vector<double> gradients = {};  // gradients of the sampled elements

  // Returns the ratio of change to value, or nothing if all values are 0.
  std::optional<double> ratio() const {
    return value > 0.0 ? std::optional(change / value) : std::nullopt;
  }
};

// Returns the median ratio of the weight matrices; nothing if all of them are 0.
std::optional<double> median_ratio(const std::vector<ParameterUpdate>& updates);

// Each function returns a warning at most once per training run.
class TrainingWarnings {
 public:
  // Takes the loss of each step.
  std::optional<std::string> after_step(double loss);
  // Takes the duration of each step and the time spent waiting for data in it, in seconds.
  std::optional<std::string> after_waiting(double seconds, double waiting);
  // Takes the updates of the steps that ParameterWatch measures.
  std::optional<std::string> without_gradient(const std::vector<ParameterUpdate>& updates);
  std::optional<std::string> of_ratio(const std::vector<ParameterUpdate>& updates,
                                      double learning_rate);
  // Takes the first value of a validation (lower is better) and the loss on training data measured
  // with it. `has_patience` tells whether training stops by itself if validations do not improve.
  std::optional<std::string> after_validation(std::int64_t step, double value, double training,
                                              bool has_patience = false);

 private:
  // A warning is shown once, when its sign has been seen a number of times in a row.
  struct Sign {
    std::int64_t times = 0;
    bool shown = false;
    bool seen(bool is_there, std::int64_t enough) {
      times = is_there ? times + 1 : 0;
      if (times < enough || shown) return false;
      return shown = true;
    }
  };

  Sign rising_, waiting_, zero_gradient_, large_ratio_, small_ratio_, overfitting_;
  std::int64_t steps_ = 0;
  double first_loss_ = 0.0, mean_loss_ = 0.0, deviation_ = 0.0;  // moving averages
  double lowest_loss_ = 0.0, lowest_deviation_ = 0.0;
  double seconds_ = 0.0, waiting_seconds_ = 0.0;
  double highest_learning_rate_ = 0.0;
  std::int64_t best_step_ = 0;
  double best_value_ = 0.0, best_training_ = 0.0;
  std::vector<double> validations_;
  double lowest_mean_ = std::numeric_limits<double>::infinity();  // mean of up to five validations
};

// Advice after a NonFiniteError.
inline constexpr const char* non_finite_advice =
    "try a lower learning rate, a longer warmup or a smaller clip_norm, and look for extreme "
    "values in the data";

}  // namespace weft
