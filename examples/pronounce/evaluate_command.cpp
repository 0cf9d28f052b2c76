#include <iostream>

#include "examples/pronounce/commands.hpp"
#include "examples/pronounce/evaluation.hpp"
#include "examples/pronounce/options.hpp"
#include "examples/pronounce/saved_model.hpp"

namespace weft::pronounce {

int evaluate(int argc, char** argv) {
  std::string model = default_model, dictionary = default_dictionary, split = "test";
  std::int64_t beam = 1;
  examples::CommandLine line("pronounce evaluate",
                             "Computes the word and phone error rates on held-out words.");
  model_option(line, model);
  dictionary_option(line, dictionary);
  line.choice("split", "held-out words to evaluate on", split, {"test", "validation"});
  beam_option(line, beam);
  if (!line.parse(argc, argv)) return 0;

  const SavedModel saved(model);
  const std::vector<Entry> entries = entries_of(parse_split(split), read_dictionary(dictionary));
  if (entries.empty())
    fail<FileError>("dictionary '" + dictionary + "'", "words in the split " + split, "none");
  std::cout << error_rates(saved.model, saved.language, entries, {.beam_width = beam}).to_string()
            << '\n';
  return 0;
}

}  // namespace weft::pronounce
