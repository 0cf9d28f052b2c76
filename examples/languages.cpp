// Classifies sequences: predicts the language of a word from its letters.
//   languages [WORDS.csv [FOLDER]]    columns `word` and `language`; FOLDER is for report.html
#include <algorithm>
#include <functional>
#include <iostream>
#include <numeric>

#include <weft/weft.hpp>
#include "examples/common/training_report.hpp"

using namespace weft;

int main(int argc, char** argv) try {
  const std::string file = argc > 1 ? argv[1] : WEFT_EXAMPLES_DATA "/words.csv";
  if (argc > 2) examples::check_outputs(argv[2], {file});
  const Table table = read_csv(file);
  const auto &words = table.texts("word"), &labels = table.texts("language");
  const Vocabulary languages = Vocabulary::of_labels(labels);
  const Vocabulary letters =
      Vocabulary::of_characters(std::accumulate(words.begin(), words.end(), std::string()));
  std::vector<LabelledSequence> labelled;
  for (std::size_t i = 0; i < words.size(); ++i)
    labelled.push_back({letters.encode_text(words[i]), languages.id(labels[i])});
  const auto [training, held_out] = split_examples(labelled, 0.8, 1);

  Random random(1);
  EncoderClassifier model({.vocabulary_size = letters.size(),
                           .num_classes = languages.size(),
                           .max_len = 32,
                           .pooling = Pooling::max,
                           .transformer = {.num_blocks = 2,
                                           .num_hiddens = 64,
                                           .ffn_num_hiddens = 128,
                                           .num_heads = 4,
                                           .dropout = 0.2}},
                          random);
  const auto logits = [&](Tape<float>& tape, const LabelledBatch& batch) {
    return model(tape, batch.sequences.tokens, batch.sequences.valid_lens);
  };
  AdamW optimizer(model, {.lr = 2e-3, .weight_decay = 0.1});
  LabelledBatches batches(training, {.batch_size = 16}), validation(held_out);
  const auto loss = [&](Tape<float>& tape, const LabelledBatch& batch) {
    return cross_entropy(logits(tape, batch), batch.labels);
  };
  const auto accuracy_of = [&](Tape<float>& tape, const LabelledBatch& batch) {
    return accuracy(logits(tape, batch), batch.labels);
  };
  Trainer trainer(model, optimizer, batches, loss,
                  {.epochs = 25, .folder = argc > 2 ? argv[2] : "", .output = &std::cout});
  trainer.validate_on(validation, {}, {{"accuracy", accuracy_of}});
  trainer.show_examples([&](ReportSection& section) {
    Tensor<double> counts({languages.size(), languages.size()});
    for (Index i = 0; i < validation.num_batches(); ++i) {
      Tape<float> tape = Tape<float>::inference();
      const LabelledBatch batch = validation.batch(0, i);
      const Tensor<double> more = confusion_matrix(logits(tape, batch).value(), batch.labels);
      std::transform(counts.begin(), counts.end(), more.begin(), counts.begin(), std::plus());
    }
    std::vector<std::string> names;
    for (Index i = 0; i < languages.size(); ++i)
      names.push_back(languages.symbol(static_cast<TokenId>(i)));
    section.confusion("held-out words", names, counts);
  });
  trainer.run();
} catch (const Error& error) {
  std::cerr << "languages: " << error.what() << '\n';
  return 1;
}
