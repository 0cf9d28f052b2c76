#include "train/weights/internal/snapshot.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "train/weights/internal/visit_state.hpp"

namespace weft {

template <class T>
std::function<void()> snapshot(Module<T>& model,
                               const std::type_identity_t<NamedStates<T>>& states) {
  using Value =
      std::variant<Tensor<T>, std::int64_t, bool, double, std::string, Tensor<std::int32_t>>;
  std::vector<std::shared_ptr<Stateful<T>>> objects{std::make_shared<ModelState<T>>(model)};
  for (const NamedState<T>& state : states) objects.push_back(state.object);
  std::vector<Value> values;
  for (const auto& object : objects)
    visit_state(*object, [&](const std::string&, const auto& value) { values.push_back(value); });
  return [objects = std::move(objects), values = std::move(values)] {
    auto next = values.begin();
    for (const auto& object : objects)
      visit_state(*object,
                  [&]<class V>(const std::string&, V& value) { value = std::get<V>(*next++); });
  };
}

template std::function<void()> snapshot(Module<float>&, const NamedStates<float>&);
template std::function<void()> snapshot(Module<double>&, const NamedStates<double>&);

}  // namespace weft
