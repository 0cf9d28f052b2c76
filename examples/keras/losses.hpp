// KerasLoss: the losses that Keras names, of a model's outputs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/autograd/tape.hpp>

namespace weft::keras {

// A loss of outputs [batch, …] and targets: a scalar [], the mean over the batch.
using KerasLoss =
    std::function<Var<float>(const Var<float>& outputs, const Tensor<float>& targets)>;

// Returns the loss that Keras calls `name`: "mean_squared_error" or "mse", "mean_absolute_error" or
// "mae", "binary_crossentropy" and "categorical_crossentropy", for targets in the shape of the
// outputs; and "sparse_categorical_crossentropy", for outputs [batch, classes] and targets
// [batch, 1], the numbers of the classes. The outputs for cross entropies are probabilities; as in
// Keras, they are limited to [1e-7, 1 - 1e-7]. Throws ValueError for another name. The function
// throws ShapeError for targets that do not fit, and ValueError for targets that are not classes or
// probabilities.
KerasLoss loss_named(const std::string& name);

}  // namespace weft::keras
