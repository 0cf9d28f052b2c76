// WrittenDatasets: the datasets of a file that is written, and which weights each contains.
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
  // A weight in a dataset, or zeros for the bias that the layer of `weight` does not have.
  struct Part {
    StoredForm form;
    std::string weight;
    bool is_zero_bias = false;
  };

  // With `torch`, weights have the names that PyTorch's modules give them.
  explicit WrittenDatasets(Layout layout, TorchNames torch = {});

  // Whether the datasets have the names of the weights.
  bool has_own_names() const { return !table_.has_all_names; }
  // Returns whether a weight is in a dataset with others.
  bool is_packed(const std::string& weight) const { return dataset_of(weight).parts > 1; }
  // Adds a weight; returns false when the layout has no name for it. Throws ValueError, starting
  // with `what`, for a weight whose form in the layout is not known.
  [[nodiscard]] bool add(const std::string& what, const ModelWeight& weight);
  // Adds the datasets that a state_dict has under a second name.
  void add_copies();
  // Adds zeros for the biases that every file of the layout has. Throws ValueError, starting with
  // `what`, for a dataset of which parts are missing or have other shapes.
  void complete(const std::string& what);

  // By path.
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
