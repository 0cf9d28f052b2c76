#include "weft/train/weights/convert_weights.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "weft/autograd/error.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/name_pattern.hpp"
#include "train/weights/internal/stored_average.hpp"
#include "train/weights/internal/weight_sources.hpp"
#include "train/weights/internal/written_layout.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

// weft's files have their weights below this group.
const std::string weft_group = "/model";

// Those of a Gpt, of which the second may be the first.
const std::string token_embedding = "tokens.weight", output_weight = "output.weight";

bool is_weft(const Hdf5File& file) { return file.has_group(weft_group); }

FileContents contents_of(const Hdf5File& file) {
  return {datasets_by_name(file, is_weft(file) ? weft_group : "/"),
          [&](const std::string& path) { return file.dataset(path).shape(); }};
}

const WeightLayout* layout_of(const Hdf5File& file, const FileContents& contents) {
  return is_weft(file) ? nullptr : marked_layout(contents);
}

std::string name_of(const Hdf5File& file, const WeightLayout* layout) {
  return is_weft(file) ? "weft" : layout ? layout->name : "state_dict";
}

// Whether a weight is that of a linear layer, which some layouts transpose, in a Gpt or a Bert.
bool is_linear(const std::string& name, Index rank) {
  const bool is_embedding =
      name == token_embedding || name == "positions.weight" || name == "segments.weight";
  return rank == 2 && !is_embedding;
}

bool is_transposed(const WeightLayout& layout, const std::string& dataset, const std::string& name,
                   Index rank) {
  return layout.transposes_linear && is_linear(name, rank) &&
         !is_one_of(layout.not_transposed, dataset);
}

// A weight in the file that is read.
struct Source {
  std::string path;  // empty for zeros that are in no file
  std::string type;  // of its numbers
  StoredForm form;

  bool is_wide() const { return type.ends_with("float64"); }
};

// A weight in the file that is written.
struct Target {
  const Source* source;
  StoredForm form;
};

class Conversion {
 public:
  Conversion(const fs::path& from, const SaveWeightsOptions& options, bool averaged)
      : file_(from), options_(options), layout_(options.layout) {
    find_sources(averaged);
    find_targets();
  }

  ConvertWeightsReport write(const fs::path& to) && {
    Hdf5Writer writer(to);
    for (const auto& [dataset, targets] : targets_)
      if (std::ranges::any_of(targets,
                              [](const Target& target) { return target.source->is_wide(); }))
        add<double>(writer, dataset, targets);
      else
        add<float>(writer, dataset, targets);
    writer.save();
    report_.written = std::ssize(targets_);
    return std::move(report_);
  }

 private:
  void find_sources(bool averaged) {
    FileContents contents = contents_of(file_);
    report_.averaged = averaged && !use_average(file_, "", contents.paths).empty();
    const WeightLayout* const marked = layout_of(file_, contents);
    report_.layout = name_of(file_, marked);
    if (report_.layout.starts_with("Keras"))
      fail_on_file(file_.path(), "weights of weft, PyTorch, nanoGPT, GPT-2 or BERT",
                   concatenate_text("the layout ", report_.layout,
                                    ", of which weights can be loaded into a model only"));
    if (is_weft(file_)) {
      std::set<std::string> paths;
      for (const auto& [dataset, path] : contents.paths) paths.insert(path);
      for (const std::string& path : file_.datasets())
        if (!paths.contains(path)) report_.left.push_back(path.substr(1));
    }
    const WeightLayout& table = marked ? *marked : weight_layout("state_dict");
    const std::string prefix = prefix_of(table, contents);
    for (const auto& [dataset, path] : contents.paths) {
      const Hdf5Dataset opened = file_.dataset(path);
      bool is_used = false;
      if (is_float(opened.type()))
        for (const WeightPart& part : weights_in(table, dataset))
          is_used |= add_source(table, marked != nullptr, prefix, dataset, part, opened);
      if (!is_used) report_.left.push_back(dataset);
    }
    if (sources_.empty()) fail_on_file(file_.path(), "weights", "none");
    if (options_.layout == Layout::weft) remove_tied();
  }

  // What stands before the names of a Gpt or a Bert; empty where the names stay as they are.
  std::string prefix_of(const WeightLayout& table, const FileContents& contents) const {
    if (table.marks.empty() && layout_.has_own_names()) return "";
    for (const auto& [dataset, path] : contents.paths)
      for (const WeightPart& part : weights_in(table, dataset))
        if (part.name == token_embedding || part.name.ends_with('.' + token_embedding))
          return part.name.substr(0, part.name.size() - token_embedding.size());
    return "";
  }

