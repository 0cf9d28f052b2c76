#include "examples/pronounce/evaluation.hpp"

namespace weft::pronounce {

ErrorRates error_rates(const Pronouncer<float>& model, const Language& language,
                       std::span<const Entry> entries, const BeamSearchOptions& options) {
  ErrorRates rates;
  std::vector<TokenIds> words;
  std::vector<const Entry*> word_entries;
  for (const Entry& entry : entries) {
    if (!language.can_encode(entry.word)) {
      rates.add({}, entry.pronunciations);
      continue;
    }
    words.push_back(language.encode(entry.word));
    word_entries.push_back(&entry);
  }
  const auto hypotheses = beam_search(model, words, options);
  for (std::size_t i = 0; i < hypotheses.size(); ++i)
    rates.add(language.decode(hypotheses[i].front().tokens), word_entries[i]->pronunciations);
  return rates;
}

}  // namespace weft::pronounce
