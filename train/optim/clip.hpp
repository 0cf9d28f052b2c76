// Gradient clipping by the total norm of all gradients (Pascanu et al., 2013).
#pragma once

#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/optim/parameter_elements.hpp"

namespace weft {

// Returns √(Σ g²) over the gradients of all parameters; parameters without a gradient are ignored.
// Squares are summed in double, in an order that does not depend on the number of threads. The
// result is NaN or infinite if a gradient is, or if the sum exceeds the range of double. Throws
// ShapeError if the shape of a parameter has changed, and Error if a parameter no longer exists.
template <class T>
WEFT_API double grad_norm(const ParameterElements<T>& elements);

// Returns Σ g² over one range of the elements (see ParameterElements).
template <class T>
WEFT_API double sum_of_squares(const ParameterElements<T>& elements, Index range);

// Returns the factor that scales gradients of norm `norm` to a norm of at most `max_norm`, as in
// PyTorch:
//   factor = min(1, max_norm / (norm + 1e-6))
// An infinite max_norm disables clipping. Throws NonFiniteError if `norm` is NaN or infinite, and
// ValueError unless norm ≥ 0 and max_norm > 0.
WEFT_API double clip_factor(double norm, double max_norm);

// Scales the gradients of `model` down to a norm of at most `max_norm`, and returns their norm
// before clipping (torch.nn.utils.clip_grad_norm_). Throws NonFiniteError, naming the parameter, if
// a gradient is NaN or infinite; the gradients are then unchanged.
//
// optimizer.step(clip_factor(optimizer.grad_norm(), max_norm)) updates the parameters in the same
// way, with one pass less over the gradients and without heap allocation. Its NonFiniteError does
// not name the parameter.
//   const double norm = clip_grad_norm(model, 1.0);
//   optimizer.step();
template <class T>
WEFT_API double clip_grad_norm(Module<T>& model, double max_norm);

// Throws NonFiniteError, naming the first such parameter and element, if a gradient is NaN or
// infinite. The message starts with `what`.
template <class T>
WEFT_API void check_gradients_finite(const std::string& what, const NamedParameters<T>& parameters);

}  // namespace weft
