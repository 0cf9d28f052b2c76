// The benchmark of generation: greedy, by a Gpt with random weights or a model of Hugging Face.
#pragma once

#include <filesystem>

#include <weft/autograd/precision.hpp>
#include <weft/autograd/shape.hpp>

namespace weft::benchmarks {

struct GenerationSizes {
  Index layers, heads, width, vocabulary, positions, batch, prompt, new_tokens;
};

struct GenerationTimes {
  double seconds = 0.0;         // of the prompts and all new tokens
  double prompt_seconds = 0.0;  // of the prompts and one new token each
  double prompt_flops = 0.0;    // of the prompts' matrix products
  double step_bytes = 0.0;      // that the step for a token reads: weights, keys and values
};

// With weights of 16 bits for Precision::bf16.
GenerationTimes measure_generation(const GenerationSizes& sizes, Precision weights, double seconds);
// One prompt, for the model of a folder; only the times are measured.
GenerationTimes measure_generation(const std::filesystem::path& folder, Index prompt,
                                   Index new_tokens, Precision weights, double seconds);

}  // namespace weft::benchmarks
