// Finds the datasets of the parameters of a model, under any of their known names.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/model_weights.hpp"

namespace weft {

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
  // By increasing index; where a parameter has several names (tied weights), all that are there,
  // the first being its own if that is.
  std::vector<FoundWeight> found = {};
  // The other datasets below the prefix.
  std::vector<WeightSource> unexpected = {};
  // The names of the other datasets.
  std::vector<std::string> left = {};
  // "tokens.weight: wte.weight, transformer.wte.weight": datasets of which only one can be meant.
  std::vector<std::string> ambiguous = {};
};

// The layout whose marks are in a file; nullptr when it has those of none.
const WeightLayout* marked_layout(const Hdf5File& file, const PathsByName& paths);

// Finds the parameters in a file by name, in the layout in which most of them are found. What
// `rename` makes of the names that the layout gives to the weights are those in the model; they may
// have a prefix if `anywhere` is true.
WeightSources find_weight_sources(const ModelWeights& model, const Hdf5File& file,
                                  const PathsByName& paths,
                                  const std::function<std::string(std::string name)>& rename,
                                  bool anywhere);

}  // namespace weft
