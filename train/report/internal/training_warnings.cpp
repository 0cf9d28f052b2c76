#include "train/report/internal/training_warnings.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "weft/autograd/error.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {
namespace {

// Returns the noise of a curve: the mean of its turns. At a turn, a rise and a fall follow each
// other; the smaller of the two counts. A curve that first only falls and then only rises has no
// noise.
double noise_of(const std::vector<double>& values) {
  double sum = 0.0;
  const auto lowest = std::ranges::min_element(values) - values.begin();
  for (Index i = 1; i + 1 < std::ssize(values); ++i) {
    const auto at = values.begin() + i;
    const double before = at[0] - at[-1], after = at[1] - at[0];
    if (i != lowest && before * after < 0.0) sum += std::min(std::abs(before), std::abs(after));
  }
  return sum / static_cast<double>(std::max<Index>(1, std::ssize(values) - 2));
}

}  // namespace

std::optional<std::string> TrainingWarnings::after_step(double loss) {
  // Averages about 20 steps, starting with the 20th step.
  constexpr double kept = 0.95;
  constexpr std::int64_t first_steps = 20, steps_in_row = 50;
  if (++steps_ == 1) first_loss_ = mean_loss_ = loss;
  mean_loss_ = kept * mean_loss_ + (1.0 - kept) * loss;
  deviation_ = kept * deviation_ + (1.0 - kept) * std::abs(loss - mean_loss_);
  if (steps_ < first_steps) return std::nullopt;
  if (steps_ == first_steps || mean_loss_ < lowest_loss_) {
    lowest_loss_ = mean_loss_;
    lowest_deviation_ = deviation_;
  }
  // Warns if the loss has risen by half of its improvement, or above the first loss, and by more
  // than noise.
  const bool has_gained = lowest_loss_ < first_loss_;
  const double limit = has_gained ? lowest_loss_ + std::max(0.5 * (first_loss_ - lowest_loss_),
                                                            4.0 * lowest_deviation_)
                                  : first_loss_ + 0.25 * std::abs(first_loss_);
  if (!rising_.seen(mean_loss_ > limit, steps_in_row)) return std::nullopt;
  return str_cat("the loss has risen from ", has_gained ? lowest_loss_ : first_loss_, " to ",
                 mean_loss_,
                 "; try a lower learning rate (a third), a longer warmup, or clip_norm 1");
}

std::optional<std::string> TrainingWarnings::after_waiting(double seconds, double waiting) {
  constexpr double share = 0.2, enough_seconds = 5.0;
  seconds_ += seconds;
  waiting_seconds_ += waiting;
  const bool is_late = seconds_ > enough_seconds && waiting_seconds_ > share * seconds_;
  if (!waiting_.seen(is_late, 1)) return std::nullopt;
  return str_cat(std::lround(100.0 * waiting_seconds_ / seconds_),
                 " % of the time is spent waiting for data; try larger batches, or read and "
                 "encode the data once, before training");
}

std::optional<std::string> TrainingWarnings::without_gradient(
    const std::vector<ParameterUpdate>& updates) {
  std::int64_t count = 0;
  const std::string* first = nullptr;
  for (const ParameterUpdate& update : updates)
    if (!update.has_gradient && count++ == 0) first = &update.name;
  // Single steps may not use a part of the model, such as an expert or an adapter that starts at 0.
  if (!zero_gradient_.seen(count > 0, 3)) return std::nullopt;
  return str_cat("the gradient of ", *first, count > 1 ? str_cat(" and ", count - 1, " more") : "",
                 " is all zero; check that the loss uses the parameter, look for a "
                 "saturated activation, or freeze the parameter");
}

std::optional<double> median_ratio(const std::vector<ParameterUpdate>& updates) {
  std::vector<double> ratios;
  for (const ParameterUpdate& update : updates)
    if (const auto ratio = update.ratio(); update.is_matrix && ratio) ratios.push_back(*ratio);
  if (ratios.empty()) return std::nullopt;
  const auto middle = ratios.begin() + std::ssize(ratios) / 2;
  std::ranges::nth_element(ratios, middle);
  return *middle;
}

std::optional<std::string> TrainingWarnings::of_ratio(const std::vector<ParameterUpdate>& updates,
                                                      double learning_rate) {
  constexpr double usual = 1e-3, far = 100.0;
  highest_learning_rate_ = std::max(highest_learning_rate_, learning_rate);
  const std::optional<double> ratio = median_ratio(updates);
  if (!ratio) return std::nullopt;
  // Ignores the small steps at the beginning and the end of schedules.
  const bool is_small = *ratio < usual / far && learning_rate > 0.5 * highest_learning_rate_;
  const bool large = large_ratio_.seen(*ratio > usual * far, 3);
  const bool small = small_ratio_.seen(is_small, 3);
  if (!large && !small) return std::nullopt;
  return str_cat("a step changes weights by ", *ratio,
                 " times their size (about 0.001 is usual); try a ", large ? "lower" : "higher",
                 " learning rate");
}

std::optional<std::string> TrainingWarnings::after_validation(std::int64_t step, double value,
                                                              double training, bool has_patience) {
  validations_.push_back(value);
  const auto recent = validations_.end() - std::min<Index>(5, std::ssize(validations_));
  const double mean = std::accumulate(recent, validations_.end(), 0.0) /
                      static_cast<double>(validations_.end() - recent);
  lowest_mean_ = std::min(lowest_mean_, mean);
  if (best_step_ == 0 || value < best_value_) {
    best_step_ = step;
    best_value_ = value;
    best_training_ = training;
  }
  constexpr double times_noise = 6.0, least_change = 0.01;
  const double rise = mean - lowest_mean_;
  const bool has_risen = value > best_value_ && rise > times_noise * noise_of(validations_) &&
                         rise > least_change * std::abs(best_value_);
  const bool has_fallen = best_training_ - training > least_change * std::abs(best_training_);
  if (!overfitting_.seen(has_risen && has_fallen, 3)) return std::nullopt;
  return str_cat(
      "validation has risen from ", best_value_, " at step ", best_step_, " to ", value,
      " while the training loss falls: the model is overfitting; "
      "try more data, more dropout or weight decay, ",
      has_patience ? "or a smaller model" : "a smaller model, or stopping there (patience)");
}

}  // namespace weft
