#include "tests/benchmarks/finetuning.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include <weft/autograd/error.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include <weft/train/text/tokenizers/pretrained_tokenizer.hpp>

namespace weft::benchmarks {
namespace {

TokenIds tokens_of(const FinetuningOptions& options) {
  std::ifstream file(options.text, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  TokenIds tokens = PretrainedTokenizer::load(options.model / "tokenizer.json").encode(text);
  const Index least = options.steps * options.batch * options.length + 1;
  if (std::ssize(tokens) < least)
    fail<ValueError>("'" + options.text.string() + "'", str_cat(least, " tokens"), tokens.size());
  return tokens;
}

}  // namespace

FinetuningResult measure_finetuning(const FinetuningOptions& options) {
  if (options.steps < 3) fail<ValueError>("steps", "at least 3", options.steps);
  using Clock = std::chrono::steady_clock;
  const TokenIds text = tokens_of(options);
  Gpt<float> model = load_gpt(options.model, {.tokenizer = false}).model;
  model.blocks.recompute = options.recompute;
  if (!options.adapters.empty()) load_lora(options.adapters, model);
  TrainableParameters<float> trained(model);
  AdamW<float> optimizer(trained,
                         {.lr = options.adapters.empty() ? 2e-5 : 2e-4, .weight_decay = 0.0});
  Tape<float> tape({.training = true, .precision = options.precision});
  FinetuningResult result;
  std::vector<double> times;
  const Shape shape{options.batch, options.length};
  for (Index step = 0; step < options.steps; ++step) {
    const auto start = Clock::now();
    const std::span<const TokenId> window =
        std::span(text).subspan(static_cast<std::size_t>(step * shape.elements()),
                                static_cast<std::size_t>(shape.elements() + 1));
    const Var<float> loss = model.loss(tape, Tokens(shape, window.first(window.size() - 1)),
                                       Tokens(shape, window.subspan(1)));
    result.losses.push_back(static_cast<double>(loss.item()));
    tape.backward(loss);
    optimizer.step();
    zero_grad(trained);
    if (step >= 2) times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::ranges::nth_element(times, times.begin() + std::ssize(times) / 2);
  result.median_seconds = times[times.size() / 2];
  return result;
}

}  // namespace weft::benchmarks
