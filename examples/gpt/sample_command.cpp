#include <iostream>
#include <optional>

#include <weft/autograd/error.hpp>
#include <weft/train/generation/generate.hpp>
#include <weft/train/tokenizers/whole_characters.hpp>
#include "examples/gpt/commands.hpp"
#include "examples/gpt/options.hpp"
#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {
namespace {

// Prints tokens of the model while it generates them.
void print_continuation(const SavedModel& saved, const Sequence& prompt, GenerateOptions options) {
  WholeCharacters characters;
  options.on_token = [&](Index, TokenId token) {
    std::cout << characters.add(saved.encoding.token(token)) << std::flush;
    return true;
  };
  static_cast<void>(generate(saved.model, prompt, options));
  std::cout << characters.finish() << std::endl;
}

}  // namespace

int sample(int argc, char** argv) {
  std::string folder = default_folder, prompt;
  std::int64_t tokens = 200, top_k = 200, seed = 1, samples = 1;
  double temperature = 0.8;
  examples::CommandLine line("gpt sample", "Prints how the model continues a text.");
  model_option(line, folder);
  line.option("prompt", "the beginning of the text", prompt);
  line.option("tokens", "number of tokens at most", tokens, 1, 1'000'000);
  line.option("temperature", "0: always the most probable token; above 1: less probable ones more",
              temperature, 0.0, 100.0);
  line.option("top-k", "number of most probable tokens to choose from; 0: all", top_k, 0,
              1'000'000'000);
  line.option("seed", "seed of the first sample; the next ones have the next seeds", seed, 0,
              1'000'000'000);
  line.option("samples", "number of samples", samples, 1, 1'000'000);
  if (!line.parse(argc, argv)) return 0;

  const SavedModel saved(folder);
  const BytePairEncoding& encoding = saved.encoding;
  const std::optional<TokenId> end = encoding.find(BytePairEncoding::end_of_text);
  if (!end && prompt.empty())
    fail<ValueError>("option --prompt", "a beginning, as vocab.json has no token \"<|endoftext|>\"",
                     "none");
  // A text begins after the end of another one.
  const Sequence ids = prompt.empty() ? Sequence{*end} : encoding.encode(prompt);
  for (std::int64_t i = 0; i < samples; ++i) {
    if (i > 0) std::cout << "---------------\n";
    std::cout << prompt << std::flush;
    print_continuation(saved, ids,
                       {.max_tokens = tokens,
                        .sampling = {.temperature = temperature, .top_k = top_k},
                        .seed = static_cast<std::uint64_t>(seed + i),
                        .end = end});
  }
  return 0;
}

}  // namespace weft::gpt
