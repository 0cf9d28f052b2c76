#include "weft/train/weights/save_weights.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "weft/train/weights/checkpoint.hpp"
#include "train/weights/internal/model_weights.hpp"
#include "train/weights/internal/written_layout.hpp"

namespace weft {
namespace {

// The datasets of a file, each with the parameters that it packs.
template <class T>
class Datasets {
 public:
  explicit Datasets(Layout layout) : name_(to_string(layout)), layout_(layout) {}

  void add(const std::string& name, const ModelWeight<T>& weight) {
    const WeightPart dataset = layout_.dataset_of(name);
    if (dataset.name.empty())
      fail<ValueError>("save_weights: parameter " + name,
                       concatenate_text("one with a name in the layout ", name_), "another");
    check_finite(name, *weight.value);
    parts_[dataset.name].push_back(
        {weight.form(layout_.table(), dataset.name, dataset.part, dataset.parts), *weight.value});
  }
  // Those that the layout has beside the weights, but not the model.
  void add_zero_biases(const std::vector<ModelWeight<T>>& weights) {
    for (const ModelWeight<T>& weight : weights) {
      const std::string name = layout_.bias_of(weight.name);
      if (name.empty() || std::ranges::count(weights, name, &ModelWeight<T>::name) > 0) continue;
      Tensor<T> bias({weight.value->shape()[0]});
      add(name, {name, &bias});
    }
  }

  void write(Hdf5Writer& writer, StorageType storage) {
    for (auto& [name, parts] : parts_) {
      std::ranges::sort(parts, {}, [](const StoredTensor<T>& tensor) { return tensor.form.part; });
      std::vector<StoredForm> forms;
      for (const StoredTensor<T>& tensor : parts) forms.push_back(tensor.form);
      check_parts("save_weights: " + name, forms);
      writer.tensor<T>(
          layout_.path_of(name), forms.front().dataset(),
          [packed = parts] { return stored<T>(packed); }, storage);
    }
  }

 private:
  std::string name_;
  WrittenLayout layout_;
  std::map<std::string, std::vector<StoredTensor<T>>> parts_;  // by name
};

}  // namespace

template <class T>
void save_weights(const std::filesystem::path& path, const Module<T>& model,
                  const SaveWeightsOptions& options) {
  if (options.layout == Layout::weft && options.storage == StorageType::same)
    return save_checkpoint(path, model);
  const ModelWeights<T> weights(model);
  Datasets<T> datasets(options.layout);
  for (const ModelWeight<T>& weight : weights.all) datasets.add(weight.name, weight);
  if (options.layout != Layout::weft)
    for (const auto& [name, index] : weights.tied) datasets.add(name, weights.all[index]);
  datasets.add_zero_biases(weights.all);
  Hdf5Writer writer(path);
  datasets.write(writer, options.storage);
  writer.save();
}

template void save_weights(const std::filesystem::path&, const Module<float>&,
                           const SaveWeightsOptions&);
template void save_weights(const std::filesystem::path&, const Module<double>&,
                           const SaveWeightsOptions&);

}  // namespace weft
