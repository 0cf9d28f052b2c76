#include <iomanip>
#include <iostream>

#include <weft/autograd/error.hpp>
#include "examples/gpt/answers.hpp"
#include "examples/gpt/commands.hpp"
#include "examples/gpt/conversations.hpp"
#include "examples/gpt/evaluation.hpp"
#include "examples/gpt/options.hpp"
#include "examples/gpt/texts.hpp"

namespace weft::gpt {
namespace {

// "loss, bits per byte, line", with tabs between them. A line without tokens has no loss: its line
// break is a part of a token of the line before.
std::string lines_text(const std::vector<TextLoss>& losses, std::string_view text) {
  TextStream out;
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

// How many answers to the prompts of data are as there, after each of them if `lines` says so.
void print_answers(const SavedModel& saved, const std::string& data, bool lines) {
  const auto questions =
      questions_of(saved, read_learned_texts(data, TextForm(saved, saved.context())));
  if (questions.empty())
    fail<FileError>("'" + data + "'", "prompts and answers", "texts without prompts");
  const std::vector<std::string> answers = answers_to(questions, saved);
  std::size_t right = 0;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (answers[i] == questions[i].expected) ++right;
    if (lines) std::cout << comparison(questions[i], answers[i]) << '\n';
  }
  std::cout << right << " of " << questions.size() << " answers are as expected\n";
}

}  // namespace

int evaluate(int argc, char** argv) {
  std::string model = default_folder, text_file = licences.string(), split = "all", data;
  Precision weights = Precision::full;
  bool lines = false;
  examples::CommandLine line("gpt evaluate", "Computes how well the model predicts a text.");
  model_option(line, model);
  weights_option(line, weights);
  line.option("text", "UTF-8 text, or folder of texts", text_file);
  line.choice("split", "the text, or one of the parts that training divides it into", split,
              {"all", "training", "validation"});
  line.option("data",
              "instead of --text, JSON lines as of finetune: how many of the most probable answers "
              "are as there",
              data);
  line.flag("lines",
            "before the totals, print for each line its loss per token, its bits per byte and the "
            "line; with --data, its answer",
            lines);
  if (!line.parse(argc, argv)) return 0;
  if (!data.empty()) line.without_effect({"text", "split"}, "with --data");

  const SavedModel saved = SavedModel::load(model, weights);
  if (!data.empty()) {
    print_answers(saved, data, lines);
    return 0;
  }
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
