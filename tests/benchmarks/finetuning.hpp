// The benchmark of fine-tuning a model of Hugging Face.
#pragma once

#include <filesystem>
#include <vector>

#include <weft/autograd/precision.hpp>
#include <weft/autograd/shape.hpp>

namespace weft::benchmarks {

struct FinetuningOptions {
  std::filesystem::path model;     // a folder of Hugging Face
  std::filesystem::path text;      // of which each step takes the next batch · length tokens
  std::filesystem::path adapters;  // PEFT's, to train these alone; empty: all weights
  Index batch, length, steps;
  Precision precision;
  bool recompute;
};

struct FinetuningResult {
  std::vector<double> losses;   // of each step
  double median_seconds = 0.0;  // of a step, without the first two
};

// Steps of AdamW without weight decay or clipping, at a learning rate of 2e-4 for adapters and of
// 2e-5 for all weights. Throws ValueError for fewer than three steps and a text that is too short.
FinetuningResult measure_finetuning(const FinetuningOptions& options);

}  // namespace weft::benchmarks
