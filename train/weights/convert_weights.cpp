#include "weft/train/weights/convert_weights.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/safetensors/safetensors_file.hpp"
#include "weft/train/files/safetensors/safetensors_writer.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/differences.hpp"
#include "train/weights/internal/weight_sources.hpp"
#include "train/weights/internal/written_datasets.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

// The weight of a Gpt's output layer. It may be tied to the token embedding.
const std::string output_weight = "output.weight";

// The datasets with weights in a file, and their layout.
struct Contents {
  PathsByName paths;
  const WeightLayout* layout;
  std::string layout_name;
};

Contents contents_of(const TensorFile& file) {
  if (const std::string group = "/model"; file.has_group(group))
    return {datasets_by_name(file, group), &weight_layout(Layout::weft), "weft"};
  Contents contents{datasets_by_name(file, "/"), nullptr, ""};
  contents.layout = marked_layout(file, contents.paths);
  if (!contents.layout)
    contents.layout = std::ranges::any_of(
                          contents.paths,
                          [](const auto& entry) { return entry.first.ends_with("in_proj_weight"); })
                          ? &weight_layout("PyTorch modules")
                          : &weight_layout(Layout::pytorch);
  contents.layout_name = contents.layout->name;
  return contents;
}

// A weight in the input file.
struct Source {
  std::string path;
  std::string type;  // the type of its numbers
  StoredForm form;

  bool is_wide() const { return type.ends_with("float64"); }
};

class Conversion {
 public:
  Conversion(const fs::path& from, const SaveWeightsOptions& options, bool averaged)
      : file_(open_tensor_file(from)), options_(options), datasets_(options.layout) {
    find_sources(averaged);
    add_datasets();
  }

  ConvertWeightsReport write(const fs::path& to) && {
    if (is_safetensors(to))
      write_all(SafetensorsWriter(to));
    else
      write_all(Hdf5Writer(to));
    report_.written = std::ssize(datasets_.by_path());
    return std::move(report_);
  }

 private:
  using Part = WrittenDatasets::Part;
  using Parts = std::vector<Part>;

  template <class Writer>
  void write_all(Writer writer) const {
    for (const auto& [dataset, parts] : datasets_.by_path())
      if (std::ranges::any_of(parts, [&](const Part& part) { return source(part).is_wide(); }))
        write<double>(writer, dataset, parts);
      else
        write<float>(writer, dataset, parts);
    writer.save();
  }

  void find_sources(bool averaged) {
    Contents contents = contents_of(*file_);
    report_.layout = contents.layout_name;
    const std::vector<std::string> layouts = convertible_layouts();
    if (!contents.layout->is_convertible())
      fail_on_file(
          file_->path(),
          "a layout that convert_weights reads (" + first_of(layouts, layouts.size()) + ')',
          "the layout " + report_.layout + ", which only load_weights can read");
    if (!weight_layout(options_.layout).is_convertible())
      fail_on_file(file_->path(), "a layout that does not depend on the number of heads",
                   to_string(options_.layout));
    PathsByName& paths = contents.paths;
    const bool keeps_names = contents.layout->rewrites_model && datasets_.has_own_names();
    const WeightLayout& layout = keeps_names ? weight_layout(Layout::pytorch) : *contents.layout;
    report_.averaged = averaged && !use_average(*file_, "", paths).empty();
    std::set<std::string> read;
    for (const auto& [dataset, path] : paths) read.insert(path);
    for (const std::string& path : file_->datasets())
      if (!read.contains(path)) report_.unused.push_back(path.substr(1));
    const std::string prefix = prefix_of(layout, paths);
    for (const auto& [dataset, path] : paths) {
      const StoredDataset opened = file_->dataset(path);
      bool is_used = false;
      if (is_float(opened.type()))
        for (const WeightPart& weight : layout.weights_in(dataset))
          if (weight.name.starts_with(prefix))
            is_used |= add_source(layout, weight.name.substr(prefix.size()), weight, opened);
      if (!is_used) report_.unused.push_back(dataset);
    }
    if (sources_.empty()) fail_on_file(file_->path(), "weights", "a file without weights");
    if (options_.layout == Layout::weft) remove_tied();
  }

  // Returns the prefix of the names of a Gpt or a Bert, or "" if names are not translated.
  std::string prefix_of(const WeightLayout& layout, const PathsByName& paths) const {
    if (!layout.has_all_names && datasets_.has_own_names()) return "";
    for (const auto& [dataset, path] : paths)
      for (const WeightPart& weight : layout.weights_in(dataset))
        if (('.' + weight.name).ends_with('.' + token_embedding))
          return weight.name.substr(0, weight.name.size() - token_embedding.size());
    return "";
  }