  // Returns false when the weight is no part of the model.
  bool add_source(const WeightLayout& table, bool is_marked, const std::string& prefix,
                  const std::string& dataset, const WeightPart& part, const Hdf5Dataset& opened) {
    if (!part.name.starts_with(prefix)) return false;
    const std::string name = part.name.substr(prefix.size());
    if (is_marked && table.rules.theirs(name).name.empty()) return false;
    const Shape shape = opened.shape();
    const bool is_vector = table.splits_axes && name.ends_with(".bias");  // TensorFlow has rows
    StoredForm form{.parameter = is_vector ? Shape{shape.elements()} : shape,
                    .splits_axes = table.splits_axes,
                    .part = part.part,
                    .parts = part.parts};
    form.is_transposed = is_transposed(table, dataset, name, form.parameter.rank());
    if (form.is_transposed)
      form.parameter = Shape{shape[1] / part.parts, shape[0]};
    else if (part.parts > 1 && shape.rank() > 0)
      form.parameter = form.parameter.with(0, form.parameter[0] / part.parts);
    if (!form.fits(shape))
      fail_on_file(file_.path(), concatenate_text(part.parts, " equal parts of ", dataset),
                   concatenate_text(shape));
    const auto [same, is_new] = sources_.emplace(name, Source{opened.path(), opened.type(), form});
    if (!is_new)
      fail_on_file(file_.path(), "one dataset for " + name,
                   concatenate_text(same->second.path, " and ", opened.path()));
    return true;
  }

  // weft writes a weight with two names once.
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
    return has_values(file_.dataset(b.path), what(b), b.form, read<T>(a));
  }

  // Those that the layout has, but not the file.
  void add_zero_biases() {
    std::map<std::string, Source> biases;
    for (const auto& [name, source] : sources_)
      if (const std::string bias = layout_.bias_of(name);
          !bias.empty() && source.form.parameter.rank() > 0)
        biases.emplace(bias, Source{"", source.type, {.parameter = {source.form.parameter[0]}}});
    sources_.merge(biases);
  }

  void find_targets() {
    add_zero_biases();
    for (const auto& [name, source] : sources_) add_target(name, source);
    // GPT-2's state_dict has both names.
    const auto tokens = sources_.find(token_embedding);
    if ((options_.layout == Layout::nanogpt || options_.layout == Layout::gpt2) &&
        tokens != sources_.end() && !sources_.contains(output_weight))
      add_target(output_weight, tokens->second);
    for (auto& [dataset, targets] : targets_) {
      std::ranges::sort(targets, {}, [](const Target& target) { return target.form.part; });
      std::vector<StoredForm> forms;
      for (const Target& target : targets) forms.push_back(target.form);
      check_parts(concatenate_text(quoted(file_.path()), ": ", dataset), forms);
    }
  }

  void add_target(const std::string& name, const Source& source) {
    const WeightPart dataset = layout_.dataset_of(name);
    if (dataset.name.empty())
      fail_on_file(
          file_.path(),
          concatenate_text("weights with names in the layout ", to_string(options_.layout)), name);
    const Shape& shape = source.form.parameter;
    targets_[dataset.name].push_back(
        {&source,
         {.parameter = shape,
          .is_transposed = is_transposed(layout_.table(), dataset.name, name, shape.rank()),
          .part = dataset.part,
          .parts = dataset.parts}});
  }

  template <class T>
  void add(Hdf5Writer& writer, const std::string& dataset,
           const std::vector<Target>& targets) const {
    const auto make = [this, &targets] {
      std::vector<StoredTensor<T>> parts;
      for (const Target& target : targets) parts.push_back({target.form, read<T>(*target.source)});
      return stored<T>(parts);
    };
    writer.tensor<T>(layout_.path_of(dataset), targets.front().form.dataset(), make,
                     storage_of(targets));
  }

  // The type of the numbers that are read, unless the options or a mixture of types say another.
  StorageType storage_of(const std::vector<Target>& targets) const {
    if (options_.storage != StorageType::same) return options_.storage;
    for (const StorageType type : {StorageType::bfloat16, StorageType::float16})
      if (std::ranges::all_of(targets, [&](const Target& target) {
            const std::string& source = target.source->type;
            return source.substr(source.rfind(' ') + 1) == to_string(type);
          }))
        return type;
    return StorageType::same;
  }

  template <class T>
  Tensor<T> read(const Source& source) const {
    if (source.path.empty()) return Tensor<T>(source.form.parameter);
    StoredTensor<T> tensor{source.form};
    read_stored<T>(file_.dataset(source.path), what(source), {&tensor, 1});
    return std::move(tensor.value);
  }

  std::string what(const Source& source) const {
    return concatenate_text(quoted(file_.path()), ' ', source.path);
  }

  Hdf5File file_;
  SaveWeightsOptions options_;
  WrittenLayout layout_;
  std::map<std::string, Source> sources_;               // by the name of the weight
  std::map<std::string, std::vector<Target>> targets_;  // by the name of the dataset
  ConvertWeightsReport report_;
};

}  // namespace

std::string weights_layout(const Hdf5File& file) {
  return name_of(file, layout_of(file, contents_of(file)));
}

ConvertWeightsReport convert_weights(const fs::path& from, const fs::path& to,
                                     const SaveWeightsOptions& options, bool averaged) {
  // Saving replaces the whole file, with all that is not converted.
  if (std::error_code error; fs::equivalent(from, to, error))
    fail_on_file(to, "another file than the one that is read", "the same one");
  return Conversion(from, options, averaged).write(to);
}

}  // namespace weft
