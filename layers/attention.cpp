#include "layers/attention.hpp"

#include "autograd/attention.hpp"
#include "layers/checks.hpp"

namespace weft {

template <class T>
DotProductAttention<T>::DotProductAttention(const DotProductAttentionOptions& options)
    : dropout(options.dropout), num_heads(options.num_heads) {
  check_positive("DotProductAttention: num_heads", num_heads);
}

template <class T>
Var<T> DotProductAttention<T>::operator()(const Var<T>& queries, const Var<T>& keys,
                                          const Var<T>& values, const Mask& mask,
                                          Tensor<T>* weights) const {
  return scaled_dot_product_attention(
      queries, keys, values,
      {.num_heads = num_heads, .mask = mask, .dropout = dropout.p, .weights = weights});
}

template <class T>
void DotProductAttention<T>::members(Members<T>& members) {
  members.type("DotProductAttention", concatenate_text("num_heads=", num_heads));
  members("dropout", dropout);
}

template struct DotProductAttention<float>;
template struct DotProductAttention<double>;

}  // namespace weft
