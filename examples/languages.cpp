// Classifies sequences: tells the language of a word from its letters.
//   languages [WORDS.csv]    columns `word` and `language`
#include <iostream>
#include <numeric>

#include <weft/weft.hpp>

using namespace weft;

struct Classifier : Module<float> {
  Classifier(Index letters, Index languages, Random& random)
      : embedding({.num_embeddings = letters, .embedding_dim = 32}, random),
        gru({.input_size = 32, .num_hiddens = 64}, random),
        output({64, languages}, random) {}

  // Result: logits [batch, languages].
  Var<float> operator()(Tape<float>& tape, const PaddedTokens& words) const {
    const Var<float> x = dropout(embedding(tape, words.tokens), 0.2);
    return output(pooling(gru(x, words.valid_lens).states, words.valid_lens));
  }

  void members(Members<float>& members) override {
    members.type("Classifier");
    members("embedding", embedding);
    members("gru", gru);
    members("pooling", pooling);
    members("output", output);
  }

  Embedding<float> embedding;
  GRU<float> gru;
  SequencePooling<float> pooling{Pooling::max};
  Linear<float> output;
};

int main(int argc, char** argv) try {
  const Table table = read_csv(argc > 1 ? argv[1] : WEFT_EXAMPLES_DATA "/words.csv");
  const std::vector<std::string>&words = table.texts("word"), &labels = table.texts("language");
  const Vocabulary languages = Vocabulary::of_labels(labels);
  const Vocabulary letters =
      Vocabulary::of_characters(std::accumulate(words.begin(), words.end(), std::string()));
  std::vector<LabelledSequence> examples;
  for (std::size_t i = 0; i < words.size(); ++i)
    examples.push_back({letters.encode_text(words[i]), languages.id(labels[i])});
  const auto [training, held_out] = split_examples(examples, 0.8, 1);

  Random random(1);
  Classifier model(letters.size(), languages.size(), random);
  AdamW optimizer(model, {.lr = 3e-3, .weight_decay = 0.1});
  LabelledBatches batches(training, {.batch_size = 16}), validation(held_out);
  Trainer trainer(model, optimizer, batches,
                  [&](Tape<float>& tape, const LabelledBatch& batch) {
                    return cross_entropy(model(tape, batch.sequences), batch.labels);
                  },
                  {.epochs = 20, .parts = 2, .output = &std::cout});
  trainer.validate_on(validation, {}, {{"accuracy", [&](Tape<float>& tape, const LabelledBatch& b) {
                                          return accuracy(model(tape, b.sequences), b.labels);
                                        }}});
  trainer.run();
} catch (const Error& error) {
  std::cerr << "languages: " << error.what() << '\n';
  return 1;
}
