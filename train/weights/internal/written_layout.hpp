// WrittenLayout: the names of weights in a file that is written.
#pragma once

#include <string>
#include <vector>

#include "weft/train/weights/save_weights.hpp"
#include "train/weights/internal/layouts.hpp"
#include "train/weights/internal/stored_form.hpp"

namespace weft {

class WrittenLayout {
 public:
  explicit WrittenLayout(Layout layout);

  // The table by which files of the layout are read, too.
  const WeightLayout& table() const { return *table_; }
  // Whether the datasets have the names of the weights.
  bool has_own_names() const;
  // The dataset of a weight and its part of it; empty when the layout has no name for the weight.
  WeightPart dataset_of(const std::string& weight) const;
  // The bias beside a weight that every file of the layout has; empty where it has none.
  std::string bias_of(const std::string& weight) const;
  // The path of a dataset in the file.
  std::string path_of(const std::string& dataset) const;

 private:
  Layout layout_;
  const WeightLayout* table_;
};

// Throws ValueError, starting with `what`, unless these are all parts of one dataset, of equal
// shapes.
void check_parts(const std::string& what, const std::vector<StoredForm>& parts);

}  // namespace weft
