#include "tests/benchmarks/keras_models.hpp"

#include <chrono>
#include <optional>

#include <weft/train/pretrained/keras/keras_files.hpp>
#include "tests/benchmarks/measure.hpp"

namespace weft::benchmarks {
namespace {

std::vector<Tensor<float>> random_inputs(const KerasModel<float>& model, Index batch, Index length,
                                         Index vocabulary) {
  Random random(1);
  std::vector<Tensor<float>> inputs;
  for (const KerasInput& input : model.inputs()) {
    std::vector<Index> sizes{batch};
    for (Index size : input.sizes) sizes.push_back(size < 0 ? length : size);
    Tensor<float>& x = inputs.emplace_back(random.normal_tensor<float>(Shape(sizes)));
    if (vocabulary > 0)
      for (float& id : x.values()) id = static_cast<float>(1 + random.below(vocabulary - 1));
  }
  return inputs;
}

void predict(const KerasModel<float>& model, const std::vector<Tensor<float>>& inputs) {
  Tape<float> tape = Tape<float>::inference();
  std::vector<Var<float>> variables;
  for (const Tensor<float>& input : inputs) variables.push_back(tape.constant(input));
  (void)model.run(variables);
}

}  // namespace

KerasTimes measure_keras(const std::filesystem::path& path, Index length, Index vocabulary,
                         double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const KerasModel<float> model = load_keras(path);
  const std::vector<Tensor<float>> one = random_inputs(model, 1, length, vocabulary);
  predict(model, one);
  const std::chrono::duration<double> first = std::chrono::steady_clock::now() - start;
  const std::vector<Tensor<float>> many = random_inputs(model, 32, length, vocabulary);
  return {first.count(), median_seconds(seconds, [&] { predict(model, one); }),
          median_seconds(seconds, [&] { predict(model, many); })};
}

}  // namespace weft::benchmarks
