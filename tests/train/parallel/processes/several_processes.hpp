// What the tests of several processes share: the group, and a training that divides into buckets.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace weft {

// The processes that run this test program.
ProcessGroup& test_processes();

// 420,000 elements: several buckets of several ranges, and parameters that end within ranges. One
// parameter is used twice, one in a part that is recomputed, one by the last example only, and one
// by none.
template <class T>
struct ManyElements : Module<T> {
  explicit ManyElements(std::uint64_t seed = 1) : ManyElements(Random(seed)) {}
  explicit ManyElements(Random random)
      : first({.in_features = 40, .out_features = 401}, random),
        square({.in_features = 401, .out_features = 401}, random),
        recomputed({.in_features = 401, .out_features = 401}, random),
        last({.in_features = 401, .out_features = 30}, random),
        rare(random.normal_tensor<T>({30})),
        unused(random.normal_tensor<T>({70'000})) {}

  Var<T> operator()(Tape<T>& tape, const Tensor<T>& inputs, double probability) const {
    Var<T> x = tanh(first(tape.constant(inputs)));
    x = dropout(tanh(square(x)), probability);
    x = recompute([this](const Var<T>& y) { return tanh(recomputed(y)); }, x);
    x = tanh(square(x));
    const Var<T> y = last(x);
    return inputs.data()[0] > T{1} ? y + tape.parameter(rare) : y;
  }

  void members(Members<T>& members) const override {
    members.type("ManyElements");
    members("first", first);
    members("square", square);
    members("recomputed", recomputed);
    members("last", last);
    members("rare", rare);
    members("unused", unused);
  }

  Linear<T> first, square, recomputed, last;
  Parameter<T> rare, unused;
};

// Trains such a model on 26 examples in batches of 8, the last one of 2.
template <class T>
struct ManyElementsTraining {
  explicit ManyElementsTraining(std::uint64_t seed = 1, std::uint64_t data_seed = 3)
      : model(seed), batches(inputs(data_seed), targets(data_seed), {.batch_size = 8, .seed = 5}) {}

  static Tensor<T> inputs(std::uint64_t seed) {
    return Random(seed).normal_tensor<T>({26, 40}, 0.0, 0.6);
  }
  static Tensor<T> targets(std::uint64_t seed) {
    return Random(seed + 1).normal_tensor<T>({26, 30});
  }

  LossFunction<T, TensorBatch<T>> loss(double probability = 0.2) {
    return [this, probability](Tape<T>& tape, const TensorBatch<T>& batch) {
      return mse_loss(model(tape, batch.inputs, tape.training() ? probability : 0.0),
                      tape.constant(batch.targets));
    };
  }

  ManyElements<T> model;
  TensorBatches<T> batches;
};

// Records a state as bytes.
template <class T>
class Recorder final : public State<T> {
 public:
  void tensor(const std::string&, Tensor<T>& value) override {
    const std::span<const T> values = std::as_const(value).values();
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  void integer(const std::string&, std::int64_t& value) override { bytes += std::to_string(value); }
  void flag(const std::string&, bool& value) override { bytes += value ? '1' : '0'; }
  void number(const std::string&, double& value) override { bytes += std::to_string(value); }
  void text(const std::string&, std::string& value) override { bytes += value; }

  std::string bytes;
};

// The values of all parameters as bytes.
template <class T>
std::string bytes_of_parameters(Module<T>& model) {
  std::string bytes;
  for (const auto& [name, parameter] : named_parameters(model)) {
    const std::span<const T> values = parameter->value().values();
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  return bytes;
}

}  // namespace weft
