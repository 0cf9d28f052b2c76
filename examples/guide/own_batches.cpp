#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

// Your own batch type: points with weights.
struct WeightedPoints {
  Tensor<float> x, y, weight;  // [batch, 1] each
};

// With these two functions, the trainer can split batches into parts.
Index num_examples(const WeightedPoints& batch) { return batch.x.shape()[0]; }
WeightedPoints part_of(const WeightedPoints& batch, Index first, Index last) {
  return {rows_of(batch.x, first, last), rows_of(batch.y, first, last),
          rows_of(batch.weight, first, last)};
}

// The source of the batches. The same epoch and position always return the same batch.
class Points : public DataSource<WeightedPoints> {
 public:
  Index num_batches() const override { return 8; }
  WeightedPoints batch(std::int64_t epoch, Index position) override {
    Random random = batch_random(7, epoch, position);
    WeightedPoints batch{random.uniform_tensor<float>({10, 1}, -1, 1), Tensor<float>({10, 1}),
                         random.uniform_tensor<float>({10, 1}, 0, 1)};
    for (Index i = 0; i < 10; ++i) batch.y(i, 0) = batch.x(i, 0) * batch.x(i, 0);
    return batch;
  }
};

int main() {
  for (const Index parts : {1, 2, 5}) {
    Random random(1);
    Sequential model{Linear({.in_features = 1, .out_features = 32}, random),
                     Activate(Activation::relu),
                     Linear({.in_features = 32, .out_features = 1}, random)};
    AdamW optimizer(model, {.lr = 1e-2});
    Points points;
    // Returns the mean over the given examples: a whole batch or a part of it.
    const auto loss = [&](Tape<float>& tape, const WeightedPoints& batch) {
      const Var error = model(tape.constant(batch.x)) - tape.constant(batch.y);
      return mean(tape.constant(batch.weight) * power(error, 2));
    };
    Trainer(model, optimizer, points, loss, {.epochs = 25, .parts = parts}).run();
    std::cout << parts << " parts: loss " << mean_loss(points, loss) << '\n';
  }
}
