#include "train/pretrained/keras/internal/keras_models.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/comparison.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/pretrained/keras/internal/keras_config.hpp"

namespace weft {
namespace {

using nlohmann::json;

// An argument of a layer: an output of a node, or a number.
struct Argument {
  std::size_t node = 0, output = 0;
  std::optional<double> number = {};
};

// One use of a layer in a model.
struct Node {
  std::size_t layer;
  std::vector<Argument> inputs = {};
  std::map<std::string, std::vector<Argument>> named = {};
  std::map<std::string, bool> flags = {};
  std::optional<std::size_t> model_input = {};  // for an InputLayer: the position of its input
};

// The layers of a model and how they are connected. Each node comes after its inputs.
struct Network {
  std::vector<Node> nodes;
  std::vector<Argument> outputs = {};
  std::vector<std::size_t> inputs = {};  // layers
};

// A reference to an output of a layer, as a configuration stores it: ["dense", 0, 0].
struct Reference {
  std::string layer;
  std::size_t node, output;
};

std::optional<Reference> reference(const json& value) {
  if (value.is_object() && entry(value, "class_name") == "__keras_tensor__")
    return reference(entry(entry(value, "config"), "keras_history"));
  // Keras 2 adds the arguments of the call as a fourth element.
  if (!value.is_array() || value.size() < 3 || value.size() > 4 || !value[0].is_string() ||
      !value[1].is_number_unsigned() || !value[2].is_number_unsigned())
    return std::nullopt;
  return Reference{value[0], value[1], value[2]};
}

// Calls `use` with all references in nested lists and objects, in order, and with all numbers.
// Throws ValueError for other values.
template <class Use>
void for_arguments(const json& value, const Use& use) {
  if (const std::optional<Reference> found = reference(value)) return use(*found);
  if (value.is_null()) return;
  if (value.is_number()) return use(value.get<double>());
  const bool is_mapping = value.is_object() && !value.contains("class_name");
  if (!value.is_array() && !is_mapping)
    fail<ValueError>("inbound_nodes", "tensors or numbers", shown(value));
  for (const json& element : value) for_arguments(element, use);
}

// Reads the connections of a functional model.
template <class T>
class NetworkReader {
 public:
  NetworkReader(const KerasLayer<T>& model, const json& layers, KerasVersion version)
      : model_(model), is_keras_2_(version.major_number == 2) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!positions_.emplace(model.children[i].name, i).second)
        fail<ValueError>("layers", "different names", model.children[i].name);
      const json& calls = entry(layers[i], "inbound_nodes");
      calls_.push_back(calls.is_array() ? calls : json::array());
    }
  }

  Network read(const json& inputs, const json& outputs) {
    Network network;
    for_arguments(inputs, [&](const auto& argument) {
      if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Reference>) {
        const std::size_t layer = position(argument);
        if (model_.children[layer].class_name != "InputLayer")
          fail<ValueError>("input_layers", "an InputLayer", argument.layer);
        inputs_.emplace(layer, network.inputs.size());
        network.inputs.push_back(layer);
      }
    });
    for_arguments(outputs, [&](auto argument) {
      if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Reference>) {
        // Keras 3 counts the first node of a functional model only here.
        if (!is_keras_2_ && is_functional(model_.children[position(argument)]))
          argument.node = std::max<std::size_t>(argument.node, 1) - 1;
        network.outputs.push_back(resolved(network, argument));
      }
    });
    if (network.outputs.empty()) fail<ValueError>("output_layers", "at least one tensor", "none");
    return network;
  }

 private:
  using Key = std::pair<std::size_t, std::size_t>;  // layer and call

  static bool is_functional(const KerasLayer<T>& layer) {
    return layer.class_name == "Functional" || layer.class_name == "Model";
  }
  // Returns the number of the first call of a layer. In Keras 2, the node that a model's own inputs
  // form counts.
  std::size_t first_node(const KerasLayer<T>& layer) const {
    return is_keras_2_ && (is_functional(layer) || (layer.class_name == "Sequential" &&
                                                    layer.children[0].class_name == "InputLayer"))
               ? 1
               : 0;
  }

  // Like for_arguments, but ignores other values.
  template <class Use>
  static void look_in(const json& value, const Use& use) {
    if (const std::optional<Reference> found = reference(value)) use(*found);
    if (value.is_structured())
      for (const json& element : value) look_in(element, use);
  }

  std::size_t position(const Reference& reference) const {
    const auto found = positions_.find(reference.layer);
    if (found == positions_.end())
      fail<ValueError>("inbound_nodes", "the name of a layer of the model", reference.layer);
    return found->second;
  }

  // Returns the node that a reference names, after adding it and all nodes that it depends on.
  Argument resolved(Network& network, const Reference& wanted) {
    // Not recursive: a configuration may connect many layers in a row.
    std::vector<Key> stack{key_of(wanted)};
    while (!stack.empty()) {
      const Key key = stack.back();
      if (nodes_.contains(key)) {
        stack.pop_back();
        continue;
      }
      const std::vector<Key> open = missing_inputs(key);
      if (open.empty()) {
        nodes_.emplace(key, network.nodes.size());
        network.nodes.push_back(make_node(key));
        started_.erase(key);
        stack.pop_back();
        continue;
      }
      if (!started_.insert(key).second)
        fail<ValueError>("inbound_nodes", "layers that form no cycle",
                         model_.children[key.first].name);
      stack.insert(stack.end(), open.begin(), open.end());
    }
    return argument(wanted);
  }

  Key key_of(const Reference& reference) const {
    const std::size_t layer = position(reference);
    if (inputs_.contains(layer)) return {layer, 0};
    const std::size_t calls = calls_[layer].size(), first = first_node(model_.children[layer]);
    if (reference.node < first || reference.node - first >= calls)
      fail<ValueError>("inbound_nodes", str_cat("one of ", calls, " calls of ", reference.layer),
                       reference.node);
    return {layer, reference.node - first};
  }
  Argument argument(const Reference& reference) const {
    return {.node = nodes_.at(key_of(reference)), .output = reference.output};
  }

  // Calls `use(name, value)` with the arguments of a call: positional ones have an empty name.
  template <class Use>
  void for_call(const json& call, const Use& use) const {
    if (call.is_object() && call.contains("args")) {
      use("", entry(call, "args"));
      for (const auto& [name, value] : entry(call, "kwargs").items()) use(name, value);
      return;
    }
    // Keras 2: a list of references, of which each may have further arguments.
    const json list = reference(call) ? json::array({call}) : call;
    for (const json& element : list) {
      use("", element);
      if (element.is_array() && element.size() == 4)
        for (const auto& [name, value] : element[3].items()) use(name, value);
    }
  }

  std::vector<Key> missing_inputs(const Key& key) const {
    std::vector<Key> missing;
    if (inputs_.contains(key.first)) return missing;
    for_call(calls_[key.first][key.second], [&](const std::string&, const json& value) {
      look_in(value, [&](const Reference& found) {
        const Key input = key_of(found);
        if (!nodes_.contains(input)) missing.push_back(input);
      });
    });
    return missing;
  }

  Node make_node(const Key& key) const {
    Node node{.layer = key.first};
    if (const auto input = inputs_.find(key.first); input != inputs_.end()) {
      node.model_input = input->second;
      return node;
    }
    const KerasLayer<T>& layer = model_.children[key.first];
    for_call(calls_[key.first][key.second], [&](const std::string& name, const json& value) {
      const bool is_known = name == "mask" || std::ranges::count(layer.call_arguments, name) > 0;
      if (value.is_boolean() && is_known) {
        node.flags[name] = value.get<bool>();
      } else if (!value.is_null() && value != false) {
        if (!name.empty() && !is_known)
          fail<ValueError>(str_cat(layer.class_name, " '", layer.name, "': call"),
                           "arguments that weft supports", str_cat(name, "=", shown(value)));
        std::vector<Argument>& arguments = name.empty() ? node.inputs : node.named[name];
        for_arguments(value, [&](const auto& found) {
          if constexpr (std::is_same_v<std::decay_t<decltype(found)>, Reference>)
            arguments.push_back(argument(found));
          else
            arguments.push_back({.number = found});
        });
      }
    });
    if (node.inputs.empty() && node.named.empty())
      fail<ValueError>("inbound_nodes", "inputs of " + layer.name, "none");
    return node;
  }

  const KerasLayer<T>& model_;
  bool is_keras_2_;
  std::map<std::string, std::size_t> positions_ = {};
  std::vector<json> calls_ = {};
  std::map<std::size_t, std::size_t> inputs_ = {};  // input layers and their positions
  std::map<Key, std::size_t> nodes_ = {};
  std::set<Key> started_ = {};
};

