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

  // Returns the vocabularies of all letters and phones of the entries.
  static Language of(std::span<const Entry> entries);
  // Returns the vocabularies stored in a configuration.
  static Language of(const Configuration& configuration);
  // Stores the vocabularies in a configuration.
  void store_in(Configuration& configuration) const;

  // Returns the token ids of a word's letters, with A–Z converted to a–z. Throws ValueError, naming
  // the word, if it is empty, longer than `max_len`, not UTF-8, or contains an unknown letter.
  TokenIds encode(const std::string& word) const;
  // Whether `encode` does not throw.
  bool can_encode(const std::string& word) const;
  // Returns the phones of token ids.
  Phones decode(std::span<const TokenId> tokens) const { return phones.decode(tokens); }

  // Returns a pair (word, pronunciation) for each pronunciation. Words that cannot be encoded are
  // skipped. Unknown phones become <unk>.
  std::vector<SequencePair> pairs(std::span<const Entry> entries) const;

  friend bool operator==(const Language&, const Language&) = default;
};

}  // namespace weft::pronounce
