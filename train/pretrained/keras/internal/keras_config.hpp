// KerasConfig: the configuration of a Keras layer, to be read entry by entry. Include only in .cpp
// files.
#pragma once

#include <compare>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

// The lowest axis that a configuration may contain.
inline constexpr Index lowest_axis = -8;

// The version of Keras that wrote a file.
struct KerasVersion {
  int major_number = 3, minor_number = 0;
  auto operator<=>(const KerasVersion&) const = default;
};

// The entries of the "config" of a layer. An entry that is missing or null has its default value.
// Functions throw ValueError, naming the entry, for a different type or a value out of range.
class KerasConfig {
 public:
  // Reads `entries` as a version of Keras does. Throws ValueError unless it is an object.
  KerasConfig(nlohmann::json entries, KerasVersion version);

  KerasVersion version() const { return version_; }
  bool is_keras_2() const { return version_.major_number == 2; }
  // Returns an entry, or null if there is none.
  const nlohmann::json& at(const std::string& name);
  bool has(const std::string& name) { return !at(name).is_null(); }
  bool flag(const std::string& name, bool otherwise);
  double number(const std::string& name, double otherwise);
  std::string text(const std::string& name, const std::string& otherwise);
  // Reads an integer between `lowest` and 2³¹ - 1. Without `otherwise`, the entry is required.
  Index size(const std::string& name, std::optional<Index> otherwise = {}, Index lowest = 1);
  // Reads a list of integers, or one integer (as a list of one). Empty if there is no entry.
  std::vector<Index> integers(const std::string& name);
  // Reads the only element of a list, or an integer, such as an axis or the stride of a
  // one-dimensional convolution.
  Index single(const std::string& name, Index otherwise, Index lowest = 1);
  // Accepts entries that do not change the results.
  void ignore(std::initializer_list<const char*> names) {
    read_.insert(names.begin(), names.end());
  }
  // Throws ValueError unless the entry is missing, null or `value`, the only supported value.
  void require(const std::string& name, const nlohmann::json& value);
  // Throws ValueError for an entry that was not read.
  void check_all_read() const;

 private:
  nlohmann::json entries_;
  KerasVersion version_;
  std::set<std::string> read_;
};

}  // namespace weft
