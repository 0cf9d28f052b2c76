#include "train/weights/internal/weight_sources.hpp"

#include <algorithm>
#include <ostream>
#include <set>

#include "train/weights/internal/former_names.hpp"
#include "train/weights/internal/weight_names.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;
using Paths = std::map<std::string, std::string>;          // by name
using Tied = std::map<std::string, std::size_t>;           // indices of parameters by other names
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
  Tied tied;
  Sources sources;
  std::string prefix = "";
  std::size_t found = 0;  // number of parameters below the prefix

  // The source of a parameter below a prefix, under its name or a former one; none if the file has
  // neither.
  Sources::const_iterator source(const std::string& candidate, const std::string& name) const {
    const auto entry = sources.find(candidate + name);
    return entry != sources.end() ? entry : sources.find(candidate + former_name(name));
  }

  // Keeps the first prefix with the most parameters.
  void try_prefix(const std::string& candidate) {
    const auto is_present = [&](const std::string& name) {
      return source(candidate, name) != sources.end();
    };
    const auto count =
        static_cast<std::size_t>(std::count_if(parameters.begin(), parameters.end(), is_present));
    if (count <= found) return;
    prefix = candidate;
    found = count;
  }
};

Search by_own_names(const Names& parameters, const Tied& tied, const Paths& paths) {
  Search search{parameters, tied, {}};
  for (const auto& [name, path] : paths) search.sources.emplace(name, WeightSource{name, path});
  return search;
}

Search by_common_names(const Names& parameters, const Tied& tied, const Paths& paths) {
  Search search;
  for (const std::string& name : parameters) search.parameters.push_back(common_name(name));
  for (const auto& [name, parameter] : tied) search.tied.emplace(common_name(name), parameter);
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

WeightSources find_weight_sources(const Names& parameters, const Tied& tied, const Paths& paths,
                                  bool anywhere) {
  const auto try_prefixes = [&](Search search) {
    for (const std::string& prefix : anywhere ? prefixes(search.sources) : Names{""})
      search.try_prefix(prefix);
    return search;
  };
  Search search = try_prefixes(by_own_names(parameters, tied, paths));
  if (search.found < parameters.size())
    if (Search common = try_prefixes(by_common_names(parameters, tied, paths));
        common.found > search.found)
      search = std::move(common);

  WeightSources result{.prefix = search.prefix, .sources = {}, .tied = {}, .unexpected = {}};
  for (const std::string& name : search.parameters) {
    const auto entry = search.source(search.prefix, name);
    if (entry == search.sources.end()) {
      result.sources.push_back(std::nullopt);
    } else {
      result.sources.push_back(entry->second);
      search.sources.erase(entry);
    }
  }
  for (const auto& [name, parameter] : search.tied) {
    auto entry = search.sources.extract(search.prefix + name);
    if (!entry) continue;
    std::optional<WeightSource>& own = result.sources[parameter];
    if (own)
      result.tied.push_back({parameter, std::move(entry.mapped())});
    else
      own = std::move(entry.mapped());
  }
  std::set<std::string> unexpected;
  for (auto entry = search.sources.lower_bound(search.prefix);
       entry != search.sources.end() && entry->first.starts_with(search.prefix); ++entry)
    unexpected.insert(entry->second.dataset);
  result.unexpected.assign(unexpected.begin(), unexpected.end());
  return result;
}

}  // namespace weft
