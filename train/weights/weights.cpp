#include "weft/train/weights/weights.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "weft/train/weights/checkpoint.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/differences.hpp"
#include "train/weights/internal/name_pattern.hpp"
#include "train/weights/internal/weight_sources.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

bool is_float(const std::string& type) {
  return type.ends_with("float16") || type.ends_with("float32") || type.ends_with("float64");
}

// A parameter or a buffer under its full name.
template <class T>
struct Weight {
  std::string name;
  Parameter<T>* parameter;  // null for a buffer
  Tensor<T>* buffer;        // null for a parameter

  const Shape& shape() const { return parameter ? parameter->shape() : buffer->shape(); }
  void set_value(Tensor<T> value) const {
    if (parameter)
      parameter->set_value(std::move(value));
    else
      *buffer = std::move(value);
  }
};

template <class T>
std::vector<Weight<T>> weights_of(Module<T>& model) {
  std::vector<Weight<T>> all;
  for (const auto& [name, parameter] : named_parameters(model))
    all.push_back({name, parameter, nullptr});
  for (const auto& [name, buffer] : named_buffers(model)) all.push_back({name, nullptr, buffer});
  return all;
}

// The index of each parameter by its other names.
template <class T>
std::map<std::string, std::size_t> tied_indices(Module<T>& model,
                                                const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> indices;
  for (const auto& [name, first] : tied_names(model))
    indices.emplace(name,
                    static_cast<std::size_t>(std::ranges::find(names, first) - names.begin()));
  return indices;
}

template <class T>
struct Match {
  Weight<T> weight;
  WeightSource source;
  Hdf5Dataset dataset;
};

// Returns whether the parameter has another name in the file.
template <class T>
bool is_renamed(const Match<T>& match, const std::string& prefix) {
  return match.source.dataset != prefix + match.weight.name;
}

// Returns whether a name has the form of one of the patterns, in which '*' stands for any text.
bool is_one_of(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_pattern(pattern, name); });
}

// The datasets of the parameters that are in the file. Records those that have another shape or
// type, and those that are missing or unexpected: in the report when they are ignored.
template <class T>
std::vector<Match<T>> match(const Hdf5File& file, const std::vector<Weight<T>>& parameters,
                            const WeightSources& weights, const LoadWeightsOptions& options,
                            LoadWeightsReport& report, Differences& differences) {
  std::vector<Match<T>> matches;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i].name;
    const Shape& shape = parameters[i].shape();
    const std::optional<WeightSource>& source = weights.sources[i];
    if (!source) {
      if (is_one_of(options.ignore_missing, name))
        report.missing.push_back(name);
      else
        differences.missing.push_back(concatenate_text(name, ' ', shape));
      continue;
    }
    matches.push_back({parameters[i], *source, file.dataset(source->path)});
  }
  for (const TiedSource& tied : weights.tied)
    matches.push_back({parameters[tied.parameter], tied.source, file.dataset(tied.source.path)});
  for (const Match<T>& found : matches) {
    const std::string& name = found.weight.name;
    const std::string what =
        is_renamed(found, weights.prefix) ? concatenate_text(name, " (", found.source, ')') : name;
    if (const std::string type = found.dataset.type(); !is_float(type))
      differences.check_type(what, "floating-point numbers", type);
    else
      differences.check_shape(what, found.source.dataset_shape(found.weight.shape()),
                              found.dataset.shape());
  }
  for (const std::string& name : weights.unexpected)
    (is_one_of(options.ignore_unexpected, name) ? report.unexpected : differences.unexpected)
        .push_back(name);
  return matches;
}

// The parameter's elements. Throws NonFiniteError unless all elements of the dataset are finite.
template <class T>
Tensor<T> read(const Hdf5File& file, const Match<T>& match) {
  const Shape& shape = match.weight.shape();
  const Tensor<T> dataset = match.dataset.template tensor<T>(match.source.dataset_shape(shape));
  check_finite(quoted(file.path()) + ' ' + match.dataset.path(), dataset);
  const auto size = static_cast<std::size_t>(shape.elements());
  return Tensor<T>(
      shape, dataset.values().subspan(static_cast<std::size_t>(match.source.part) * size, size));
}

}  // namespace

template <class T>
LoadWeightsReport load_weights(const fs::path& path, Module<T>& model,
                               const LoadWeightsOptions& options) {
  const std::vector<Weight<T>> parameters = weights_of(model);
  std::vector<std::string> names;
  for (const Weight<T>& parameter : parameters) names.push_back(parameter.name);
  const Hdf5File file(path);
  const WeightSources weights =
      find_weight_sources(names, tied_indices(model, names), datasets_by_name(file, options.group),
                          options.group.empty());

  LoadWeightsReport report;
  report.prefix = weights.prefix;
  Differences differences;
  const std::vector<Match<T>> matches =
      match(file, parameters, weights, options, report, differences);
  if (!differences.empty() || matches.empty())
    throw FileError(concatenate_text(quoted(path), ": expected the parameters of the model, got ",
                                     matches.empty() ? "none of them" : "different ones",
                                     differences));

  // Tied weights come last.
  std::map<std::string, Tensor<T>> values;
  for (const Match<T>& found : matches) {
    const std::string& name = found.weight.name;
    Tensor<T> value = read(file, found);
    if (const auto first = values.find(name); first != values.end()) {
      if (!std::ranges::equal(std::as_const(value).values(), std::as_const(first->second).values()))
        fail_on_file(
            path,
            concatenate_text("equal values of the tied weights ", name, " and ", found.source),
            "different ones");
      report.tied.push_back(concatenate_text(found.source, " as ", name));
      continue;
    }
    values.emplace(name, std::move(value));
    report.loaded.push_back(name);
    if (is_renamed(found, weights.prefix))
      report.renamed.push_back(concatenate_text(name, " from ", found.source));
    if (const std::string type = found.dataset.type();
        type != (std::is_same_v<T, float> ? "float32" : "float64"))
      report.converted.push_back(concatenate_text(name, " from ", type));
  }
  for (const Weight<T>& weight : parameters)
    if (auto value = values.extract(weight.name)) weight.set_value(std::move(value.mapped()));
  return report;
}

template <class T>
void save_weights(const fs::path& path, Module<T>& model) {
  save_checkpoint(path, model);
}

std::ostream& operator<<(std::ostream& out, const LoadWeightsReport& report) {
  out << report.loaded.size() << " parameters loaded";
  if (!report.prefix.empty()) out << " from below '" << printable(report.prefix) << '\'';
  out << '\n';
  const auto write = [&](const char* kind, const std::vector<std::string>& names) {
    if (names.empty()) return;
    out << names.size() << ' ' << kind << ": ";
    for (std::size_t i = 0; i < names.size(); ++i)
      out << (i > 0 ? ", " : "") << printable(names[i]);
    out << '\n';
  };
  write("renamed", report.renamed);
  write("converted", report.converted);
  write("tied", report.tied);
  write("missing", report.missing);
  write("unexpected", report.unexpected);
  return out;
}

template LoadWeightsReport load_weights(const fs::path&, Module<float>&, const LoadWeightsOptions&);
template LoadWeightsReport load_weights(const fs::path&, Module<double>&,
                                        const LoadWeightsOptions&);
template void save_weights(const fs::path&, Module<float>&);
template void save_weights(const fs::path&, Module<double>&);

}  // namespace weft
