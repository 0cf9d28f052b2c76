// WrittenDatasets: the datasets of a file to be written, and the weights that each of them
// contains.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/train/weights/save_weights.hpp"
#include "train/weights/internal/layouts.hpp"
#include "train/weights/internal/stored_form.hpp"
#include "train/weights/internal/torch_names.hpp"
#include "train/weights/internal/weight_sources.hpp"

namespace weft {

class WrittenDatasets {
 public:
  // A weight in a dataset. If `is_zero_bias`, the part is a bias of zeros, and `weight` names the
  // weight of the same layer.
  struct Part {
    StoredForm form;
    std::string weight;
    bool is_zero_bias = false;
  };

  // Creates an empty list of datasets. Names in `torch` take precedence over names in `layout`.
  explicit WrittenDatasets(Layout layout, TorchNames torch = {});

  // Returns whether weights keep their names in the file.
  bool has_own_names() const { return !table_.has_all_names; }
  // Returns whether a weight shares its dataset with other weights.
  bool is_packed(const std::string& weight) const { return dataset_of(weight).parts > 1; }
  // Adds a weight. Returns false if the layout has no name for it. Throws ValueError, starting with
  // `what`, if the layout stores such a weight in an unknown way.
  [[nodiscard]] bool add(const std::string& what, const ModelWeight& weight);
  // Adds the datasets that a state_dict contains under a second name.
  void add_copies();
  // Adds zeros for biases that every file of the layout contains. Throws ValueError, starting with
  // `what`, if parts of a dataset are missing or have different shapes.
  void complete(const std::string& what);

  // Returns the parts of each dataset, by its path.
  const std::map<std::string, std::vector<Part>>& by_path() const { return parts_; }

 private:
  WeightPart dataset_of(const std::string& weight) const;
  std::string path_of(const std::string& dataset) const;
  Layout layout_;
  const WeightLayout& table_;
  TorchNames torch_;
  std::map<std::string, ModelWeight> weights_;      // by name
  std::map<std::string, std::vector<Part>> parts_;  // by path
};

}  // namespace weft