// Connects the layers of a Sequential in a row.
template <class T>
Network chain(const KerasLayer<T>& model) {
  Network network{.nodes = {}, .inputs = {0}};
  network.nodes.push_back({.layer = 0, .model_input = 0});
  for (std::size_t i = 0; i < model.children.size(); ++i)
    if (model.children[i].class_name != "InputLayer")
      network.nodes.push_back({.layer = i, .inputs = {{.node = network.nodes.size() - 1}}});
  network.outputs = {{.node = network.nodes.size() - 1}};
  return network;
}

template <class T>
std::vector<KerasValue<T>> run_network(const Network& network, const KerasLayer<T>& model,
                                       KerasCall<T>& call) {
  if (call.inputs.size() != network.inputs.size())
    fail<ShapeError>("inputs", str_cat(network.inputs.size(), " tensors"), call.inputs.size());
  std::vector<std::vector<KerasValue<T>>> values;
  const auto value_of = [&](const Argument& argument) -> KerasValue<T> {
    if (argument.number)
      return {call.tape.constant(Tensor<T>::full({}, static_cast<T>(*argument.number)))};
    const auto& outputs = values[argument.node];
    if (argument.output >= outputs.size())
      fail<ValueError>("output",
                       str_cat("one of ", outputs.size(), " outputs of ",
                               model.children[network.nodes[argument.node].layer].name),
                       argument.output);
    return outputs[argument.output];
  };
  const auto values_of = [&](const std::vector<Argument>& arguments) {
    std::vector<KerasValue<T>> list;
    for (const Argument& argument : arguments) list.push_back(value_of(argument));
    return list;
  };
  for (const Node& node : network.nodes) {
    if (node.model_input) {
      values.push_back({call.inputs[*node.model_input]});
      continue;
    }
    KerasCall<T> own{.tape = call.tape,
                     .inputs = values_of(node.inputs),
                     .flags = node.flags,
                     .penalty = call.penalty};
    for (const auto& [name, arguments] : node.named) own.named[name] = values_of(arguments);
    // Keras 3 passes the mask that it computes for its own layers by name.
    if (const auto mask = own.named.find("mask");
        mask != own.named.end() && mask->second.size() == 1 && !own.inputs.empty()) {
      own.inputs.front().mask = mask->second.front().tensor.value() != 0;
    }
    values.push_back(model.children[node.layer](own));
  }
  return values_of(network.outputs);
}

