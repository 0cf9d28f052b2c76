#include <unistd.h>

#include <functional>
#include <iostream>
#include <optional>

#include <weft/autograd/error.hpp>
#include <weft/train/pretrained/chat_template.hpp>
#include "examples/common/text_input.hpp"
#include "examples/gpt/commands.hpp"
#include "examples/gpt/continuation.hpp"
#include "examples/gpt/options.hpp"

namespace weft::gpt {
namespace {

struct Options {
  std::string model = default_folder;
  Precision weights = Precision::full;
  std::string draft;
  std::int64_t proposals = 3;
  std::string prompt;
  std::string stop;
  bool interactive = false;
  bool chat = false;
  std::string system;
  std::int64_t seed = 1;
  std::int64_t samples = 1;
};

// Parses the command line. Returns false when --help is given.
bool parse(int argc, char** argv, Options& options, GenerateOptions& generation) {
  SamplingOptions& sampling = generation.sampling;
  std::int64_t tokens = 200, top_k = 200;
  sampling.temperature = 0.8;
  examples::CommandLine line("gpt sample", "Prints how the model continues a text.");
  model_option(line, options.model);
  weights_option(line, options.weights);
  line.option("draft",
              "a smaller model of the same tokens, which proposes tokens: the same texts, "
              "faster",
              options.draft);
  line.option("proposals", "number of tokens that --draft proposes at a time", options.proposals, 1,
              100);
  line.option("prompt", "the beginning of the text; none: the model begins one", options.prompt);
  line.flag("interactive", "read prompts from standard input, one a line, and continue each",
            options.interactive);
  line.flag("chat", "talk: --prompt, or each line of standard input, is a message to the model",
            options.chat);
  line.option("system", "with --chat, what the model is told before the first message",
              options.system);
  line.option("tokens", "number of tokens at most", tokens, 1, 1'000'000);
  line.option("temperature", "0: always the most probable token; above 1: less probable ones more",
              sampling.temperature, 0.0, 100.0);
  line.option("top-k", "number of most probable tokens to choose from; 0: all", top_k, 0,
              1'000'000'000);
  line.option("top-p", "choose from the most probable tokens of this total probability",
              sampling.top_p, 1e-6, 1.0);
  line.option("min-p", "choose from tokens at least this probable relative to the most probable",
              sampling.min_p, 0.0, 1.0);
  line.option("repetition-penalty", "above 1: tokens that are in the text are less probable",
              sampling.repetition_penalty, 1e-6, 1e6);
  line.option("stop", "a text that ends the continuation and is not printed", options.stop);
  line.option("seed", "seed of the first sample; the next ones have the next seeds", options.seed,
              0, 1'000'000'000);
  line.option("samples", "number of samples", options.samples, 1, 1'000'000);
  if (!line.parse(argc, argv)) return false;
  if (options.interactive && !options.prompt.empty())
    fail<examples::UsageError>("command line", "either --prompt or --interactive", "both");
  if (options.chat && options.samples > 1)
    fail<examples::UsageError>("command line", "one sample with --chat", options.samples);
  if (options.chat) line.without_effect({"interactive"}, "with --chat");
  if (!options.chat) line.without_effect({"system"}, "without --chat");
  if (options.draft.empty()) line.without_effect({"proposals"}, "without --draft");
  if (sampling.temperature == 0.0)
    line.without_effect({"top-k", "top-p", "min-p"}, "with --temperature 0");
  generation.max_tokens = tokens;
  if (is_supported(options.weights)) generation.precision = options.weights;
  sampling.top_k = top_k;
  return true;
}

void print_samples(ContinuationPrinter& printer, const std::string& prompt,
                   const Options& options) {
  for (std::int64_t i = 0; i < options.samples; ++i) {
    if (i > 0) std::cout << "---------------\n";
    printer.print(prompt, static_cast<std::uint64_t>(options.seed + i));
  }
}

// Calls `use` with each line of standard input, and prints an error message for one that the model
// cannot read. Returns the number of these lines.
Index for_each_line(const std::function<void(const std::string& line)>& use) {
  const bool is_terminal = isatty(STDIN_FILENO) != 0;
  Index errors = 0;
  std::string line;
  const auto read = [&] {
    if (is_terminal) std::cout << "> " << std::flush;
    return examples::read_line(std::cin, line, "standard input");
  };
  for (bool is_first = true; std::cout && read(); is_first = false) {
    if (is_first) examples::remove_byte_order_mark(line);
    try {
      use(line);
    } catch (const ValueError& error) {
      std::cerr << "gpt sample: " << error.what() << '\n';
      ++errors;
    }
  }
  return errors;
}

// Answers the prompt, or each line of standard input, in one conversation. Returns the number of
// lines that the model cannot read, which are left out of the conversation.
Index chat(ContinuationPrinter& printer, const SavedModel& saved, const Options& options) {
  const ChatTemplate chat_template =
      ChatTemplate::load(saved.folder).with_date(ChatTemplate::current_date());
  std::vector<ChatMessage> messages;
  if (!options.system.empty()) messages.push_back({"system", options.system});
  const auto answer = [&](const std::string& message) {
    std::vector<ChatMessage> asked = messages;
    asked.push_back({"user", message});
    const TokenIds ids = saved.tokenizer.encode(chat_template.apply(asked, true));
    asked.push_back(
        {"assistant", printer.print_after(ids, static_cast<std::uint64_t>(options.seed))});
    messages = std::move(asked);
  };
  if (options.prompt.empty())
    return for_each_line([&](const std::string& line) {
      if (!line.empty()) answer(line);
    });
  answer(options.prompt);
  return 0;
}

}  // namespace

int sample(int argc, char** argv) {
  Options options;
  GenerateOptions generation;
  if (!parse(argc, argv, options, generation)) return 0;

  const SavedModel saved = SavedModel::load(options.model, options.weights);
  std::optional<SavedModel> draft;
  if (!options.draft.empty()) draft.emplace(SavedModel::load(options.draft, options.weights));
  ContinuationPrinter printer(saved, options.stop, generation);
  if (draft) printer.set_draft(*draft, options.proposals);
  Index errors = 0;
  if (options.chat)
    errors = chat(printer, saved, options);
  else if (options.interactive)
    errors = for_each_line([&](const std::string& line) { print_samples(printer, line, options); });
  else
    print_samples(printer, options.prompt, options);
  std::cerr << printer.report();
  return errors == 0 ? 0 : 1;
}

}  // namespace weft::gpt
