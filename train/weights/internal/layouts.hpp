// The layouts of weight files: for each program, a function from the names in its files to weft's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/autograd/shape.hpp"

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

struct WeightLayout {
  std::string name;  // in reports
  // Ends of names, one of which is in every file of the layout; when there are none, any file may
  // have it.
  std::vector<std::string_view> marks = {};
  // Whether the dataset with a mark may have a shape; any when null.
  bool (*may_have)(const Shape& shape) = nullptr;
  // The weights in a dataset of a name.
  std::vector<WeightPart> (*weights_in)(std::string dataset);
  // The reverse: the dataset of a weight, with an empty name where the layout has none. Null for
  // layouts of any model.
  WeightPart (*dataset_of)(const std::string& weight) = nullptr;
  // A weight that is in every model of the layout: where a file has only one, the names have the
  // prefix of its name, and what has another is no part of the model.
  std::string anchor = "";
  // Whether `weights_in` applies to the names in the model, too, so that both sides have a common
  // form.
  bool rewrites_model = false;
  // Whether the axes of a dataset may be several for one of the parameter: [heads, head size].
  bool splits_axes = false;
  // Whether all linear layers and norms of a Gpt's blocks have biases, zeros where the Gpt has
  // none.
  bool has_all_biases = false;
  // Whether a GRU has its gates in the order of Keras, and an LSTM and an RNN have no bias of the
  // states, which then is 0.
  bool has_keras_cells = false;
};

// The token embedding of a Gpt or a Bert.
inline const std::string token_embedding = "tokens.weight";

// All layouts, in the order in which they are tried.
const std::vector<WeightLayout>& weight_layouts();
// The layout of that name.
const WeightLayout& weight_layout(std::string_view name);

}  // namespace weft
