// ModelConfig: the config.json of a model of Hugging Face, read or written entry by entry.
// Included by definitions only.
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

// A form of models is one function of a ModelConfig and options that serves both directions. When
// a configuration is read, the functions below set `value` to the entry, or to `otherwise` if there
// is no entry; when a configuration is written, they set the entry. They throw ValueError, naming
// the entry, for null, a wrong type or a value out of range, as transformers does.
class ModelConfig {
 public:
  // A configuration to read. Throws ValueError unless `entries` is an object.
  explicit ModelConfig(nlohmann::json entries);
  // A configuration to write, without entries.
  ModelConfig() : entries_(nlohmann::json::object()), is_written_(true) {}

  bool is_written() const { return is_written_; }
  const nlohmann::json& entries() const { return entries_; }

  // Returns an entry, or null if there is none.
  const nlohmann::json& at(const std::string& name);
  // Sets an entry of a configuration to write.
  void set(const std::string& name, nlohmann::json value) { entries_[name] = std::move(value); }
  // Returns whether there is an entry, even if it is null.
  bool contains(const std::string& name);
  // Returns whether there is an entry that is not null.
  bool has(const std::string& name) { return !at(name).is_null(); }
  // Accepts entries that do not change what the model computes in evaluation.
  void ignore(std::initializer_list<const char*> names);
  // Reads `name` as a second name of `known`. If both are present, `name` decides, as with the
  // attribute_map of transformers.
  void rename(const std::string& name, const std::string& known);
  // Reads or writes an integer ≥ `lowest`. Without `otherwise`, the entry is required.
  void size(const std::string& name, Index& value, std::optional<Index> otherwise = {},
            Index lowest = 1);
  // Reads or writes an integer > 0 or null, which is no value.
  void optional_size(const std::string& name, std::optional<Index>& value,
                     std::optional<Index> otherwise = {});
  void number(const std::string& name, double& value, double otherwise);
  void flag(const std::string& name, bool& value, bool otherwise);
  void text(const std::string& name, std::string& value, const std::string& otherwise);
  // Reads or writes an activation by its name in transformers.
  void activation(const std::string& name, Activation& value, const std::string& otherwise);
  static std::string name_of_activation(const std::string& entry, Activation value);
  // Reads or writes a token; null counts as no entry.
  void token(const std::string& name, TokenId& value, TokenId otherwise, Index vocabulary_size);
  // Reads or writes the tokens of an id or a list of ids. Ids outside the vocabulary, which a model
  // never generates, are left out. `otherwise` replaces an absent entry, not null.
  void tokens(const std::string& name, TokenIds& value, Index vocabulary_size,
              const nlohmann::json& otherwise = nullptr);
  // Throws unless an entry is absent, null or `value`, the only value that a form supports.
  void require(const std::string& name, const nlohmann::json& value);
  // Throws for an entry that nobody read and that might change what the model computes.
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
