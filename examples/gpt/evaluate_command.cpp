#include <iomanip>
#include <iostream>
#include <sstream>

#include "examples/gpt/commands.hpp"
#include "examples/gpt/evaluation.hpp"
#include "examples/gpt/options.hpp"
#include "examples/gpt/texts.hpp"

namespace weft::gpt {
namespace {

// "loss, bits per byte, line", with tabs between them. A line without tokens has no loss: its line
// break is a part of a token of the line before.
std::string lines_text(const std::vector<TextLoss>& losses, std::string_view text) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(4);
  for (const TextLoss& loss : losses) {
    const std::string_view line = text.substr(0, loss.bytes);
    text.remove_prefix(loss.bytes);
    if (loss.tokens == 0)
      out << "-\t-\t";
    else
      out << loss.mean() << '\t' << loss.bits_per_byte() << '\t';
    out << line.substr(0, line.size() - (line.ends_with('\n') ? 1 : 0)) << '\n';
  }
  return out.str();
}

}  // namespace

int evaluate(int argc, char** argv) {
  std::string model = default_folder, text_file = licences.string(), split = "all";
  Precision weights = Precision::full;
  bool lines = false;
  examples::CommandLine line("gpt evaluate", "Computes how well the model predicts a text.");
  model_option(line, model);
  weights_option(line, weights);
  line.option("text", "UTF-8 text, or folder of texts", text_file);
  line.choice("split", "the text, or one of the parts that training divides it into", split,
              {"all", "training", "validation"});
  line.flag("lines",
            "before the totals, print for each line its loss per token, its bits per byte and the "
            "line",
            lines);
  if (!line.parse(argc, argv)) return 0;

  const SavedModel saved = SavedModel::load(model, weights);
  const std::string file = read_texts(text_file);
  const TextSplit parts(file);
  const std::string_view text = split == "training"     ? parts.training
                                : split == "validation" ? parts.validation
                                                        : std::string_view(file);
  const std::vector<TextLoss> losses = losses_of_lines(saved, text);
  if (lines) std::cout << lines_text(losses, text);
  std::cout << sum_of(losses).to_string() << '\n';
  return 0;
}

}  // namespace weft::gpt
