#include "weft/autograd/gradcheck.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <numeric>
#include <ostream>

#include "weft/autograd/finite.hpp"
#include "weft/autograd/random.hpp"
#include "autograd/internal/checks.hpp"
#include "autograd/internal/text_table.hpp"

namespace weft {
namespace {

using Function = std::function<Var<double>(Tape<double>&)>;

double inner_product(const Tensor<double>& a, const Tensor<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Restores the parameters and clears their gradients when destroyed.
class Restore {
 public:
  explicit Restore(const NamedParameters<double>& parameters) : parameters_(parameters) {
    for (const auto& [name, parameter] : parameters) values_.push_back(parameter->value());
  }
  ~Restore() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!parameters_[i].parameter.exists()) continue;
      parameters_[i].parameter->set_value(values_[i]);
      parameters_[i].parameter->zero_grad();
    }
  }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

  const Tensor<double>& values(std::size_t parameter) const { return values_[parameter]; }

 private:
  const NamedParameters<double>& parameters_;
  std::vector<Tensor<double>> values_;
};

// The inner product of a fixed random upstream gradient with the function's result, minus the same
// inner product at the initial parameters. The results are subtracted element by element, before
// the sum, for accuracy.
class Result {
 public:
  Result(const Function& function, const GradCheckOptions& options)
      : function_(function),
        tape_({.training = options.training, .recording = false, .seed = options.seed}),
        start_(compute().clone()),
        upstream_(Random(options.seed).normal_tensor<double>(start_.shape())) {
    check_finite("gradcheck: result", start_);
    if (difference() != 0.0)
      fail<ValueError>("gradcheck", "a function that returns the same result each time",
                       "a different result on the second call");
  }

  const Tensor<double>& upstream() const { return upstream_; }

  double difference() {
    const Tensor<double> now = compute();
    if (now.shape() != start_.shape())
      fail<ValueError>("gradcheck",
                       str_cat("a result of the same shape each time, ", start_.shape()),
                       now.shape());
    double sum = 0.0;
    for (Index i = 0; i < now.size(); ++i)
      sum += upstream_.data()[i] * (now.data()[i] - start_.data()[i]);
    return sum;
  }

 private:
  Tensor<double> compute() {
    tape_.set_step(0);
    Tensor<double> value = function_(tape_).value();
    tape_.clear();
    return value;
  }

  const Function& function_;
  Tape<double> tape_;
  Tensor<double> start_;
  Tensor<double> upstream_;
};

struct AnalyticGradient {
  bool reached;          // whether backward added to the gradient
  Tensor<double> first;  // computed in memory filled with NaN
  Tensor<double> added;  // computed on top of random values, without these values
};

std::vector<AnalyticGradient> analytic_gradients(const Function& function,
                                                 const NamedParameters<double>& parameters,
                                                 const Tensor<double>& upstream,
                                                 const GradCheckOptions& options) {
  Tape<double> tape({.training = options.training, .seed = options.seed});
  const auto run_backward = [&] {
    tape.set_step(0);
    tape.backward(function(tape), upstream);
  };
  std::vector<AnalyticGradient> gradients;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  for (const auto& [name, parameter] : parameters) {
    parameter->set_grad(Tensor<double>::full(parameter->shape(), nan));
    parameter->zero_grad();
  }
  run_backward();
  for (const auto& [name, parameter] : parameters)
    gradients.push_back({parameter->has_grad(), parameter->grad().clone(), {}});

  Random random(options.seed);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    gradients[i].added = random.normal_tensor<double>(parameters[i].parameter->shape());
    parameters[i].parameter->set_grad(gradients[i].added);
  }
  run_backward();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor<double> sum = parameters[i].parameter->grad();
    std::transform(sum.begin(), sum.end(), gradients[i].added.begin(), gradients[i].added.begin(),
                   std::minus<>());
  }
  return gradients;
}

// The one-sided derivatives of the result along a path through the parameters.
struct Slopes {
  double left, right;
  double central() const { return 0.5 * (right + left); }
};

// Computes slopes. `move(step)` moves the parameters by the step from their initial values.
template <class Move>
Slopes slopes_of(Result& result, double step, const Move& move) {
  move(step);
  const double right = result.difference() / step;
  move(-step);
  return {.left = -result.difference() / step, .right = right};
}

// Returns the scale of an element's step: a step of length 1 changes a value up to 1 by 1, and a
// larger value by as much as the value itself.
double scale_of(double value) { return std::max(1.0, std::abs(value)); }

