#include "weft/train/weights/load_weights.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <type_traits>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "weft/train/files/safetensors/safetensors_file.hpp"
#include "weft/train/weights/name_pattern.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/differences.hpp"
#include "train/weights/internal/keras_names.hpp"
#include "train/weights/internal/name_pattern.hpp"
#include "train/weights/internal/weight_sources.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// Removes the prefix from all names. Datasets without the prefix are removed, and their names
// returned.
Names remove_prefix(const std::string& prefix, PathsByName& paths) {
  Names outside;
  PathsByName inside;
  for (const auto& [name, path] : paths)
    if (name.starts_with(prefix))
      inside.emplace(name.substr(prefix.size()), path);
    else
      outside.push_back(name);
  paths = std::move(inside);
  return outside;
}

void remove_group(const std::string& group, PathsByName& paths) {
  std::erase_if(paths, [&](const auto& entry) { return entry.first.starts_with(group + '.'); });
}

// Loads the weights of a model: first finds the dataset of each parameter, then reads the datasets.
template <class T>
class Loader {
 public:
  Loader(const TensorFile& file, Module<T>& model, const LoadWeightsOptions& options)
      : file_(file),
        model_(model),
        weights_(model),
        ignore_unexpected_(matching_any(options.ignore_unexpected, "ignore_unexpected")) {
    const auto filter = [&model](const Names& patterns, const char* what) {
      return with_tied_names(model, matching_any(patterns, what));
    };
    ignore_missing_ = filter(options.ignore_missing, "ignore_missing");
    if (!options.only.empty()) only_ = filter(options.only, "only");
    except_ = filter(options.except, "except");
    for (const auto& [pattern, replacement] : options.rename)
      renames_.emplace_back(NamePattern("rename", pattern), replacement);
    find_sources(options);
    check_rotary_pairs(quoted(file.path()), weights_, *sources_.layout);
    find_datasets();
    if (!differences_.empty() || matches_.empty())
      throw FileError(str_cat(quoted(file.path()), ": expected the parameters of the model, got ",
                              matches_.empty() ? "no matching datasets" : "different contents",
                              sources_.layout->marks.empty() ? "" : ", layout " + report_.layout,
                              differences_));
  }

  LoadWeightsReport load() && {
    values_.resize(weights_.all.size());
    std::map<std::string, std::vector<const Match*>> by_dataset;
    for (const Match& match : matches_)
      if (!match.is_tied) by_dataset[match.dataset.path()].push_back(&match);
    for (const auto& [path, matches] : by_dataset) {
      std::vector<StoredTensor<T>> tensors;
      for (const Match* match : matches) tensors.push_back({match->form});
      read_stored<T>(matches.front()->dataset, tensors);
      for (std::size_t i = 0; i < matches.size(); ++i)
        values_[matches[i]->index] = std::move(tensors[i].value);
    }
    for (const Match& match : matches_)
      if (match.is_tied)
        check_tied(match);
      else
        describe(match);
    const NamedParameters<T> parameters = named_parameters(model_);
    const NamedBuffers<T> buffers = named_buffers(model_);
    auto value = values_.begin();
    for (auto next = parameters.begin(); next != parameters.end(); ++next, ++value)
      if (*value) next->parameter->set_value(std::move(**value));
    for (auto next = buffers.begin(); next != buffers.end(); ++next, ++value)
      if (*value) *next->buffer = std::move(**value);
    return std::move(report_);
  }

 private:
  struct Match {
    std::size_t index;  // the index of the parameter
    WeightSource source;
    StoredDataset dataset;
    StoredForm form;
    bool is_tied;  // whether the parameter has another, earlier match
  };

