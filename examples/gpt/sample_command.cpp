#include <unistd.h>

#include <functional>
#include <iostream>
#include <optional>

#include <weft/autograd/error.hpp>
#include <weft/train/pretrained/chat_templates/chat_template.hpp>
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

// Parses the command line. Returns false if --help is given.
bool parse(int argc, char** argv, Options& options, GenerateOptions& generation) {
  SamplingOptions& sampling = generation.sampling;
  std::int64_t tokens = 200, top_k = 200;
  sampling.temperature = 0.8;
  examples::CommandLine line("gpt sample", "Generates text that continues a prompt.");
  model_option(line, options.model);
  weights_option(line, options.weights);
  line.option(
      "draft",
      "smaller model with the same vocabulary, which proposes tokens to speed up generation",
      options.draft);
  line.option("proposals", "with --draft, number of tokens to propose at a time", options.proposals,
              1, 100);
  line.option("prompt", "text to continue; if not set, the model starts a new text",
              options.prompt);
  line.flag("interactive", "read prompts from standard input, one per line, and continue each",
            options.interactive);
  line.flag("chat", "send --prompt, or each line of standard input, as a message to a chat model",
            options.chat);
  line.option("system", "with --chat, system message: instructions that precede the chat",
              options.system);
  line.option("tokens", "maximum number of tokens to generate", tokens, 1, 1'000'000);
  line.option("temperature",
              "sampling temperature: 0 always chooses the most probable token, values above 1 "
              "favour less probable tokens",
              sampling.temperature, 0.0, 100.0);
  line.option("top-k", "choose only from this number of most probable tokens; 0: all", top_k, 0,
              1'000'000'000);
  line.option("top-p", "choose only from the most probable tokens with this total probability",
              sampling.top_p, 1e-6, 1.0);
  line.option("min-p", "drop tokens less probable than this fraction of the highest probability",
              sampling.min_p, 0.0, 1.0);
  line.option("repetition-penalty", "values above 1 make tokens already in the text less probable",
              sampling.repetition_penalty, 1e-6, 1e6);
  line.option("stop", "end the continuation at this string, which is not printed", options.stop);
  line.option("seed", "random seed of the first sample; each further sample uses the next seed",
              options.seed, 0, 1'000'000'000);
  line.option("samples", "number of continuations to generate", options.samples, 1, 1'000'000);
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
  generation.precision = options.weights;
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

// Calls `use` with each line of standard input. If the model cannot encode a line, prints an error
// message and continues. Returns the number of such lines.
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

// Answers the prompt, or each line of standard input, in one conversation. Leaves lines that the
// model cannot encode out of the conversation, and returns their number.
Index chat(ContinuationPrinter& printer, const SavedModel& saved, const Options& options) {
  if (saved.folder.empty())
    fail<FileError>("'" + options.model + "'", "a model with a chat template",
                    "a model without a Hugging Face folder");
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
