// Language: the letters that words are read in and the phones that they are said in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weft/train/data/batches.hpp>
#include <weft/train/data/vocabulary.hpp>
#include "examples/pronounce/configuration.hpp"
#include "examples/pronounce/dictionary.hpp"

namespace weft::pronounce {

struct Language {
  Vocabulary letters;
  Vocabulary phones;

  // All letters and phones of some words.
  static Language of(std::span<const Entry> entries);
  // The one that a configuration keeps.
  static Language of(const Configuration& configuration);
  void keep_in(Configuration& configuration) const;

  // The letters of a word, A–Z as a–z. Throws ValueError, naming the word, when it is empty, longer
  // than `max_length`, not UTF-8, or has a letter that is not of the language.
  Sequence read(const std::string& word) const;
  bool can_read(const std::string& word) const;
  // The phones of token ids.
  Phones say(std::span<const TokenId> tokens) const { return phones.decode(tokens); }

  // Each pronunciation with its word, but for words that cannot be read. Phones that are not of the
  // language become <unk>.
  std::vector<SequencePair> pairs(std::span<const Entry> entries) const;

  friend bool operator==(const Language&, const Language&) = default;
};

}  // namespace weft::pronounce
