#include "tests/benchmarks/generation.hpp"

#include <weft/layers/models/gpt.hpp>
#include <weft/layers/round_to_bf16.hpp>
#include <weft/train/generation/generate.hpp>
#include "tests/benchmarks/measure.hpp"

namespace weft::benchmarks {

GenerationTimes measure_generation(const GenerationSizes& sizes, Precision weights,
                                   double seconds) {
  Random random(1);
  Gpt<float> model({.vocabulary_size = sizes.vocabulary,
                    .max_len = sizes.positions,
                    .num_hiddens = sizes.width,
                    .num_heads = sizes.heads,
                    .num_blocks = sizes.layers},
                   random);
  if (weights == Precision::bf16) round_to_bf16(model);
  std::vector<Sequence> prompts(static_cast<std::size_t>(sizes.batch));
  for (Sequence& prompt : prompts)
    for (Index i = 0; i < sizes.prompt; ++i)
      prompt.push_back(static_cast<TokenId>(random.below(sizes.vocabulary)));
  const auto seconds_for = [&](Index tokens) {
    return median_seconds(seconds, [&] {
      generate(model, prompts, {.max_tokens = tokens, .sampling = {.temperature = 0.0}});
    });
  };
  const auto number = [](Index index) { return static_cast<double>(index); };
  const double width = number(sizes.width), layers = number(sizes.layers);
  const double prompt = number(sizes.prompt), batch = number(sizes.batch);
  const double block_weights = 12.0 * width * width, output = width * number(sizes.vocabulary);
  // A query sees half of the prompt on average.
  const double attention = prompt * width;
  const double length = prompt + number(sizes.new_tokens) / 2.0;
  return {
      .seconds = seconds_for(sizes.new_tokens),
      .prompt_seconds = seconds_for(1),
      .prompt_flops = batch * (prompt * layers * 2.0 * (block_weights + attention) + 2.0 * output),
      .step_bytes = (weights == Precision::bf16 ? 2.0 : 4.0) * (layers * block_weights + output) +
                    4.0 * layers * batch * 2.0 * length * width};
}

}  // namespace weft::benchmarks
