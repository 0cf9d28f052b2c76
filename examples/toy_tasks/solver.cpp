#include "examples/toy_tasks/solver.hpp"

#include "examples/common/search.hpp"

namespace weft::toy_tasks {
namespace {

// Each character a symbol.
Sequence tokens_of(const Vocabulary& vocabulary, const std::string& text) {
  Sequence tokens;
  for (const char c : text) tokens.push_back(vocabulary.id({&c, 1}));
  return tokens;
}

examples::EncoderDecoder<float> make_model(const Task& task, const Vocabulary& vocabulary,
                                           std::uint64_t seed) {
  Random random(seed);
  return {{.source_symbols = vocabulary.size(),
           .target_symbols = vocabulary.size(),
           .max_length = task.longest + 1,
           .transformer = {.num_blocks = blocks,
                           .block = {.num_hiddens = width,
                                     .ffn_num_hiddens = 4 * width,
                                     .num_heads = heads,
                                     .norm_first = true}}},
          random};
}

}  // namespace

Solver::Solver(const Task& of_task, std::uint64_t seed)
    : task(of_task),
      vocabulary(vocabulary_of(of_task)),
      model(make_model(of_task, vocabulary, seed)) {}

Sequence Solver::read(const std::string& question) const {
  return tokens_of(vocabulary, task.spell_question(question));
}

SequencePair Solver::pair(const Example& example) const {
  return {read(example.question), tokens_of(vocabulary, task.spell_answer(example.answer))};
}

std::vector<std::string> Solver::answer(std::span<const std::string> questions) const {
  std::vector<Sequence> sources;
  for (const std::string& question : questions) sources.push_back(read(question));
  std::vector<std::string> answers;
  for (const auto& found : examples::search(model, sources)) {
    std::string spelled;
    for (const std::string& symbol : vocabulary.decode(found.front().tokens)) spelled += symbol;
    answers.push_back(task.read_answer(spelled));
  }
  return answers;
}

double Solver::accuracy(std::span<const Example> examples) const {
  std::vector<std::string> questions;
  for (const Example& example : examples) questions.push_back(example.question);
  const std::vector<std::string> answers = answer(questions);
  double right = 0.0;
  for (std::size_t i = 0; i < examples.size(); ++i) right += answers[i] == examples[i].answer;
  return examples.empty() ? 0.0 : 100.0 * right / static_cast<double>(examples.size());
}

std::filesystem::path checkpoint_of(const std::filesystem::path& folder, const Task& task) {
  return folder / ("toy_tasks_" + task.name + ".h5");
}

}  // namespace weft::toy_tasks
