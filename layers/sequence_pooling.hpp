// SequencePooling: one vector for each sequence of a padded batch.
#pragma once

#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// The mean or the maximum of each channel over a sequence, or the sequence's first or last vector.
enum class Pooling { mean, max, first, last };

inline constexpr EnumNames<Pooling, 4> pooling_names{{
    {Pooling::mean, "mean"},
    {Pooling::max, "max"},
    {Pooling::first, "first"},
    {Pooling::last, "last"},
}};
inline std::string to_string(Pooling pooling) { return name_of("pooling", pooling, pooling_names); }

// One vector of each sequence x of length n (as in Sentence-BERT; Reimers and Gurevych, 2019): for
// Pooling::mean
//   y = 1 / n · Σ_{t < n} x_t
// Positions that tie for a maximum share its gradient equally, as in torch.amax. It has no
// parameters.
//   SequencePooling pool(Pooling::mean);
//   Var y = pool(x, ValidLens{5, 3});  // x [2, 5, 8], y [2, 8]
template <class T = float>
struct WEFT_API SequencePooling : Module<T> {
  // Throws ValueError for a value that is not a Pooling.
  explicit SequencePooling(Pooling pooling);

  // x [batch, time, size], result [batch, size]. With `valid_lens` [batch], only the first length
  // positions of a sequence count: the others, even NaN, affect neither the result nor a gradient.
  // An empty sequence gives zeros, with zero gradient. Throws ShapeError, and ValueError for
  // lengths outside 0 … time.
  Var<T> operator()(const Var<T>& x, const ValidLens& valid_lens = {}) const;

  void members(Members<T>& members) const override;

  Pooling pooling;  // mean, max, first or last
};

extern template struct SequencePooling<float>;
extern template struct SequencePooling<double>;

}  // namespace weft
