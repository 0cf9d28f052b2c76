// BlockStack: what transformer encoders and decoders have in common.
#pragma once

#include <optional>
#include <vector>

#include "weft/autograd/ops/recompute.hpp"
#include "weft/layers/transformer.hpp"

namespace weft {

// Blocks one after the other, followed by a layer norm if norm_first is set.
template <class T, class Block>
struct BlockStack : Module<T> {
  std::vector<Block> blocks;  // named "0", "1", …
  std::optional<LayerNorm<T>> norm;
  bool recompute;

  void members(Members<T>& members) override {
    members.type(type_);
    members(blocks);
    members("norm", norm);
  }

 protected:
  // `type` is the name of the layer. Throws ValueError for options that a block rejects, and unless
  // num_blocks > 0.
  BlockStack(const char* type, const TransformerOptions& options, Random& random)
      : recompute(options.recompute), type_(type) {
    if (options.num_blocks <= 0)
      fail<ValueError>(concatenate_text(type, ": num_blocks"), "a number > 0", options.num_blocks);
    for (Index i = 0; i < options.num_blocks; ++i) blocks.emplace_back(options.block, random);
    if (options.block.norm_first) norm.emplace(options.block.norm());
  }

  // block(x, inputs…, mask, weights) of each block, x being the output of the one before.
  template <class... Inputs>
  Var<T> apply(const Var<T>& x, const Mask& mask, AttentionWeights<T>* weights,
               const Inputs&... inputs) const {
    Var<T> y = x;
    for (const Block& block : blocks) {
      const auto run = [&block, mask](const auto&... all) { return block(all..., mask); };
      y = recompute && !weights ? weft::recompute(run, y, inputs...)
                                : block(y, inputs..., mask, weights);
    }
    return norm ? (*norm)(y) : y;
  }

 private:
  const char* type_;
};

}  // namespace weft
