#include "train/weights/internal/torch_names.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "weft/layers/transformer_decoder.hpp"
#include "weft/layers/transformer_encoder.hpp"

namespace weft {
namespace {

const std::string weight_end = "weight", bias_end = "bias";

std::string without_end(const std::string& name, const std::string& end) {
  return name.substr(0, name.size() - end.size());
}

// Returns whether a module has no parameters other than the weights and biases of these layers.
// Other parameters, such as those of an adapter, have no name in PyTorch.
template <class T>
bool has_only(const Module<T>& module, const std::vector<std::string>& layers) {
  std::set<std::string> known;
  for (const std::string& layer : layers)
    for (const std::string& end : {weight_end, bias_end}) known.insert(layer + '.' + end);
  return std::ranges::all_of(named_parameters(module),
                             [&](const auto& parameter) { return known.contains(parameter.name); });
}

// Returns whether the projections of queries, keys and values have equal shapes, so that
// torch.nn.MultiheadAttention stores them together in in_proj_weight.
template <class T>
bool is_packed(const MultiHeadAttention<T>& attention) {
  return attention.W_k.weight.shape() == attention.W_q.weight.shape() &&
         attention.W_v.weight.shape() == attention.W_q.weight.shape();
}

// Returns whether torch.nn.MultiheadAttention computes the same.
template <class T>
bool is_in_torch(const MultiHeadAttention<T>& attention) {
  const Index size = attention.W_o.weight.shape()[0];
  const auto has_rows = [size](const Linear<T>& linear) {
    return linear.weight.shape()[0] == size;
  };
  return attention.attention.scoring() == Scoring::scaled_dot_product && !attention.rotary &&
         attention.W_q.weight.shape() == Shape{size, size} && has_rows(attention.W_k) &&
         has_rows(attention.W_v) && attention.W_o.weight.shape()[1] == size &&
         has_only(attention, {"W_q", "W_k", "W_v", "W_o"});
}

// Returns whether PyTorch's transformer layers have a feed-forward network and norms of these
// types, and no parameters besides them and `attentions`.
template <class T, class... Norms>
bool is_in_torch(const Module<T>& block, const BlockFeedForward<T>& ffn,
                 const std::vector<std::string>& attentions, const Norms&... norms) {
  std::vector<std::string> layers{"ffn.dense1", "ffn.dense2", "norm1", "norm2", "norm3"};
  for (const std::string& attention : attentions)
    for (const char* projection : {".W_q", ".W_k", ".W_v", ".W_o"})
      layers.push_back(attention + projection);
  return ffn.template get_if<PositionWiseFeedForward>() &&
         (norms.template get_if<LayerNorm>() && ...) && has_only(block, layers);
}
template <class T>
bool is_in_torch(const TransformerEncoderBlock<T>& block) {
  return is_in_torch(block.attention) && !block.parallel_residual &&
         is_in_torch<T>(block, block.ffn, {"attention"}, block.norm1, block.norm2);
}
template <class T>
bool is_in_torch(const TransformerDecoderBlock<T>& block) {
  return is_in_torch(block.self_attention) && is_in_torch(block.cross_attention) &&
         is_in_torch<T>(block, block.ffn, {"self_attention", "cross_attention"}, block.norm1,
                        block.norm2, block.norm3);
}

template <class T, class Block>
bool is_in_torch(const BlockStack<T, Block>& stack) {
  return !stack.position_bias &&
         std::ranges::all_of(stack.blocks, [](const Block& block) { return is_in_torch(block); });
}

// Returns whether `module` is a `Layer` for which torch.nn has an equivalent.
template <class Layer, class T>
bool is_torch(const Module<T>& module) {
  const auto* layer = dynamic_cast<const Layer*>(&module);
  return layer && is_in_torch(*layer);
}

// Returns the dataset of a parameter, given its name in a layer that PyTorch provides.
WeightPart in_layer(std::string name, bool is_packed) {
  for (const auto& [ours, theirs] :
       {std::pair<std::string_view, std::string_view>{"attention.", "self_attn."},
        {"self_attention.", "self_attn."},
        {"cross_attention.", "multihead_attn."},
        {"ffn.dense1.", "linear1."},
        {"ffn.dense2.", "linear2."}})
    if (name.starts_with(ours)) {
      name.replace(0, ours.size(), theirs);
      break;
    }
  const std::size_t projection = name.rfind("W_");
  if (projection == name.npos) return {name};
  const std::string attention = name.substr(0, projection), variable = name.substr(projection + 4);
  const char letter = name[projection + 2];
  if (letter == 'o') return {attention + "out_proj." + variable};
  if (!is_packed && variable == weight_end) return {attention + letter + "_proj_weight"};
  return {attention + "in_proj_" + variable,
          static_cast<Index>(std::string_view("qkv").find(letter)), 3};
}

// Assigns a PyTorch name to each parameter and buffer of a model.
template <class T>
class TorchNamer final : public Members<T> {
 public:
  explicit TorchNamer(const Module<T>& model) { enter(model); }

