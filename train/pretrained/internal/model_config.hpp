// ModelConfig: the config.json of a Hugging Face model, to be read or written entry by entry.
// Include only in .cpp files.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/ops/activation.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// The entries of a config.json. The options of an architecture are read and written by the same
// function: if the configuration is being read, the functions below set `value` to the entry, or to
// `otherwise` if there is no entry; if it is being written, they set the entry. They throw
// ValueError, naming the entry, for null, a wrong type or a value out of range, as transformers
// does.
class ModelConfig {
 public:
  // Creates a configuration to read. Throws ValueError unless `entries` is an object.
  explicit ModelConfig(nlohmann::json entries);
  // Creates an empty configuration to write.
  ModelConfig() : entries_(nlohmann::json::object()), is_written_(true) {}

  bool is_written() const { return is_written_; }
  const nlohmann::json& entries() const { return entries_; }

  // Returns an entry, or null if the configuration does not contain it.
  const nlohmann::json& at(const std::string& name);
  // Sets an entry. For configurations to write.
  void set(const std::string& name, nlohmann::json value) { entries_[name] = std::move(value); }
  // Returns whether the configuration contains an entry, even if it is null.
  bool contains(const std::string& name);
  // Returns whether the configuration contains an entry that is not null.
  bool has(const std::string& name) { return !at(name).is_null(); }
  // Accepts entries that do not change what the model computes in evaluation.
  void ignore(std::initializer_list<const char*> names);
  // Treats the entry `name` as another name of `known`. If both are present, `name` takes
  // precedence, as with transformers' attribute_map.
  void rename(const std::string& name, const std::string& known);
  // Reads or writes an integer ≥ `lowest`. Without `otherwise`, the entry is required.
  void size(const std::string& name, Index& value, std::optional<Index> otherwise = {},
            Index lowest = 1);
  // Reads or writes an integer > 0, or null for std::nullopt.
  void optional_size(const std::string& name, std::optional<Index>& value,
                     std::optional<Index> otherwise = {});
  void number(const std::string& name, double& value, double otherwise);
  void flag(const std::string& name, bool& value, bool otherwise);
  void text(const std::string& name, std::string& value, const std::string& otherwise);
  // Reads or writes an activation function by its name in transformers.
  void activation(const std::string& name, Activation& value, const std::string& otherwise);
  static std::string name_of_activation(const std::string& entry, Activation value);
  // Reads or writes a token id. Null is treated like a missing entry.
  void token(const std::string& name, TokenId& value, TokenId otherwise, Index vocabulary_size);
  // Reads or writes token ids: one id or a list. When reading, skips ids outside the vocabulary,
  // which a model never generates. `otherwise` replaces a missing entry, but not null.
  void tokens(const std::string& name, TokenIds& value, Index vocabulary_size,
              const nlohmann::json& otherwise = nullptr);
  // Throws ValueError unless the entry is missing, null or `value`, the only supported value.
  void require(const std::string& name, const nlohmann::json& value);
  // Throws ValueError for an entry that was not read and may change what the model computes.
  void check_all_read() const;

 private:
  template <class T>
  void either(const std::string& name, T& value, const T& otherwise);
  Index checked_size(const std::string& name, Index lowest);

  nlohmann::json entries_;
  bool is_written_ = false;
  std::set<std::string> read_;
};

}  // namespace weft
