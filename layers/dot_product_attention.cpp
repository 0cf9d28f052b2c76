#include "weft/layers/dot_product_attention.hpp"

namespace weft {
namespace {

template <class T>
AttentionPooling<T> pooling(const DotProductAttentionOptions& options) {
  Random unused(0);
  return {{.dropout = options.dropout, .num_heads = options.num_heads}, unused};
}

}  // namespace

template <class T>
DotProductAttention<T>::DotProductAttention(const DotProductAttentionOptions& options)
    : AttentionPooling<T>(pooling<T>(options)) {}

template <class T>
void DotProductAttention<T>::members(Members<T>& members) const {
  members.type("DotProductAttention", str_cat("num_heads=", this->num_heads));
  members("dropout", this->dropout);
}

template struct DotProductAttention<float>;
template struct DotProductAttention<double>;

}  // namespace weft
