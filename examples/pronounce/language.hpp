// Language: the vocabularies of letters and phones.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weft/train/data/pairs.hpp>
#include <weft/train/data/vocabulary.hpp>
#include "examples/pronounce/configuration.hpp"
#include "examples/pronounce/dictionary.hpp"

namespace weft::pronounce {

struct Language {
  Vocabulary letters;
  Vocabulary phones;

  // All letters and phones of the entries.
  static Language of(std::span<const Entry> entries);
  // The vocabularies stored in a configuration.
  static Language of(const Configuration& configuration);
  void store_in(Configuration& configuration) const;

  // The token ids of a word's letters, with A–Z converted to a–z. Throws ValueError, naming the
  // word, when it is empty, longer than `max_len`, not UTF-8, or contains an unknown letter.
  TokenIds encode(const std::string& word) const;
  bool can_encode(const std::string& word) const;
  // The phones of token ids.
  Phones decode(std::span<const TokenId> tokens) const { return phones.decode(tokens); }

  // One (word, pronunciation) pair for each pronunciation; words that cannot be encoded are
  // skipped. Unknown phones become <unk>.
  std::vector<SequencePair> pairs(std::span<const Entry> entries) const;

  friend bool operator==(const Language&, const Language&) = default;
};

}  // namespace weft::pronounce