  TorchNames result() && {
    std::erase_if(names_.zero_biases,
                  [&](const ZeroBias& bias) { return bias_names_.contains(bias.name); });
    return std::move(names_);
  }

  void type(const std::string&, const std::string&) override {}
  void parameter(const std::string& name, const Parameter<T>& parameter) override {
    add(name);
    const std::string ours = place_.ours + name;
    if (name.ends_with(bias_end)) bias_names_.insert(ours);
    if (!place_.has_biases || !name.ends_with(weight_end)) return;
    const std::string bias = without_end(ours, weight_end) + bias_end;
    names_.zero_biases.push_back({bias, ours, {parameter.shape()[0]}, dataset_of(bias)});
  }
  void buffer(const std::string& name, const Tensor<T>&) override { add(name); }
  void child(const std::string& name, const Module<T>& child) override {
    const Place outer = place_;
    place_.ours += name + '.';
    if (!place_.layer) {
      const bool is_numbered =
          place_.is_stack && name != "norm" && !('.' + place_.theirs).ends_with(".layers.");
      place_.theirs += (is_numbered ? "layers." : "") + name + '.';
    }
    enter(child);
    place_ = outer;
  }

 private:
  // The module being visited, and the prefixes of its members' names in the model and in PyTorch.
  struct Place {
    std::string ours, theirs;
    bool is_stack = false;  // whether it is a stack of blocks that PyTorch provides
    // The size of `ours` for the enclosing layer that PyTorch provides, if any. `theirs` is then
    // the prefix of this layer.
    std::optional<std::size_t> layer = {};
    bool is_packed = true;    // see weft::is_packed
    bool has_biases = false;  // whether the enclosing PyTorch layer has biases
  };

  void enter(const Module<T>& module) {
    place_.is_stack =
        is_torch<TransformerEncoder<T>>(module) || is_torch<TransformerDecoder<T>>(module);
    const bool is_attention = is_torch<MultiHeadAttention<T>>(module);
    if (!place_.layer && (is_attention || is_torch<TransformerEncoderBlock<T>>(module) ||
                          is_torch<TransformerDecoderBlock<T>>(module))) {
      place_.layer = place_.ours.size();
      place_.has_biases = std::ranges::any_of(
          named_parameters(module), [](const auto& own) { return own.name.ends_with(bias_end); });
    }
    if (is_attention)
      place_.is_packed = is_packed(dynamic_cast<const MultiHeadAttention<T>&>(module));
    module.members(*this);
  }

  void add(const std::string& name) {
    const std::string ours = place_.ours + name;
    names_.datasets.emplace(ours, dataset_of(ours));
  }
  WeightPart dataset_of(const std::string& ours) const {
    if (!place_.layer) return {place_.theirs + ours.substr(place_.ours.size())};
    WeightPart dataset = in_layer(ours.substr(*place_.layer), place_.is_packed);
    dataset.name.insert(0, place_.theirs);
    return dataset;
  }

  Place place_;
  TorchNames names_;
  std::set<std::string> bias_names_;  // the biases that the model has
};

}  // namespace

template <class T>
TorchNames torch_names(const Module<T>& model) {
  return TorchNamer<T>(model).result();
}

template TorchNames torch_names(const Module<float>&);
template TorchNames torch_names(const Module<double>&);

}  // namespace weft
