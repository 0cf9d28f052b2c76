// BlockStack: the base class of transformer encoders and decoders.
#pragma once

#include <optional>
#include <vector>

#include "weft/autograd/ops/recompute.hpp"
#include "weft/layers/key_value_cache.hpp"
#include "weft/layers/transformer.hpp"

namespace weft {

// Applies blocks one after another, followed by a norm if TransformerOptions::final_norm says so.
// All blocks share one position bias.
template <class T, class Block>
struct BlockStack : Module<T> {
  std::vector<Block> blocks;                             // named "0", "1", …
  std::optional<BlockNorm<T>> norm;                      // applied to the last block's result
  std::optional<RelativePositionBias<T>> position_bias;  // shared by all blocks
  bool recompute;                                        // see TransformerOptions

  // Registers the blocks and the norm.
  void members(Members<T>& members) const override {
    members.type(type_);
    members(blocks);
    members("norm", norm);
    members("position_bias", position_bias);
  }

 protected:
  // `type` is the name of the layer. Throws ValueError for options that a block rejects, and unless
  // num_blocks > 0.
  BlockStack(const char* type, const TransformerOptions& options, Random& random)
      : recompute(options.recompute), type_(type) {
    if (options.num_blocks <= 0)
      fail<ValueError>(str_cat(type, ": num_blocks"), "a number > 0", options.num_blocks);
    for (Index i = 0; i < options.num_blocks; ++i) blocks.emplace_back(options, random);
    if (options.final_norm.value_or(options.norm_first)) norm.emplace(options.make_norm<T>());
    if (options.position_bias) {
      RelativePositionBiasOptions bias = *options.position_bias;
      bias.num_heads = options.num_heads;
      position_bias.emplace(bias, random);
    }
  }

  // Applies the blocks and the norm to x [batch, time, num_hiddens]; the result has the shape of x.
  // Each block's result is call(block, y, inputs…), where y is the result of the previous block.
  // The position bias, if any, is appended to the inputs.
  template <class Call, class... Inputs>
  Var<T> apply(const Var<T>& x, const Call& call, const Inputs&... inputs) const {
    if (!position_bias) return apply_blocks(x, call, inputs...);
    const Index time = x.shape()[1];
    return apply_blocks(x, call, inputs..., (*position_bias)(x.tape(), time, time));
  }

  // Applies the blocks and the norm to x [sequences, time, num_hiddens], one step of `cache`; the
  // result has the shape of x. Each block's result is block.extend(y, layers…, bias), with one
  // layer of each cache. Throws ValueError for a cache with a different number of layers.
  template <class... Caches>
  Var<T> extend_blocks(const Var<T>& x, KeyValueCache<T>& cache, Caches&... caches) const {
    check_layers(cache);
    (check_layers(caches), ...);
    Var<T> y = x;
    const Index time = x.shape()[1];
    std::optional<Var<T>> bias;
    if (position_bias) bias = (*position_bias)(x.tape(), time, cache.largest_length() + time);
    for (Index i = 0; const Block& block : blocks) {
      y = block.extend(y, CachedLayer<T>{cache, i}, CachedLayer<T>{caches, i}..., bias);
      ++i;
    }
    cache.advance(time);
    return norm ? (*norm)(y) : y;
  }

 private:
  template <class Call, class... Inputs>
  Var<T> apply_blocks(const Var<T>& x, const Call& call, const Inputs&... inputs) const {
    Var<T> y = x;
    for (const Block& block : blocks) {
      const auto run = [&block, call](const auto&... all) { return call(block, all...); };
      y = recompute && !x.tape().options().keep_attention_weights
              ? weft::recompute(run, y, inputs...)
              : run(y, inputs...);
    }
    return norm ? (*norm)(y) : y;
  }

  void check_layers(const KeyValueCache<T>& cache) const {
    if (cache.options().num_layers != std::ssize(blocks))
      fail<ValueError>(str_cat(type_, ": number of layers of the cache"), blocks.size(),
                       cache.options().num_layers);
  }

  const char* type_;
};

}  // namespace weft
