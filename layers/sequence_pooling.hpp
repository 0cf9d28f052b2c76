// SequencePooling: reduces each sequence of a padded batch to one vector.
#pragma once

#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// How to reduce a sequence to one vector: the mean or the maximum of each channel, or the first or
// the last vector.
enum class Pooling { mean, max, first, last };

inline constexpr EnumNames<Pooling, 4> pooling_names{{
    {Pooling::mean, "mean"},
    {Pooling::max, "max"},
    {Pooling::first, "first"},
    {Pooling::last, "last"},
}};
inline std::string to_string(Pooling pooling) { return name_of("pooling", pooling, pooling_names); }

// Reduces each sequence x of length n to one vector (as in Sentence-BERT; Reimers and Gurevych,
// 2019). With Pooling::mean:
//   y = 1 / n · Σ_{t < n} x_t
// Positions that tie for a maximum share its gradient equally, as in torch.amax. The layer has no
// parameters.
//   SequencePooling pool(Pooling::mean);
//   Var y = pool(x, ValidLens{5, 3});  // x [2, 5, 8], y [2, 8]
template <class T = float>
struct WEFT_API SequencePooling : Module<T> {
  // Throws ValueError if `pooling` is not a value of Pooling.
  explicit SequencePooling(Pooling pooling);

  // Maps x [batch, time, size] to [batch, size]. With `valid_lens` [batch], positions past the end
  // of a sequence, even NaN, affect neither the result nor any gradient. The result for an empty
  // sequence is zeros, with zero gradient. Throws ShapeError, and ValueError unless
  // 0 ≤ valid_lens ≤ time.
  Var<T> operator()(const Var<T>& x, const ValidLens& valid_lens = {}) const;

  void members(Members<T>& members) const override;

  Pooling pooling;  // how sequences are reduced
};

extern template struct SequencePooling<float>;
extern template struct SequencePooling<double>;

}  // namespace weft