// For a smooth function, the two slopes differ by eps times its second derivative.
bool is_near_kink(const Slopes& slopes, double eps) {
  constexpr double max_curvature = 100.0;
  return std::abs(slopes.right - slopes.left) >
         max_curvature * eps * (1.0 + std::abs(slopes.central()));
}

// Returns whether differences with steps of several sizes agree that `analytic` is wrong. They do
// not agree where rounding, curvature or a kink matters. `slopes_at(step)` returns the slopes for a
// step.
template <class SlopesAt>
bool is_refuted(double analytic, const SlopesAt& slopes_at, double eps) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), margin = 10.0;
  double lowest = infinity, highest = -infinity;
  for (const double factor : {1.0, 10.0, 100.0}) {
    const Slopes slopes = slopes_at(factor * eps);
    lowest = std::min({lowest, slopes.left, slopes.right});
    highest = std::max({highest, slopes.left, slopes.right});
  }
  const double spread = highest - lowest;
  const bool same_sign = lowest > 0.0 || highest < 0.0;
  return same_sign && (analytic < lowest - margin * spread || analytic > highest + margin * spread);
}

// Compares both analytic gradients, divided by `scale`, with `slopes_at(step)` of this element or
// direction.
template <class SlopesAt>
void compare(GradCheckEntry& entry, std::pair<double, double> analytic, double scale,
             const SlopesAt& slopes_at, const GradCheckOptions& options) {
  const Slopes slopes = slopes_at(options.eps);
  const double numeric = slopes.central() / scale;
  const auto error_of = [&](double value) {
    const double error = std::abs(value - numeric);
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  };
  const double worse =
      error_of(analytic.first) >= error_of(analytic.second) ? analytic.first : analytic.second;
  const double error = error_of(worse);
  const double relative = options.rtol * std::abs(numeric);
  double allowed = options.atol + relative;
  if (error > relative && error <= allowed) {
    if (is_refuted(worse * scale, slopes_at, options.eps))
      allowed = relative;
    else
      ++entry.unresolved;
  }
  double severity = error == 0.0 ? 0.0 : error / allowed;
  if (std::isnan(severity)) severity = std::numeric_limits<double>::infinity();

  if (severity > 1.0) ++entry.failed;
  if (is_near_kink(slopes, options.eps)) ++entry.near_kinks;
  if (entry.checked == 0 || severity > entry.severity) {
    const double size = std::max(std::abs(worse), std::abs(numeric));
    entry.index = entry.checked;
    entry.analytic = worse;
    entry.numeric = numeric;
    entry.absolute_error = error;
    entry.relative_error = error == 0.0 ? 0.0 : error / size;
    entry.severity = severity;
  }
  ++entry.checked;
}

void check_elements(GradCheckEntry& entry, Result& result, Parameter<double>& parameter,
                    const Tensor<double>& start, const AnalyticGradient& analytic,
                    const GradCheckOptions& options) {
  for (Index i = 0; i < start.size(); ++i) {
    double& value = parameter.values()[static_cast<std::size_t>(i)];
    const double initial = start.data()[i], scale = scale_of(initial);
    const auto slopes_at = [&](double step) {
      const Slopes slopes =
          slopes_of(result, step, [&](double way) { value = initial + scale * way; });
      value = initial;
      return slopes;
    };
    compare(entry, {analytic.first.data()[i], analytic.added.data()[i]}, scale, slopes_at, options);
  }
}

void check_directions(GradCheckEntry& entry, Result& result, Parameter<double>& parameter,
                      const Tensor<double>& start, const AnalyticGradient& analytic,
                      const GradCheckOptions& options, Random& random) {
  const std::span<double> values = parameter.values();
  for (Index i = 0; i < options.directions; ++i) {
    auto direction = random.normal_tensor<double>(start.shape());
    std::transform(start.begin(), start.end(), std::as_const(direction).begin(), direction.begin(),
                   [](double x, double d) { return scale_of(x) * d; });
    const auto slopes_at = [&](double step) {
      const Slopes slopes = slopes_of(result, step, [&](double way) {
        std::transform(start.begin(), start.end(), std::as_const(direction).begin(), values.begin(),
                       [way](double x, double d) { return x + way * d; });
      });
      std::copy(start.begin(), start.end(), values.begin());
      return slopes;
    };
    compare(entry,
            {inner_product(analytic.first, direction), inner_product(analytic.added, direction)},
            1.0, slopes_at, options);
  }
}

std::string scientific(double value, int digits) {
  return str_cat(std::scientific, std::setprecision(digits), value);
}