  void find_sources(const LoadWeightsOptions& options) {
    const std::string &group = options.group, &prefix = options.prefix;
    PathsByName paths = datasets_by_name(file_, group);
    const bool anywhere = group.empty() && prefix.empty();
    if (group.empty() && file_.has_group("model")) remove_group(options_group, paths);
    report_.unused = anywhere ? take_average(paths) : remove_prefix(prefix, paths);
    const auto rename = [&](std::string name) {
      for (const auto& [expression, replacement] : renames_)
        name = expression.replaced(name, replacement);
      return name;
    };
    sources_ = find_weight_sources(weights_, file_, paths, rename, anywhere,
                                   options.in_order ? datasets_in_order(group) : KerasLayerNames());
    report_.layout = sources_.layout->name;
    report_.prefix = prefix + sources_.prefix;
    report_.unused.insert(report_.unused.end(), sources_.unused.begin(), sources_.unused.end());
    differences_.ambiguous = sources_.ambiguous;
  }

  // Returns the names of the datasets of each layer, in the order of Keras's model.
  KerasLayerNames datasets_in_order(const std::string& group) const {
    const auto* file = dynamic_cast<const Hdf5File*>(&file_);
    if (!file) fail_on_file(file_.path(), "a .h5 file of Keras (for in_order)", "another format");
    const bool is_whole_model = group.empty() && file->has_group(keras_weights_group);
    KerasLayerNames layers = keras_layer_names(*file, is_whole_model ? keras_weights_group : group);
    for (auto& [layer, datasets] : layers)
      for (std::string& dataset : datasets) {
        dataset = str_cat(is_whole_model ? "model_weights/" : "", layer, '/', dataset);
        std::ranges::replace(dataset, '/', '.');
      }
    return layers;
  }

  // Replaces the parameters in a checkpoint by their averages, if it contains them. Returns the
  // names of the replaced datasets.
  Names take_average(PathsByName& paths) {
    Names replaced = use_average(file_, "model.", paths);
    report_.averaged = !replaced.empty();
    if (report_.averaged) remove_group(average_group, paths);
    return replaced;
  }

  // Finds the dataset of each parameter. Records shapes and types that do not match. Missing
  // parameters and unexpected datasets are recorded in the report if they are ignored, otherwise as
  // differences.
  void find_datasets() {
    for (const auto& [index, source] : sources_.found)
      if (!is_excluded(index)) add_match(index, source);
    for (const WeightSource& source : sources_.unexpected) add_unexpected(source);
    for (std::size_t i = 0; i < weights_.all.size(); ++i) {
      const std::string& name = weights_.all[i].name;
      if (is_excluded(i))
        report_.unused.push_back(name);
      else if (std::ranges::binary_search(sources_.found, i, {}, &FoundWeight::index))
        continue;
      else if (ignore_missing_(name))
        report_.missing.push_back(name);
      else
        add_missing(weights_.all[i]);
    }
  }

  bool is_excluded(std::size_t index) const {
    const std::string& name = weights_.all[index].name;
    return !only_(name) || except_(name);
  }

  void add_match(std::size_t index, const WeightSource& source) {
    const ModelWeight& weight = weights_.all[index];
    const std::string what =
        is_renamed(index, source) ? str_cat(weight.name, " (", source, ')') : weight.name;
    StoredDataset dataset = file_.dataset(source.path);
    if (const std::string unknown =
            weight.unknown_in(*sources_.layout, source.weight, dataset.shape());
        !unknown.empty())
      return differences_.unknown_form.push_back(what + ": " + unknown);
    const bool is_tied = !matches_.empty() && matches_.back().index == index;
    const Match& match = matches_.emplace_back(Match{
        index, source, std::move(dataset), weight.form(*sources_.layout, source.weight), is_tied});
    if (const std::string type = match.dataset.type(); !is_float(type))
      differences_.check_type(what, "floating-point numbers", type);
    else if (const Shape shape = match.dataset.shape(); !match.form.fits(shape))
      differences_.check_shape(what, match.form.dataset(), shape);
  }

  void add_unexpected(const WeightSource& source) {
    const std::string& name = source.weight.name;
    const bool is_ignored = ignore_unexpected_(source.dataset) || ignore_unexpected_(name);
    if (is_ignored) {
      report_.unexpected.push_back(source.dataset);
      return;
    }
    if (is_zero_bias(source)) {
      report_.unused.push_back(source.dataset);
      return;
    }
    const bool has_own_name = name == source.dataset || sources_.layout->rewrites_model;
    differences_.unexpected.push_back(has_own_name ? source.dataset
                                                   : str_cat(name, " (", source, ')'));
  }

