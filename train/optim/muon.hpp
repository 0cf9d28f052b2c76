// Muon: steps whose matrices are orthogonal, for the matrices inside a model.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "weft/autograd/buffer.hpp"
#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/precision.hpp"
#include "weft/layers/name_filter.hpp"
#include "weft/train/optim/adam.hpp"

namespace weft {

// How Muon scales the learning rate of a matrix [a, b] by its shape (torch's adjust_lr_fn).
enum class AdjustLr {
  original,         // lr · √max(1, a / b) (Jordan et al., 2024)
  match_rms_adamw,  // lr · 0.2 · √max(a, b): steps as long as AdamW's (Liu et al., 2025)
};

inline constexpr EnumNames<AdjustLr, 2> adjust_lr_names{{
    {AdjustLr::original, "original"},
    {AdjustLr::match_rms_adamw, "match_rms_adamw"},
}};
inline std::string to_string(AdjustLr adjust_lr) {
  return name_of("adjust_lr", adjust_lr, adjust_lr_names);
}

// Options of Muon.
struct MuonOptions {
  double lr = 0.02;        // learning rate of the matrices, ≥ 0
  double momentum = 0.95;  // μ; 0 ≤ momentum < 1
  bool nesterov = true;    // whether the direction also contains the current gradient
  // λ ≥ 0; each step multiplies the parameters with weight decay by 1 - lr · λ. Because lr is the
  // scheduled learning rate, the decay follows the schedule.
  double weight_decay = 0.1;
  AdjustLr adjust_lr = AdjustLr::original;  // scales the learning rate by a matrix's shape
  // Coefficients a, b and c of a Newton-Schulz step, X ← a X + b (X Xᵀ) X + c (X Xᵀ)² X.
  std::array<double, 3> ns_coefficients = {3.4445, -4.7750, 2.0315};
  int ns_steps = 5;      // number of Newton-Schulz steps, from 1 to 100
  double ns_eps = 1e-7;  // the least divisor of the normalization, > 0
  // The precision of the inputs of matrix products; see Precision.
  Precision precision = Precision::full;
  // Selects the parameters that Muon updates; each must have two axes. If not set, Muon updates the
  // weights of the Linear layers in lists of a model, such as "blocks.0.ffn.dense1.weight", because
  // embeddings and output layers are usually outside of lists.
  NameFilter matrices = {};

  // AdamW updates all other parameters, such as embeddings, output layers, norms and biases.
  double adamw_lr_factor = 0.1;  // multiplies `lr` for AdamW, ≥ 0
  double beta1 = 0.9;            // see AdamOptions
  double beta2 = 0.95;           // see AdamOptions
  double eps = 1e-8;             // see AdamOptions
  // Selects the parameters with weight decay.
  std::function<bool(const std::string& name, const Shape& shape)> decays = is_weight_matrix;
  // Parameters with separate settings.
  ParameterGroups groups = {};
};

// Momentum with orthogonalized steps for matrices, and AdamW for all other parameters (Jordan et
// al., 2024, https://kellerjordan.github.io/posts/muon; torch.optim.Muon). For a matrix with
// gradient g:
//   m ← μ m + (1 - μ) g,  G = μ m + (1 - μ) g with nesterov, otherwise m
//   parameter ← (1 - lr · λ) parameter - adjusted lr · orthogonalized G
// `ns_steps` Newton-Schulz steps of G / ‖G‖ replace the singular values of G by values from about
// 0.7 to 1.2. Small transformers reach the same loss in about a third of AdamW's steps.
//
// Several processes each update whole matrices. Matrices have a momentum but no second moment, so
// that their state is half as large as AdamW's.
//
// Constructors throw ValueError for options outside their ranges, if `matrices` selects no
// parameter or one without two axes, and, unless it is set, for a model without Linear layers in a
// list.
//   Muon optimizer(model, {.lr = 0.02});
//   optimizer.step();
template <class T = float>
class WEFT_API Muon final : public Adam<T> {
 public:
  // Updates all parameters of a model.
  explicit Muon(Module<T>& model, const MuonOptions& options = {});
  // Updates the given parameters. Unless `matrices` is set, Muon updates all parameters with two
  // axes, as in PyTorch.
  explicit Muon(NamedParameters<T> parameters, const MuonOptions& options = {});
  // Updates the given parameters, whose names are their numbers: "0", "1", …
  explicit Muon(std::initializer_list<Parameter<T>*> parameters, const MuonOptions& options = {})
      : Muon(numbered<T>(parameters), options) {}
  explicit Muon(const std::vector<Parameter<T>*>& parameters, const MuonOptions& options = {})
      : Muon(numbered<T>(parameters), options) {}

 private:
  void update_undivided(std::size_t index, T* values, const T* grad, T* const* state,
                        T scale) override;

  struct Abandon {
    void operator()(Pool* pool) const;
  };

  MuonOptions options_;
  std::unique_ptr<Pool, Abandon> pool_;  // memory for intermediate matrices
};

extern template class Muon<float>;
extern template class Muon<double>;

}  // namespace weft
