#include <iostream>

#include "examples/pronounce/commands.hpp"
#include "examples/pronounce/evaluation.hpp"
#include "examples/pronounce/options.hpp"
#include "examples/pronounce/saved_model.hpp"

namespace weft::pronounce {

int evaluate(int argc, char** argv) {
  std::string file = default_model, dictionary = default_dictionary, part = "test";
  std::int64_t beam = 1;
  examples::CommandLine line("pronounce evaluate",
                             "Counts the errors on words that were held out from training.");
  model_option(line, file);
  dictionary_option(line, dictionary);
  line.choice("part", "words to evaluate on", part, {"test", "validation"});
  beam_option(line, beam);
  if (!line.parse(argc, argv)) return 0;

  const SavedModel saved(file);
  const std::vector<Entry> entries = entries_of(split_named(part), read_dictionary(dictionary));
  if (entries.empty())
    fail<FileError>("dictionary '" + dictionary + "'", "words of the part '" + part + "'", "none");
  std::cout << error_rates(saved.model, saved.language, entries, {.beam_width = beam}).to_string()
            << '\n';
  return 0;
}

}  // namespace weft::pronounce
