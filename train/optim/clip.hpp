// Gradient clipping by the total norm of all gradients (Pascanu et al., 2013).
#pragma once

#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/optim/parameter_elements.hpp"

namespace weft {

// `norm = √(Σ g²)` over the gradients of all parameters; parameters without a gradient are ignored.
// Summed in double, in an order that does not depend on the number of threads. NaN or infinite when
// a gradient is, or when the sum exceeds the range of double. Throws ShapeError when the shape of a
// parameter has changed.
template <class T>
WEFT_API double grad_norm(const ParameterElements<T>& elements);

// Σ g² over a range of the elements (see ParameterElements).
template <class T>
WEFT_API double sum_of_squares(const ParameterElements<T>& elements, Index range);

// The factor that scales gradients of norm `norm` to a norm of at most `max_norm`, as in PyTorch:
//   factor = min(1, max_norm / (norm + 1e-6))
// Throws NonFiniteError when the norm is NaN or
// infinite, and ValueError unless norm ≥ 0 and max_norm > 0 (infinity disables clipping).
WEFT_API double clip_factor(double norm, double max_norm);

// Scales the gradients of `model` down to a norm of at most `max_norm`, and returns their norm
// before clipping. Throws NonFiniteError, naming the parameter, when a gradient is NaN or infinite;
// the gradients are then unchanged. `optimizer.step(clip_factor(optimizer.grad_norm(), max_norm))`
// updates the parameters in the same way, with one pass less and without heap allocation; when a
// gradient is NaN or infinite, it throws NonFiniteError too, without the parameter's name, and
// changes nothing.
//   const double norm = clip_grad_norm(model, 1.0);
//   optimizer.step();
template <class T>
WEFT_API double clip_grad_norm(Module<T>& model, double max_norm);

// Throws NonFiniteError when a gradient is NaN or infinite, naming the first such parameter and
// element. The message starts with `what`.
template <class T>
WEFT_API void check_gradients_finite(const std::string& what, const NamedParameters<T>& parameters);

}  // namespace weft
