// ModelConfig: the config.json of a model of Hugging Face, read or written entry by entry.
// Included by definitions only.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/ops/activation.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// A form of models is one function of a ModelConfig and options, for both directions: what takes a
// `value` sets it to that of an entry, or to `otherwise` when there is none or it is null; in a
// config that is written, it sets the entry. Throws ValueError, naming the entry, for a value of
// another type or range.
class ModelConfig {
 public:
  // To be read. Throws unless it is an object.
  explicit ModelConfig(nlohmann::json entries);
  // To be written: without entries.
  ModelConfig() : entries_(nlohmann::json::object()), is_written_(true) {}

  bool is_written() const { return is_written_; }
  const nlohmann::json& entries() const { return entries_; }

  // Null where there is none.
  const nlohmann::json& at(const std::string& name);
  // Of a config that is written.
  void set(const std::string& name, nlohmann::json value) { entries_[name] = std::move(value); }
  bool has(const std::string& name) { return !at(name).is_null(); }
  // Of several names, the first that is there; the first one is written. Without `otherwise`, one
  // has to be there.
  void size(const std::vector<std::string>& names, Index& value,
            std::optional<Index> otherwise = {});
  // None for no entry.
  void size(const std::string& name, std::optional<Index>& value);
  void number(const std::string& name, double& value, double otherwise);
  void flag(const std::string& name, bool& value, bool otherwise);
  void text(const std::string& name, std::string& value, const std::string& otherwise);
  // By its name in transformers.
  void activation(const std::string& name, Activation& value, const std::string& otherwise);
  static std::string name_of_activation(const std::string& entry, Activation value);
  // A token, and the tokens of an id or a list of them.
  void token(const std::string& name, TokenId& value, TokenId otherwise, Index vocabulary_size);
  void tokens(const std::string& name, Sequence& value, Index vocabulary_size);
  // The only value that a form has.
  void require(const std::string& name, const nlohmann::json& value);
  // Throws for an entry that nobody read and that might change what the model computes.
  void check_all_read() const;

 private:
  template <class T>
  void either(const std::string& name, T& value, const T& otherwise);
  Index checked_size(const std::string& name);

  nlohmann::json entries_;
  bool is_written_ = false;
  std::set<std::string> read_;
};

}  // namespace weft
