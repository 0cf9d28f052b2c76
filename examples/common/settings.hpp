// Settings: the hyperparameters of a configuration. Checkpoints, the command line and range checks
// all use the same list of settings.
//
// A configuration is a Stateful with a static function template for_each_setting(self, visit),
// where `self` is a const or non-const configuration. The template calls
//   visit(name, description, value, lowest, highest)   for each number (std::int64_t or double),
//   visit(name, description, value)                    for each flag (bool) and each string, which
//                                                      must not be empty.
// `name` is a string literal or, for a setting that weft 0.2 did not have, a NewSetting.
#pragma once

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/train/parallel/broadcast_state.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "examples/common/command_line.hpp"

namespace weft::examples {

// Adds a command-line option for each setting.
template <class Configuration>
void setting_options(CommandLine& line, Configuration& configuration) {
  Configuration::for_each_setting(
      configuration,
      [&](const std::string& name, const std::string& description, auto& value, auto... range) {
        if constexpr (std::is_same_v<decltype(value), bool&>)
          line.flag(name, description, value);
        else
          line.option(name, description, value, range...);
      });
}

// Saves or loads all settings (see State).
template <class Configuration>
void save_settings(State<float>& state, Configuration& configuration) {
  Configuration::for_each_setting(
      configuration, [&]<class Value>(const char* name, const char*, Value& value, auto...) {
        if constexpr (std::is_same_v<Value, double>)
          state.number(name, value);
        else if constexpr (std::is_same_v<Value, std::string>)
          state.text(name, value);
        else if constexpr (std::is_same_v<Value, bool>)
          state.flag(name, value);
        else
          state.integer(name, value);
      });
}

// Throws ValueError, naming the setting, if a setting is out of range.
template <class Configuration>
void check_settings(const Configuration& configuration) {
  const auto check = [](const char* name, auto value, auto lowest, auto highest) {
    if (!(lowest <= value && value <= highest))
      fail<ValueError>(name, str_cat("a value from ", lowest, " to ", highest), value);
  };
  Configuration::for_each_setting(configuration,
                                  [&](const char* name, const char*, auto value, auto... range) {
                                    if constexpr (sizeof...(range) > 0)
                                      check(name, value, range...);
                                  });
}

// Whether a setting may change when training resumes: it affects neither the model nor the data.
inline bool may_change(const std::string& name) {
  static const std::set<std::string> names{"adamw-lr-factor", "average",
                                           "beta2",           "clip-norm",
                                           "decay",           "epochs",
                                           "final-lr",        "lr",
                                           "label-smoothing", "patience",
                                           "steps",           "warmup",
                                           "validate-every",  "validation-batches",
                                           "weight-decay"};
  return names.contains(name);
}

// Throws ValueError, naming the setting, if a setting that may not change differs from `expected`.
template <class Configuration>
void check_settings_equal(const Configuration& configuration, const Configuration& expected) {
  std::vector<std::variant<std::int64_t, bool, double, std::string>> expected_values;
  Configuration::for_each_setting(expected, [&](const char*, const char*, const auto& value,
                                                auto...) { expected_values.emplace_back(value); });
  auto next = expected_values.begin();
  Configuration::for_each_setting(
      configuration, [&]<class Value>(const char* name, const char*, const Value& value, auto...) {
        if (const auto& other = std::get<Value>(*next++); value != other && !may_change(name))
          fail<ValueError>(std::string("--") + name, other, value);
      });
}

// Saves a configuration in the checkpoints of a trainer. Loading them leaves it unchanged, so that
// the settings given when training resumes apply.
template <class Configuration>
class ConfigurationInUse final : public Stateful<float> {
 public:
  explicit ConfigurationInUse(const Configuration& configuration) : configuration_(configuration) {}
  void state(State<float>& state) override {
    Configuration copy = configuration_;
    copy.state(state);
  }
  bool is_new_since_0_2(const std::string& name) const override {
    return configuration_.is_new_since_0_2(name);
  }
  bool was_only_in_0_2(const std::string& name) const override {
    return configuration_.was_only_in_0_2(name);
  }

 private:
  const Configuration& configuration_;
};

// Returns the configuration stored in a checkpoint. Throws FileError if it cannot be read.
template <class Configuration>
Configuration load_configuration(const std::filesystem::path& checkpoint) {
  Configuration configuration;
  load_state(checkpoint, "configuration", configuration);
  return configuration;
}

// Replaces `configuration` by that of the checkpoint in `folder` from which training resumes. The
// root process reads the file. Returns false if there is no checkpoint. Throws FileError if the
// checkpoint cannot be read, and ValueError, naming the setting, if the command line sets a
// different value for a setting that may not change.
template <class Configuration>
bool resume_configuration(const std::filesystem::path& folder, const CommandLine& line,
                          Configuration& configuration, ProcessGroup& processes) {
  Configuration stored;
  const std::string found = processes.broadcast_from_root([&] {
    const std::filesystem::path checkpoint = folder / "last.h5";
    // If the file cannot be accessed, the trainer reports it. A dangling link fails when loaded.
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(checkpoint, error)))
      return std::string();
    stored = load_configuration<Configuration>(checkpoint);
    return checkpoint.string();
  });
  if (found.empty()) return false;
  broadcast_state<float>(processes, stored);
  configuration = stored;
  line.apply();
  check_settings_equal(configuration, stored);
  return true;
}

}  // namespace weft::examples
