#include "train/weights/internal/weight_sources.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <set>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;
using Sources = std::multimap<std::string, WeightSource>;  // by the name of the weight

bool has_mark(const WeightLayout& layout, const Hdf5File& file, const PathsByName& paths) {
  return std::ranges::any_of(paths, [&](const auto& entry) {
    const auto& [name, path] = entry;
    const bool is_marked = std::ranges::any_of(
        layout.marks, [&dataset = name](std::string_view mark) { return dataset.ends_with(mark); });
    return is_marked && (!layout.may_have || layout.may_have(file.dataset(path).shape()));
  });
}

// The names of the parameters and of the weights in the file, in the form of one layout.
class Candidate {
 public:
  Candidate(const WeightLayout& layout, const ModelWeights& model, Sources sources, bool anywhere)
      : layout_(layout), sources_(std::move(sources)) {
    for (const ModelWeight& weight : model.all) parameters_.push_back(in_model(weight.name));
    for (const auto& [name, parameter] : model.tied) tied_.emplace(in_model(name), parameter);
    for (const std::string& prefix : anywhere ? prefixes() : Names{""}) try_prefix(prefix);
  }

  // The number of parameters below the prefix.
  std::size_t found() const { return found_; }

  bool has_mark() const { return !layout_.marks.empty(); }

  WeightSources result() && {
    WeightSources result{&layout_, prefix_};
    const auto take = [&](const std::string& name, std::size_t index) {
      const auto entry = sources_.find(prefix_ + name);
      if (entry == sources_.end()) return;
      check_unique(entry, result.ambiguous);
      result.found.push_back({index, entry->second});
      sources_.erase(entry);
    };
    for (std::size_t i = 0; i < parameters_.size(); ++i) take(parameters_[i], i);
    for (const auto& [name, parameter] : tied_) take(name, parameter);
    std::ranges::stable_sort(result.found, {}, &FoundWeight::index);
    std::set<std::string> datasets;
    for (const auto& [name, source] : sources_) {
      if (!datasets.insert(source.dataset).second) continue;
      if (name.starts_with(prefix_) && !source.weight.is_optional)
        result.unexpected.push_back(source);
      else
        result.left.push_back(source.dataset);
    }
    std::ranges::sort(result.unexpected, {}, &WeightSource::dataset);
    std::ranges::sort(result.left);
    return result;
  }

 private:
  std::string in_model(const std::string& name) const {
    return layout_.rewrites_model ? layout_.weights_in(name).front().name : name;
  }

  Names prefixes() const {
    Names prefixes{"", "model."}, anchored;
    for (const auto& [name, source] : sources_)
      if (!layout_.anchor.empty() && name.ends_with('.' + layout_.anchor))
        anchored.push_back(name.substr(0, name.size() - layout_.anchor.size()));
    if (anchored.size() == 1) prefixes.push_back(anchored.front());
    const std::string common = common_start();
    for (std::size_t dot = common.find('.'); dot != std::string::npos;
         dot = common.find('.', dot + 1))
      prefixes.push_back(common.substr(0, dot + 1));
    return prefixes;
  }

  // What all names begin with: they are sorted.
  std::string common_start() const {
    const auto is_required = [](const auto& entry) { return !entry.second.weight.is_optional; };
    const auto first = std::find_if(sources_.begin(), sources_.end(), is_required);
    const auto last = std::find_if(sources_.rbegin(), sources_.rend(), is_required);
    if (first == sources_.end()) return "";
    return {first->first.begin(), std::ranges::mismatch(first->first, last->first).in1};
  }

  // Keeps the first prefix with the most parameters.
  void try_prefix(const std::string& prefix) {
    const auto is_present = [&](const std::string& name) {
      return sources_.contains(prefix + name);
    };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(parameters_, is_present));
    if (count <= found_) return;
    prefix_ = prefix;
    found_ = count;
  }

  // Another source of the same name is ambiguous, unless it is for a parameter with the same name
  // in the form of the layout.
  void check_unique(Sources::const_iterator entry, Names& ambiguous) const {
    const auto next = std::next(entry);
    if (next != sources_.end() && next->first == entry->first &&
        std::ranges::count(parameters_, entry->first.substr(prefix_.size())) < 2)
      ambiguous.push_back(
          concatenate_text(entry->first, ": ", entry->second, " and ", next->second));
  }

  const WeightLayout& layout_;
  Names parameters_;
  std::map<std::string, std::size_t> tied_;
  Sources sources_;
  std::string prefix_;
  std::size_t found_ = 0;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const WeightSource& source) {
  out << source.dataset;
  const WeightPart& weight = source.weight;
  if (weight.parts > 1) out << ", part " << weight.part + 1 << " of " << weight.parts;
  return out;
}

const WeightLayout* marked_layout(const Hdf5File& file, const PathsByName& paths) {
  for (const WeightLayout& layout : weight_layouts())
    if (has_mark(layout, file, paths)) return &layout;
  return nullptr;
}

WeightSources find_weight_sources(const ModelWeights& model, const Hdf5File& file,
                                  const PathsByName& paths,
                                  const std::function<std::string(std::string name)>& rename,
                                  bool anywhere) {
  std::optional<Candidate> best;
  for (const WeightLayout& layout : weight_layouts()) {
    if (best && best->found() == model.all.size()) break;
    if (!layout.marks.empty() && !has_mark(layout, file, paths)) continue;
    Sources sources;
    for (const auto& [dataset, path] : paths)
      for (WeightPart& weight : layout.weights_in(dataset)) {
        weight.name = rename(weight.name);
        sources.emplace(weight.name, WeightSource{weight, dataset, path});
      }
    Candidate candidate(layout, model, std::move(sources), anywhere);
    // When nothing is found, the names are best listed as those of the layout with a mark.
    const bool is_better = !best || candidate.found() > best->found() ||
                           (best->found() == 0 && !best->has_mark() && candidate.has_mark());
    if (is_better) best.emplace(std::move(candidate));
  }
  return std::move(*best).result();
}

}  // namespace weft
