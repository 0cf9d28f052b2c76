// The layouts of weight files: for each program, a table of the names in its files and weft's.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/shape.hpp"
#include "weft/train/weights/save_weights.hpp"

namespace weft {

// A weight, or a dataset of weights, by its dotted name, and how the one is in the other.
struct WeightPart {
  std::string name;
  // Which of how many equal parts of the dataset the weight is.
  Index part = 0, parts = 1;
  // Whether the dataset has the columns of a matrix as rows.
  bool is_transposed = false;
  // Whether files may have the dataset for a model without the weight: a buffer, an optional layer.
  bool is_optional = false;

  friend bool operator==(const WeightPart&, const WeightPart&) = default;
};

// Some parts of a dotted name in another program and in weft, where # is the same number in both.
// One dataset with several equal parts has a row for each, one after the other.
struct NameRow {
  std::string_view theirs, ours;
  Index part = 0, parts = 1;
};

struct WEFT_API WeightLayout {
  std::string name;  // in reports
  // How `save_weights` calls it, if it writes it.
  std::optional<Layout> written_as = {};
  // Ends of names, one of which is in every file of the layout; when there are none, any file may
  // have it.
  std::vector<std::string_view> marks = {};
  // The end of names that no file of the layout has; none when empty.
  std::string_view foreign = "";
  // Whether the dataset with a mark may have a shape; any when null.
  bool (*may_have)(const Shape& shape) = nullptr;
  // What is replaced in names.
  std::span<const NameRow> rows = {};
  // Whether the rows are all weights of a model, as of a Gpt; layouts of any model have others,
  // too.
  bool has_all_names = false;
  // What the names of datasets begin with when they are written, but that of the head.
  std::string_view group = "";
  // Datasets that a state_dict has again, with equal values, and the names of these copies.
  std::vector<std::pair<std::string, std::string>> copies = {};
  // The name of a dataset as the rows have it; the same when null.
  std::string (*spelling)(std::string dataset) = nullptr;
  // Parts of the names of datasets that are optional, and of those that are transposed if they are
  // weights of a linear layer, which in Keras only the model says; '/' is the start or the end.
  std::vector<std::string_view> optional = {}, transposed = {};
  // A weight that is in every model of the layout: where a file has only one, the names have the
  // prefix of its name, and what has another is no part of the model.
  std::string anchor = "";
  // Whether `weights_in` applies to the names in the model, too, so that both sides have a common
  // form.
  bool rewrites_model = false;
  // Whether the queries and keys are those of RotaryPairs::halves.
  bool has_rotary_halves = false;
  // Whether the rows of a packed dataset are those of the first head of each of its weights, then
  // those of the second one, and so on.
  bool packs_by_head = false;
  // Whether the axes of a dataset may be several for one of the parameter: [heads, head size].
  bool splits_axes = false;
  // Whether linear layers and norms have biases, zeros where the model has none.
  bool has_all_biases = false;
  // Whether a GRU has its gates in the order of Keras, and an LSTM and an RNN have no bias of the
  // states, which then is 0.
  bool has_keras_cells = false;

  // Whether the weights of a file can be told without a model.
  bool is_convertible() const { return !packs_by_head && !has_keras_cells && foreign.empty(); }
  // The weights in a dataset of a name.
  std::vector<WeightPart> weights_in(const std::string& dataset) const;
  // The reverse: the dataset of a weight, with an empty name where the layout has none.
  WeightPart dataset_of(const std::string& weight) const;
};

// The token embedding of a Gpt or a Bert.
inline const std::string token_embedding = "tokens.weight";

// All layouts, in the order in which they are tried.
WEFT_API const std::vector<WeightLayout>& weight_layouts();
// The layout of that name; the last of several.
WEFT_API const WeightLayout& weight_layout(std::string_view name);
// The layout that is written for that choice; weft's and PyTorch's are that of a state_dict.
WEFT_API const WeightLayout& weight_layout(Layout written);

}  // namespace weft