  // Returns false if the weight is not part of the model.
  bool add_source(const WeightLayout& layout, const std::string& name, const WeightPart& weight,
                  const StoredDataset& dataset) {
    if (layout.dataset_of(name).name.empty()) return false;
    const Shape shape = dataset.shape();
    // TensorFlow stores biases with several axes.
    const bool is_vector = layout.splits_axes && name.ends_with(".bias");
    StoredForm form{.parameter = is_vector ? Shape{shape.elements()} : shape,
                    .splits_axes = layout.splits_axes,
                    .parts = weight.parts,
                    .own = {weight.part}};
    form.is_transposed = weight.is_transposed && form.parameter.rank() == 2;
    if (form.is_transposed)
      form.parameter = Shape{shape[1] / weight.parts, shape[0]};
    else if (weight.parts > 1 && shape.rank() > 0)
      form.parameter = form.parameter.with(0, form.parameter[0] / weight.parts);
    if (!form.fits(shape))
      fail_on_file(file_->path(),
                   str_cat(weight.parts, " equal parts of ", dataset.path().substr(1)),
                   str_cat(shape));
    const auto [same, is_new] = sources_.emplace(layout.rewrites_model ? own_name(name) : name,
                                                 Source{dataset.path(), dataset.type(), form});
    if (!is_new)
      fail_on_file(file_->path(), "one dataset for " + name,
                   str_cat(same->second.path, " and ", dataset.path()));
    return true;
  }

  // Translates a name from the common form of PyTorch's names, in which the attention of encoders
  // and of decoders has the same name, to weft's.
  std::string own_name(std::string name) const {
    const std::string common = "self_attention.", encoders = "attention.";
    const std::size_t at = name.find(common);
    if (at != name.npos && weight_layout(options_.layout).dataset_of(name).name.empty())
      name.replace(at, common.size(), encoders);
    return name;
  }

  // Removes the output layer if it equals the token embedding, because weft stores tied weights
  // once.
  void remove_tied() {
    const auto tokens = sources_.find(token_embedding), output = sources_.find(output_weight);
    if (tokens == sources_.end() || output == sources_.end() ||
        tokens->second.form.parameter != output->second.form.parameter)
      return;
    const bool is_wide = tokens->second.is_wide() || output->second.is_wide();
    if (is_wide ? are_equal<double>(tokens->second, output->second)
                : are_equal<float>(tokens->second, output->second))
      sources_.erase(output);
  }

  template <class T>
  bool are_equal(const Source& a, const Source& b) const {
    return has_values(file_->dataset(b.path), b.form, read<T>(a));
  }

  void add_datasets() {
    // GPT-2's state_dict contains tied weights under both names.
    const auto tokens = sources_.find(token_embedding);
    if ((options_.layout == Layout::nanogpt || options_.layout == Layout::gpt2) &&
        tokens != sources_.end())
      sources_.emplace(output_weight, tokens->second);
    for (const auto& [name, source] : sources_)
      if (!datasets_.add("", {name, source.form.parameter, source.form.parameter.rank() == 2}))
        fail_on_file(file_->path(),
                     str_cat("only weights with names in the layout ", to_string(options_.layout)),
                     name);
    datasets_.complete(quoted(file_->path()) + ": ");
  }

  template <class T, class Writer>
  void write(Writer& writer, const std::string& dataset, const Parts& parts) const {
    const auto make = [this, &parts] {
      std::vector<StoredTensor<T>> tensors;
      for (const Part& part : parts)
        tensors.push_back({part.form, part.is_zero_bias ? Tensor<T>(part.form.parameter)
                                                        : read<T>(source(part))});
      return stored<T>(tensors);
    };
    writer.template tensor<T>(dataset, parts.front().form.dataset(), make, storage_of(parts));
  }

  // Returns the type set by the options, or else the type in the input if all parts have the same.
  StorageType storage_of(const Parts& parts) const {
    if (options_.storage != StorageType::same) return options_.storage;
    for (const StorageType type : {StorageType::bfloat16, StorageType::float16})
      if (std::ranges::all_of(parts, [&](const Part& part) {
            const std::string& read = source(part).type;
            return read.substr(read.rfind(' ') + 1) == to_string(type);
          }))
        return type;
    return StorageType::same;
  }

  const Source& source(const Part& part) const { return sources_.at(part.weight); }

  template <class T>
  Tensor<T> read(const Source& source) const {
    StoredTensor<T> tensor{source.form};
    read_stored<T>(file_->dataset(source.path), {&tensor, 1});
    return std::move(tensor.value);
  }

  std::unique_ptr<const TensorFile> file_;
  SaveWeightsOptions options_;
  WrittenDatasets datasets_;
  std::map<std::string, Source> sources_;  // by the name of the weight
  ConvertWeightsReport report_;
};

}  // namespace

std::string weights_layout(const TensorFile& file) { return contents_of(file).layout_name; }

ConvertWeightsReport convert_weights(const fs::path& from, const fs::path& to,
                                     const SaveWeightsOptions& options, bool averaged) {
  // Saving replaces the whole file, including everything that is not converted.
  if (std::error_code error; fs::equivalent(from, to, error))
    fail_on_file(to, "an output file that is not the input file", "the input file");
  SaveWeightsOptions own = options;
  if (is_safetensors(to) && own.layout == Layout::weft) own.layout = Layout::pytorch;
  return Conversion(from, own, averaged).write(to);
}

}  // namespace weft
