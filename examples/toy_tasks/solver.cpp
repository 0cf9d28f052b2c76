#include "examples/toy_tasks/solver.hpp"

#include <weft/train/text/generation/encoder_decoder_search.hpp>

namespace weft::toy_tasks {
namespace {

// One token per character.
TokenIds encode_characters(const Vocabulary& vocabulary, const std::string& text) {
  TokenIds tokens;
  for (const char c : text) tokens.push_back(vocabulary.id({&c, 1}));
  return tokens;
}

EncoderDecoder<float> make_model(const Task& task, const Vocabulary& vocabulary,
                                 std::uint64_t seed) {
  Random random(seed);
  return {{.source_vocabulary_size = vocabulary.size(),
           .target_vocabulary_size = vocabulary.size(),
           .max_len = task.max_len + 1,
           .transformer = {.num_blocks = blocks,
                           .num_hiddens = width,
                           .ffn_num_hiddens = 4 * width,
                           .num_heads = heads,
                           .norm_first = true}},
          random};
}

}  // namespace

Solver::Solver(const Task& solved_task, std::uint64_t seed)
    : task(solved_task),
      vocabulary(make_vocabulary(solved_task)),
      model(make_model(solved_task, vocabulary, seed)) {}

TokenIds Solver::encode(const std::string& question) const {
  return encode_characters(vocabulary, task.to_source(question));
}

SequencePair Solver::encode_pair(const Example& example) const {
  return {encode(example.question), encode_characters(vocabulary, task.to_target(example.answer))};
}

std::vector<std::string> Solver::answer(std::span<const std::string> questions) const {
  std::vector<TokenIds> sources;
  for (const std::string& question : questions) sources.push_back(encode(question));
  std::vector<std::string> answers;
  for (const Hypothesis& hypothesis : greedy_search(model, sources)) {
    std::string target;
    for (const std::string& symbol : vocabulary.decode(hypothesis.tokens)) target += symbol;
    answers.push_back(task.from_target(target));
  }
  return answers;
}

double Solver::accuracy(std::span<const Example> examples) const {
  std::vector<std::string> questions;
  for (const Example& example : examples) questions.push_back(example.question);
  const std::vector<std::string> answers = answer(questions);
  double correct = 0.0;
  for (std::size_t i = 0; i < examples.size(); ++i) correct += answers[i] == examples[i].answer;
  return examples.empty() ? 0.0 : 100.0 * correct / static_cast<double>(examples.size());
}

std::filesystem::path checkpoint_path(const std::filesystem::path& directory, const Task& task) {
  return directory / ("toy_tasks_" + task.name + ".h5");
}

}  // namespace weft::toy_tasks
