#include "train/weights/internal/written_layout.hpp"

#include "weft/autograd/error.hpp"
#include "train/weights/internal/dataset_names.hpp"

namespace weft {
namespace {

const WeightLayout& table_of(Layout layout) {
  switch (layout) {
    case Layout::nanogpt:
      return weight_layout("nanoGPT");
    case Layout::gpt2:
      return weight_layout("GPT-2");
    case Layout::bert:
      return weight_layout("BERT");
    default:
      return weight_layout("state_dict");
  }
}

}  // namespace

WrittenLayout::WrittenLayout(Layout layout) : layout_(layout), table_(&table_of(layout)) {}

bool WrittenLayout::has_own_names() const {
  return layout_ == Layout::weft || layout_ == Layout::pytorch || layout_ == Layout::pytorch_nested;
}

WeightPart WrittenLayout::dataset_of(const std::string& weight) const {
  return has_own_names() ? WeightPart{weight} : table_->rules.theirs(weight);
}

std::string WrittenLayout::bias_of(const std::string& weight) const {
  const std::string end = "weight";
  if (!table_->has_all_biases || !weight.starts_with("blocks.") || !weight.ends_with('.' + end))
    return "";
  return weight.substr(0, weight.size() - end.size()) + "bias";
}

std::string WrittenLayout::path_of(const std::string& dataset) const {
  if (layout_ == Layout::weft) return path_of_name("model." + dataset);
  const std::string nested = path_of_name(dataset);
  return layout_ == Layout::pytorch_nested ? nested : '/' + dataset;
}

void check_parts(const std::string& what, const std::vector<StoredForm>& parts) {
  const StoredForm& first = parts.front();
  if (std::ssize(parts) != first.parts)
    fail<ValueError>(what, concatenate_text(first.parts, " parameters in it"), parts.size());
  for (const StoredForm& part : parts)
    if (part.parameter != first.parameter)
      fail<ValueError>(what, "parameters of equal shapes in it",
                       concatenate_text(first.parameter, " and ", part.parameter));
}

}  // namespace weft
