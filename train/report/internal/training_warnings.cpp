#include "train/report/internal/training_warnings.hpp"

#include <algorithm>
#include <cmath>

#include "weft/autograd/error.hpp"

namespace weft {

std::optional<std::string> TrainingWarnings::after_step(double loss) {
  // Averages over about 20 steps, from the 20th on.
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
  // It has lost half of what was gained, or is above the first one; the noise of batches is less.
  const bool has_gained = lowest_loss_ < first_loss_;
  const double limit = has_gained ? lowest_loss_ + std::max(0.5 * (first_loss_ - lowest_loss_),
                                                            4.0 * lowest_deviation_)
                                  : first_loss_ + 0.25 * std::abs(first_loss_);
  if (!rising_.seen(mean_loss_ > limit, steps_in_row)) return std::nullopt;
  return concatenate_text("the loss has risen from ", has_gained ? lowest_loss_ : first_loss_,
                          " to ", mean_loss_,
                          "; try a lower learning rate (a third), a longer warmup, or clip_norm 1");
}

std::optional<std::string> TrainingWarnings::after_waiting(double seconds, double waiting) {
  constexpr double share = 0.2, enough_seconds = 5.0;
  seconds_ += seconds;
  waiting_seconds_ += waiting;
  const bool is_late = seconds_ > enough_seconds && waiting_seconds_ > share * seconds_;
  if (!waiting_.seen(is_late, 1)) return std::nullopt;
  return concatenate_text(std::lround(100.0 * waiting_seconds_ / seconds_),
                          " % of the time is spent waiting for data; try to read and encode it "
                          "once, before training, or larger batches");
}

std::optional<std::string> TrainingWarnings::without_gradient(
    const std::vector<ParameterUpdate>& updates) {
  std::int64_t count = 0;
  const std::string* first = nullptr;
  for (const ParameterUpdate& update : updates)
    if (!update.has_gradient && count++ == 0) first = &update.name;
  // One step may leave out a part of a model, such as an expert or an adapter that begins with 0.
  if (!zero_gradient_.seen(count > 0, 3)) return std::nullopt;
  return concatenate_text("the gradient of ", *first,
                          count > 1 ? concatenate_text(" and ", count - 1, " more") : "",
                          " is all zero; check that the loss uses it, look for a saturated "
                          "activation, or freeze it");
}

std::optional<std::string> TrainingWarnings::of_ratio(const std::vector<ParameterUpdate>& updates,
                                                      double learning_rate) {
  constexpr double usual = 1e-3, far = 100.0;
  std::vector<double> ratios;
  for (const ParameterUpdate& update : updates)
    if (const auto ratio = update.ratio(); update.is_matrix && ratio) ratios.push_back(*ratio);
  highest_learning_rate_ = std::max(highest_learning_rate_, learning_rate);
  if (ratios.empty()) return std::nullopt;
  const auto middle = ratios.begin() + std::ssize(ratios) / 2;
  std::ranges::nth_element(ratios, middle);
  // Schedules begin and end with small steps.
  const bool is_small = *middle < usual / far && learning_rate > 0.5 * highest_learning_rate_;
  const bool large = large_ratio_.seen(*middle > usual * far, 3);
  const bool small = small_ratio_.seen(is_small, 3);
  if (!large && !small) return std::nullopt;
  return concatenate_text("a step changes weights by ", *middle,
                          " of their size (about 0.001 is usual); try a ",
                          large ? "lower" : "higher", " learning rate");
}

std::optional<std::string> TrainingWarnings::after_validation(std::int64_t step, double value,
                                                              double training) {
  if (best_step_ == 0 || value < best_value_) {
    best_step_ = step;
    best_value_ = value;
    best_training_ = training;
  }
  if (!overfitting_.seen(value > best_value_ && training < best_training_, 3)) return std::nullopt;
  return concatenate_text("validation has risen from ", best_value_, " at step ", best_step_,
                          " to ", value,
                          " while the training loss falls: the model learns its "
                          "data by heart; try more data, more dropout or weight decay, a smaller "
                          "model, or to stop there (patience)");
}

}  // namespace weft
