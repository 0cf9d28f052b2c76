// Times the predictions of a model of Keras.
#pragma once

#include <filesystem>

#include <weft/autograd/shape.hpp>

namespace weft::benchmarks {

struct KerasTimes {
  double first;  // seconds to load the model and predict one sequence
  double one;    // seconds for one sequence
  double many;   // seconds for a batch of 32 sequences
};

// Inputs of any length get `length` steps. Inputs of an Embedding are ids below `vocabulary`; with
// a vocabulary of 0, inputs are random numbers.
KerasTimes measure_keras(const std::filesystem::path& model, Index length, Index vocabulary,
                         double seconds);

}  // namespace weft::benchmarks
