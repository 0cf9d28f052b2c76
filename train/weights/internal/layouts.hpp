// The layouts of weight files. A layout is a table that maps the names in a program's files to
// weft's names.
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

// Describes how a weight is stored in a dataset. `name` is the dotted name of the weight or of the
// dataset, depending on the direction of the lookup.
struct WeightPart {
  std::string name;
  // The weight is part number `part` of `parts` equal parts of the dataset.
  Index part = 0, parts = 1;
  // Whether the dataset contains the transposed matrix.
  bool is_transposed = false;
  // Whether a file may contain the dataset although the model does not have the weight, for example
  // for a buffer or an optional layer.
  bool is_optional = false;

  friend bool operator==(const WeightPart&, const WeightPart&) = default;
};

// Translates consecutive parts of a dotted name between another program (`theirs`) and weft
// (`ours`). '#' stands for a number, which is the same in both. A dataset that packs several
// weights has consecutive rows, one for each weight.
struct NameRow {
  std::string_view theirs, ours;
  Index part = 0, parts = 1;
};

// The layout of the weight files of a program.
struct WEFT_API WeightLayout {
  std::string name;  // the name in reports
  // The corresponding option of `save_weights`, if it can write this layout.
  std::optional<Layout> written_as = {};
  // Suffixes of dataset names that identify the layout: each file contains a dataset with one of
  // them. If empty, any file may have this layout.
  std::vector<std::string_view> marks = {};
  // A suffix that no dataset of this layout has. If empty, no name is excluded.
  std::string_view foreign = "";
  // Returns whether a dataset with a mark can have this shape in this layout. If null, any shape is
  // possible.
  bool (*may_have)(const Shape& shape) = nullptr;
  // The translation of names.
  std::span<const NameRow> rows = {};
  // Whether `rows` covers all weights, as in layouts of one architecture such as Gpt. Layouts of
  // arbitrary models can contain further names.
  bool has_all_names = false;
  // The prefix of all dataset names in a written file, except for the output layer.
  std::string_view group = "";
  // Datasets that a state_dict contains twice, with equal values: the name, and the name of the
  // copy.
  std::vector<std::pair<std::string, std::string>> copies = {};
  // Normalizes the name of a dataset to the spelling used in `rows`. If null, names are used as
  // they are.
  std::string (*spelling)(std::string dataset) = nullptr;
  // Substrings of dataset names that mark optional datasets, and datasets that are transposed if
  // they are weights of a linear layer (in Keras, only the model determines this). '/' matches the
  // start or the end of a name.
  std::vector<std::string_view> optional = {}, transposed = {};
  // A weight that every model of the layout contains. If exactly one translated name in a file ends
  // with it, the text before it may be the prefix of the model's names.
  std::string anchor = "";
  // Whether `weights_in` is also applied to the names in the model, so that the names of file and
  // model are compared in a common form.
  bool rewrites_model = false;
  // Whether queries and keys are stored for RotaryPairs::halves.
  bool has_rotary_halves = false;
  // Whether packed datasets interleave heads: first the rows of the first head of each packed
  // weight, then the rows of the second head of each, and so on.
  bool packs_by_head = false;
  // Whether a dataset may store one axis of the parameter as several axes, such as [heads, head
  // size].
  bool splits_axes = false;
  // Whether linear layers and norms always have biases, which are zeros if the model has none.
  bool has_all_biases = false;
  // Whether recurrent layers are stored as in Keras: a GRU has its gates in Keras's order, and an
  // LSTM or RNN has only one bias. The model's second bias is then 0.
  bool has_keras_cells = false;

  // Returns whether the weights of a file can be interpreted without the model.
  bool is_convertible() const { return !packs_by_head && !has_keras_cells; }
  // Returns the weights that a dataset contains.
  std::vector<WeightPart> weights_in(const std::string& dataset) const;
  // Returns the dataset that contains a weight. Its name is empty if the layout has no name for the
  // weight.
  WeightPart dataset_of(const std::string& weight) const;
};

// The name of the token embedding of a Gpt or a Bert.
inline const std::string token_embedding = "tokens.weight";

// Returns all layouts, in the order in which loading tries them.
WEFT_API const std::vector<WeightLayout>& weight_layouts();
// Returns the layout called `name`; if there are several, the last one. Throws ValueError if there
// is none.
WEFT_API const WeightLayout& weight_layout(std::string_view name);
// Returns the layout that `save_weights` writes for an option. For weft's and PyTorch's layouts,
// this is "state_dict".
WEFT_API const WeightLayout& weight_layout(Layout written);

}  // namespace weft
