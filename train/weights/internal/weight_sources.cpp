#include "train/weights/internal/weight_sources.hpp"

#include <algorithm>
#include <ostream>
#include <set>

#include "train/weights/internal/weight_names.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;
using Paths = std::map<std::string, std::string>;          // by name
using Sources = std::multimap<std::string, WeightSource>;  // by the name of the weight

// The longest common prefix of all names that ends with a dot: "a.b." for "a.b.c" and "a.b.d.e".
std::string common_prefix(const Sources& sources) {
  if (sources.empty()) return "";
  const std::string& first = sources.begin()->first;
  const std::string& last = sources.rbegin()->first;
  const auto mismatch = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
  const std::string common(first.begin(), mismatch);
  return common.substr(0, common.rfind('.') + 1);
}

// Candidates for the prefix of the parameters' names.
Names prefixes(const Sources& sources) {
  Names prefixes{"", "model."};
  const std::string common = common_prefix(sources);
  for (std::size_t dot = common.find('.'); dot != std::string::npos;
       dot = common.find('.', dot + 1))
    prefixes.push_back(common.substr(0, dot + 1));
  return prefixes;
}

// The names of the parameters and of the weights in the file, in the same form.
struct Search {
  Names parameters;
  Sources sources;
  std::string prefix = "";
  std::size_t found = 0;  // number of parameters below the prefix

  // Keeps the first prefix with the most parameters.
  void try_prefix(const std::string& candidate) {
    const auto is_present = [&](const std::string& name) {
      return sources.contains(candidate + name);
    };
    const auto count =
        static_cast<std::size_t>(std::count_if(parameters.begin(), parameters.end(), is_present));
    if (count <= found) return;
    prefix = candidate;
    found = count;
  }
};

Search by_own_names(const Names& parameters, const Paths& paths) {
  Search search{parameters, {}};
  for (const auto& [name, path] : paths) search.sources.emplace(name, WeightSource{name, path});
  return search;
}

Search by_common_names(const Names& parameters, const Paths& paths) {
  Search search;
  for (const std::string& name : parameters) search.parameters.push_back(common_name(name));
  for (const auto& [name, path] : paths) {
    const Names weights = common_names(name);
    for (std::size_t i = 0; i < weights.size(); ++i)
      search.sources.emplace(weights[i],
                             WeightSource{name, path, static_cast<Index>(i), std::ssize(weights)});
  }
  return search;
}

}  // namespace

Shape WeightSource::dataset_shape(const Shape& parameter) const {
  if (parts == 1) return parameter;
  return parameter.rank() == 0 ? Shape{parts} : parameter.with(0, parts * parameter[0]);
}

std::ostream& operator<<(std::ostream& out, const WeightSource& source) {
  out << source.dataset;
  if (source.parts > 1) out << ", part " << source.part + 1 << " of " << source.parts;
  return out;
}

WeightSources find_weight_sources(const Names& parameters, const Paths& paths, bool anywhere) {
  const auto try_prefixes = [&](Search search) {
    for (const std::string& prefix : anywhere ? prefixes(search.sources) : Names{""})
      search.try_prefix(prefix);
    return search;
  };
  Search search = try_prefixes(by_own_names(parameters, paths));
  if (search.found < parameters.size())
    if (Search common = try_prefixes(by_common_names(parameters, paths));
        common.found > search.found)
      search = std::move(common);

  WeightSources result{.prefix = search.prefix, .sources = {}, .unexpected = {}};
  for (const std::string& name : search.parameters) {
    auto entry = search.sources.extract(search.prefix + name);
    result.sources.push_back(entry ? std::optional(std::move(entry.mapped())) : std::nullopt);
  }
  std::set<std::string> unexpected;
  for (auto entry = search.sources.lower_bound(search.prefix);
       entry != search.sources.end() && entry->first.starts_with(search.prefix); ++entry)
    unexpected.insert(entry->second.dataset);
  result.unexpected.assign(unexpected.begin(), unexpected.end());
  return result;
}

}  // namespace weft
