// NewSetting: marks the settings of a configuration that earlier checkpoints lack.
#pragma once

#include <string>
#include <type_traits>

namespace weft::examples {

// The name of a setting that checkpoints of weft 0.2 lack. If such a checkpoint is loaded, the
// setting keeps the value of a default-constructed configuration, which must mean what weft 0.2
// did. In for_each_setting (see examples/common/settings.hpp), it stands in place of the name:
//   visit(NewSetting{"muon"}, "update the weight matrices with Muon", self.muon);
struct NewSetting {
  const char* name;

  operator const char*() const { return name; }
  operator std::string() const { return name; }
};

// Returns whether a configuration has a NewSetting called `name`. Implements
// Stateful::is_new_since_0_2.
template <class Configuration>
bool is_new_setting(const Configuration& configuration, const std::string& name) {
  bool found = false;
  Configuration::for_each_setting(configuration,
                                  [&]<class Name>(const Name& setting, const auto&...) {
                                    if constexpr (std::is_same_v<Name, NewSetting>)
                                      found = found || name == setting.name;
                                  });
  return found;
}

}  // namespace weft::examples
