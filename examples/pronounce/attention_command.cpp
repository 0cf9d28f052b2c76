#include <iostream>

#include "examples/pronounce/commands.hpp"
#include "examples/pronounce/options.hpp"
#include "examples/pronounce/pictures.hpp"

namespace weft::pronounce {

int attention(int argc, char** argv) {
  std::string file = default_model, picture = default_folder + "/attention.svg";
  std::vector<std::string> words;
  examples::CommandLine line(
      "pronounce attention",
      "Draws which letters of a word each head attends to when it says each phone.");
  model_option(line, file);
  line.option("picture", "file to draw into, .svg or .png", picture);
  line.arguments("WORD", words);
  if (!line.parse(argc, argv)) return 0;
  if (words.size() != 1) fail<examples::UsageError>("command line", "one word", words.size());

  std::cout << draw_attention(SavedModel(file), words.front(), picture) << '\n';
  return 0;
}

}  // namespace weft::pronounce
