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

// Returns a line "loss, bits per byte, text" for each line of the text, separated by tabs. The loss
// of a line without tokens is "-": its line break belongs to a token of the previous line.
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

// Prints how many of the model's answers equal the expected answers in `data`. If `lines` is true,
// prints each answer first.
void print_answers(const SavedModel& saved, const std::string& data, bool lines) {
  const auto questions =
      questions_of(saved, read_learned_texts(data, TextForm(saved, saved.context())));
  if (questions.empty())
    fail<FileError>("'" + data + "'", "prompts and answers", "examples without prompts");
  const std::vector<std::string> answers = answers_to(questions, saved);
  std::size_t right = 0;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (answers[i] == questions[i].expected) ++right;
    if (lines) std::cout << comparison(questions[i], answers[i]) << '\n';
  }
  std::cout << right << " of " << questions.size() << " answers are correct\n";
}

}  // namespace

int evaluate(int argc, char** argv) {
  std::string model = default_folder, text_file = licences.string(), split = "all", data;
  Precision weights = Precision::full;
  bool lines = false;
  examples::CommandLine line("gpt evaluate",
                             "Measures how well a model predicts a text, or answers prompts.");
  model_option(line, model);
  weights_option(line, weights);
  line.option("text", "UTF-8 text file, or folder of text files", text_file);
  line.choice("split", "part of the text to use, as split by gpt train", split,
              {"all", "training", "validation"});
  line.option("data",
              "file of prompts and answers to use instead of --text, in the .jsonl format of gpt "
              "finetune: counts the answers that the model generates exactly",
              data);
  line.flag(
      "lines",
      "before the totals, print each line with its loss per token and its bits per byte; with "
      "--data, print each answer",
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