  // Returns whether a dataset is a bias that save_weights writes for a layer without bias: all
  // parts that belong to no parameter are zeros.
  bool is_zero_bias(const WeightSource& source) const {
    const std::string end = "bias";
    if (!sources_.layout->has_all_biases || !source.weight.name.ends_with('.' + end)) return false;
    const std::string name = source.weight.name.substr(sources_.prefix.size()),
                      weight = name.substr(0, name.size() - end.size()) + "weight";
    const auto found = std::ranges::find(sources_.names, weight);
    if (found == sources_.names.end()) return false;
    const Shape& beside =
        weights_.all[static_cast<std::size_t>(found - sources_.names.begin())].shape;
    if (beside.rank() == 0) return false;
    StoredForm unused{.parameter = {}, .parts = source.weight.parts, .own = {}};
    for (Index part = 0; part < unused.parts; ++part)
      if (std::ranges::none_of(sources_.found, [&](const FoundWeight& weight_found) {
            return weight_found.source.path == source.path &&
                   weight_found.source.weight.part == part;
          }))
        unused.own.push_back(part);
    unused.parameter = {std::ssize(unused.own) * beside[0]};
    const StoredDataset dataset = file_.dataset(source.path);
    return is_float(dataset.type()) && dataset.shape() == unused.dataset() &&
           has_values(dataset, unused, Tensor<T>(unused.parameter));
  }

  // Records a missing parameter. The message proposes unexpected datasets that may contain it.
  void add_missing(const ModelWeight& weight) {
    std::string text = str_cat(weight.name, ' ', weight.shape);
    if (differences_.missing.size() < Differences::shown) text += proposals(weight);
    differences_.missing.push_back(std::move(text));
  }

  // Returns the names of datasets that may contain a missing parameter: datasets with a similar
  // name, then datasets with its shape, each sorted by the distance of names.
  std::string proposals(const ModelWeight& weight) const {
    constexpr std::size_t max_compared = 4000, max_opened = 300, proposed = 3;
    struct Candidate {
      Nearness nearness;
      std::string name;
      const WeightSource* source;
    };
    // parts = 2: in Keras, a dataset contains both biases of a cell.
    if (const std::string unknown =
            weight.unknown_in(*sources_.layout, {.name = weight.name, .parts = 2});
        !unknown.empty())
      return str_cat(" (", unknown, " cannot be read from this layout)");
    const std::string in_layout = sources_.layout->dataset_of(weight.name).name;
    std::vector<Candidate> candidates;
    for (const WeightSource& source : sources_.unexpected) {
      if (candidates.size() == max_compared) break;
      const std::string& name =
          sources_.layout->rewrites_model ? source.dataset : source.weight.name;
      candidates.push_back(
          {std::ranges::min(nearness(weight.name, name), nearness(in_layout, source.dataset), {},
                            &Nearness::distance),
           name, &source});
    }
    std::ranges::stable_sort(candidates, {}, [](const Candidate& candidate) {
      return std::pair(!candidate.nearness.is_similar, candidate.nearness.distance);
    });
    Names similar, of_shape;
    for (std::size_t i = 0; i < std::min(candidates.size(), max_opened); ++i) {
      const auto& [nearness, name, source] = candidates[i];
      const Shape shape = shape_of(*source);
      const bool fits = weight.unknown_in(*sources_.layout, source->weight).empty() &&
                        weight.form(*sources_.layout, source->weight).fits(shape);
      if (similar.size() + of_shape.size() == proposed) break;
      if (nearness.is_similar)
        similar.push_back(fits ? name : str_cat(name, ' ', shape));
      else if (fits)
        of_shape.push_back(name);
    }
    std::string text;
    for (const auto& [what, names] :
         {std::pair("similar name: ", &similar), {"same shape: ", &of_shape}})
      if (!names->empty()) text += (text.empty() ? "" : "; ") + (what + first_of(*names, proposed));
    return text.empty() ? "" : " (" + text + ')';
  }

