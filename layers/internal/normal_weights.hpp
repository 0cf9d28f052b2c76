// set_normal_weights: the initialization of GPT-2 and BERT.
// Included by definitions only.
#pragma once

#include "weft/layers/linear.hpp"
#include "weft/layers/transformer_encoder.hpp"

namespace weft {

// Sets weights from a normal distribution with this standard deviation, and biases to zeros.
template <class T>
void set_normal_weights(Linear<T>& layer, double standard_deviation, Random& random);

// The same for the linear layers of a block, with another standard deviation, `residual`, for the
// last ones before a residual connection.
template <class T>
void set_normal_weights(TransformerEncoderBlock<T>& block, double standard_deviation,
                        double residual, Random& random);

}  // namespace weft
