// The names of weights in weft, in PyTorch's own modules and in the d2l.ai book.
#pragma once

#include <string>
#include <vector>

namespace weft {

// The form that these names have in common: "layers.0.self_attn.out_proj.bias" (PyTorch),
// "block0.attention.W_o.bias" (d2l.ai) and "0.attention.W_o.bias" (weft) all become
// "0.self_attention.W_o.bias". Other parts are unchanged.
std::string common_name(const std::string& name);

// The same for all weights in a dataset of this name, each an equal part of its rows: one, or three
// where torch.nn.MultiheadAttention packs them (in_proj_weight, in_proj_bias).
std::vector<std::string> common_names(const std::string& name);

}  // namespace weft
