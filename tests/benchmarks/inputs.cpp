#include "tests/benchmarks/inputs.hpp"

#include <unistd.h>

#include <filesystem>
#include <memory>

#include <weft/layers/models/gpt.hpp>
#include <weft/train/text/tokenizers/byte_pair_encoding.hpp>
#include <weft/train/weights/weights.hpp>

namespace weft::benchmarks {
namespace {

Workload loading_step() {
  struct State {
    State() { save_weights(file, model); }
    ~State() { std::filesystem::remove(file); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    Random random{1};
    Gpt<float> model{
        {.vocabulary_size = 65, .max_len = 64, .num_hiddens = 128, .num_heads = 4, .num_blocks = 4},
        random};
    std::filesystem::path file =
        std::filesystem::temp_directory_path() / str_cat("weft_benchmark-", getpid(), ".h5");
  };
  const auto state = std::make_shared<State>();
  return {.step = [state] { (void)load_weights(state->file, state->model); }};
}

// Words of one to four of 500 syllables, the first syllables more frequent.
std::string random_text(Index words, Random& random) {
  std::string text;
  for (Index word = 0; word < words; ++word) {
    for (Index syllables = 1 + random.below(4); syllables > 0; --syllables) {
      const Index syllable = random.below(1 + random.below(500));
      text += "bdfgklmnprstvz"[syllable % 14];
      text += "aeiou"[syllable / 14 % 5];
      if (syllable >= 70) text += "lmnrst"[syllable / 70 % 6];
    }
    text += random.below(10) == 0 ? ". " : " ";
  }
  return text;
}

Workload tokenizing_step() {
  Random random(1);
  const BytePairEncoding tokenizer = BytePairEncoding::learn(random_text(20'000, random), 1000);
  const std::string text = random_text(20'000, random);
  return {.step = [tokenizer, text] { (void)tokenizer.encode(text); },
          .tokens = static_cast<double>(tokenizer.encode(text).size())};
}

}  // namespace

std::optional<Workload> input_step(const std::string& name) {
  if (name == "loading") return loading_step();
  if (name == "tokenizing") return tokenizing_step();
  return std::nullopt;
}

}  // namespace weft::benchmarks
