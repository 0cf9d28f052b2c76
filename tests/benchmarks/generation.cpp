#include "tests/benchmarks/generation.hpp"

#include <weft/layers/models/gpt.hpp>
#include <weft/layers/round_to_bf16.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include <weft/train/text/generation/generate.hpp>
#include "tests/benchmarks/measure.hpp"

namespace weft::benchmarks {

namespace {

// Of `batch` random prompts.
GenerationTimes times_of(Gpt<float>& model, Index batch, Index prompt, Index new_tokens,
                         Precision weights, double seconds) {
  if (weights == Precision::bf16) round_to_bf16(model);
  Random random(2);
  std::vector<TokenIds> prompts(static_cast<std::size_t>(batch));
  for (TokenIds& one : prompts)
    for (Index i = 0; i < prompt; ++i)
      one.push_back(static_cast<TokenId>(random.below(model.tokens.weight.shape()[0])));
  const auto seconds_for = [&](Index tokens) {
    return median_seconds(seconds, [&] {
      generate(model, prompts,
               {.max_tokens = tokens, .sampling = {.temperature = 0.0}, .precision = weights});
    });
  };
  GenerationTimes times;
  times.seconds = seconds_for(new_tokens);
  times.prompt_seconds = seconds_for(1);
  return times;
}

}  // namespace

GenerationTimes measure_generation(const std::filesystem::path& folder, Index prompt,
                                   Index new_tokens, Precision weights, double seconds) {
  Gpt<float> model = load_gpt(folder, {.tokenizer = false}).model;
  return times_of(model, 1, prompt, new_tokens, weights, seconds);
}

GenerationTimes measure_generation(const GenerationSizes& sizes, Precision weights,
                                   double seconds) {
  Random random(1);
  Gpt<float> model({.vocabulary_size = sizes.vocabulary,
                    .max_len = sizes.positions,
                    .num_hiddens = sizes.width,
                    .num_heads = sizes.heads,
                    .num_blocks = sizes.layers},
                   random);
  GenerationTimes times =
      times_of(model, sizes.batch, sizes.prompt, sizes.new_tokens, weights, seconds);
  const auto number = [](Index index) { return static_cast<double>(index); };
  const double width = number(sizes.width), layers = number(sizes.layers);
  const double prompt = number(sizes.prompt), batch = number(sizes.batch);
  const double block_weights = 12.0 * width * width, output = width * number(sizes.vocabulary);
  // A query sees half of the prompt on average.
  const double attention = prompt * width;
  const double length = prompt + number(sizes.new_tokens) / 2.0;
  times.prompt_flops = batch * (prompt * layers * 2.0 * (block_weights + attention) + 2.0 * output);
  times.step_bytes = (weights == Precision::bf16 ? 2.0 : 4.0) * (layers * block_weights + output) +
                     4.0 * layers * batch * 2.0 * length * width;
  return times;
}

}  // namespace weft::benchmarks
