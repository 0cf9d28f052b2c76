// kernel_regression: attention in its oldest form. A curve through noisy points, each place of it
// an average of the points, weighted by how near they are (Nadaraya, 1964; Watson, 1964; d2l.ai,
// section 11.2).
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

double truth(double x) { return 2.0 * std::sin(x) + std::pow(x, 0.8); }

// The points to learn from: y = truth(x) + noise of standard deviation 1/2, for random x of 0 … 5.
struct Points {
  explicit Points(Random& random)
      : x(random.uniform_tensor({num_points}, 0.0, 5.0)),
        y(random.normal_tensor({num_points}, 0.0, 0.5)) {
    std::sort(x.begin(), x.end());
    for (Index i = 0; i < num_points; ++i) y(i) += static_cast<float>(truth(x(i)));
  }

  Tensor<float> x, y;
};

// Places from 0 to 5, `step` apart.
Tensor<float> places(double step) {
  Tensor<float> x({std::lround(5.0 / step) + 1});
  for (Index i = 0; i < x.size(); ++i) x(i) = static_cast<float>(step * static_cast<double>(i));
  return x;
}

// What the points say together about each place x, and with which weights.
Tensor<float> answers(const KernelRegression<float>& regression, const Points& points,
                      const Tensor<float>& x, Tensor<float>* weights = nullptr) {
  Tape tape = Tape<float>::inference();
  return regression(tape.constant(x), tape.constant(points.x), tape.constant(points.y), {}, weights)
      .value();
}

// How well each training point is foretold by the others: the mean squared error. A point does not
// see itself, or else it would be told its own answer, the better the narrower the kernel is, and
// training would narrow it without end.
Var<float> training_loss(const KernelRegression<float>& regression, const Points& points,
                         Tape<float>& tape) {
  Tensor<bool> others = Tensor<bool>::full({num_points, num_points}, true);
  for (Index i = 0; i < num_points; ++i) others(i, i) = false;
  const Var x = tape.constant(points.x), y = tape.constant(points.y);
  return mse_loss(regression(x, x, y, others), y);
}

// Gradient descent on w alone.
void learn_width(KernelRegression<float>& regression, const Points& points) {
  AdamW optimizer(regression, {.lr = 0.05, .weight_decay = 0.0});
  Tape tape({.training = true});
  std::cout << "Learning w, each point attending to the others:\n\n  step     loss        w\n";
  for (int step = 0; step <= 300; ++step) {
    const Var loss = training_loss(regression, points, tape);
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

// A row a fit: how well the points foretell each other, and how near the curve is to the truth.
void print_errors(const std::vector<Fit>& fits, const Points& points) {
  std::cout << "\nMean squared errors: of each training point, foretold by the others, and of the "
               "curve\nagainst the function without noise:\n\n"
            << std::left << std::setw(26) << "  kernel" << std::right << "training    curve\n";
  for (const Fit& fit : fits) {
    Tape tape = Tape<float>::inference();
    const Tensor<float> x = places(0.1), y = answers(fit.regression, points, x);
    double error = 0;
    for (Index i = 0; i < x.size(); ++i) error += std::pow(y(i) - truth(x(i)), 2);
    std::cout << "  " << std::left << std::setw(24) << fit.name << std::right << std::setw(8)
              << training_loss(fit.regression, points, tape).item() << std::setw(9)
              << error / static_cast<double>(x.size()) << '\n';
  }
}

Line line(const std::string& name, const Tensor<float>& x, const Tensor<float>& y,
          bool points = false) {
  return {name, {x.begin(), x.end()}, {y.begin(), y.end()}, points};
}

std::string draw_fits(const std::string& title, const std::vector<Fit>& fits, const Points& points,
                      const std::filesystem::path& picture) {
  const Tensor<float> x = places(0.05);
  Tensor<float> y = x.clone();
  for (float& value : y) value = static_cast<float>(truth(value));
  examples::LineChart chart{title, "x", "y", {line("truth", x, y)}};
  for (const Fit& fit : fits)
    chart.lines.push_back(line(fit.name, x, answers(fit.regression, points, x)));
  chart.lines.push_back(line("training points", points.x, points.y, true));
  return examples::draw(chart, picture);
}

// A row a place, a column a training point, and the weight that the one gives to the other.
std::string draw_weights(const std::vector<Fit>& fits, const Points& points,
                         const std::filesystem::path& picture) {
  examples::HeatMaps maps;
  maps.title = "How much each place attends to each training point";
  maps.x_label = "training point, by x";
  maps.y_label = "place x";
  maps.cell = 7;
  const auto named = [](float place, bool name) {
    return name ? concatenate_text(std::lround(place)) : std::string();
  };
  for (Index i = 0; i < num_points; ++i) {
    const bool first_past = i == 0 || std::floor(points.x(i)) > std::floor(points.x(i - 1));
    maps.columns.push_back(named(std::floor(points.x(i)), first_past));
  }
  const Tensor<float> x = places(0.1);
  for (Index i = 0; i < x.size(); ++i) maps.rows.push_back(named(x(i), i % 10 == 0));
  float largest = 0;
  for (const Fit& fit : fits) {
    examples::HeatMap map{fit.name, {}};
    answers(fit.regression, points, x, &map.values);
    largest = std::max(largest, *std::max_element(map.values.begin(), map.values.end()));
    maps.maps.push_back(map);
  }
  // For round numbers at the quarters of the scale.
  maps.highest = 0.04 * std::ceil(largest / 0.04);
  return examples::draw(maps, picture);
}

void run(const std::filesystem::path& folder) {
  std::cout << std::fixed << std::setprecision(3) << num_points
            << " points of y = 2 sin x + x^0.8, with noise of standard deviation 0.5.\n\n";
  Random random(42);
  const Points points(random);

  KernelRegression<float> learned({.kernel = Kernel::gaussian, .w = 1.0});
  learn_width(learned, points);

  const Fit average{"average", KernelRegression<float>({.kernel = Kernel::constant})};
  const Fit fixed{"Gaussian, w = 1", KernelRegression<float>({.kernel = Kernel::gaussian})};
  const Fit narrow{"Gaussian, w learned", learned};
  const std::vector<Fit> kernels = {
      {"boxcar, w = 1", KernelRegression<float>({.kernel = Kernel::boxcar})},
      {"Epanechnikov, w = 1", KernelRegression<float>({.kernel = Kernel::epanechnikov})},
      {"triangular, w = 1", KernelRegression<float>({.kernel = Kernel::triangular})}};
  std::vector<Fit> all = {average, fixed, narrow};
  all.insert(all.end(), kernels.begin(), kernels.end());
  print_errors(all, points);

  std::cout
      << "\nThe average knows nothing of x. With w = 1 a place attends to points far away and the\n"
         "curve is too flat; the learned w makes the kernel narrower, and the curve follows the\n"
         "truth. The other kernels give up points beyond a distance of 1 / w.\n\n"
      << draw_fits("Attention pooling: averages of the points, weighted by how near they are",
                   {narrow, fixed, average}, points, folder / "kernel_regression.svg")
      << '\n'
      << draw_fits("Attention pooling by kernels that give up points beyond a distance of 1",
                   kernels, points, folder / "kernel_regression_kernels.svg")
      << '\n'
      << draw_weights({fixed, narrow}, points, folder / "kernel_regression_weights.svg") << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_tour_program(
      argc, argv, "kernel_regression",
      "Draws a curve through points by attending to those that are near.", run);
}
