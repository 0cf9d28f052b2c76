// Forecasts a real-valued series: a GRU predicts each next value from the values before it.
#include <cmath>
#include <iostream>
#include <numbers>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr Index window = 40, batch = 32, train_size = 1000, series_size = 1300;
constexpr double noise = 0.1;

// Two sine waves and noise.
std::vector<float> make_series(Random& random) {
  std::vector<float> series;
  for (Index i = 0; i < series_size; ++i) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(i);
    series.push_back(static_cast<float>(std::sin(angle / 25.0) + 0.5 * std::sin(angle / 11.0) +
                                        noise * random.normal()));
  }
  return series;
}

// The windows that begin at `starts`, [starts, window, 1].
Tensor<float> windows(const std::vector<float>& series, const std::vector<Index>& starts) {
  Tensor<float> result({std::ssize(starts), window, 1});
  for (Index i = 0; i < std::ssize(starts); ++i)
    std::copy_n(series.begin() + starts[static_cast<std::size_t>(i)], window,
                result.data() + i * window);
  return result;
}

std::vector<Index> shifted(std::vector<Index> starts) {
  for (Index& start : starts) ++start;
  return starts;
}

struct Forecaster : Module<float> {
  explicit Forecaster(Random& random)
      : gru({.input_size = 1, .num_hiddens = 32}, random), output({32, 1}, random) {}

  // x [batch, time, 1], result: the prediction of the value after each, of the same shape.
  Var<float> operator()(const Var<float>& x) const { return output(gru(x).states); }

  void members(Members<float>& members) override {
    members.type("Forecaster");
    members("gru", gru);
    members("output", output);
  }

  GRU<float> gru;
  Linear<float> output;
};

}  // namespace

int main() {
  Random random(1);
  const std::vector<float> series = make_series(random);
  Forecaster model(random);
  AdamW optimizer(model, {.lr = 5e-3});
  Tape tape({.training = true});
  for (int step = 1; step <= 400; ++step) {
    std::vector<Index> starts(batch);
    for (Index& start : starts) start = random.below(train_size - window);
    const Var<float> loss = mse_loss(model(tape.constant(windows(series, starts))),
                                     tape.constant(windows(series, shifted(starts))));
    if (step % 100 == 0) std::cout << "step " << step << "  training MSE " << loss.item() << '\n';
    tape.backward(loss);
    clip_grad_norm(model, 1.0);
    optimizer.step();
  }

  std::vector<Index> starts;
  for (Index start = train_size; start + window < series_size; start += window)
    starts.push_back(start);
  Tape evaluation = Tape<float>::inference();
  const Var<float> x = evaluation.constant(windows(series, starts));
  const Var<float> target = evaluation.constant(windows(series, shifted(starts)));
  std::cout << "test MSE " << mse_loss(model(x), target).item() << ", repeating the last value "
            << mse_loss(x, target).item() << ", noise " << noise * noise << '\n';
}
