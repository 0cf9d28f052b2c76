#include "weft/train/weights/save_weights.hpp"

#include <map>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "weft/train/files/safetensors/safetensors_writer.hpp"
#include "weft/train/weights/checkpoint.hpp"
#include "train/weights/internal/weight_sources.hpp"
#include "train/weights/internal/written_datasets.hpp"

namespace weft {
namespace {

template <class T, class Writer>
void write(Writer writer, const WrittenDatasets& datasets,
           const std::map<std::string, Tensor<T>>& values, StorageType storage) {
  for (const auto& [dataset, parts] : datasets.by_path()) {
    std::vector<StoredTensor<T>> tensors;
    for (const auto& [form, weight, is_zero_bias] : parts)
      tensors.push_back({form, is_zero_bias ? Tensor<T>(form.parameter) : values.at(weight)});
    writer.template tensor<T>(
        dataset, parts.front().form.dataset(), [tensors] { return stored<T>(tensors); }, storage);
  }
  writer.save();
}

}  // namespace

template <class T>
void save_weights(const std::filesystem::path& path, const Module<T>& model,
                  const SaveWeightsOptions& given) {
  SaveWeightsOptions options = given;
  if (is_safetensors(path) && options.layout == Layout::weft) options.layout = Layout::pytorch;
  if (options.layout == Layout::weft && options.storage == StorageType::same)
    return save_checkpoint(path, model);
  const ModelWeights weights(model);
  check_rotary_pairs("save_weights", weights, weight_layout(options.layout));
  std::map<std::string, Tensor<T>> values;
  const bool has_torch_names =
      options.layout == Layout::pytorch || options.layout == Layout::pytorch_nested;
  WrittenDatasets datasets(options.layout, has_torch_names ? torch_names(model) : TorchNames());
  auto weight = weights.all.begin();
  const auto add = [&](const ModelWeight& added, const Tensor<T>& value) {
    if (!datasets.add("save_weights: parameter ", added))
      fail<ValueError>(
          "save_weights",
          str_cat("only parameters with names in the layout ", to_string(options.layout)),
          added.name);
    check_finite(added.name, value);
    values.emplace(added.name, value);
  };
  for (const auto& [name, parameter] : named_parameters(model)) add(*weight++, parameter->value());
  for (const auto& [name, buffer] : named_buffers(model)) add(*weight++, *buffer);
  if (options.layout != Layout::weft)
    for (const auto& [name, first] : weights.tied) {
      if (is_safetensors(path) && !datasets.is_packed(name)) continue;
      ModelWeight tied = weights.all[first];
      const Tensor<T> value = values.at(tied.name);
      tied.name = name;
      add(tied, value);
    }
  if (!is_safetensors(path)) datasets.add_copies();
  datasets.complete("save_weights: ");

  if (is_safetensors(path))
    write<T>(SafetensorsWriter(path), datasets, values, options.storage);
  else
    write<T>(Hdf5Writer(path), datasets, values, options.storage);
}

template void save_weights(const std::filesystem::path&, const Module<float>&,
                           const SaveWeightsOptions&);
template void save_weights(const std::filesystem::path&, const Module<double>&,
                           const SaveWeightsOptions&);

}  // namespace weft
