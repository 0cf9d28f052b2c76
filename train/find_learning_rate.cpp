#include "weft/train/find_learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"
#include "train/weights/internal/snapshot.hpp"

namespace weft {

template <class T>
LearningRateSearch find_learning_rate(Module<T>& model, Optimizer<T>& optimizer,
                                      BatchLosses<T> losses, Index parts,
                                      const LearningRateSearchOptions& options) {
  const auto [first, last, steps, divergence, smoothing, seed] = options;
  if (!(first > 0.0 && last > first && std::isfinite(last)))
    fail<ValueError>("find_learning_rate: rates", "0 < first < last",
                     str_cat("first ", first, ", last ", last));
  check_at_least("find_learning_rate: steps", steps, std::int64_t{2});
  if (!(divergence > 1.0)) fail<ValueError>("find_learning_rate: divergence", "> 1", divergence);
  if (!(smoothing >= 0.0 && smoothing < 1.0))
    fail<ValueError>("find_learning_rate: smoothing", "0 ≤ smoothing < 1", smoothing);

  struct Loop final : TrainingLoop<T> {
    Loop(Module<T>& trained, Optimizer<T>& rule, BatchLosses<T> batches, TrainerOptions all)
        : TrainingLoop<T>(trained, rule, std::move(batches), std::move(all)) {}
  };
  struct Restorer {
    std::function<void()> restore;
    ~Restorer() { restore(); }
  };
  LearningRateSearch search;
  double average = 0.0, lowest = std::numeric_limits<double>::max();
  bool has_diverged = false;
  const double growth = std::log(last / first) / static_cast<double>(steps - 1);
  const Restorer restorer{snapshot(model, {{"optimizer", optimizer}})};
  Loop loop(model, optimizer, std::move(losses),
            {.epochs = steps,
             .max_steps = steps,
             .parts = parts,
             .schedule = Schedule("growing",
                                  [&options, growth](std::int64_t step) {
                                    return options.first *
                                           std::exp(growth * static_cast<double>(step - 1));
                                  }),
             .seed = seed,
             .should_stop = [&] { return has_diverged; },
             .output = nullptr});
  loop.after_step([&](const StepReport& report) {
    average = options.smoothing * average + (1.0 - options.smoothing) * report.loss;
    const double loss =
        average / (1.0 - std::pow(options.smoothing, static_cast<double>(report.step)));
    search.learning_rates.push_back(report.learning_rate);
    search.losses.push_back(loss);
    has_diverged = loss > options.divergence * lowest;
    lowest = std::min(lowest, loss);
  });
  try {
    loop.run();
  } catch (const NonFiniteError&) {
    if (search.losses.size() < 2) throw;
  }
  double steepest = std::numeric_limits<double>::max();
  for (std::size_t i = 1; i < search.losses.size(); ++i)
    if (const double change = search.losses[i] - search.losses[i - 1]; change < steepest) {
      steepest = change;
      search.suggestion = search.learning_rates[i];
    }
  return search;
}

std::string LearningRateSearch::svg() const {
  if (losses.empty()) fail<ValueError>("find_learning_rate: svg", "at least one step", "none");
  constexpr double left = 60, top = 20, width = 560, height = 320;
  const double first = std::log10(learning_rates.front()), last = std::log10(learning_rates.back());
  // The losses after the search has diverged would hide the others.
  const auto [lowest, highest] = std::pair(
      std::ranges::min(losses), std::max(losses.front(), std::ranges::min(losses) + 1e-9));
  const auto x = [&](double rate) {
    return left + width * (std::log10(rate) - first) / std::max(last - first, 1e-9);
  };
  const auto y = [&, low = lowest, high = highest](double loss) {
    return top + height * (1.0 - std::clamp((loss - low) / (high - low), 0.0, 1.1));
  };
  const double bottom = top + height, right = left + width;
  std::string text =
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 640 400' font-family='sans-serif' "
      "font-size='12'>\n<rect width='640' height='400' fill='white'/>\n";
  const auto line = [&](double x1, double y1, double x2, double y2, const char* colour) {
    text += str_cat("<line x1='", x1, "' y1='", y1, "' x2='", x2, "' y2='", y2, "' stroke='",
                    colour, "'/>\n");
  };
  const auto label = [&](double at, double height_at, const char* anchor,
                         const std::string& words) {
    text += str_cat("<text x='", at, "' y='", height_at, "' text-anchor='", anchor, "'>", words,
                    "</text>\n");
  };
  line(left, bottom, right, bottom, "black");
  line(left, top, left, bottom, "black");
  for (double decade = std::ceil(first); decade <= last; ++decade) {
    line(x(std::pow(10.0, decade)), bottom, x(std::pow(10.0, decade)), bottom + 5, "black");
    label(x(std::pow(10.0, decade)), bottom + 18, "middle", str_cat("1e", decade));
  }
  for (const double loss : {lowest, highest}) label(left - 5, y(loss) + 4, "end", str_cat(loss));
  label(left + width / 2, bottom + 40, "middle",
        str_cat("learning rate (suggestion: ", suggestion, ")"));
  line(x(suggestion), top, x(suggestion), bottom, "firebrick");
  text += "<polyline fill='none' stroke='steelblue' stroke-width='2' points='";
  for (std::size_t i = 0; i < losses.size(); ++i)
    text += str_cat(x(learning_rates[i]), ',', y(losses[i]), ' ');
  return text + "'/>\n</svg>\n";
}

template LearningRateSearch find_learning_rate(Module<float>&, Optimizer<float>&,
                                               BatchLosses<float>, Index,
                                               const LearningRateSearchOptions&);
template LearningRateSearch find_learning_rate(Module<double>&, Optimizer<double>&,
                                               BatchLosses<double>, Index,
                                               const LearningRateSearchOptions&);

}  // namespace weft
