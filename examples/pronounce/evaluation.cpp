#include "examples/pronounce/evaluation.hpp"

namespace weft::pronounce {

ErrorRates error_rates(const Pronouncer<float>& model, const Language& language,
                       std::span<const Entry> entries, const examples::SearchOptions& options) {
  ErrorRates rates;
  std::vector<Sequence> words;
  std::vector<const Entry*> entry_of_word;
  for (const Entry& entry : entries) {
    if (!language.can_read(entry.word)) {
      rates.add({}, entry.pronunciations);
      continue;
    }
    words.push_back(language.read(entry.word));
    entry_of_word.push_back(&entry);
  }
  const auto answers = search(model, words, options);
  for (std::size_t i = 0; i < answers.size(); ++i)
    rates.add(language.say(answers[i].front().tokens), entry_of_word[i]->pronunciations);
  return rates;
}

double mean_loss(const Pronouncer<float>& model, BatchSource& batches) {
  Tape tape = Tape<float>::inference();
  double sum = 0.0;
  Index labels = 0;
  for (Index i = 0; i < batches.num_batches(); ++i) {
    const Batch batch = batches.batch(0, i);
    sum += static_cast<double>(loss(model, tape, batch, 0.0).item()) * batch.divisor;
    labels += batch.num_labels;
    tape.clear();
  }
  return sum / static_cast<double>(labels);
}

}  // namespace weft::pronounce
