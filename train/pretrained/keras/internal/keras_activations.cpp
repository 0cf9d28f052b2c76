#include "train/pretrained/keras/internal/keras_activations.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/comparison.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/softmax.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/pretrained/keras/internal/keras_config.hpp"

namespace weft {
namespace {

// Formula: y = x if x > 0, otherwise alpha (eˣ - 1).
template <class T>
Var<T> elu(const Var<T>& x, double alpha) {
  return where(x.value() > 0, x, scale(exp(where(x.value() > 0, 0, x)) - 1, alpha));
}

template <class T>
Var<T> selu(const Var<T>& x) {
  // The constants of Klambauer et al., 2017.
  return scale(elu(x, 1.6732632423543772), 1.0507009873554805);
}

template <class T>
Var<T> hard_sigmoid(const Var<T>& x, bool is_keras_2) {
  return is_keras_2 ? clamp(scale(x, 0.2) + 0.5, 0, 1) : scale(clamp(x + 3, 0, 6), 1.0 / 6);
}

// Returns the functions that need no option, by name.
template <class T>
const std::map<std::string_view, KerasActivation<T>>& functions() {
  static const std::map<std::string_view, KerasActivation<T>> table{
      {"linear", [](const Var<T>& x) { return x; }},
      {"relu", [](const Var<T>& x) { return relu(x); }},
      {"relu6", [](const Var<T>& x) { return clamp(x, 0, 6); }},
      {"leaky_relu", [](const Var<T>& x) { return leaky_relu(x, 0.2); }},
      {"elu", [](const Var<T>& x) { return elu(x, 1); }},
      {"celu", [](const Var<T>& x) { return elu(x, 1); }},
      {"selu", [](const Var<T>& x) { return selu(x); }},
      {"gelu", [](const Var<T>& x) { return gelu(x); }},
      {"silu", [](const Var<T>& x) { return silu(x); }},
      {"swish", [](const Var<T>& x) { return silu(x); }},
      {"tanh", [](const Var<T>& x) { return tanh(x); }},
      {"sigmoid", [](const Var<T>& x) { return sigmoid(x); }},
      {"softplus", [](const Var<T>& x) { return softplus(x); }},
      {"softsign", [](const Var<T>& x) { return x / (1 + abs(x)); }},
      {"exponential", [](const Var<T>& x) { return exp(x); }},
      {"softmax", [](const Var<T>& x) { return softmax(x); }},
      {"log_softmax", [](const Var<T>& x) { return log_softmax(x); }},
      {"log_sigmoid", [](const Var<T>& x) { return -softplus(-x); }},
      {"mish", [](const Var<T>& x) { return x * tanh(softplus(x)); }},
      {"hard_silu", [](const Var<T>& x) { return x * hard_sigmoid(x, false); }},
      {"hard_swish", [](const Var<T>& x) { return x * hard_sigmoid(x, false); }},
      {"hard_tanh", [](const Var<T>& x) { return clamp(x, -1, 1); }},
      {"tanh_shrink", [](const Var<T>& x) { return x - tanh(x); }},
      {"hard_shrink", [](const Var<T>& x) { return where(abs(x).value() > 0.5, x, 0); }},
      {"soft_shrink", [](const Var<T>& x) { return x - clamp(x, -0.5, 0.5); }},
      // 0 up to -1, x from 1 on, and a parabola between.
      {"sparse_plus",
       [](const Var<T>& x) {
         const Var<T> y = clamp(x + 1, 0, 2);
         return relu(x - 1) + scale(y * y, 0.25);
       }},
      {"squareplus", [](const Var<T>& x) { return scale(x + sqrt(x * x + 4), 0.5); }},
  };
  return table;
}

}  // namespace

template <class T>
KerasActivation<T> keras_activation(KerasConfig& config, const std::string& entry_name) {
  nlohmann::json value = config.at(entry_name);
  // Keras 3 may store a function as {"class_name": "function", "config": "relu"}.
  if (entry(value, "class_name") == "function") value = entry(value, "config");
  if (value.is_null()) value = "linear";
  if (value.is_string()) {
    const auto name = value.get<std::string>();
    if (name == "hard_sigmoid")
      return [is_keras_2 = config.is_keras_2()](const Var<T>& x) {
        return hard_sigmoid(x, is_keras_2);
      };
    if (const auto found = functions<T>().find(name); found != functions<T>().end())
      return found->second;
  } else if (value.is_object()) {
    // A layer, such as LeakyReLU, as activation.
    const KerasLayer<T> layer = make_keras_layer<T>(value, config.version());
    if (layer.parameters.empty())
      return [layer](const Var<T>& x) {
        std::vector<KerasValue<T>> inputs{KerasValue<T>{x, std::nullopt}};
        KerasCall<T> call{.tape = x.tape(), .inputs = std::move(inputs)};
        return layer(call).front().tensor;
      };
  }
  fail<ValueError>(entry_name, "an activation function of Keras", shown(value));
}

template <class T>
KerasReaders<T> keras_activation_layers() {
  using Layer = KerasLayer<T>;
  return {
      {"Activation",
       [](Layer& layer, KerasConfig& config) {
         layer.compute = keeping_mask<T>(keras_activation<T>(config, "activation"));
       }},
      // Formula: y = min(x, max_value) if x ≥ threshold, otherwise negative_slope (x - threshold).
      {"ReLU",
       [](Layer& layer, KerasConfig& config) {
         const double slope = config.number("negative_slope", 0),
                      threshold = config.number("threshold", 0),
                      limit = config.number("max_value", std::numeric_limits<double>::infinity());
         layer.compute = keeping_mask<T>([=](const Var<T>& x) {
           const Var<T> y = where(x.value() >= threshold, x, scale(x - threshold, slope));
           return std::isinf(limit) ? y : where(y.value() > limit, y * 0 + limit, y);
         });
       }},
      {"LeakyReLU",
       [](Layer& layer, KerasConfig& config) {
         // Keras 2 calls the slope alpha.
         const double slope = config.number("alpha", config.number("negative_slope", 0.3));
         layer.compute = keeping_mask<T>([=](const Var<T>& x) { return leaky_relu(x, slope); });
       }},
      {"ELU",
       [](Layer& layer, KerasConfig& config) {
         const double alpha = config.number("alpha", 1);
         layer.compute = keeping_mask<T>([=](const Var<T>& x) { return elu(x, alpha); });
       }},
      // Formula: y = max(x, 0) + alpha min(x, 0), with a learned alpha.
      {"PReLU",
       [](Layer& layer, KerasConfig& config) {
         config.ignore({"shared_axes"});  // the shape of alpha already has size 1 on these axes
         layer.add_parameter(config, "alpha", {any_rank});
         layer.compute = [](const Layer& self, KerasCall<T>& call) {
           return with_mask(call, relu(call.x()) - self.weight(call, 0) * relu(-call.x()));
         };
       }},
  };
}

template KerasActivation<float> keras_activation(KerasConfig&, const std::string&);
template KerasActivation<double> keras_activation(KerasConfig&, const std::string&);
template KerasReaders<float> keras_activation_layers();
template KerasReaders<double> keras_activation_layers();

}  // namespace weft