template <class T>
void read_model(KerasLayer<T>& model, KerasConfig& config) {
  const json layers = config.at("layers");
  if (!layers.is_array() || layers.empty())
    fail<ValueError>("layers", "a list of at least one layer", shown(layers));
  std::string refused;
  for (const json& description : layers) {
    try {
      model.children.push_back(make_keras_layer<T>(description, config.version()));
    } catch (const ValueError& error) {
      refused += (refused.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  if (!refused.empty())
    throw ValueError(str_cat(refused, " (", model.children.size(), " of ", layers.size(),
                             " layers can be read)"));
  // Also in a functional model's layer: the names of its inputs.
  config.ignore({"build_input_shape", "dtype"});
  const Network network = model.class_name == "Sequential"
                              ? chain(model)
                              : NetworkReader<T>(model, layers, config.version())
                                    .read(config.at("input_layers"), config.at("output_layers"));
  model.input_layers = network.inputs;
  model.compute = [network](const KerasLayer<T>& self, KerasCall<T>& call) {
    return run_network(network, self, call);
  };
}

// Returns the values of an operation as numbers, 1 for true and 0 for false.
template <class T>
std::vector<KerasValue<T>> as_numbers(const KerasCall<T>& call, const Tensor<bool>& values) {
  return without_mask(call.tape.constant(numbers_of<T>(values, 0)));
}

}  // namespace

template <class T>
KerasReaders<T> keras_models() {
  return {{"Sequential", &read_model<T>},
          {"Functional", &read_model<T>},
          {"Model", &read_model<T>},
          {"InputLayer", [](KerasLayer<T>& layer, KerasConfig& config) {
             config.ignore({"batch_size", "shape", "input_tensor", "optional"});
             config.require("sparse", false);
             config.require("ragged", false);
             layer.compute = [](const KerasLayer<T>&, KerasCall<T>& call) { return call.inputs; };
           }}};
}

template <class T>
KerasReaders<T> keras_operations() {
  using Layer = KerasLayer<T>;
  const auto like = [](Layer& layer, KerasConfig& config) {
    const T value = layer.class_name == "OnesLike" ? T{1} : T{0};
    config.ignore({"dtype", "sparse"});
    layer.compute = dropping_mask<T>(
        [=](const Var<T>& x) { return x.tape().constant(Tensor<T>::full(x.shape(), value)); });
  };
  return {
      {"NotEqual",
       [](Layer& layer, KerasConfig&) {
         layer.compute = [](const Layer&, KerasCall<T>& call) {
           return as_numbers(call, call.x().value() != call.inputs.at(1).tensor.value());
         };
       }},
      {"LogicalOr",
       [](Layer& layer, KerasConfig&) {
         layer.compute = [](const Layer&, KerasCall<T>& call) {
           return as_numbers(call, (call.x() + call.inputs.at(1).tensor).value() != 0);
         };
       }},
      {"Any",
       [](Layer& layer, KerasConfig& config) {
         const Index axis = config.single("axis", -1, lowest_axis);
         const bool keepdims = config.flag("keepdims", false);
         layer.compute =
             dropping_mask<T>([=](const Var<T>& x) { return max(x, {axis}, keepdims); });
       }},
      {"ExpandDims",
       [](Layer& layer, KerasConfig& config) {
         const Index axis = config.single("axis", -1, lowest_axis);
         layer.compute = dropping_mask<T>([=](const Var<T>& x) { return unsqueeze(x, axis); });
       }},
      {"ZerosLike", like},
      {"OnesLike", like},
      {"Concatenate",
       [](Layer& layer, KerasConfig& config) {
         const Index axis = config.single("axis", 0, lowest_axis);
         layer.compute = [=](const Layer&, KerasCall<T>& call) {
           std::vector<Var<T>> inputs;
           for (const KerasValue<T>& input : call.inputs) inputs.push_back(input.tensor);
           return without_mask(concatenate(inputs, axis));
         };
       }},
      {"ConvertToTensor",
       [](Layer& layer, KerasConfig& config) {
         config.ignore({"dtype", "sparse", "ragged"});
         layer.compute = dropping_mask<T>([](const Var<T>& x) { return x; });
       }},
  };
}

template KerasReaders<float> keras_models();
template KerasReaders<double> keras_models();
template KerasReaders<float> keras_operations();
template KerasReaders<double> keras_operations();

}  // namespace weft
