// Where a file has the parameters of a model, whichever names it has for them.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

// A dataset, or one of the equal parts of its rows.
struct WeightPlace {
  std::string dataset;  // its name, with '.' for '/'
  std::string path;
  Index part = 0, parts = 1;

  // The dataset's shape for a parameter of this shape.
  Shape dataset_shape(const Shape& parameter) const;
};

// "self_attn.in_proj_weight, part 2 of 3"
std::ostream& operator<<(std::ostream& out, const WeightPlace& place);

struct WeightPlaces {
  // What all of them have in front of their names.
  std::string prefix;
  // For each parameter; none where the file does not have it.
  std::vector<std::optional<WeightPlace>> places;
  // The names of the datasets that hold something else.
  std::vector<std::string> unexpected;
};

// Looks for parameters in a file with datasets at these `paths`, by name (see datasets_by_name):
// under their own names, or, where that finds more of them, under those that PyTorch's modules and
// the d2l.ai book have for them (see weight_names.hpp). With `anywhere`, the names may have
// something in front.
WeightPlaces find_weights(const std::vector<std::string>& parameters,
                          const std::map<std::string, std::string>& paths, bool anywhere);

}  // namespace weft
