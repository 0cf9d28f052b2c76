#include "weft/layers/copy_parameters.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

template <class To, class From>
Tensor<To> converted(const Tensor<From>& values) {
  if constexpr (std::is_same_v<From, To>) {
    return values;
  } else {
    auto result = Tensor<To>::uninitialized(values.shape());
    std::ranges::transform(values.values(), result.data(),
                           [](From value) { return static_cast<To>(value); });
    return result;
  }
}

template <class Model>
auto selected(Model& model, const NameFilter& filter) {
  const auto all = named_parameters(model);
  const NameFilter selects = with_tied_names(model, filter);
  std::map<std::string, decltype(all.front().parameter)> parameters;
  for (const auto& [name, parameter] : all)
    if (!selects || selects(name)) parameters.emplace(name, parameter);
  return parameters;
}

void fail_if_missing(const std::vector<std::string>& names, const char* expected) {
  if (names.empty()) return;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  fail<ValueError>("copy_parameters", expected, list);
}

}  // namespace

template <class From, class To>
Index copy_parameters(const Module<From>& from, Module<To>& to, const NameFilter& filter) {
  const auto sources = selected(from, filter);
  const auto targets = selected(to, filter);
  if (targets.empty() && sources.empty())
    fail<ValueError>("copy_parameters", "at least one selected parameter", 0);
  std::vector<std::string> only_from, only_to;
  for (const auto& [name, parameter] : sources)
    if (!targets.contains(name)) only_from.push_back(name);
  for (const auto& [name, parameter] : targets)
    if (!sources.contains(name)) only_to.push_back(name);
  fail_if_missing(only_from, "no parameters that are only in the source model");
  fail_if_missing(only_to, "no parameters that are only in the target model");
  for (const auto& [name, parameter] : targets)
    if (const Shape& shape = sources.at(name)->shape(); shape != parameter->shape())
      fail<ShapeError>("copy_parameters: " + name, parameter->shape(), shape);
  std::vector<std::pair<Parameter<To>*, Tensor<To>>> values;
  for (const auto& [name, parameter] : targets)
    values.emplace_back(parameter, converted<To>(sources.at(name)->value()));
  for (auto& [parameter, value] : values) parameter->set_value(std::move(value));
  return std::ssize(values);
}

template Index copy_parameters(const Module<float>&, Module<float>&, const NameFilter&);
template Index copy_parameters(const Module<float>&, Module<double>&, const NameFilter&);
template Index copy_parameters(const Module<double>&, Module<float>&, const NameFilter&);
template Index copy_parameters(const Module<double>&, Module<double>&, const NameFilter&);

}  // namespace weft
