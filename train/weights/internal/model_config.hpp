// ModelConfig: the config.json of a model of Hugging Face, all of whose entries have to be read.
// Included by definitions only.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "weft/autograd/ops/activation.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// Its functions throw ValueError, naming the entry, for a value of another type or range.
class ModelConfig {
 public:
  // Throws unless it is an object.
  explicit ModelConfig(nlohmann::json entries);

  // Null where there is none.
  const nlohmann::json& at(const std::string& name);
  bool has(const std::string& name) { return !at(name).is_null(); }
  // Of several names, the first that is there.
  Index size(const std::vector<std::string>& names);
  std::optional<Index> size_if_given(const std::string& name);
  double number(const std::string& name, double otherwise);
  bool flag(const std::string& name, bool otherwise);
  std::string text(const std::string& name, const std::string& otherwise);
  // The activation that transformers calls so.
  Activation activation(const std::string& name, const std::string& otherwise);
  // A token, and the tokens of an id or a list of them; none for null.
  TokenId token(const std::string& name, TokenId otherwise, Index vocabulary_size);
  Sequence tokens(const std::string& name, Index vocabulary_size);
  // Throws unless the entry is this, if there is one.
  void require(const std::string& name, const nlohmann::json& value);
  // Throws for an entry that nobody read and that might change what the model computes.
  void check_all_read() const;

 private:
  Index checked_size(const std::string& name);

  nlohmann::json entries_;
  std::set<std::string> read_;
};

}  // namespace weft