  // Returns the shape of a dataset, or [0] if the dataset cannot be read.
  Shape shape_of(const WeightSource& source) const {
    try {
      return file_.dataset(source.path).shape();
    } catch (const FileError&) {
      return {0};
    }
  }

  // Returns whether a parameter has a different name in the file.
  bool is_renamed(std::size_t index, const WeightSource& source) const {
    return source.dataset != sources_.prefix + weights_.all[index].name;
  }

  void check_tied(const Match& match) {
    const std::string& name = weights_.all[match.index].name;
    if (!has_values(match.dataset, match.form, *values_[match.index]))
      fail_on_file(file_.path(),
                   str_cat("equal values of the tied weights ", name, " and ", match.source),
                   "different values");
    report_.tied.push_back(str_cat(match.source, " as ", name));
  }

  void describe(const Match& match) {
    const ModelWeight& weight = weights_.all[match.index];
    report_.loaded.push_back(weight.name);
    if (is_renamed(match.index, match.source))
      report_.renamed.push_back(str_cat(weight.name, " from ", match.source));
    if (const Shape shape = match.dataset.shape();
        match.form.is_transposed || shape != match.form.dataset())
      report_.reshaped.push_back(str_cat(weight.name, " from ", shape));
    if (const std::string type = match.dataset.type();
        type != (std::is_same_v<T, float> ? "float32" : "float64"))
      report_.converted.push_back(str_cat(weight.name, " from ", type));
  }

  const TensorFile& file_;
  Module<T>& model_;
  ModelWeights weights_;
  NameFilter ignore_unexpected_, ignore_missing_, only_ = every_name, except_;
  std::vector<std::pair<NamePattern, std::string>> renames_;
  WeightSources sources_;
  std::vector<Match> matches_;
  Differences differences_;
  std::vector<std::optional<Tensor<T>>> values_;  // by index of the parameter
  LoadWeightsReport report_;
};

}  // namespace

template <class T>
LoadWeightsReport load_weights(const TensorFile& file, Module<T>& model,
                               const LoadWeightsOptions& options) {
  return Loader<T>(file, model, options).load();
}

template <class T>
LoadWeightsReport load_weights(const fs::path& path, Module<T>& model,
                               const LoadWeightsOptions& options) {
  return load_weights(*open_tensor_file(path), model, options);
}

std::ostream& operator<<(std::ostream& stream, const LoadWeightsReport& report) {
  constexpr std::size_t shown = 8;
  TextStream out;
  out << "loaded " << report.loaded.size()
      << (report.loaded.size() == 1 ? " parameter" : " parameters");
  if (report.averaged) out << ", averaged";
  if (!report.prefix.empty()) out << " from below '" << printable(report.prefix) << '\'';
  out << ", layout " << report.layout << '\n';
  const auto write = [&](const char* kind, const std::vector<std::string>& names) {
    if (names.empty()) return;
    out << names.size() << ' ' << kind << ": " << printable(first_of(names, shown)) << '\n';
  };
  write("renamed", report.renamed);
  write("reshaped", report.reshaped);
  write("converted", report.converted);
  write("tied", report.tied);
  write("missing", report.missing);
  write("unexpected", report.unexpected);
  write("unused", report.unused);
  return stream << out.str();
}

template LoadWeightsReport load_weights(const TensorFile&, Module<float>&,
                                        const LoadWeightsOptions&);
template LoadWeightsReport load_weights(const TensorFile&, Module<double>&,
                                        const LoadWeightsOptions&);
template LoadWeightsReport load_weights(const fs::path&, Module<float>&, const LoadWeightsOptions&);
template LoadWeightsReport load_weights(const fs::path&, Module<double>&,
                                        const LoadWeightsOptions&);

}  // namespace weft
