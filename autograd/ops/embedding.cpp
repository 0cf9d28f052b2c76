#include "weft/autograd/ops/embedding.hpp"

#include "autograd/internal/bfloat16.hpp"
#include "autograd/internal/checks.hpp"
#include "autograd/kernels/arrays.hpp"

namespace weft {
namespace {

// Throws ValueError unless every token is a row of the weight.
void check_tokens(const Tokens& tokens, Index vocabulary) {
  for (Index i = 0; i < tokens.size(); ++i)
    if (const TokenId token = tokens.data()[i]; token < 0 || token >= vocabulary)
      fail<ValueError>(str_cat("embedding: token at ", tokens.shape().position(i)),
                       "an id from " + index_range(vocabulary), token);
}

// Adds each row of dy to its token's row of dw, except for tokens equal to `padding`. Runs in
// parallel over ranges of columns, each of which adds the tokens in order. No two threads write the
// same element, and the sums do not depend on the number of threads.
template <class T>
void add_rows(const Tokens& tokens, std::optional<TokenId> padding, const Tensor<T>& dy,
              Index columns, const Gradient<T>& dw) {
  if (dw.fresh)
    parallel_for(std::ssize(dw.values), grain_of(1),
                 [&](Index begin, Index end) { array(dw.data(), begin, end).setZero(); });
  constexpr Index width = 64;
  parallel_for((columns + width - 1) / width, grain_of(tokens.size() * width),
               [&](Index begin, Index end) {
                 const Index first = begin * width, last = std::min(end * width, columns);
                 for (Index i = 0; i < tokens.size(); ++i) {
                   const Index row = tokens.data()[i];
                   if (padding && row == *padding) continue;
                   array(dw.data(), row * columns + first, row * columns + last) +=
                       array(dy, i * columns + first, i * columns + last);
                 }
               });
}

}  // namespace

// Forward:  y_i = w[tokens_i].
// Backward: dw[v] = the sum of dy_i over all i with tokens_i = v, unless v is the padding.
template <class T>
Var<T> embedding(const Tokens& tokens, const Var<T>& weight, std::optional<TokenId> padding_idx) {
  if (weight.rank() != 2) fail<ShapeError>("embedding", "a weight [vocabulary, d]", weight.shape());
  const Index vocabulary = weight.shape()[0], columns = weight.shape()[1];
  check_tokens(tokens, vocabulary);
  Tensor<T> y =
      weight.tape().uninitialized(tokens.shape().inserted(tokens.rank(), columns, "embedding"));
  parallel_for(
      tokens.size(), grain_of(columns), [&, bf16 = weight.value().bf16()](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          const Index from = tokens.data()[i] * columns;
          if (bf16)
            widen_bfloat16(columns, bf16 + from, y.data() + i * columns);
          else
            array(y, i * columns, (i + 1) * columns) = array(weight.value(), from, from + columns);
        }
      });
  return weight.tape().record("embedding", y, {weight.node()},
                              [tokens = weight.tape().keep(tokens), weight = weight.node(), columns,
                               padding_idx](Tape<T>& backward, const Tensor<T>& dy) {
                                add_rows(tokens, padding_idx, dy, columns,
                                         backward.gradient(weight));
                              });
}

template Var<float> embedding(const Tokens&, const Var<float>&, std::optional<TokenId>);
template Var<double> embedding(const Tokens&, const Var<double>&, std::optional<TokenId>);

}  // namespace weft
