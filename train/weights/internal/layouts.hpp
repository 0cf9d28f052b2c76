// The layouts of weight files: a table for each.
#pragma once

#include <string>
#include <vector>

#include "train/weights/internal/name_rules.hpp"

namespace weft {

// A dataset that shows that a file has a layout.
struct LayoutMark {
  std::string pattern;  // of its name
  enum class Shape { any, tall, wide } shape = Shape::any;
};

// A text in names, and what it becomes before they are read.
struct TextRule {
  std::string text, replacement;
};

// Where the gates of a recurrent layer, in weft's order, are in the rows of its weights.
struct GateOrder {
  std::string layer;
  std::vector<Index> gates;
};

struct WeightLayout {
  std::string name;  // in reports
  // One of them is in every file of the layout; when there are none, any file may have it.
  std::vector<LayoutMark> marks = {};
  std::vector<TextRule> texts = {};
  // Whether the first group, and /model_weights above it, are left out of the names.
  bool drops_first_group = false;
  NameRules rules = {};
  // A weight that is in every model of the layout: where a file has only one, the names have the
  // prefix of its name, and what has another is no part of the model.
  std::string anchor = "";
  // Datasets without a parameter that may be there: buffers, optimizers' states, optional layers.
  std::vector<std::string> extras = {};
  // Whether the names in the model are rewritten, too, so that both sides have a common form.
  bool rewrites_model = false;
  // Whether the weights of linear and recurrent layers are [in_features, out_features], but for
  // some.
  bool transposes_linear = false;
  std::vector<std::string> not_transposed = {};
  // Whether the axes of a dataset may be several for one of the parameter: [heads, head size].
  bool splits_axes = false;
  // Whether all linear layers and norms of a Gpt's blocks have biases, zeros where the Gpt has
  // none.
  bool has_all_biases = false;
  // For layers with gates in another order than weft's.
  std::vector<GateOrder> gate_orders = {};
  // Layers with one bias, of the inputs, where weft has another, of the states, which is then 0.
  std::vector<std::string> layers_with_one_bias = {};
};

// All layouts, in the order in which they are tried.
const std::vector<WeightLayout>& weight_layouts();
// The layout of that name.
const WeightLayout& weight_layout(const std::string& name);

// The weights in a dataset of that name.
std::vector<WeightPart> weights_in(const WeightLayout& layout, std::string name);

// Returns whether a dataset without a parameter may be in files of the layout.
bool is_extra(const WeightLayout& layout, const std::string& name);

}  // namespace weft
