#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "examples/common/search.hpp"
#include "examples/pronounce/commands.hpp"
#include "examples/pronounce/options.hpp"
#include "examples/pronounce/saved_model.hpp"

namespace weft::pronounce {
namespace {

void write(const std::string& word, const Phones& phones, const Hypothesis& answer,
           bool with_probability) {
  std::cout << word << "  ";
  if (with_probability)
    std::cout << std::fixed << std::setprecision(3) << answer.log_probability << "  ";
  std::cout << to_string(phones) << '\n';
}

// Writes each word's answers, and complains of words that cannot be read. Returns how many these
// were.
Index say_words(const SavedModel& saved, const std::vector<std::string>& words,
                const examples::SearchOptions& options) {
  std::vector<std::string> readable;
  std::vector<Sequence> letters;
  for (const std::string& word : words) {
    try {
      letters.push_back(saved.language.read(word));
      readable.push_back(word);
    } catch (const ValueError& error) {
      std::cerr << "pronounce say: " << error.what() << '\n';
    }
  }
  const auto answers = search(saved.model, letters, options);
  for (std::size_t i = 0; i < answers.size(); ++i)
    for (const Hypothesis& answer : answers[i])
      write(readable[i], saved.language.say(answer.tokens), answer, options.n_best > 1);
  std::cout.flush();
  return static_cast<Index>(words.size() - readable.size());
}

// Says the words of standard input: at a terminal after each line, otherwise many at a time.
Index say_input(const SavedModel& saved, const examples::SearchOptions& options) {
  const std::size_t words_together = isatty(STDIN_FILENO) ? 1 : 1024;
  Index unreadable = 0;
  std::vector<std::string> words;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream blanks_between(line);
    for (std::string word; blanks_between >> word;) words.push_back(word);
    if (words.size() < words_together) continue;
    unreadable += say_words(saved, words, options);
    words.clear();
  }
  return unreadable + say_words(saved, words, options);
}

}  // namespace

int say(int argc, char** argv) {
  std::string file = default_model;
  std::int64_t beam = 1, n_best = 1;
  std::vector<std::string> words;
  examples::CommandLine line("pronounce say",
                             "Pronounces the words given, or those of standard input.");
  model_option(line, file);
  beam_option(line, beam);
  line.option("n-best", "answers a word, with the logarithms of their probabilities", n_best, 1,
              1000);
  line.arguments("WORD...", words);
  if (!line.parse(argc, argv)) return 0;

  const SavedModel saved(file);
  const examples::SearchOptions options{.beam_width = std::max(beam, n_best), .n_best = n_best};
  const Index unreadable =
      words.empty() ? say_input(saved, options) : say_words(saved, words, options);
  return unreadable == 0 ? 0 : 1;
}

}  // namespace weft::pronounce
