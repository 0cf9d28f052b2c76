#include "train/pretrained/keras/internal/keras_attention_layers.hpp"

#include <cmath>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/attention.hpp"
#include "weft/autograd/ops/comparison.hpp"
#include "weft/autograd/ops/dropout.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/permute.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "weft/autograd/ops/softmax.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/pretrained/keras/internal/keras_config.hpp"

namespace weft {
namespace {

// Returns which keys each query may attend to, 1 or 0: [batch or 1, queries or 1, keys]. Nothing if
// all.
template <class T>
std::optional<Var<T>> allowed_keys(KerasCall<T>& call, const std::optional<Tensor<bool>>& queries,
                                   const std::optional<Tensor<bool>>& keys, Index num_queries,
                                   Index num_keys) {
  std::optional<Var<T>> allowed;
  const auto restrict_to = [&](Var<T> mask) { allowed = allowed ? *allowed * mask : mask; };
  const auto numbers = [&](const Tensor<bool>& mask) {
    return call.tape.constant(numbers_of<T>(mask, 0));
  };
  if (queries) restrict_to(unsqueeze(numbers(*queries), 2));
  if (keys) restrict_to(unsqueeze(numbers(*keys), 1));
  if (call.flag("use_causal_mask")) {
    Tensor<T> causal({1, num_queries, num_keys});
    for (Index q = 0; q < num_queries; ++q)
      for (Index k = 0; k <= q && k < num_keys; ++k) causal(0, q, k) = 1;
    restrict_to(call.tape.constant(causal));
  }
  return allowed;
}

// Attention: scores q · k, optionally times a learned scale, or w Σ tanh(scale (q + k)) with
// score_mode "concat". AdditiveAttention: Σ scale tanh(q + k) (Bahdanau et al., 2015).
template <class T>
void read_attention(KerasLayer<T>& layer, KerasConfig& config) {
  const bool is_additive = layer.class_name == "AdditiveAttention";
  const bool has_scale = config.flag("use_scale", is_additive);
  const double rate = config.number("dropout", 0);
  const std::string mode = config.text("score_mode", "dot");
  if (mode != "dot" && mode != "concat") fail<ValueError>("score_mode", "dot or concat", mode);
  config.ignore({"seed", "causal"});
  const bool is_causal = config.flag("causal", false);  // in versions before use_causal_mask
  if (has_scale)
    layer.add_parameter(config, "scale",
                        is_additive ? std::vector<Index>{-1} : std::vector<Index>{});
  const bool has_weight = mode == "concat" && !is_additive;
  if (has_weight) layer.add_parameter(config, "concat_score_weight", {});
  layer.call_arguments = {"use_causal_mask"};
  layer.compute = [=](const KerasLayer<T>& self, KerasCall<T>& call) {
    if (call.inputs.size() < 2 || call.inputs.size() > 3)
      fail<ShapeError>("inputs", "query, value and, optionally, key", call.inputs.size());
    if (is_causal) call.flags["use_causal_mask"] = true;
    const KerasValue<T>& query = call.inputs[0];
    const KerasValue<T>& value = call.inputs[1];
    const Var<T>&q = query.tensor, &k = call.inputs.back().tensor, &v = value.tensor;
    const auto sums = [&] { return unsqueeze(q, 2) + unsqueeze(k, 1); };
    Var<T> scores = q;
    if (is_additive) {
      const Var<T> units = tanh(sums());
      scores = sum(has_scale ? units * self.weight(call, 0) : units, {-1});
    } else if (mode == "concat") {
      const Var<T> units = tanh(has_scale ? sums() * self.weight(call, 0) : sums());
      scores = sum(units, {-1}) * self.weight(call, has_scale ? 1 : 0);
    } else {
      scores = matmul(q, k, {.transpose_b = true});
      if (has_scale) scores = scores * self.weight(call, 0);
    }
    if (const auto allowed = allowed_keys<T>(call, {}, value.mask, q.shape()[1], k.shape()[1]))
      scores = scores - scale(1 - *allowed, 1e9);
    Var<T> y = matmul(dropout(softmax(scores), rate), v);
    if (query.mask) y = y * call.tape.constant(numbers_of<T>(*query.mask, 3));
    return std::vector{KerasValue<T>{y, query.mask}};
  };
}

// Formula: as MultiHeadAttention, with the weights of each projection [in, heads, size], and
// [heads, size, out] for the output.
template <class T>
void read_multi_head_attention(KerasLayer<T>& layer, KerasConfig& config) {
  const Index heads = config.size("num_heads"), key_size = config.size("key_dim");
  const Index value_size = config.size("value_dim", key_size);
  const double rate = config.number("dropout", 0);
  const bool has_bias = config.flag("use_bias", true);
  const std::vector<Index> output = config.integers("output_shape");
  if (output.size() > 1) fail<ValueError>("output_shape", "one axis", output.size());
  const std::vector<Index> axes = config.integers("attention_axes");
  if (axes.size() > 1 || (axes.size() == 1 && axes[0] != 1))
    fail<ValueError>("attention_axes", "[1]", shown(config.at("attention_axes")));
  for (const char* name : {"sliding_window", "flash_attention"}) config.require(name, nullptr);
  config.require("use_gate", false);
  // Keras 2 stores the shapes from which it builds the layer.
  config.ignore({"seed", "query_shape", "key_shape", "value_shape"});
  config.require("softmax_robust_masking", false);
  const auto projection = [&](const char* name, std::vector<Index> kernel,
                              std::vector<Index> bias) {
    KerasLayer<T>& dense = layer.children.emplace_back();
    dense.class_name = "EinsumDense";
    dense.name = name;
    dense.trainable = layer.trainable;
    dense.add_parameter(config, "kernel", std::move(kernel));
    if (has_bias) dense.add_parameter(config, "bias", std::move(bias));
  };
  const Index out = output.empty() ? -1 : output.front();
  projection("query_dense", {-1, heads, key_size}, {heads, key_size});
  projection("key_dense", {-1, heads, key_size}, {heads, key_size});
  projection("value_dense", {-1, heads, value_size}, {heads, value_size});
  projection("output_dense", {heads, value_size, out}, {out});
  const float lowest = config.is_keras_2() ? -1e9f : -1e30f;
  const bool is_zero_if_masked = rate > 0 && !config.is_keras_2();
  layer.call_arguments = {"query", "value", "key", "attention_mask", "use_causal_mask"};
  layer.compute = [=](const KerasLayer<T>& self, KerasCall<T>& call) {
    const auto input = [&](std::size_t position, const char* name) {
      const auto named = call.named.find(name);
      return named != call.named.end()       ? &named->second.front()
             : position < call.inputs.size() ? &call.inputs[position]
                                             : nullptr;
    };
    const KerasValue<T>* query = input(0, "query");
    const KerasValue<T>* value = input(1, "value");
    const KerasValue<T>* key = input(2, "key");
    if (!query || !value) fail<ShapeError>("inputs", "query and value", call.inputs.size());
    if (query->tensor.rank() != 3)
      fail<ShapeError>("query", "shape [batch, time, size]", query->tensor.shape());
    const auto projected = [&](std::size_t child, const Var<T>& x, Index inner, Index outer) {
      const KerasLayer<T>& dense = self.children[child];
      const Var<T> y = matmul(x, reshape(dense.weight(call, 0), {inner, outer}));
      return has_bias ? y + reshape(dense.weight(call, 1), {outer}) : y;
    };
    const Var<T>& k_in = (key ? key : value)->tensor;
    const Var<T> q = projected(0, query->tensor, query->tensor.shape()[2], heads * key_size);
    const Var<T> k = projected(1, k_in, k_in.shape()[2], heads * key_size);
    const Var<T> v = projected(2, value->tensor, value->tensor.shape()[2], heads * value_size);
    AttentionOptions options{.num_heads = heads, .dropout = rate};
    std::optional<Var<T>> allowed =
        allowed_keys<T>(call, query->mask, value->mask, q.shape()[1], k.shape()[1]);
    const auto restrict_to = [&](const Var<T>& mask) {
      allowed = allowed ? *allowed * mask : mask;
    };
    if (key && key->mask)
      restrict_to(unsqueeze(call.tape.constant(numbers_of<T>(*key->mask, 0)), 1));
    if (const auto named = call.named.find("attention_mask"); named != call.named.end())
      restrict_to(call.tape.constant(numbers_of<T>(named->second.front().tensor.value() != 0, 3)));
    if (allowed) {
      const Shape scores{q.shape()[0], q.shape()[1], k.shape()[1]};
      const Tensor<T> keys = (*allowed + call.tape.constant(Tensor<T>(scores))).value();
      if (is_zero_if_masked) {
        options.mask.allowed = keys != 0;
      } else {
        // As in Keras, a query that may attend to no key attends to all.
        options.mask.bias = Tensor<float>(scores);
        std::ranges::transform(keys, options.mask.bias.data(),
                               [=](T is_allowed) { return is_allowed == 0 ? lowest : 0.0f; });
      }
    }
    const Var<T> y = scaled_dot_product_attention(q, k, v, options);
    const Index width = self.children[3].parameters[0].value.shape()[2];
    return std::vector{KerasValue<T>{projected(3, y, heads * value_size, width), query->mask}};
  };
}

template <class T>
void read_softmax(KerasLayer<T>& layer, KerasConfig& config) {
  const Index axis = config.single("axis", -1, lowest_axis);
  const bool is_keras_2 = config.is_keras_2();
  config.require("robust_masking", false);
  layer.call_arguments = {"mask"};
  layer.compute = [=](const KerasLayer<T>&, KerasCall<T>& call) {
    Var<T> x = call.x();
    std::optional<Tensor<bool>> mask = call.mask();
    if (const auto named = call.named.find("mask"); named != call.named.end())
      mask = named->second.front().tensor.value() != 0;
    // Masked elements get a weight of 0; in Keras 2, unless all are masked.
    if (mask) {
      if (mask->rank() > x.rank()) fail<ShapeError>("mask", x.shape(), mask->shape());
      x = x + scale(call.tape.constant(numbers_of<T>(*mask, 0)) - 1, is_keras_2 ? 1e9 : 1e30);
    }
    const Index position = keras_axis("axis", axis, x.rank());
    Var<T> y = position == x.rank() - 1
                   ? softmax(x)
                   : transpose(softmax(transpose(x, position, -1)), position, -1);
    if (mask && !is_keras_2) y = y * call.tape.constant(numbers_of<T>(*mask, 0));
    return with_mask(call, y);
  };
}

}  // namespace

template <class T>
KerasReaders<T> keras_attention_layers() {
  return {{"Attention", &read_attention<T>},
          {"AdditiveAttention", &read_attention<T>},
          {"MultiHeadAttention", &read_multi_head_attention<T>},
          {"Softmax", &read_softmax<T>}};
}

template KerasReaders<float> keras_attention_layers();
template KerasReaders<double> keras_attention_layers();

}  // namespace weft
