#include "weft/layers/self_attention.hpp"

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

MultiHeadAttentionOptions checked(const SelfAttentionOptions& o) {
  if (o.num_hiddens <= 0 || o.num_heads <= 0 || o.num_hiddens % o.num_heads != 0)
    fail<ValueError>("SelfAttention", "num_hiddens > 0 divisible by num_heads > 0",
                     str_cat("num_hiddens ", o.num_hiddens, " and num_heads ", o.num_heads));
  return {.query_size = o.num_hiddens,
          .key_size = o.num_hiddens,
          .value_size = o.num_hiddens,
          .num_hiddens = o.num_hiddens,
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
