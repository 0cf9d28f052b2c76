#include "train/weights/internal/weight_places.hpp"

#include <algorithm>
#include <ostream>
#include <set>

#include "train/weights/internal/weight_names.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;
using Paths = std::map<std::string, std::string>;        // by name
using Places = std::multimap<std::string, WeightPlace>;  // by the name of what is there

// What all names have in front of their next part: "a.b." for "a.b.c" and "a.b.d.e".
std::string common_prefix(const Places& places) {
  if (places.empty()) return "";
  const std::string& first = places.begin()->first;
  const std::string& last = places.rbegin()->first;
  const auto differ = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
  const std::string common(first.begin(), differ);
  return common.substr(0, common.rfind('.') + 1);
}

// What may stand in front of the parameters' names.
Names prefixes(const Places& places) {
  Names prefixes{"", "model."};
  const std::string common = common_prefix(places);
  for (std::size_t dot = common.find('.'); dot != std::string::npos;
       dot = common.find('.', dot + 1))
    prefixes.push_back(common.substr(0, dot + 1));
  return prefixes;
}

// The names of the parameters and of what is in the file, in one form.
struct Search {
  Names parameters;
  Places places;
  std::string prefix = "";
  std::size_t found = 0;  // how many of the parameters are below the prefix

  // Stays with the first prefix where most are found.
  void try_prefix(const std::string& candidate) {
    const auto is_there = [&](const std::string& name) {
      return places.contains(candidate + name);
    };
    const auto count =
        static_cast<std::size_t>(std::count_if(parameters.begin(), parameters.end(), is_there));
    if (count <= found) return;
    prefix = candidate;
    found = count;
  }
};

Search by_own_names(const Names& parameters, const Paths& paths) {
  Search search{parameters, {}};
  for (const auto& [name, path] : paths) search.places.emplace(name, WeightPlace{name, path});
  return search;
}

Search by_common_names(const Names& parameters, const Paths& paths) {
  Search search;
  for (const std::string& name : parameters) search.parameters.push_back(common_name(name));
  for (const auto& [name, path] : paths) {
    const Names weights = common_names(name);
    for (std::size_t i = 0; i < weights.size(); ++i)
      search.places.emplace(weights[i],
                            WeightPlace{name, path, static_cast<Index>(i), std::ssize(weights)});
  }
  return search;
}

}  // namespace

Shape WeightPlace::dataset_shape(const Shape& parameter) const {
  if (parts == 1) return parameter;
  return parameter.rank() == 0 ? Shape{parts} : parameter.with(0, parts * parameter[0]);
}

std::ostream& operator<<(std::ostream& out, const WeightPlace& place) {
  out << place.dataset;
  if (place.parts > 1) out << ", part " << place.part + 1 << " of " << place.parts;
  return out;
}

WeightPlaces find_weights(const Names& parameters, const Paths& paths, bool anywhere) {
  const auto look = [&](Search search) {
    for (const std::string& prefix : anywhere ? prefixes(search.places) : Names{""})
      search.try_prefix(prefix);
    return search;
  };
  Search search = look(by_own_names(parameters, paths));
  if (search.found < parameters.size())
    if (Search common = look(by_common_names(parameters, paths)); common.found > search.found)
      search = std::move(common);

  WeightPlaces result{.prefix = search.prefix, .places = {}, .unexpected = {}};
  for (const std::string& name : search.parameters) {
    auto entry = search.places.extract(search.prefix + name);
    result.places.push_back(entry ? std::optional(std::move(entry.mapped())) : std::nullopt);
  }
  std::set<std::string> unexpected;
  for (auto entry = search.places.lower_bound(search.prefix);
       entry != search.places.end() && entry->first.starts_with(search.prefix); ++entry)
    unexpected.insert(entry->second.dataset);
  result.unexpected.assign(unexpected.begin(), unexpected.end());
  return result;
}

}  // namespace weft
