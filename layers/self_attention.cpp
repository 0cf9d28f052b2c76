#include "weft/layers/self_attention.hpp"

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

MultiHeadAttentionOptions checked(const SelfAttentionOptions& o) {
  if (o.d_model <= 0 || o.num_heads <= 0 || o.d_model % o.num_heads != 0)
    fail<ValueError>("SelfAttention", "d_model > 0 divisible by num_heads > 0",
                     str_cat("d_model ", o.d_model, " and num_heads ", o.num_heads));
  return {.query_size = o.d_model,
          .key_size = o.d_model,
          .value_size = o.d_model,
          .num_hiddens = o.d_model,
          .num_heads = o.num_heads,
          .scoring = o.scoring,
          .dropout = o.dropout,
          .bias = o.bias,
          .rotary = o.rotary};
}

}  // namespace

template <class T>
SelfAttention<T>::SelfAttention(const SelfAttentionOptions& options, Random& random)
    : MultiHeadAttention<T>(checked(options), random) {}

template <class T>
Var<T> SelfAttention<T>::operator()(const Var<T>& x, const Mask& mask) const {
  return (*this)(x, x, x, mask);
}

template struct SelfAttention<float>;
template struct SelfAttention<double>;

}  // namespace weft
