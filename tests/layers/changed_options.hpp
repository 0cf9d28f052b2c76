// changed_options: options in which each field has another value than by default.
#pragma once

#include <type_traits>

#include <weft/layers/model_description.hpp>

namespace weft {

template <class Value, class... Names>
void change_field(Value& value, Index& count, const Names&... names) {
  ++count;
  if constexpr (requires { value.emplace(); }) {
    change_field(value.emplace(), count, names...);
  } else if constexpr (OptionsWithFields<Value>) {
    Value::for_each_field(value, [&](const char*, auto& field, const auto&... field_names) {
      change_field(field, count, field_names...);
    });
  } else if constexpr (std::is_same_v<Value, bool>) {
    value = !value;
  } else if constexpr (std::is_enum_v<Value>) {
    const auto& all = (names, ...);
    value = value == all.back().first ? all.front().first : all.back().first;
  } else {
    value += static_cast<Value>(count) + static_cast<Value>(0.5);
  }
}

template <class Options>
Options changed_options() {
  Options options;
  Index count = 0;
  change_field(options, count);
  return options;
}

}  // namespace weft
