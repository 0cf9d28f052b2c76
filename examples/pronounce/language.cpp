#include "examples/pronounce/language.hpp"

#include <weft/autograd/error.hpp>
#include <weft/train/files/utf8.hpp>

namespace weft::pronounce {

Language Language::of(std::span<const Entry> entries) {
  std::vector<std::vector<std::string>> words;
  std::vector<Phones> pronunciations;
  for (const Entry& entry : entries) {
    words.push_back(utf8_characters(entry.word, entry.word));
    pronunciations.insert(pronunciations.end(), entry.pronunciations.begin(),
                          entry.pronunciations.end());
  }
  return {Vocabulary::of(words), Vocabulary::of(pronunciations)};
}

Language Language::of(const Configuration& configuration) {
  return {Vocabulary::from_text(configuration.letters),
          Vocabulary::from_text(configuration.phones)};
}

void Language::store_in(Configuration& configuration) const {
  configuration.letters = letters.to_text();
  configuration.phones = phones.to_text();
}

TokenIds Language::encode(const std::string& word) const {
  const std::string what = "word '" + word + "'";
  const std::vector<std::string> characters = utf8_characters(lower_case(word), what);
  if (characters.empty() || characters.size() > max_len)
    fail<ValueError>(what, str_cat("1 to ", max_len, " letters"), characters.size());
  for (const std::string& letter : characters)
    if (!letters.contains(letter))
      fail<ValueError>(what, "letters in the model's vocabulary", "'" + letter + "'");
  return letters.encode(characters);
}

bool Language::can_encode(const std::string& word) const {
  try {
    encode(word);
    return true;
  } catch (const ValueError&) {
    return false;
  }
}

std::vector<SequencePair> Language::pairs(std::span<const Entry> entries) const {
  std::vector<SequencePair> pairs;
  for (const Entry& entry : entries) {
    if (!can_encode(entry.word)) continue;
    for (const Phones& pronunciation : entry.pronunciations)
      pairs.push_back({encode(entry.word), phones.encode(pronunciation)});
  }
  return pairs;
}

}  // namespace weft::pronounce
