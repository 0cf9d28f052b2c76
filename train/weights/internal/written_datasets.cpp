#include "train/weights/internal/written_datasets.hpp"

#include <utility>

#include "weft/autograd/error.hpp"
#include "train/weights/internal/dataset_names.hpp"

namespace weft {
WrittenDatasets::WrittenDatasets(Layout layout) : layout_(layout), table_(weight_layout(layout)) {}

std::string WrittenDatasets::path_of(const std::string& dataset) const {
  if (layout_ == Layout::weft) return path_of_name("model." + dataset);
  const std::string nested = path_of_name(dataset);
  return layout_ == Layout::pytorch_nested ? nested : '/' + dataset;
}

bool WrittenDatasets::add(const std::string& name, const Shape& shape) {
  weights_.emplace(name, shape);
  return add(name, Part{{.parameter = shape}, name});
}

bool WrittenDatasets::add(const std::string& name, Part part) {
  const WeightPart dataset = table_.dataset_of(name);
  if (dataset.name.empty()) return false;
  part.form.is_transposed = dataset.is_transposed && part.form.parameter.rank() == 2;
  part.form.parts = dataset.parts;
  part.form.own = {dataset.part};
  parts_[path_of(dataset.name)].push_back(std::move(part));
  return true;
}

void WrittenDatasets::complete(const std::string& what) {
  const std::string end = "weight";
  if (table_.has_all_biases)
    for (const auto& [name, shape] : weights_)
      if (name.starts_with("blocks.") && name.ends_with('.' + end) && shape.rank() > 0) {
        const std::string bias = name.substr(0, name.size() - end.size()) + "bias";
        if (!weights_.contains(bias)) add(bias, Part{{.parameter = {shape[0]}}, name, true});
      }
  for (const auto& [path, parts] : parts_) {
    const StoredForm& first = parts.front().form;
    const std::string dataset = what + path.substr(1);
    if (std::ssize(parts) != first.parts)
      fail<ValueError>(dataset, concatenate_text(first.parts, " parameters in it"), parts.size());
    for (const Part& part : parts)
      if (part.form.parameter != first.parameter)
        fail<ValueError>(dataset, "parameters of equal shapes in it",
                         concatenate_text(first.parameter, " and ", part.form.parameter));
  }
}

}  // namespace weft
