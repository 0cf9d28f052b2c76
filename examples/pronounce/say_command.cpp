#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include <weft/train/text/generation/encoder_decoder_search.hpp>
#include "examples/common/text_input.hpp"
#include "examples/pronounce/commands.hpp"
#include "examples/pronounce/options.hpp"
#include "examples/pronounce/saved_model.hpp"

namespace weft::pronounce {
namespace {

void print(const std::string& word, const Phones& phones, const Hypothesis& hypothesis,
           bool with_probability) {
  std::cout << word << "  ";
  if (with_probability)
    std::cout << std::fixed << std::setprecision(3) << hypothesis.log_probability << "  ";
  std::cout << to_string(phones) << '\n';
}

// Prints the hypotheses for each word, and an error for each word that cannot be encoded. Returns
// the number of errors.
Index pronounce_words(const SavedModel& saved, const std::vector<std::string>& words,
                      const BeamSearchOptions& options) {
  std::vector<std::string> encoded_words;
  std::vector<TokenIds> letters;
  for (const std::string& word : words) {
    try {
      letters.push_back(saved.language.encode(word));
      encoded_words.push_back(word);
    } catch (const ValueError& error) {
      std::cerr << "pronounce say: " << error.what() << '\n';
    }
  }
  const auto hypotheses = beam_search(saved.model, letters, options);
  for (std::size_t i = 0; i < hypotheses.size(); ++i)
    for (const Hypothesis& hypothesis : hypotheses[i])
      print(encoded_words[i], saved.language.decode(hypothesis.tokens), hypothesis,
            options.n_best > 1);
  std::cout.flush();
  return static_cast<Index>(words.size() - encoded_words.size());
}

// Pronounces the words of standard input: line by line on a terminal, otherwise in batches. Throws
// FileError if standard input cannot be read or has no words.
Index pronounce_input(const SavedModel& saved, const BeamSearchOptions& options) {
  const std::string what = "standard input";
  const std::size_t batch_size = isatty(STDIN_FILENO) ? 1 : 1024;
  Index errors = 0;
  std::vector<std::string> words;
  std::string line;
  std::size_t count = 0;
  for (bool is_first = true; std::cout && examples::read_line(std::cin, line, what);
       is_first = false) {
    if (is_first) examples::remove_byte_order_mark(line);
    std::istringstream stream(line);
    for (std::string word; stream >> word; ++count) words.push_back(word);
    if (words.size() < batch_size) continue;
    errors += pronounce_words(saved, words, options);
    words.clear();
  }
  if (count == 0) fail<FileError>(what, "at least one word", "none");
  return errors + pronounce_words(saved, words, options);
}

}  // namespace

int say(int argc, char** argv) {
  std::string model = default_model;
  std::int64_t beam = 1, n_best = 1;
  std::vector<std::string> words;
  examples::CommandLine line(
      "pronounce say", "Prints the phones of words, given as arguments or on standard input.");
  model_option(line, model);
  beam_option(line, beam);
  line.option("n-best",
              "number of pronunciations per word; if above 1, printed with their log-probabilities",
              n_best, 1, 1000);
  line.arguments("WORD...", words);
  if (!line.parse(argc, argv)) return 0;
  if (beam < n_best) line.without_effect({"beam"}, "below --n-best");

  const SavedModel saved(model);
  const BeamSearchOptions options{.beam_width = std::max(beam, n_best), .n_best = n_best};
  const Index errors =
      words.empty() ? pronounce_input(saved, options) : pronounce_words(saved, words, options);
  return errors == 0 ? 0 : 1;
}

}  // namespace weft::pronounce
