#include "train/weights/internal/written_datasets.hpp"

#include <utility>

#include "weft/autograd/error.hpp"
#include "train/weights/internal/dataset_names.hpp"

namespace weft {

WrittenDatasets::WrittenDatasets(Layout layout, TorchNames torch)
    : layout_(layout), table_(weight_layout(layout)), torch_(std::move(torch)) {}

WeightPart WrittenDatasets::dataset_of(const std::string& weight) const {
  const auto named = torch_.datasets.find(weight);
  return named == torch_.datasets.end() ? table_.dataset_of(weight) : named->second;
}

std::string WrittenDatasets::path_of(const std::string& dataset) const {
  if (layout_ == Layout::weft) return path_of_name("model." + dataset);
  const std::string nested = path_of_name(dataset);
  return layout_ == Layout::pytorch_nested ? nested : '/' + dataset;
}

bool WrittenDatasets::add(const std::string& what, const ModelWeight& weight) {
  const WeightPart dataset = dataset_of(weight.name);
  if (dataset.name.empty()) return false;
  if (const std::string unknown = weight.unknown_in(table_, dataset); !unknown.empty())
    fail<ValueError>(what + weight.name, "a weight that the layout can store", unknown);
  parts_[path_of(dataset.name)].push_back({weight.form(table_, dataset), weight.name});
  weights_.emplace(weight.name, weight);
  return true;
}

void WrittenDatasets::add_copies() {
  for (const auto& [dataset, copy] : table_.copies)
    if (const auto parts = parts_.find(path_of(dataset)); parts != parts_.end())
      parts_.emplace(path_of(copy), parts->second);
}

void WrittenDatasets::complete(const std::string& what) {
  const std::string end = "weight";
  if (table_.has_all_biases)
    for (const auto& [name, weight] : weights_)
      if (name.starts_with("blocks.") && name.ends_with('.' + end) && weight.shape.rank() > 0) {
        const ModelWeight bias{name.substr(0, name.size() - end.size()) + "bias",
                               {weight.shape[0]}};
        const WeightPart dataset = table_.dataset_of(bias.name);
        if (!weights_.contains(bias.name))
          parts_[path_of(dataset.name)].push_back({bias.form(table_, dataset), name, true});
      }
  for (const auto& [bias, weight, shape, dataset] : torch_.zero_biases)
    parts_[path_of(dataset.name)].push_back(
        {ModelWeight{bias, shape}.form(table_, dataset), weight, true});
  for (const auto& [path, parts] : parts_) {
    const StoredForm& first = parts.front().form;
    const std::string dataset = what + path.substr(1);
    const Index expected = first.parts / std::ssize(first.own);
    if (std::ssize(parts) != expected)
      fail<ValueError>(dataset, str_cat(expected, " packed parameters"), parts.size());
    for (const Part& part : parts)
      if (part.form.parameter != first.parameter)
        fail<ValueError>(dataset, "packed parameters of equal shapes",
                         str_cat(first.parameter, " and ", part.form.parameter));
  }
}

}  // namespace weft
