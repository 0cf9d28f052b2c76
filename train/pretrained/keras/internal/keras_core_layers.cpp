#include "train/pretrained/keras/internal/keras_core_layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/comparison.hpp"
#include "weft/autograd/ops/dropout.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/embedding.hpp"
#include "weft/autograd/ops/indexing.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/normalization.hpp"
#include "weft/autograd/ops/permute.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "train/pretrained/keras/internal/keras_activations.hpp"
#include "train/pretrained/keras/internal/keras_config.hpp"

namespace weft {
namespace {

template <class T>
void read_dense(KerasLayer<T>& layer, KerasConfig& config) {
  const Index units = config.size("units");
  const bool has_bias = config.flag("use_bias", true);
  const KerasActivation<T> activation = keras_activation<T>(config, "activation");
  layer.add_parameter(config, "kernel", {-1, units});
  if (has_bias) layer.add_parameter(config, "bias", {units});
  layer.compute = [=](const KerasLayer<T>& self, KerasCall<T>& call) {
    const Var<T> y = matmul(call.x(), self.weight(call, 0));
    return with_mask(call, activation(has_bias ? y + self.weight(call, 1) : y));
  };
}

template <class T>
void read_embedding(KerasLayer<T>& layer, KerasConfig& config) {
  const Index tokens = config.size("input_dim"), size = config.size("output_dim");
  const bool mask_zero = config.flag("mask_zero", false);
  layer.add_parameter(config, "embeddings", {tokens, size});
  layer.compute = [=](const KerasLayer<T>& self, KerasCall<T>& call) {
    const Tensor<T>& x = call.x().value();
    Tokens ids(x.shape());
    std::ranges::transform(x, ids.data(), [&](T id) {
      // Also rejects NaN.
      if (!(id >= 0 && id < static_cast<T>(tokens)) || id != std::floor(id))
        fail<ValueError>("input", str_cat("token ids between 0 and ", tokens - 1), id);
      return static_cast<TokenId>(id);
    });
    KerasValue<T> y{embedding(ids, self.weight(call, 0))};
    if (mask_zero) y.mask = x != 0;
    return std::vector{std::move(y)};
  };
}

// Masks the steps whose vectors consist of `mask_value`, and sets them to zeros.
template <class T>
void read_masking(KerasLayer<T>& layer, KerasConfig& config) {
  const auto value = static_cast<T>(config.number("mask_value", 0));
  layer.compute = [=](const KerasLayer<T>&, KerasCall<T>& call) {
    const Var<T>& x = call.x();
    const Index size = x.shape().columns();
    Tensor<bool> mask{x.shape().without(-1)};
    const T* vectors = x.value().data();
    for (bool& is_set : mask.values()) {
      is_set = std::any_of(vectors, vectors + size, [&](T element) { return element != value; });
      vectors += size;
    }
    const Var<T> kept = x * call.tape.constant(numbers_of<T>(mask, x.rank()));
    return std::vector{KerasValue<T>{kept, mask}};
  };
}

// Drops whole channels, over all steps.
template <class T>
void read_spatial_dropout(KerasLayer<T>& layer, KerasConfig& config) {
  const double rate = config.number("rate", 0);
  config.ignore({"seed", "noise_shape"});
  layer.compute = keeping_mask<T>([=](const Var<T>& x) {
    if (!x.tape().training()) return x;
    if (x.rank() != 3) fail<ShapeError>("input", "shape [batch, time, channels]", x.shape());
    const Tensor<T> ones = Tensor<T>::full({x.shape()[0], 1, x.shape()[2]}, T{1});
    return x * dropout(x.tape().constant(ones), rate);
  });
}

// Layers that change their inputs only in training, in ways that weft does not support.
template <class T>
void read_noise(KerasLayer<T>& layer, KerasConfig& config) {
  config.ignore({"rate", "stddev", "seed", "noise_shape"});
  layer.compute = keeping_mask<T>([](const Var<T>& x) {
    if (x.tape().training())
      fail<ValueError>("training", "a layer whose training weft supports", "random noise");
    return x;
  });
}

// Inputs are constants: reshaping them has no gradient.
template <class T>
Var<T> reshaped(const Var<T>& x, const std::vector<Index>& sizes) {
  return reshape(x, x.value().reshaped(sizes).shape());
}

// Returns the sizes before and after a sequence in an option such as "padding": one number, or two.
std::array<Index, 2> both_sides(KerasConfig& config, const std::string& name) {
  const std::vector<Index> sizes = config.integers(name);
  if (sizes.empty() || sizes.size() > 2 || sizes.front() < 0 || sizes.back() < 0)
    fail<ValueError>(name, "one or two sizes ≥ 0", str_cat(sizes.size(), " numbers"));
  return {sizes.front(), sizes.back()};
}

// Calls `normalized` with the axis moved to the end.
template <class T, class Normalized>
Var<T> along_axis(Index axis, const Var<T>& x, const Normalized& normalized) {
  const Index position = keras_axis("axis", axis, x.rank());
  if (position == x.rank() - 1) return normalized(x);
  return transpose(normalized(transpose(x, position, -1)), position, -1);
}

template <class T>
void read_layer_norm(KerasLayer<T>& layer, KerasConfig& config) {
  const Index axis = config.single("axis", -1, lowest_axis);
  const double eps = config.number("epsilon", 1e-3);
  const bool scaled = config.flag("scale", true), centered = config.flag("center", true);
  config.require("rms_scaling", false);
  if (scaled) layer.add_parameter(config, "gamma", {-1});
  if (centered) layer.add_parameter(config, "beta", {-1});
  layer.compute = [=](const KerasLayer<T>& self, KerasCall<T>& call) {
    return with_mask(call, along_axis(axis, call.x(), [&](const Var<T>& x) {
                       const Shape channels{x.shape().columns()};
                       const Var<T> gamma =
                           scaled ? self.weight(call, 0)
                                  : call.tape.constant(Tensor<T>::full(channels, T{1}));
                       const Var<T> beta = centered ? self.weight(call, scaled ? 1 : 0)
                                                    : call.tape.constant(Tensor<T>(channels));
                       return layer_norm(x, gamma, beta, eps);
                     }));
  };
}

// Formula: y = (x - mean) / √(variance + epsilon) · gamma + beta, for each channel, with the mean
// and the variance of the batch while training, and with moving averages otherwise.
template <class T>
void read_batch_norm(KerasLayer<T>& layer, KerasConfig& config) {
  const Index axis = config.single("axis", -1, lowest_axis);
  const double eps = config.number("epsilon", 1e-3), momentum = config.number("momentum", 0.99);
  const bool scaled = config.flag("scale", true), centered = config.flag("center", true);
  const bool is_keras_2 = config.is_keras_2();
  config.require("renorm", false);
  config.require("synchronized", false);
  config.ignore(
      {"virtual_batch_size", "adjustment", "fused", "renorm_clipping", "renorm_momentum"});
  if (scaled) layer.add_parameter(config, "gamma", {-1});
  if (centered) layer.add_parameter(config, "beta", {-1});
  layer.buffers = {{"moving_mean", {-1}}, {"moving_variance", {-1}}};
  layer.compute = [=](const KerasLayer<T>& self, KerasCall<T>& call) {
    Tape<T>& tape = call.tape;
    return with_mask(
        call, along_axis(axis, call.x(), [&](const Var<T>& x) {
          Var<T> mean = tape.constant(self.buffers[0].value);
          Var<T> variance = tape.constant(self.buffers[1].value);
          // A frozen layer uses the averages, also while training.
          if (tape.training() && self.trainable) {
            const Var<T> rows = reshape(x, {-1, x.shape().columns()});
            // In Keras 3, steps that a mask hides do not count.
            const bool is_masked = call.mask() && !is_keras_2;
            Tensor<T> counted = is_masked ? numbers_of<T>(*call.mask(), 0).reshaped({-1, 1})
                                          : Tensor<T>::full({rows.shape()[0], 1}, T{1});
            const Var<T> weights = tape.constant(counted);
            const Var<T> total = is_masked ? sum(weights) + 1e-7 : sum(weights);
            mean = sum(rows * weights, {0}) / total;
            const Var<T> centered_rows = rows - mean;
            variance = sum(centered_rows * centered_rows * weights, {0}) / total;
            const auto update = [&](Tensor<T>& average, const Tensor<T>& value) {
              std::ranges::transform(
                  average.values(), value.values(), average.data(), [&](T old, T next) {
                    return static_cast<T>(momentum * old + (1 - momentum) * next);
                  });
            };
            update(self.buffers[0].value, mean.value());
            update(self.buffers[1].value, variance.value());
          }
          Var<T> factor = power(variance + eps, -0.5);
          if (scaled) factor = factor * self.weight(call, 0);
          const Var<T> y = (x - mean) * factor;
          return centered ? y + self.weight(call, scaled ? 1 : 0) : y;
        }));
  };
}

}  // namespace

template <class T>
KerasReaders<T> keras_core_layers() {
  using Layer = KerasLayer<T>;
  return {
      {"Dense", &read_dense<T>},
      {"Embedding", &read_embedding<T>},
      // Passes on the token ids that the program computes from texts; see KerasModel::vocabulary.
      {"TextVectorization",
       [](Layer& layer, KerasConfig& config) {
         config.require("output_mode", "int");
         config.ignore({"max_tokens", "standardize", "split", "ngrams", "output_sequence_length",
                        "pad_to_max_tokens", "sparse", "ragged", "vocabulary", "vocabulary_size",
                        "idf_weights", "encoding"});
         layer.compute = dropping_mask<T>([](const Var<T>& x) { return x; });
       }},
      {"Masking", &read_masking<T>},
      {"Dropout",
       [](Layer& layer, KerasConfig& config) {
         const double rate = config.number("rate", 0);
         config.ignore({"seed"});
         config.require("noise_shape", nullptr);
         layer.compute = keeping_mask<T>([=](const Var<T>& x) { return dropout(x, rate); });
       }},
      {"SpatialDropout1D", &read_spatial_dropout<T>},
      {"GaussianNoise", &read_noise<T>},
      {"GaussianDropout", &read_noise<T>},
      {"AlphaDropout", &read_noise<T>},
      {"Identity",
       [](Layer& layer, KerasConfig&) {
         layer.compute = keeping_mask<T>([](const Var<T>& x) { return x; });
       }},
      {"ActivityRegularization",
       [](Layer& layer, KerasConfig& config) {
         const double l1 = config.number("l1", 0), l2 = config.number("l2", 0);
         layer.activity_regularizer = [=](const Var<T>& x) {
           return scale(sum(abs(x)), l1) + scale(sum(x * x), l2);
         };
         layer.compute = keeping_mask<T>([](const Var<T>& x) { return x; });
       }},
      {"Flatten",
       [](Layer& layer, KerasConfig& config) {
         config.require("data_format", "channels_last");
         layer.compute = dropping_mask<T>([](const Var<T>& x) {
           return reshaped(x, {x.shape()[0], -1});
         });
       }},
      {"Reshape",
       [](Layer& layer, KerasConfig& config) {
         const std::vector<Index> target = config.integers("target_shape");
         layer.compute = dropping_mask<T>([=](const Var<T>& x) {
           std::vector<Index> sizes{x.shape()[0]};
           sizes.insert(sizes.end(), target.begin(), target.end());
           return reshaped(x, sizes);
         });
       }},
      {"Permute",
       [](Layer& layer, KerasConfig& config) {
         std::vector<Index> axes = config.integers("dims");  // from 1, without the batch
         axes.insert(axes.begin(), 0);
         layer.compute = dropping_mask<T>(
             [=](const Var<T>& x) { return permute(x, std::span<const Index>(axes)); });
       }},
      {"RepeatVector",
       [](Layer& layer, KerasConfig& config) {
         const Index times = config.size("n");
         layer.compute =
             dropping_mask<T>([=](const Var<T>& x) { return repeat(unsqueeze(x, 1), 1, times); });
       }},
      {"ZeroPadding1D",
       [](Layer& layer, KerasConfig& config) {
         const std::array<Index, 2> sides = both_sides(config, "padding");
         config.require("data_format", "channels_last");
         layer.compute =
             dropping_mask<T>([=](const Var<T>& x) { return pad(x, 1, sides[0], sides[1]); });
       }},
      {"Cropping1D",
       [](Layer& layer, KerasConfig& config) {
         const std::array<Index, 2> sides = both_sides(config, "cropping");
         layer.compute = dropping_mask<T>(
             [=](const Var<T>& x) { return slice(x, 1, sides[0], x.shape()[1] - sides[1]); });
       }},
      {"UpSampling1D",
       [](Layer& layer, KerasConfig& config) {
         const Index times = config.single("size", 2);
         layer.compute = dropping_mask<T>([=](const Var<T>& x) { return repeat(x, 1, times); });
       }},
      {"Rescaling",
       [](Layer& layer, KerasConfig& config) {
         const double factor = config.number("scale", 1), offset = config.number("offset", 0);
         layer.compute =
             keeping_mask<T>([=](const Var<T>& x) { return scale(x, factor) + offset; });
       }},
      {"LayerNormalization", &read_layer_norm<T>},
      {"BatchNormalization", &read_batch_norm<T>},
      {"BatchNormalizationV1", &read_batch_norm<T>},
      {"UnitNormalization",
       [](Layer& layer, KerasConfig& config) {
         layer.compute =
             keeping_mask<T>([axis = config.single("axis", -1, lowest_axis)](const Var<T>& x) {
               return along_axis(axis, x, [](const Var<T>& y) { return normalize(y); });
             });
       }},
  };
}

template KerasReaders<float> keras_core_layers();
template KerasReaders<double> keras_core_layers();

}  // namespace weft
