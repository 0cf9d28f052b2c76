#include "tests/benchmarks/operations.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include <weft/autograd.hpp>
#include <weft/layers/linear.hpp>
#include <weft/train/optim/adam.hpp>
#include "autograd/kernels/matrix_product.hpp"
#include "autograd/kernels/vector.hpp"
#include "tests/benchmarks/measure.hpp"

namespace weft::benchmarks {
namespace {

// A row of the table. `bytes` and `flops` are the minimum of forward and backward together.
struct Operation {
  std::string name;
  double bytes, flops;
  std::function<void()> run;
};

// A function that runs y = operation(x) forward and backward, with a gradient of ones for y.
template <class Operation>
std::function<void()> forward_backward(const Shape& shape, const Operation& operation) {
  struct State {
    Tape<float> tape{{.training = true}};
    Parameter<float> x;
    Tensor<float> upstream;
  };
  auto state = std::make_shared<State>();
  Random random(1);
  state->x = Parameter<float>(random.uniform_tensor<float>(shape, 0.1, 0.9));
  return [state, operation] {
    state->x.zero_grad();
    const Var<float> y = operation(state->tape, state->tape.parameter(state->x));
    if (state->upstream.shape() != y.shape())
      state->upstream = Tensor<float>::full(y.shape(), 1.0F);
    state->tape.backward(y, state->upstream);
  };
}

// The time of one recorded operation on one element, forward and backward, in nanoseconds: the
// difference between a long and a short chain of operations.
double overhead_nanoseconds(double seconds) {
  const auto negations = [](int count) {
    return forward_backward({1}, [count](Tape<float>&, Var<float> x) {
      for (int i = 0; i < count; ++i) x = negate(x);
      return x;
    });
  };
  constexpr int few = 100, many = 1100;
  return 1e9 *
         (median_seconds(seconds, negations(many)) - median_seconds(seconds, negations(few))) /
         (many - few);
}

}  // namespace

Limits measure_limits(Precision precision, double seconds) {
  constexpr Index n = 2048;
  constexpr Index count = 32 << 20;  // floats: 128 MB
  Limits limits;
  {
    const auto a = Tensor<float>::full({n, n}, 0.5F), b = Tensor<float>::full({n, n}, 0.25F);
    Tensor<float> c({n, n});
    limits.flops = 2.0 * n * n * n / median_seconds(seconds, [&] {
                     parallel_matrix_product(precision, n, n, n, 1.0F, {a.data(), n}, {b.data(), n},
                                             0.0F, c.data(), n);
                   });
  }
  const auto source = Tensor<float>::full({count}, 1.0F);
  Tensor<float> destination({count});
  limits.bytes = 8.0 * count / median_seconds(seconds, [&] {
                   parallel_for(count, count / 64, [&](Index begin, Index end) {
                     std::memcpy(destination.data() + begin, source.data() + begin,
                                 static_cast<std::size_t>(end - begin) * sizeof(float));
                   });
                 });
  const auto numbers = Tensor<float>::full({4 * count}, 1.0F);
  std::array<float, 64> sums{};
  limits.reading = 16.0 * count / median_seconds(seconds, [&] {
                     parallel_for(4 * count, 4 * count / 64, [&](Index begin, Index end) {
                       sums[static_cast<std::size_t>(begin / (4 * count / 64))] =
                           sum_of_row(end - begin, identity, numbers.data() + begin);
                     });
                   });
  if (sums[0] != sums[63]) fail<Error>("limits", "equal sums", "others");
  return limits;
}

void print_operations(double seconds) {
  const Limits limits = measure_limits(Precision::full, seconds);
  constexpr Index rows = 4096, width = 512;
  constexpr double n = rows * width * sizeof(float);
  const auto elementwise = [&](const char* name, double tensors, auto operation) {
    return Operation{
        name, tensors * n, 0.0,
        forward_backward({rows, width},
                         [operation](Tape<float>&, const Var<float>& x) { return operation(x); })};
  };
  Random random(1);
  const auto weight = std::make_shared<Linear<float>>(LinearOptions{width, width}, random);
  const auto scales = std::make_shared<Parameter<float>>(Tensor<float>::full({width}, 1.0F));
  const auto shifts = std::make_shared<Parameter<float>>(Tensor<float>({width}));
  const std::vector<Operation> operations = {
      elementwise("add x + x", 5, [](const Var<float>& x) { return x + x; }),
      elementwise("multiply x · x", 6, [](const Var<float>& x) { return x * x; }),
      elementwise("exp", 5, [](const Var<float>& x) { return exp(x); }),
      elementwise("tanh", 5, [](const Var<float>& x) { return tanh(x); }),
      elementwise("relu", 5, [](const Var<float>& x) { return relu(x); }),
      elementwise("gelu (tanh)", 5, [](const Var<float>& x) { return gelu_tanh(x); }),
      elementwise("softmax", 5, [](const Var<float>& x) { return softmax(x); }),
      elementwise("dropout", 4, [](const Var<float>& x) { return dropout(x, 0.1); }),
      elementwise("sum over rows", 2, [](const Var<float>& x) { return sum(x, {0}); }),
      {"layer norm", 5 * n, 0.0,
       forward_backward({rows, width},
                        [scales, shifts](Tape<float>& tape, const Var<float>& x) {
                          return layer_norm(x, tape.parameter(*scales), tape.parameter(*shifts));
                        })},
      {"transpose", 4 * n, 0.0,
       forward_backward({rows, width},
                        [](Tape<float>&, const Var<float>& x) { return transpose(x, 0, 1); })},
      {"linear 512 × 512", 6 * n, 3.0 * 2.0 * rows * width * width,
       forward_backward({rows, width},
                        [weight](Tape<float>&, const Var<float>& x) { return (*weight)(x); })},
  };
  std::printf("limits: %.0f GFLOP/s (2048³ product), %.1f GB/s (copy)\n", limits.flops * 1e-9,
              limits.bytes * 1e-9);
  std::printf("%-20s %10s %8s %9s %9s  utilisation\n", "[4096, 512]", "ms", "GB/s", "GFLOP/s", "");
  for (const Operation& operation : operations) {
    const double time = median_seconds(seconds, operation.run);
    const double least_time =
        std::max(operation.bytes / limits.bytes, operation.flops / limits.flops);
    std::printf("%-20s %10.3f %8.1f %9.1f %9s  %9.0f %%\n", operation.name.c_str(), 1e3 * time,
                operation.bytes / time * 1e-9, operation.flops / time * 1e-9, "",
                100.0 * least_time / time);
  }
  struct Model : Module<float> {
    Parameter<float> parameter{Tensor<float>({16 << 20})};
    void members(Members<float>& members) const override { members("parameter", parameter); }
  } model;
  AdamW<float> optimizer(model, {.lr = 1e-3});
  // Reads the value, the gradient and both moments; writes all but the gradient.
  const double bytes = 7.0 * sizeof(float) * (16 << 20);
  model.parameter.set_grad(Tensor<float>::full(model.parameter.shape(), 0.01F));
  const double time = median_seconds(seconds, [&] {
    // step() cleared the gradient; this makes it non-empty again and keeps its values.
    model.parameter.gradient_sum().gradient(model.parameter.shape());
    optimizer.step();
  });
  std::printf("%-20s %10.3f %8.1f %9.1f %9s  %9.0f %%\n", "AdamW, 16M numbers", 1e3 * time,
              bytes / time * 1e-9, 0.0, "", 100.0 * bytes / limits.bytes / time);
  std::printf("overhead of a recorded operation, forward and backward: %.0f ns\n",
              overhead_nanoseconds(seconds));
}

}  // namespace weft::benchmarks
