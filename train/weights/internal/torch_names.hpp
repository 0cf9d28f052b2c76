// The names of parameters in PyTorch's modules, and which parameters PyTorch packs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/layers/module.hpp"
#include "train/weights/internal/layouts.hpp"

namespace weft {

// A bias that a PyTorch module has and the model does not. It is written as zeros.
struct ZeroBias {
  std::string name, weight;  // names of the bias and of the weight of the same layer, in the model
  Shape shape;
  WeightPart dataset;
};

// The names of a model's parameters and buffers in PyTorch. Attention, transformer blocks and
// stacks of blocks with an equivalent in torch.nn get the names of torch.nn.MultiheadAttention,
// TransformerEncoderLayer, TransformerDecoderLayer, TransformerEncoder and TransformerDecoder. All
// other names are the model's.
struct TorchNames {
  // The dataset of each parameter and buffer, by its name in the model. A tied parameter has an
  // entry for each of its names.
  std::map<std::string, WeightPart> datasets;
  // Biases to add, because PyTorch's modules have either all biases or none.
  std::vector<ZeroBias> zero_biases;
};

// Returns the names of a model's parameters in PyTorch.
template <class T>
TorchNames torch_names(const Module<T>& model);

}  // namespace weft
