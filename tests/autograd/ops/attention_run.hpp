// AttentionRun: scaled_dot_product_attention of random inputs, for tests.
#pragma once

#include <weft/autograd/ops/attention.hpp>
#include <weft/autograd/random.hpp>

namespace weft {

// Queries, keys and values, with the result of attention and the gradients for an upstream of ones.
struct AttentionRun {
  Parameter<double> q, k, v;
  Tensor<double> y;

  void attend(const AttentionOptions& options) {
    Tape<double> tape;
    const auto result = scaled_dot_product_attention(tape.parameter(q), tape.parameter(k),
                                                     tape.parameter(v), options);
    y = result.value();
    tape.backward(result, Tensor<double>::full(result.shape(), 1.0));
  }
};

inline AttentionRun random_run(Index batch, Index queries, Index keys, Index size) {
  Random random(9);
  return {Parameter<double>(random.normal_tensor<double>({batch, queries, size})),
          Parameter<double>(random.normal_tensor<double>({batch, keys, size})),
          Parameter<double>(random.normal_tensor<double>({batch, keys, size})),
          {}};
}

}  // namespace weft
