// Finds the datasets of the parameters of a model, under any of their known names.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "weft/layers/module.hpp"
#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/layouts.hpp"
#include "train/weights/internal/stored_form.hpp"

namespace weft {

// A parameter or a buffer of a model under its full name, as weight files see it.
struct ModelWeight {
  std::string name;
  Shape shape;
  // Whether it is the weight of a linear or recurrent layer, which some layouts transpose.
  bool is_linear = false;
  // The type of its layer, where a parameter has one.
  std::string layer = "";
  // The number of heads of the attention that it belongs to; 0 if there is none.
  Index heads = 0;

  // "weights of a GRU" if its form as a part of a dataset is not known, for example the order of
  // gates; empty if it is.
  std::string unknown_in(const WeightLayout& layout, const WeightPart& part) const;
  // Its form as a part of a dataset, which must be known.
  StoredForm form(const WeightLayout& layout, const WeightPart& part) const;
};

struct ModelWeights {
  template <class T>
  explicit ModelWeights(const Module<T>& model);

  std::vector<ModelWeight> all;  // parameters, then buffers
  // The indices of parameters by their other names (tied weights).
  std::map<std::string, std::size_t> tied;
  // Whether an attention has RotaryPairs::interleaved.
  bool has_interleaved_pairs = false;
};

// Throws ValueError, starting with `what`, for a model with other rotary pairs than the layout.
void check_rotary_pairs(const std::string& what, const ModelWeights& model,
                        const WeightLayout& layout);

// A dataset, or one of its equal parts.
struct WeightSource {
  WeightPart weight;    // by its name, as the layout and the renames have it
  std::string dataset;  // the dataset's own name
  std::string path;
};

// "self_attn.in_proj_weight, part 2 of 3"
std::ostream& operator<<(std::ostream& out, const WeightSource& source);

// A parameter, by its index, that a file contains.
struct FoundWeight {
  std::size_t index;
  WeightSource source;
};

struct WeightSources {
  const WeightLayout* layout;
  // The common prefix of the names, and the number of parameters whose first names it has.
  std::string prefix = "";
  std::size_t parameters = 0;
  // The names of all parameters and buffers of the model as the layout has them.
  std::vector<std::string> names = {};
  // By increasing index; where a parameter has several names (tied weights), all that are there,
  // the first being its own if that is.
  std::vector<FoundWeight> found = {};
  // The other datasets below the prefix.
  std::vector<WeightSource> unexpected = {};
  // The names of the other datasets.
  std::vector<std::string> unused = {};
  // "tokens.weight: wte.weight, transformer.wte.weight": datasets of which only one can be meant.
  std::vector<std::string> ambiguous = {};
};

// The layout whose marks are in a file; nullptr when it has those of none.
const WeightLayout* marked_layout(const TensorFile& file, const PathsByName& paths);

// Finds the parameters in a file by name, in the layout in which most of them are found. What
// `rename` makes of the names that the layout gives to the weights are those in the model; they may
// have a prefix if `anywhere` is true.
WeightSources find_weight_sources(const ModelWeights& model, const TensorFile& file,
                                  const PathsByName& paths,
                                  const std::function<std::string(std::string name)>& rename,
                                  bool anywhere);

}  // namespace weft
