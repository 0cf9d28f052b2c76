#include <iostream>

#include "examples/common/output_files.hpp"
#include "examples/common/plot.hpp"
#include "examples/pronounce/commands.hpp"
#include "examples/pronounce/options.hpp"
#include "examples/pronounce/pictures.hpp"

namespace weft::pronounce {

int attention(int argc, char** argv) {
  std::string model = default_model, picture;
  std::vector<std::string> words;
  examples::CommandLine line(
      "pronounce attention",
      "Draws the attention weights of each decoder head over the letters of a word.");
  model_option(line, model);
  line.option("picture", "output file, .svg or .png; if not set, attention.svg next to the model",
              picture);
  line.arguments("WORD", words);
  if (!line.parse(argc, argv)) return 0;
  if (words.size() != 1) fail<examples::UsageError>("command line", "one word", words.size());

  if (picture.empty()) picture = examples::file_beside(model, "attention.svg").string();
  examples::check_picture(picture, {model});
  std::cout << draw_attention(SavedModel(model), words.front(), picture) << '\n';
  return 0;
}

}  // namespace weft::pronounce
