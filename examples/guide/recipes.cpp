// Trains a small language model twice, with AdamW and with the recipe of the page.
#include <fstream>
#include <iostream>
#include <iterator>

#include <weft/weft.hpp>

using namespace weft;

constexpr Index length = 32;
constexpr std::int64_t steps = 200;

// Returns the loss of a model on characters that it was not trained on.
double train(const std::string& text, GptOptions options, bool with_muon) {
  const Vocabulary characters = Vocabulary::of_characters(text);
  const Tokens tokens({std::ssize(text)}, characters.encode_text(text));
  const Index training = tokens.size() * 9 / 10;
  WindowBatches<TokenId> windows(rows_of(tokens, 0, training),
                                 {.length = length, .random_starts = true, .batch_size = 16});
  WindowBatches<TokenId> held_out(rows_of(tokens, training, tokens.size()), {.length = length});

  options.vocabulary_size = characters.size();
  Random random(1);
  Gpt model(options, random);
  std::unique_ptr<Optimizer<>> optimizer =
      std::make_unique<AdamW<>>(model, AdamWOptions{.lr = 3e-3});
  if (with_muon) optimizer = std::make_unique<Muon<>>(model, MuonOptions{.lr = 0.03});
  const auto loss = [&](Tape<float>& tape, const TensorBatch<TokenId>& batch) {
    return cross_entropy(model(tape, batch.inputs), batch.targets);
  };
  Trainer(model, *optimizer, windows, loss,
          {.epochs = 100,
           .max_steps = steps,
           .clip_norm = 1.0,
           .schedule = warmup_stable_decay_schedule(
               {.peak = optimizer->learning_rate(), .decay_steps = steps, .total_steps = steps})})
      .run();
  return mean_loss(held_out, loss);
}

int main() {
  std::ifstream file("/usr/share/common-licenses/GPL-3");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  GptOptions options{
      .max_len = length, .num_hiddens = 32, .num_heads = 2, .num_blocks = 2, .bias = false};
  std::cout << "AdamW: loss " << train(text, options, false) << '\n';

  options.tied = false;  // the output layer does not share the weights of the embedding
  options.rotary.emplace();
  options.norm = Norm::rms_norm;
  options.swiglu = true;
  options.ffn_num_hiddens = 96;  // about as many weights as before
  options.num_kv_heads = 1;
  options.qk_norm = true;
  options.zero_init = true;
  std::cout << "AdamW, the model of the recipe: loss " << train(text, options, false) << '\n'
            << "Muon, the model of the recipe: loss " << train(text, options, true) << '\n';
}
