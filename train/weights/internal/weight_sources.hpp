// Finds the datasets that contain a model's parameters, in any of the known layouts.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "weft/layers/module.hpp"
#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/keras_names.hpp"
#include "train/weights/internal/layouts.hpp"
#include "train/weights/internal/stored_form.hpp"

namespace weft {

// A parameter or buffer of a model.
struct ModelWeight {
  std::string name;  // the full name
  Shape shape;
  // Whether this is the weight of a linear or recurrent layer, which some layouts transpose.
  bool is_linear = false;
  // The type of the layer that contains the parameter, if it has one.
  std::string layer = "";
  // The number of heads of the attention that contains the parameter; 0 outside of attention.
  Index heads = 0;

  // Returns whether this is the kernel of a convolution.
  bool is_kernel() const { return layer == "Conv1d" && shape.rank() == 3; }
  // Returns a description such as "weights of a GRU" if the layout stores this weight in an unknown
  // way, for example with gates in an unknown order; otherwise "". `dataset` is its shape, if
  // known.
  std::string unknown_in(const WeightLayout& layout, const WeightPart& part,
                         const Shape& dataset = {}) const;
  // Returns how a dataset of this layout stores the weight. Requires `unknown_in` to return "".
  StoredForm form(const WeightLayout& layout, const WeightPart& part) const;
};

// All parameters and buffers of a model.
struct ModelWeights {
  template <class T>
  explicit ModelWeights(const Module<T>& model);

  std::vector<ModelWeight> all;  // parameters, then buffers
  // The additional names of tied parameters, with the parameters' indices in `all`.
  std::map<std::string, std::size_t> tied;
  // Whether an attention uses RotaryPairs::interleaved.
  bool has_interleaved_pairs = false;
};

// Throws ValueError, starting with `what`, if the model uses different rotary pairs than the
// layout.
void check_rotary_pairs(const std::string& what, const ModelWeights& model,
                        const WeightLayout& layout);

// A dataset, or one of its equal parts, that contains a weight.
struct WeightSource {
  WeightPart weight;    // its name is translated by the layout and the renames
  std::string dataset;  // the name of the dataset in the file
  std::string path;     // the path of the dataset
};

// Writes "self_attn.in_proj_weight, part 2 of 3".
std::ostream& operator<<(std::ostream& out, const WeightSource& source);

// A parameter, given by its index, and its dataset in the file.
struct FoundWeight {
  std::size_t index;
  WeightSource source;
};

// The datasets found for a model's parameters.
struct WeightSources {
  const WeightLayout* layout;
  // The common prefix of the parameters' names, and the number of parameters found with it under
  // their first names.
  std::string prefix = "";
  std::size_t parameters = 0;
  // The names of all parameters and buffers of the model, in the form that the layout uses.
  std::vector<std::string> names = {};
  // The found weights, sorted by index. A tied parameter has an entry for each of its names in the
  // file, starting with its first name if the file contains it.
  std::vector<FoundWeight> found = {};
  // The datasets with the prefix that belong to no parameter.
  std::vector<WeightSource> unexpected = {};
  // The names of all other datasets.
  std::vector<std::string> unused = {};
  // Names with several datasets: "tokens.weight: wte.weight and transformer.wte.weight".
  std::vector<std::string> ambiguous = {};
};

// Returns the first layout with a mark that the file contains, or nullptr.
const WeightLayout* marked_layout(const TensorFile& file, const PathsByName& paths);

// Finds the parameters of a model in a file by name. Uses the layout that finds the most of them.
// `rename` is applied to the names that the layout assigns to the datasets. If `anywhere` is true,
// names may have a prefix. `order` lists the datasets of a Keras file, by layer, if its layers are
// assigned to the model's layers by order instead of name. Throws FileError if their numbers
// differ.
WeightSources find_weight_sources(const ModelWeights& model, const TensorFile& file,
                                  const PathsByName& paths,
                                  const std::function<std::string(std::string name)>& rename,
                                  bool anywhere, const KerasLayerNames& order);

}  // namespace weft