template <class Member>
Index total(const GradCheckReport& report, Member member) {
  return std::accumulate(
      report.entries.begin(), report.entries.end(), Index{0},
      [member](Index sum, const GradCheckEntry& entry) { return sum + entry.*member; });
}

TextTable table_of(const GradCheckReport& report) {
  using enum TextTable::Align;
  TextTable table({left, left, right, right, left, right, right, right, right, right});
  table.add({"parameter", "shape", "checked", "failed", "worst at", "analytic", "numeric",
             "abs error", "rel error", "near kinks"});
  for (const GradCheckEntry& entry : report.entries) {
    std::vector<std::string> line{entry.name, entry.shape.to_string(), str_cat(entry.checked),
                                  str_cat(entry.failed)};
    line.resize(9);
    if (entry.checked > 0) {
      line[4] = entry.position();
      line[5] = scientific(entry.analytic, 6);
      line[6] = scientific(entry.numeric, 6);
      line[7] = scientific(entry.absolute_error, 1);
      line[8] = scientific(entry.relative_error, 1);
    }
    line.push_back(str_cat(entry.near_kinks));
    table.add(std::move(line));
  }
  return table;
}

}  // namespace

GradCheckReport gradcheck(const Function& function, const NamedParameters<double>& parameters,
                          const GradCheckOptions& options) {
  if (!(options.eps > 0.0) || std::isinf(options.eps))
    fail<ValueError>("gradcheck: eps", "a finite step > 0", options.eps);
  check_finite_non_negative("gradcheck: atol", options.atol);
  check_finite_non_negative("gradcheck: rtol", options.rtol);
  check_at_least("gradcheck: directions", options.directions, Index{0});
  check_function("gradcheck: function", function);
  for (const auto& [name, parameter] : parameters)
    if (!parameter.exists())
      fail<Error>("gradcheck: " + name, "an existing parameter",
                  parameter ? "a removed or replaced parameter" : "a null pointer");
  const Restore restore(parameters);
  Result result(function, options);
  const std::vector<AnalyticGradient> analytic =
      analytic_gradients(function, parameters, result.upstream(), options);

  GradCheckReport report;
  Random random(options.seed + 1);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Parameter<double>& parameter = *parameters[i].parameter;
    GradCheckEntry entry{.name = parameters[i].name, .shape = parameter.shape()};
    entry.along_directions = options.directions > 0;
    entry.reached = analytic[i].reached;
    if (entry.along_directions)
      check_directions(entry, result, parameter, restore.values(i), analytic[i], options, random);
    else
      check_elements(entry, result, parameter, restore.values(i), analytic[i], options);
    report.entries.push_back(std::move(entry));
  }
  return report;
}

std::string GradCheckEntry::position() const {
  return along_directions ? str_cat("direction ", index) : shape.position(index);
}

bool GradCheckReport::passed() const {
  return checked() > 0 && total(*this, &GradCheckEntry::failed) == 0 &&
         std::all_of(entries.begin(), entries.end(),
                     [](const GradCheckEntry& entry) { return entry.reached; });
}

Index GradCheckReport::checked() const { return total(*this, &GradCheckEntry::checked); }

const GradCheckEntry& GradCheckReport::worst() const {
  if (entries.empty())
    throw Error("gradcheck: expected a report on at least one parameter, got an empty report");
  return *std::max_element(
      entries.begin(), entries.end(),
      [](const GradCheckEntry& a, const GradCheckEntry& b) { return a.severity < b.severity; });
}

std::ostream& operator<<(std::ostream& stream, const GradCheckReport& report) {
  TextStream out;
  out << table_of(report).text();
  const Index failed = total(report, &GradCheckEntry::failed);
  out << report.checked() << " gradients compared, ";
  if (failed > 0)
    out << failed << " failed; the worst is " << report.worst().name << " at "
        << report.worst().position() << '\n';
  else
    out << "none failed\n";
  for (const GradCheckEntry& entry : report.entries)
    if (!entry.reached) out << "the result does not depend on " << entry.name << '\n';
  if (const Index unresolved = total(report, &GradCheckEntry::unresolved); unresolved > 0)
    out << "warning: " << unresolved << " too small to be compared, passed only because of atol\n";
  if (const Index kinks = total(report, &GradCheckEntry::near_kinks); kinks > 0)
    out << "warning: " << kinks
        << " near a kink, where one-sided differences disagree and the numeric gradient "
           "is unreliable\n";
  return stream << out.str();
}

}  // namespace weft
