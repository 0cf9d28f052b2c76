// ModelWeights: the parameters and buffers of a model as weight files see them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/layers/module.hpp"
#include "train/weights/internal/layouts.hpp"
#include "train/weights/internal/stored_form.hpp"

namespace weft {

// A parameter or a buffer under its full name.
struct ModelWeight {
  std::string name;
  Shape shape;
  // Whether it is the weight of a linear or recurrent layer, which some layouts transpose.
  bool is_linear = false;
  // The type of its layer, where a parameter has one.
  std::string layer = "";

  // Its form as a part of a dataset.
  StoredForm form(const WeightLayout& layout, const WeightPart& part) const;
};

struct ModelWeights {
  template <class T>
  explicit ModelWeights(const Module<T>& model);

  std::vector<ModelWeight> all;  // parameters, then buffers
  // The indices of parameters by their other names (tied weights).
  std::map<std::string, std::size_t> tied;
};

}  // namespace weft
