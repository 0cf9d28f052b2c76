// ModelDescription: the type and the options of a model by name, as checkpoints store them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"

namespace weft {

// The value of an option: 0 or 1 for a flag, the name of the value for an enumeration.
using OptionValue = std::variant<std::int64_t, double, std::string>;

// Values of options by name. The fields of nested options have dotted names
// ("transformer.rotary.base"). Optional fields that are not set are absent.
using OptionValues = std::map<std::string, OptionValue>;

// The type of a model and the options that it was made of.
struct ModelDescription {
  std::string type;      // "Gpt"
  OptionValues options;  // of GptOptions

  friend bool operator==(const ModelDescription&, const ModelDescription&) = default;
};

// A struct of options with a list of its fields:
//   template <class Self, class Visit>
//   static void for_each_field(Self& self, const Visit& visit) {
//     visit("num_hiddens", self.num_hiddens);                     // integers, numbers, flags
//     visit("activation", self.activation, activation_names);     // enumerations
//     visit("rotary", self.rotary);                               // options with such a list
//   }
// Each of them can be a std::optional.
template <class Options>
concept OptionsWithFields = requires(Options& options) {
  Options::for_each_field(options, [](const char*, auto&, const auto&...) {});
};

// Reads fields of options from their values by name.
class WEFT_API OptionReader {
 public:
  // Creates a reader of these values.
  explicit OptionReader(const OptionValues& values) : values_(values) {}

  // Reads each field. Fields without a value, or with a value of another type, are unchanged.
  // Throws ValueError for an unknown name of an enumeration's value.
  template <class Options>
  void read(Options& options, const std::string& prefix = "") {
    Options::for_each_field(options,
                            [&]<class Value>(const char* name, Value& value, const auto&... names) {
                              read_field(prefix + name, value, names...);
                            });
  }

  // Throws ValueError, with a message that starts with `what` and lists the names, if a field had
  // no value or a value of another type, or if there are values that are not of a field.
  void check(const std::string& what) const;

 private:
  template <class Value, class... Names>
  void read_field(const std::string& name, Value& value, const Names&... names) {
    if constexpr (requires { value.emplace(); }) {
      value.reset();
      if (contains(name)) read_field(name, value.emplace(), names...);
    } else if constexpr (OptionsWithFields<Value>) {
      read(value, name + '.');
    } else if constexpr (std::is_enum_v<Value>) {
      std::string text;
      if (take(name, text)) value = enum_from_name(name.c_str(), text, names...);
    } else if constexpr (std::is_same_v<Value, bool> || std::is_same_v<Value, double>) {
      (void)take(name, value);
    } else {
      static_assert(std::is_integral_v<Value>);
      std::int64_t number = 0;
      if (take(name, number)) value = static_cast<Value>(number);
    }
  }

  // Whether there is a value with this name, or one whose name begins with it and a dot.
  bool contains(const std::string& name) const;
  // Moves the value with this name to `value`, which is a flag, an integer, a number or a string.
  // Returns false if the value is missing or has a different type.
  template <class T>
  bool take(const std::string& name, T& value);

  OptionValues values_;             // that were not read
  std::vector<std::string> wrong_;  // descriptions of missing values, and of other types
};

extern template bool OptionReader::take(const std::string&, bool&);
extern template bool OptionReader::take(const std::string&, std::int64_t&);
extern template bool OptionReader::take(const std::string&, double&);
extern template bool OptionReader::take(const std::string&, std::string&);

// Returns the values of all fields of options.
template <class Options>
OptionValues option_values(const Options& options) {
  OptionValues values;
  const auto add = [&values](const auto& self, const std::string& prefix, const auto& fields,
                             const auto&... field_names) -> void {
    using Value = std::remove_cvref_t<decltype(fields)>;
    if constexpr (requires { fields.has_value(); }) {
      if (fields) self(self, prefix, *fields, field_names...);
    } else if constexpr (OptionsWithFields<const Value>) {
      Value::for_each_field(fields, [&](const char* name, const auto& value, const auto&... names) {
        self(self, prefix.empty() ? name : prefix + '.' + name, value, names...);
      });
    } else if constexpr (std::is_enum_v<Value>) {
      values.emplace(prefix, std::string(name_of(prefix.c_str(), fields, field_names...)));
    } else if constexpr (std::is_same_v<Value, double>) {
      values.emplace(prefix, fields);
    } else {
      static_assert(std::is_integral_v<Value>);
      values.emplace(prefix, static_cast<std::int64_t>(fields));
    }
  };
  add(add, "", options);
  return values;
}

// Returns options with these values. Throws ValueError, with a message that starts with `what` and
// lists the names, unless there is a value of its type for each field that is not optional, and
// none besides those of the fields.
//   const auto options = options_from<GptOptions>(gpt.description()->options, "Gpt");
template <class Options>
Options options_from(const OptionValues& values, const std::string& what) {
  Options options;
  OptionReader reader(values);
  reader.read(options);
  reader.check(what);
  return options;
}

}  // namespace weft
