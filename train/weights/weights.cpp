#include "weft/train/weights/weights.hpp"

#include <algorithm>
#include <optional>
#include <ostream>
#include <string_view>

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

template <class T>
struct Match {
  NamedParameter<T> parameter;
  WeightSource source;
  Hdf5Dataset dataset;
};

// Returns whether the parameter has another name in the file.
template <class T>
bool is_renamed(const Match<T>& match, const std::string& prefix) {
  return match.source.dataset != prefix + match.parameter.name;
}

// Returns whether a name has the form of one of the patterns, in which '*' stands for any text.
bool is_one_of(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_pattern(pattern, name); });
}

// The datasets of the parameters that are in the file. Records those that have another shape or
// type, and those that are missing or unexpected: in the report when they are ignored.
template <class T>
std::vector<Match<T>> match(const Hdf5File& file, const NamedParameters<T>& parameters,
                            const WeightSources& weights, const LoadWeightsOptions& options,
                            LoadWeightsReport& report, Differences& differences) {
  std::vector<Match<T>> matches;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [name, parameter] = parameters[i];
    const std::optional<WeightSource>& source = weights.sources[i];
    if (!source) {
      if (is_one_of(options.ignore_missing, name))
        report.missing.push_back(name);
      else
        differences.missing.push_back(concatenate_text(name, ' ', parameter->shape()));
      continue;
    }
    Match<T> found{parameters[i], *source, file.dataset(source->path)};
    const std::string what =
        is_renamed(found, weights.prefix) ? concatenate_text(name, " (", *source, ')') : name;
    if (const std::string type = found.dataset.type(); !is_float(type))
      differences.check_type(what, "floating-point numbers", type);
    else
      differences.check_shape(what, source->dataset_shape(parameter->shape()),
                              found.dataset.shape());
    matches.push_back(std::move(found));
  }
  for (const std::string& name : weights.unexpected)
    (is_one_of(options.ignore_unexpected, name) ? report.unexpected : differences.unexpected)
        .push_back(name);
  return matches;
}

// The parameter's elements. Throws NonFiniteError unless all elements of the dataset are finite.
template <class T>
Tensor<T> read(const Hdf5File& file, const Match<T>& match) {
  const Shape& shape = match.parameter.parameter->shape();
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
  const NamedParameters<T> parameters = named_parameters(model);
  std::vector<std::string> names;
  for (const auto& [name, parameter] : parameters) names.push_back(name);
  const Hdf5File file(path);
  const WeightSources weights =
      find_weight_sources(names, datasets_by_name(file, options.group), options.group.empty());

  LoadWeightsReport report;
  report.prefix = weights.prefix;
  Differences differences;
  const std::vector<Match<T>> matches =
      match(file, parameters, weights, options, report, differences);
  if (!differences.empty() || matches.empty())
    throw FileError(concatenate_text(quoted(path), ": expected the parameters of the model, got ",
                                     matches.empty() ? "none of them" : "different ones",
                                     differences));

  std::vector<Tensor<T>> values;
  for (const Match<T>& found : matches) {
    const std::string& name = found.parameter.name;
    values.push_back(read(file, found));
    report.loaded.push_back(name);
    if (is_renamed(found, weights.prefix))
      report.renamed.push_back(concatenate_text(name, " from ", found.source));
    if (const std::string type = found.dataset.type();
        type != (std::is_same_v<T, float> ? "float32" : "float64"))
      report.converted.push_back(concatenate_text(name, " from ", type));
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    matches[i].parameter.parameter->set_value(std::move(values[i]));
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
