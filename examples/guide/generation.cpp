#include <iostream>
#include <limits>

#include <weft/weft.hpp>

using namespace weft;

int main() {
  const std::string text =
      "the weft is drawn through the warp, over one thread and under the next; ";
  const Vocabulary letters = Vocabulary::of_characters(text);
  const TokenIds ids = letters.encode_text(text + text);
  WindowBatches<TokenId> windows(Tokens({std::ssize(ids)}, ids), {.length = 64, .stride = 1});

  Random random(1);
  Gpt model({.vocabulary_size = letters.size(),
             .max_len = 64,
             .num_hiddens = 32,
             .num_heads = 4,
             .num_blocks = 2},
            random);
  AdamW optimizer(model);
  Trainer(
      model, optimizer, windows,
      [&](Tape<float>& tape, const TensorBatch<TokenId>& batch) {
        return cross_entropy(model(tape, batch.inputs), batch.targets);
      },
      {.epochs = 80,
       .schedule = warmup_cosine_schedule({.peak = 1e-2, .warmup_steps = 20, .total_steps = 240})})
      .run();

  const auto show = [&](const char* how, const TokenIds& tokens) {
    std::cout << how << ": " << letters.decode_text(tokens) << '\n';
  };
  const TokenIds prompt = letters.encode_text("the weft");
  // Always the most probable token.
  show("greedy", generate(model, prompt, {.max_tokens = 53, .sampling = {.temperature = 0}}));
  // Sampled from the most probable tokens that together have 90 % of the probability.
  show("top_p", generate(model, prompt,
                         {.max_tokens = 53,
                          .sampling = {.temperature = 0.7, .top_p = 0.9},
                          .seed = 3,
                          .on_token = [](Index, TokenId) { return true; }}));

  // Your own loop: the cache stores the keys and values of the tokens so far.
  Tape tape = Tape<>::inference();
  Sampler<float> sampler({.top_k = 3}, 1);
  KeyValueCache<float> cache = model.make_cache(1);
  TokenIds own, next = prompt;
  for (int step = 0; step < 53; ++step) {
    const Var states = model.extend(tape, Tokens({1, std::ssize(next)}, next), cache);
    const Tensor<float> logits =
        model.logits(slice(states, 1, -1 + std::ssize(next), std::ssize(next))).value();
    next = {sampler(logits.values())};
    own.push_back(next[0]);
    tape.clear();
  }
  show("own loop", own);

  // Without spaces.
  const auto space = static_cast<std::size_t>(letters.encode_text(" ")[0]);
  show("no spaces", generate(model, prompt,
                             {.max_tokens = 20,
                              .sampling = {.temperature = 0},
                              .process_logits = [space](Index, std::span<const TokenId>,
                                                        std::span<double> logits) {
                                logits[space] = -std::numeric_limits<double>::infinity();
                              }}));
}
