#include "weft/layers/multi_head_attention.hpp"

#include "layers/internal/checks.hpp"
#include "layers/internal/hidden_keys.hpp"
#include "layers/internal/python_text.hpp"

namespace weft {
namespace {

const MultiHeadAttentionOptions& checked(const MultiHeadAttentionOptions& options) {
  check_positive("MultiHeadAttention: query_size", options.query_size);
  check_positive("MultiHeadAttention: key_size", options.key_size);
  check_positive("MultiHeadAttention: value_size", options.value_size);
  const auto [heads, hiddens] = std::pair(options.num_heads, options.num_hiddens);
  if (heads <= 0 || hiddens <= 0 || hiddens % heads != 0)
    fail<ValueError>("MultiHeadAttention", "num_hiddens > 0 divisible by num_heads > 0",
                     concatenate_text("num_hiddens ", hiddens, " and num_heads ", heads));
  if (options.rotary) check_rotary("MultiHeadAttention: rotary", hiddens, heads, *options.rotary);
  return options;
}

AttentionPoolingOptions pooling(const MultiHeadAttentionOptions& options) {
  const Index size = options.num_hiddens / options.num_heads;
  return {.scoring = options.scoring,
          .dropout = options.dropout,
          .num_heads = options.num_heads,
          .additive = {.query_size = size, .key_size = size, .num_hiddens = size}};
}

}  // namespace

template <class T>
MultiHeadAttention<T>::MultiHeadAttention(const MultiHeadAttentionOptions& o, Random& random)
    : attention(pooling(checked(o)), random),
      W_q({o.query_size, o.num_hiddens, o.bias}, random),
      W_k({o.key_size, o.num_hiddens, o.bias}, random),
      W_v({o.value_size, o.num_hiddens, o.bias}, random),
      W_o({o.num_hiddens, o.num_hiddens, o.bias}, random),
      rotary(o.rotary) {}

template <class T>
Var<T> MultiHeadAttention<T>::operator()(const Var<T>& queries, const Var<T>& keys,
                                         const Var<T>& values, const Mask& mask,
                                         Tensor<T>* weights) const {
  check_sequences("MultiHeadAttention: queries", queries.shape(), W_q.in_features());
  check_sequences("MultiHeadAttention: keys", keys.shape(), W_k.in_features());
  check_sequences("MultiHeadAttention: values", values.shape(), W_v.in_features());
  const Index batch = queries.shape()[0], num_keys = keys.shape()[1];
  if (keys.shape()[0] != batch || values.shape()[0] != batch || values.shape()[1] != num_keys)
    fail<ShapeError>("MultiHeadAttention", "equal batch sizes, and as many values as keys",
                     concatenate_text("queries ", queries.shape(), ", keys ", keys.shape(),
                                      ", values ", values.shape()));
  const MaskView view("MultiHeadAttention", mask, batch, attention.num_heads, queries.shape()[1],
                      num_keys);
  const HiddenKeys hidden(view);
  const auto rotated = [this](const Var<T>& x) {
    return rotary ? rotary_embedding(x, attention.num_heads, *rotary) : x;
  };
  return W_o(attention(rotated(W_q(queries)), rotated(W_k(hidden.zeroed(keys))),
                       W_v(hidden.zeroed(values)), mask, weights));
}

template <class T>
void MultiHeadAttention<T>::members(Members<T>& members) {
  members.type("MultiHeadAttention",
               rotary ? "rotary_base=" + python_text(rotary->base) : std::string());
  members("attention", attention);
  members("W_q", W_q);
  members("W_k", W_k);
  members("W_v", W_v);
  members("W_o", W_o);
}

template struct MultiHeadAttention<float>;
template struct MultiHeadAttention<double>;

}  // namespace weft
