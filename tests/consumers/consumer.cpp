// A program outside weft's source tree: an operation and a layer of its own, their gradients,
// training, a checkpoint, and Eigen compiled with options of its own.
#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string_view>

#include <weft/weft.hpp>
#include "check_square.hpp"
#include "gated_linear.hpp"

namespace {

int failures = 0;

void expect(bool condition, const char* what) {
  std::cout << (condition ? "ok      " : "FAILED  ") << what << '\n';
  failures += condition ? 0 : 1;
}

bool gradients_agree() {
  Random random(1);
  GatedLinear<double> layer(3, 2, random);
  Parameter<double> x(random.normal_tensor<double>({4, 3}));
  NamedParameters<double> parameters = named_parameters(layer);
  parameters.push_back({"x", &x});
  const auto function = [&](Tape<double>& tape) { return square(layer(tape.parameter(x))); };
  return gradcheck(function, parameters, {.atol = 1e-7, .rtol = 1e-6}).passed();
}

// The loss before and after some steps.
std::pair<double, double> train(GatedLinear<float>& layer) {
  Random random(2);
  const Tensor<float> inputs = random.normal_tensor<float>({64, 3});
  const Tensor<float> targets({64, 2});
  AdamW optimizer(layer, {.lr = 0.05});
  Tape tape({.training = true});
  double first = 0.0, last = 0.0;
  for (int step = 0; step < 50; ++step) {
    const Var<float> y = layer(tape.constant(inputs));
    const Var<float> loss = mean(square(y - tape.constant(targets)));
    last = static_cast<double>(loss.item());
    if (step == 0) first = last;
    tape.backward(loss);
    optimizer.step();
  }
  return {first, last};
}

bool checkpoint_returns_weights(GatedLinear<float>& layer, const std::filesystem::path& path) {
  save_weights(path, layer);
  Random random(3);
  GatedLinear<float> loaded(3, 2, random);
  const LoadWeightsReport report = load_weights(path, loaded);
  const auto a = layer.value.weight.value().values(), b = loaded.value.weight.value().values();
  return report.loaded.size() == 4 && std::equal(a.begin(), a.end(), b.begin());
}

bool error_is_caught() {
  try {
    Tape<float> tape;
    matmul(tape.constant(Tensor<float>({2, 3})), tape.constant(Tensor<float>({2, 3})));
  } catch (const ShapeError& error) {
    return std::string_view(error.what()).starts_with("matmul: expected shapes");
  }
  return false;
}

bool eigen_agrees() {
  Random random(4);
  const Tensor<float> a = random.normal_tensor<float>({33, 17}),
                      b = random.normal_tensor<float>({17, 9});
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> a_matrix(a.data(), 33, 17), b_matrix(b.data(), 17, 9);
  const Matrix expected = a_matrix * b_matrix;
  Tape<float> tape;
  const Var<float> product = matmul(tape.constant(a), tape.constant(b));
  const Eigen::Map<const Matrix> actual(product.value().data(), 33, 9);
  return (actual - expected).cwiseAbs().maxCoeff() < 1e-5f;
}

}  // namespace

int main(int argc, char** argv) {
  std::cout << "weft " << WEFT_VERSION << '\n';
  Random random(5);
  GatedLinear<float> layer(3, 2, random);
  expect(square_has_correct_gradients(), "gradients of an operation of its own");
  expect(gradients_agree(), "gradients of a layer of its own");
  const auto [first, last] = train(layer);
  expect(last < 0.1 * first, "training lowers the loss");
  const std::filesystem::path file = argc > 1 ? argv[1] : "consumer.h5";
  expect(checkpoint_returns_weights(layer, file), "a checkpoint returns the weights");
  expect(error_is_caught(), "an exception of the library is caught by its type");
  expect(eigen_agrees(), "a product agrees with the program's own Eigen");
  std::filesystem::remove(file);
  return failures == 0 ? 0 : 1;
}
