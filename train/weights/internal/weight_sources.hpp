// Finds the datasets of the parameters of a model, under any of their known names.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

// A dataset, or one of the equal parts of its rows.
struct WeightSource {
  std::string dataset;  // its name, with '.' for '/'
  std::string path;
  Index part = 0, parts = 1;

  // The dataset's shape for a parameter of this shape.
  Shape dataset_shape(const Shape& parameter) const;
};

// "self_attn.in_proj_weight, part 2 of 3"
std::ostream& operator<<(std::ostream& out, const WeightSource& source);

// A dataset under another name of a parameter, whose own dataset is in the file too.
struct TiedSource {
  std::size_t parameter;  // its index
  WeightSource source;
};

struct WeightSources {
  // The common prefix of their names.
  std::string prefix;
  // One per parameter; none if the file does not contain it.
  std::vector<std::optional<WeightSource>> sources;
  std::vector<TiedSource> tied;
  // The names of the other datasets below the prefix.
  std::vector<std::string> unexpected;
};

// Finds parameters in a file with datasets at these `paths`, by name (see datasets_by_name): under
// their own names, or, if that finds more of them, under those of PyTorch's modules and the d2l.ai
// book (see weight_names.hpp). A parameter that is not there may be there under one of its other
// names, which `tied` maps to its index. With `anywhere`, the names may have a prefix.
WeightSources find_weight_sources(const std::vector<std::string>& parameters,
                                  const std::map<std::string, std::size_t>& tied,
                                  const std::map<std::string, std::string>& paths, bool anywhere);

}  // namespace weft
