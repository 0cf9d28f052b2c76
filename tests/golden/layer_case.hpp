// LayerCase: the inputs, weights, results and gradients of a layer, as written by write_case in
// write_layers.py.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include <weft/autograd/ops/mask.hpp>
#include <weft/autograd/tape.hpp>
#include <weft/layers/module.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/golden/comparison.hpp"

namespace weft::golden {

// One group of a file.
template <class T>
class LayerCase {
 public:
  explicit LayerCase(const std::string& name, const std::string& file = "layers.h5")
      : file_(WEFT_TEST_DATA "/" + file), name_(name) {
    for (const std::string& path : file_.datasets(name)) paths_.insert(path);
  }

  Tensor<double> expected(const std::string& path) const {
    return file_.tensor<double>(full(path));
  }
  Tensor<std::int32_t> integers(const std::string& path) const {
    return file_.tensor<std::int32_t>(full(path));
  }
  // The mask of the case: `seen` is Mask::allowed, `added` is Mask::bias.
  Mask mask() const {
    Mask mask;
    if (has("valid_lens")) mask.valid_lens = ValidLens(integers("valid_lens"));
    if (has("seen")) mask.allowed = with_batch(file_.tensor<bool>(full("seen")));
    if (has("added")) mask.bias = with_batch(file_.tensor<float>(full("added")));
    return mask;
  }
  // PyTorch's mask of [queries, keys], for all sequences.
  template <class E>
  static Tensor<E> with_batch(const Tensor<E>& mask) {
    return mask.rank() == 2 ? mask.reshaped(mask.shape().inserted(0, 1)) : mask;
  }

  void check(const std::string& path, const Tensor<T>& actual) const {
    golden::check(name_ + ' ' + path, actual, expected(path));
  }

  // Loads the weights of the file into the layer, and runs call(tape, inputs) forward and backward.
  // Checks its result and all gradients.
  template <class Layer, class Call>
  void check(Layer& layer, const std::vector<std::string>& inputs, const Call& call) const {
    if (!named_parameters(layer).empty())
      (void)load_weights(file_.path(), layer, {.group = full("parameters")});
    std::vector<Parameter<T>> values;
    for (const std::string& input : inputs)
      values.emplace_back(file_.tensor<T>(full("inputs/" + input)));

    Tape<T> tape({.keep_attention_weights = true});
    std::vector<Var<T>> variables;
    for (Parameter<T>& value : values) variables.push_back(tape.parameter(value));
    const Var<T> output = call(tape, variables);
    check("output", output.value());
    tape.backward(output, file_.tensor<T>(full("upstream")));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      check("input_gradients/" + inputs[i], values[i].grad());
    check_parameter_gradients(layer);
  }

 private:
  // The gradients have the names of the weights, so a copy of the layer can load them.
  template <class Layer>
  void check_parameter_gradients(Layer& layer) const {
    if (named_parameters(layer).empty()) return;
    Layer loaded = layer;
    (void)load_weights(file_.path(), loaded, {.group = full("parameter_gradients")});
    const NamedParameters<T> gradients = named_parameters(loaded), actual = named_parameters(layer);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const Tensor<T>& gradient = gradients[i].parameter->value();
      Tensor<double> in_double(gradient.shape());
      std::copy(gradient.begin(), gradient.end(), in_double.begin());
      golden::check(name_ + " gradient of " + actual[i].name, actual[i].parameter->grad(),
                    in_double);
    }
  }

  std::string full(const std::string& path) const { return "/" + name_ + "/" + path; }
  bool has(const std::string& path) const { return paths_.contains(full(path)); }

  Hdf5File file_;
  std::string name_;
  std::set<std::string> paths_;
};

}  // namespace weft::golden
