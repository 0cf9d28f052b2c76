#include "weft/train/weights/save_weights.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "weft/train/weights/checkpoint.hpp"
#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/layouts.hpp"
#include "train/weights/internal/model_weights.hpp"

namespace weft {
namespace {

// A layout's table, by which files are read, too.
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

// The datasets of a file, each with the parameters that it packs.
template <class T>
class Datasets {
 public:
  explicit Datasets(Layout layout) : layout_(layout), table_(table_of(layout)) {}

  void add(const std::string& name, const ModelWeight<T>& weight) {
    const WeightPart dataset = name_of(name);
    check_finite(name, weight.value());
    parts_[dataset.name].push_back(
        {weight.form(table_, dataset.name, dataset.part, dataset.parts), weight.value()});
  }

  void write(Hdf5Writer& writer, StorageType storage) {
    for (auto& [name, parts] : parts_) {
      std::ranges::sort(parts, {}, [](const StoredTensor<T>& tensor) { return tensor.form.part; });
      const StoredForm& form = parts.front().form;
      check_parts(name, parts);
      writer.tensor<T>(
          path_of(name), form.dataset(), [packed = parts] { return stored<T>(packed); }, storage);
    }
  }

 private:
  WeightPart name_of(const std::string& name) const {
    const bool has_own_names =
        layout_ == Layout::weft || layout_ == Layout::pytorch || layout_ == Layout::pytorch_nested;
    if (has_own_names) return {name};
    WeightPart dataset = table_.rules.theirs(name);
    if (dataset.name.empty())
      fail<ValueError>("save_weights: parameter " + name,
                       concatenate_text("one with a name in the layout ", to_string(layout_)),
                       "another");
    return dataset;
  }

  std::string path_of(const std::string& name) const {
    if (layout_ == Layout::weft) return path_of_name("model." + name);
    const std::string nested = path_of_name(name);
    return layout_ == Layout::pytorch_nested ? nested : '/' + name;
  }

  static void check_parts(const std::string& name, const std::vector<StoredTensor<T>>& parts) {
    const StoredForm& first = parts.front().form;
    if (std::ssize(parts) != first.parts)
      fail<ValueError>("save_weights: " + name, concatenate_text(first.parts, " parameters in it"),
                       parts.size());
    for (const StoredTensor<T>& tensor : parts)
      if (tensor.form.parameter != first.parameter)
        fail<ValueError>("save_weights: " + name, "parameters of equal shapes in it",
                         concatenate_text(first.parameter, " and ", tensor.form.parameter));
  }

  Layout layout_;
  const WeightLayout& table_;
  std::map<std::string, std::vector<StoredTensor<T>>> parts_;  // by name
};

}  // namespace

template <class T>
void save_weights(const std::filesystem::path& path, Module<T>& model,
                  const SaveWeightsOptions& options) {
  if (options.layout == Layout::weft && options.storage == StorageType::same)
    return save_checkpoint(path, model);
  const ModelWeights<T> weights(model);
  Datasets<T> datasets(options.layout);
  for (const ModelWeight<T>& weight : weights.all) datasets.add(weight.name, weight);
  if (options.layout != Layout::weft)
    for (const auto& [name, index] : weights.tied) datasets.add(name, weights.all[index]);
  Hdf5Writer writer(path);
  datasets.write(writer, options.storage);
  writer.save();
}

template void save_weights(const std::filesystem::path&, Module<float>&, const SaveWeightsOptions&);
template void save_weights(const std::filesystem::path&, Module<double>&,
                           const SaveWeightsOptions&);

}  // namespace weft
