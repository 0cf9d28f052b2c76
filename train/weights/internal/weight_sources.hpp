// Finds the datasets of the parameters of a model, under any of their known names.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/layouts.hpp"

namespace weft {

// A dataset, or one of its equal parts.
struct WeightSource {
  WeightPart weight;    // by its name, as the layout and the renames have it
  std::string dataset;  // the dataset's own name
  std::string path;
};

// "self_attn.in_proj_weight, part 2 of 3"
std::ostream& operator<<(std::ostream& out, const WeightSource& source);

// A dataset under another name of a parameter, whose own dataset is in the file too.
struct TiedSource {
  std::size_t parameter;  // its index
  WeightSource source;
};

struct WeightSources {
  const WeightLayout* layout;
  // The common prefix of the names.
  std::string prefix;
  // One per parameter; none if the file does not contain it.
  std::vector<std::optional<WeightSource>> sources = {};
  std::vector<TiedSource> tied = {};
  // The other datasets below the prefix.
  std::vector<WeightSource> unexpected = {};
  // The names of the other datasets.
  std::vector<std::string> left = {};
  // "tokens.weight: wte.weight, transformer.wte.weight": datasets of which only one can be meant.
  std::vector<std::string> ambiguous = {};
};

// The layout whose marks are in a file; nullptr when it has those of none.
const WeightLayout* marked_layout(const Hdf5File& file, const PathsByName& paths);

struct WeightSearch {
  std::vector<std::string> parameters;
  // The indices of parameters by other names (tied weights).
  std::map<std::string, std::size_t> tied;
  // What becomes of a name that the layout gives to a weight.
  std::function<std::string(const std::string& name)> rename;
  // Whether the names may have a prefix.
  bool anywhere = true;
};

// Finds the parameters in a file by name, in the layout in which most of them are found; a
// parameter that is not there may be there under one of its other names.
WeightSources find_weight_sources(const WeightSearch& search, const Hdf5File& file,
                                  const PathsByName& paths);

}  // namespace weft
