#include "train/weights.hpp"

#include <algorithm>
#include <map>
#include <ostream>

#include "autograd/error.hpp"
#include "train/checkpoint.hpp"
#include "train/dataset_names.hpp"
#include "train/differences.hpp"
#include "train/finite.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using Paths = std::map<std::string, std::string>;  // by name

// The names that begin with `prefix`, without it.
Paths below(const Paths& paths, const std::string& prefix) {
  Paths found;
  for (auto entry = paths.lower_bound(prefix);
       entry != paths.end() && entry->first.starts_with(prefix); ++entry)
    found.emplace(entry->first.substr(prefix.size()), entry->second);
  return found;
}

// What all names have in front of their next part: "a.b." for "a.b.c" and "a.b.d.e".
std::string common_prefix(const Paths& paths) {
  if (paths.empty()) return "";
  const std::string& first = paths.begin()->first;
  const std::string& last = paths.rbegin()->first;
  const auto differ = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
  const std::string common(first.begin(), differ);
  return common.substr(0, common.rfind('.') + 1);
}

// The first place where any of the parameters are.
template <class T>
std::string prefix_of(const Paths& paths, const NamedParameters<T>& parameters) {
  std::vector<std::string> candidates{"", "model."};
  const std::string common = common_prefix(paths);
  for (std::size_t dot = common.find('.'); dot != std::string::npos;
       dot = common.find('.', dot + 1))
    candidates.push_back(common.substr(0, dot + 1));
  for (const std::string& prefix : candidates)
    for (const auto& [name, parameter] : parameters)
      if (paths.contains(prefix + name)) return prefix;
  return "";
}

bool is_float(const std::string& type) {
  return type.ends_with("float16") || type.ends_with("float32") || type.ends_with("float64");
}

template <class T>
struct Match {
  NamedParameter<T> parameter;
  Hdf5Dataset dataset;
};

// The datasets of the parameters that are in the file with their shapes. Takes them out of `paths`
// and notes the others.
template <class T>
std::vector<Match<T>> match(const Hdf5File& file, const NamedParameters<T>& parameters,
                            Paths& paths, Differences& differences) {
  std::vector<Match<T>> matches;
  for (const auto& [name, parameter] : parameters) {
    const auto entry = paths.extract(name);
    if (entry.empty()) {
      differences.missing.push_back(concatenate_text(name, ' ', parameter->shape()));
      continue;
    }
    Hdf5Dataset dataset = file.dataset(entry.mapped());
    if (const std::string type = dataset.type(); !is_float(type))
      differences.check_type(name, "floating-point numbers", type);
    else
      differences.check_shape(name, parameter->shape(), dataset.shape());
    matches.push_back({{name, parameter}, std::move(dataset)});
  }
  for (const auto& [name, path] : paths) differences.unexpected.push_back(name);
  return matches;
}

}  // namespace

template <class T>
LoadWeightsReport load_weights(const fs::path& path, Module<T>& model,
                               const LoadWeightsOptions& options) {
  const NamedParameters<T> parameters = named_parameters(model);
  const Hdf5File file(path);
  const Paths all = datasets_by_name(file, options.group);

  LoadWeightsReport report;
  if (options.group.empty()) report.prefix = prefix_of(all, parameters);
  Paths paths = below(all, report.prefix);
  Differences differences;
  const std::vector<Match<T>> matches = match(file, parameters, paths, differences);
  if (!options.strict) {
    report.missing = std::exchange(differences.missing, {});
    report.unexpected = std::exchange(differences.unexpected, {});
  }
  if (!differences.empty() || matches.empty())
    fail<FileError>(concatenate_text(path), "the parameters of the model",
                    concatenate_text(matches.empty() ? "none of them" : "others", differences));

  std::vector<Tensor<T>> values;
  for (const auto& [parameter, dataset] : matches) {
    values.push_back(dataset.template tensor<T>(parameter.parameter->shape()));
    check_finite(concatenate_text(path, ' ', dataset.path()), values.back());
    report.loaded.push_back(parameter.name);
    if (const std::string type = dataset.type();
        type != (std::is_same_v<T, float> ? "float32" : "float64"))
      report.converted.push_back(concatenate_text(parameter.name, " from ", type));
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    std::copy(values[i].begin(), values[i].end(), matches[i].parameter.parameter->value().begin());
  return report;
}

template <class T>
void save_weights(const fs::path& path, Module<T>& model) {
  save_checkpoint(path, model);
}

std::ostream& operator<<(std::ostream& out, const LoadWeightsReport& report) {
  out << report.loaded.size() << " parameters loaded";
  if (!report.prefix.empty()) out << " from below '" << report.prefix << '\'';
  const auto write = [&](const char* kind, const std::vector<std::string>& names) {
    if (names.empty()) return;
    out << '\n' << names.size() << ' ' << kind << ": ";
    for (std::size_t i = 0; i < names.size(); ++i) out << (i > 0 ? ", " : "") << names[i];
  };
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
