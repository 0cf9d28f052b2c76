// What the same weights are called by weft, by PyTorch's own modules and by the d2l.ai book.
#pragma once

#include <string>
#include <vector>

namespace weft {

// One form for all of these names, so that two names of one weight become equal: W_q, W_k, W_v and
// W_o are the projections of an attention, `self_attention` and `cross_attention` the attentions of
// a block, `ffn.dense1` and `ffn.dense2` its feed-forward network, norm1 … norm3 its norms, and
// "0", "1", … the blocks of a stack. "layers.0.linear1.bias" and "0.ffn.dense1.bias" both become
// the second; parts that none of them has a name for stay as they are.
//
// The weights that a dataset of this name holds, one below the other: one, or three where
// torch.nn.MultiheadAttention has packed them (in_proj_weight, in_proj_bias).
std::vector<std::string> common_names(const std::string& name);

// The same for a name that stands for one weight only, as those of a model do.
std::string common_name(const std::string& name);

}  // namespace weft
