// The names and the packing of parameters in PyTorch's own modules.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/layers/module.hpp"
#include "train/weights/internal/layouts.hpp"

namespace weft {

// A bias that a PyTorch module has and the model does not: zeros.
struct ZeroBias {
  std::string name, weight;  // full names in the model: of the bias, and of the weight beside it
  Shape shape;
  WeightPart dataset;
};

// The names that the parameters and buffers of a model have in PyTorch. An attention, a transformer
// block or a stack of blocks that torch.nn has, too, gets the names of torch.nn.MultiheadAttention,
// TransformerEncoderLayer, TransformerDecoderLayer, TransformerEncoder and TransformerDecoder; all
// other names are the model's own.
struct TorchNames {
  // By full name in the model, also by each name of a tied parameter.
  std::map<std::string, WeightPart> datasets;
  // PyTorch's modules have all biases or none.
  std::vector<ZeroBias> zero_biases;
};

template <class T>
TorchNames torch_names(const Module<T>& model);

}  // namespace weft
