// kernel_regression: attention pooling. Fits a curve to noisy points: each value of the curve is an
// average of the points' values, weighted by a kernel of the distance (Nadaraya, 1964; Watson,
// 1964; d2l.ai, section 11.2).
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>

#include <weft/layers.hpp>
#include <weft/train.hpp>
#include "examples/common/plot.hpp"
#include "examples/common/program.hpp"

namespace {

using namespace weft;
using examples::Line;

constexpr Index num_points = 50;

double true_function(double x) { return 2.0 * std::sin(x) + std::pow(x, 0.8); }

// Points y = true_function(x) + noise with standard deviation 1/2, for random x in [0, 5].
struct TrainingData {
  explicit TrainingData(Random& random)
      : x(random.uniform_tensor({num_points}, 0.0, 5.0)),
        y(random.normal_tensor({num_points}, 0.0, 0.5)) {
    std::sort(x.begin(), x.end());
    for (Index i = 0; i < num_points; ++i) y(i) += static_cast<float>(true_function(x(i)));
  }

  Tensor<float> x, y;
};

// Points from 0 to 5 in steps of `step`.
Tensor<float> grid(double step) {
  Tensor<float> x({std::lround(5.0 / step) + 1});
  for (Index i = 0; i < x.size(); ++i) x(i) = static_cast<float>(step * static_cast<double>(i));
  return x;
}

// Returns the prediction at each x, and the weights of the training points, [x.size(), num_points].
struct Prediction {
  Tensor<float> y, weights;
};
Prediction predict(const KernelRegression<float>& regression, const TrainingData& data,
                   const Tensor<float>& x) {
  Tape tape({.recording = false, .keep_attention_weights = true});
  const Var y = regression(tape.constant(x), tape.constant(data.x), tape.constant(data.y));
  return {y.value(), tape.take_attention_weights().front().reshaped({x.size(), -1})};
}

// Returns the leave-one-out mean squared error: each training point is predicted from the other
// training points. If points attended to themselves, the narrowest kernel would have no loss.
Var<float> leave_one_out_loss(const KernelRegression<float>& regression, const TrainingData& data,
                              Tape<float>& tape) {
  Tensor<bool> others = Tensor<bool>::full({num_points, num_points}, true);
  for (Index i = 0; i < num_points; ++i) others(i, i) = false;
  const Var x = tape.constant(data.x), y = tape.constant(data.y);
  return mse_loss(regression(x, x, y, others), y);
}

// Trains the only parameter, w.
void train_width(KernelRegression<float>& regression, const TrainingData& data) {
  AdamW optimizer(regression, {.lr = 0.05, .weight_decay = 0.0});
  Tape tape({.training = true});
  std::cout << "Training w on the leave-one-out error:\n\n  step     loss        w\n";
  for (int step = 0; step <= 300; ++step) {
    const Var loss = leave_one_out_loss(regression, data, tape);
    if (step % 50 == 0)
      std::cout << std::setw(6) << step << std::setw(9) << loss.item() << std::setw(9)
                << regression.w.value().item() << '\n';
    tape.backward(loss);
    optimizer.step();
  }
}

struct Fit {
  std::string name;
  KernelRegression<float> regression;
};

// Prints the leave-one-out error of each fit, and its error against the true function.
void print_errors(const std::vector<Fit>& fits, const TrainingData& data) {
  std::cout
      << "\nMean squared errors: leave-one-out on the training points, and of the curve against\n"
         "the function without noise:\n\n"
      << std::left << std::setw(26) << "  kernel" << std::right << "leave-one-out    curve\n";
  for (const Fit& fit : fits) {
    Tape tape = Tape<>::inference();
    const Tensor<float> x = grid(0.1), y = predict(fit.regression, data, x).y;
    double error = 0;
    for (Index i = 0; i < x.size(); ++i) error += std::pow(y(i) - true_function(x(i)), 2);
    std::cout << "  " << std::left << std::setw(24) << fit.name << std::right << std::setw(13)
              << leave_one_out_loss(fit.regression, data, tape).item() << std::setw(9)
              << error / static_cast<double>(x.size()) << '\n';
  }
}

Line line(const std::string& name, const Tensor<float>& x, const Tensor<float>& y,
          bool points = false) {
  return {name, {x.begin(), x.end()}, {y.begin(), y.end()}, points};
}

std::string draw_fits(const std::string& title, const std::vector<Fit>& fits,
                      const TrainingData& data, const std::filesystem::path& picture) {
  const Tensor<float> x = grid(0.05);
  Tensor<float> y = x.clone();
  for (float& value : y) value = static_cast<float>(true_function(value));
  examples::LineChart chart{title, "x", "y", {line("true function", x, y)}};
  for (const Fit& fit : fits)
    chart.lines.push_back(line(fit.name, x, predict(fit.regression, data, x).y));
  chart.lines.push_back(line("training points", data.x, data.y, true));
  return examples::draw(chart, picture);
}

// Draws the attention weights of the queries on a grid (rows) over the training points (columns).
std::string draw_weights(const std::vector<Fit>& fits, const TrainingData& data,
                         const std::filesystem::path& picture) {
  examples::HeatMaps maps;
  maps.title = "Attention weights over the training points";
  maps.x_label = "training point (key), by x";
  maps.y_label = "query x";
  maps.cell = 7;
  const auto tick_name = [](float x, bool has_name) {
    return has_name ? str_cat(std::lround(x)) : std::string();
  };
  for (Index i = 0; i < num_points; ++i) {
    const bool is_first_of_unit = i == 0 || std::floor(data.x(i)) > std::floor(data.x(i - 1));
    maps.columns.push_back(tick_name(std::floor(data.x(i)), is_first_of_unit));
  }
  const Tensor<float> x = grid(0.1);
  for (Index i = 0; i < x.size(); ++i) maps.rows.push_back(tick_name(x(i), i % 10 == 0));
  float largest = 0;
  for (const Fit& fit : fits) {
    examples::HeatMap map{fit.name, {}};
    map.values = predict(fit.regression, data, x).weights;
    largest = std::max(largest, *std::max_element(map.values.begin(), map.values.end()));
    maps.maps.push_back(map);
  }
  // A multiple of 0.04, so that the four ticks of the colour scale are multiples of 0.01.
  maps.highest = 0.04 * std::ceil(largest / 0.04);
  return examples::draw(maps, picture);
}

void run(const std::filesystem::path& directory) {
  std::cout << std::fixed << std::setprecision(3) << num_points
            << " points of y = 2 sin x + x^0.8, with noise of standard deviation 0.5.\n\n";
  Random random(42);
  const TrainingData data(random);

  KernelRegression<float> learned({.kernel = Kernel::gaussian, .w = 1.0});
  train_width(learned, data);

  const Fit average{"average", KernelRegression<float>({.kernel = Kernel::constant})};
  const Fit fixed{"Gaussian, w = 1", KernelRegression<float>({.kernel = Kernel::gaussian})};
  const Fit narrow{"Gaussian, w learned", learned};
  const std::vector<Fit> kernels = {
      {"boxcar, w = 1", KernelRegression<float>({.kernel = Kernel::boxcar})},
      {"Epanechnikov, w = 1", KernelRegression<float>({.kernel = Kernel::epanechnikov})},
      {"triangular, w = 1", KernelRegression<float>({.kernel = Kernel::triangular})}};
  std::vector<Fit> all = {average, fixed, narrow};
  all.insert(all.end(), kernels.begin(), kernels.end());
  print_errors(all, data);

  std::cout
      << "\nThe average does not depend on x. With w = 1, a query attends to distant points and "
         "the\n"
         "curve is too flat. The learned w makes the kernel narrower, and the curve fits the true\n"
         "function. The last three kernels ignore points farther away than 1 / w.\n\n"
      << draw_fits("Attention pooling with a Gaussian kernel", {narrow, fixed, average}, data,
                   directory / "kernel_regression.svg")
      << '\n'
      << draw_fits("Attention pooling with kernels of bounded support", kernels, data,
                   directory / "kernel_regression_kernels.svg")
      << '\n'
      << draw_weights({fixed, narrow}, data, directory / "kernel_regression_weights.svg") << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_tour_program(
      argc, argv, "kernel_regression",
      "Fits curves to noisy points by Nadaraya-Watson kernel regression.", run);
}
