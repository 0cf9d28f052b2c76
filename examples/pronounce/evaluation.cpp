#include "examples/pronounce/evaluation.hpp"

namespace weft::pronounce {

ErrorRates error_rates(const Pronouncer<float>& model, const Language& language,
                       std::span<const Entry> entries, const BeamSearchOptions& options) {
  ErrorRates rates;
  std::vector<Sequence> words;
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

double mean_loss(const Pronouncer<float>& model, BatchSource& batches) {
  Tape tape = Tape<float>::inference();
  double sum = 0.0;
  Index labels = 0;
  for (Index i = 0; i < batches.num_batches(); ++i) {
    const Batch batch = batches.batch(0, i);
    sum += static_cast<double>(batch_loss(model, tape, batch).item()) * batch.divisor;
    labels += batch.num_labels;
    tape.clear();
  }
  return sum / static_cast<double>(labels);
}

}  // namespace weft::pronounce
