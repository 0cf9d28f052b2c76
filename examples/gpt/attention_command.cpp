#include <iostream>

#include <weft/autograd/error.hpp>
#include "examples/common/attention_maps.hpp"
#include "examples/common/output_files.hpp"
#include "examples/gpt/commands.hpp"
#include "examples/gpt/options.hpp"
#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {
namespace {

// Returns the tokens as names of rows and columns, with visible spaces and line breaks.
std::vector<std::string> names_of(const Tokenizer& tokenizer, const TokenIds& ids) {
  std::vector<std::string> names;
  for (const TokenId id : ids) {
    std::string& name = names.emplace_back();
    for (const char c : tokenizer.token(id))
      name += c == ' ' ? "␣" : c == '\n' ? "↵" : std::string(1, c);
  }
  return names;
}

std::string draw_attention(const SavedModel& saved, const std::string& text,
                           const std::filesystem::path& picture) {
  const TokenIds ids = saved.tokenizer.encode(text);
  if (ids.empty() || std::ssize(ids) > saved.context())
    fail<ValueError>("text", str_cat("1 to ", saved.context(), " tokens"), ids.size());
  examples::HeatMaps maps;
  maps.title = "Attention of each token to those before it";
  maps.x_label = "token";
  maps.y_label = "predicts the next one";
  maps.columns = maps.rows = names_of(saved.tokenizer, ids);
  maps.maps = examples::self_attention_maps(saved.model, ids);
  maps.cell = 14.0;
  return examples::draw(maps, picture);
}

}  // namespace

int attention(int argc, char** argv) {
  std::string model = default_folder, picture;
  std::vector<std::string> texts;
  examples::CommandLine line("gpt attention",
                             "Draws the attention weights of each head for a text.");
  model_option(line, model);
  line.option("picture", "output file, .svg or .png; if not set, attention.svg next to the model",
              picture);
  line.arguments("TEXT", texts);
  if (!line.parse(argc, argv)) return 0;
  if (texts.size() != 1) fail<examples::UsageError>("command line", "one text", texts.size());

  if (picture.empty()) picture = examples::file_beside(model, "attention.svg").string();
  examples::check_picture(picture, examples::model_files(model));
  std::cout << draw_attention(SavedModel::load(model), texts.front(), picture) << '\n';
  return 0;
}

}  // namespace weft::gpt
