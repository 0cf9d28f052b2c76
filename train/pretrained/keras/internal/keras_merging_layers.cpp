#include "train/pretrained/keras/internal/keras_merging_layers.hpp"

#include <algorithm>
#include <functional>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/comparison.hpp"
#include "weft/autograd/ops/einsum.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/normalization.hpp"
#include "weft/autograd/ops/permute.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "train/pretrained/keras/internal/keras_config.hpp"

namespace weft {
namespace {

// Returns the inputs with axes of size 1 inserted after the batch, until all have the same rank.
template <class T>
std::vector<Var<T>> of_equal_rank(const KerasCall<T>& call) {
  Index rank = 0;
  for (const KerasValue<T>& input : call.inputs) rank = std::max(rank, input.tensor.rank());
  std::vector<Var<T>> inputs;
  for (const KerasValue<T>& input : call.inputs) {
    inputs.push_back(input.tensor);
    while (inputs.back().rank() < rank) inputs.back() = unsqueeze(inputs.back(), 1);
  }
  return inputs;
}

// Returns the masks of the inputs combined by `combine`. A missing mask is true everywhere.
template <class T, class Combine>
std::optional<Tensor<bool>> merged_mask(const KerasCall<T>& call, const Combine& combine) {
  std::optional<Tensor<bool>> merged;
  for (const KerasValue<T>& input : call.inputs) {
    if (!input.mask) continue;
    if (!merged) {
      merged = input.mask;
      continue;
    }
    if (merged->shape() != input.mask->shape())
      fail<ShapeError>("mask", merged->shape(), input.mask->shape());
    std::ranges::transform(merged->values(), std::as_const(*input.mask).values(), merged->data(),
                           combine);
  }
  return merged;
}

// Before this version, layers with several inputs do not pass masks on.
constexpr KerasVersion first_with_merged_masks{3, 4};

// In Keras 2, a step counts if it counts in all inputs; in Keras 3, if it counts in any input.
template <class T>
std::optional<Tensor<bool>> merged_mask(const KerasCall<T>& call, KerasVersion version) {
  if (version.major_number == 2) return merged_mask(call, std::logical_and<bool>());
  if (version < first_with_merged_masks) return std::nullopt;
  for (const KerasValue<T>& input : call.inputs)
    if (!input.mask) return std::nullopt;
  return merged_mask(call, std::logical_or<bool>());
}

// A layer that combines its inputs from left to right with `combine`.
template <class T, auto combine>
void read_merging(KerasLayer<T>& layer, KerasConfig& config) {
  // What is padding in one input does not change a product.
  const bool is_product =
      config.version() >= first_with_merged_masks && layer.class_name == "Multiply";
  const bool is_mean = layer.class_name == "Average";
  const KerasVersion version = config.version();
  // In Keras 3, only one of two values counts where the other is padding.
  const bool is_limit = version >= first_with_merged_masks &&
                        (layer.class_name == "Maximum" || layer.class_name == "Minimum");
  layer.compute = [=](const KerasLayer<T>&, KerasCall<T>& call) {
    std::vector<Var<T>> inputs = of_equal_rank(call);
    for (std::size_t i = 0; is_product && i < inputs.size(); ++i)
      if (const auto& own = call.inputs[i].mask)
        inputs[i] = where(numbers_of<T>(*own, inputs[i].rank()) != 0, inputs[i], 1);
    Var<T> y = inputs.front();
    std::optional<Tensor<bool>> mask = call.mask();
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      Var<T> x = inputs[i];
      if (is_limit) {
        const std::optional<Tensor<bool>>& its_mask = call.inputs[i].mask;
        if (its_mask) x = where(numbers_of<T>(*its_mask, x.rank()) != 0, x, y);
        if (mask) y = where(numbers_of<T>(*mask, y.rank()) != 0, y, x);
        if (mask && its_mask)
          std::ranges::transform(mask->values(), std::as_const(*its_mask).values(), mask->data(),
                                 std::logical_or<bool>());
        else
          mask.reset();
      }
      y = combine(y, x);
    }
    if (is_mean) y = scale(y, 1.0 / static_cast<double>(inputs.size()));
    const std::optional<Tensor<bool>> merged = merged_mask(call, version);
    if (is_product && merged) y = y * call.tape.constant(numbers_of<T>(*merged, y.rank()));
    return std::vector{KerasValue<T>{y, merged}};
  };
}

template <class T>
void read_concatenate(KerasLayer<T>& layer, KerasConfig& config) {
  const Index axis = config.single("axis", -1, lowest_axis);
  const KerasVersion version = config.version();
  layer.compute = [=](const KerasLayer<T>&, KerasCall<T>& call) {
    std::vector<Var<T>> inputs, masks;
    Index mask_rank = 0;
    for (const KerasValue<T>& input : call.inputs) {
      inputs.push_back(input.tensor);
      if (input.mask) mask_rank = input.mask->rank();
    }
    const Index position = keras_axis("axis", axis, call.x().rank());
    KerasValue<T> y{concatenate(inputs, position)};
    const bool is_keras_2 = version.major_number == 2;
    if (mask_rank == 0 || (!is_keras_2 && version < first_with_merged_masks)) return std::vector{y};
    // Along an axis of the masks, the masks are concatenated, too. Otherwise, they are combined; a
    // missing mask is true everywhere.
    const auto has_mask = [](const KerasValue<T>& input) { return input.mask.has_value(); };
    if (position >= mask_rank) {
      if (is_keras_2)
        y.mask = merged_mask(call, std::logical_and<bool>());
      else if (std::ranges::all_of(call.inputs, has_mask))
        y.mask = merged_mask(call, std::logical_or<bool>());
      else
        y.mask =
            Tensor<bool>::full(std::ranges::find_if(call.inputs, has_mask)->mask->shape(), true);
      return std::vector{y};
    }
    for (const KerasValue<T>& input : call.inputs) {
      const Shape& shape = input.tensor.shape();
      const std::vector<Index> sizes(shape.begin(), shape.begin() + mask_rank);
      masks.push_back(call.tape.constant(input.mask ? numbers_of<T>(*input.mask, 0)
                                                    : Tensor<T>::full(Shape(sizes), T{1})));
    }
    y.mask = concatenate(masks, position).value() != 0;
    return std::vector{y};
  };
}

// Formula: y[b, …] = Σ_k x1[b, …, k, …] x2[b, …, k, …] over one axis of each input.
template <class T>
void read_dot(KerasLayer<T>& layer, KerasConfig& config) {
  std::vector<Index> axes = config.integers("axes");
  if (axes.size() == 1) axes.push_back(axes.front());
  if (axes.size() != 2) fail<ValueError>("axes", "one or two axes", str_cat(axes.size(), " axes"));
  const bool normalized = config.flag("normalize", false);
  layer.compute = [=](const KerasLayer<T>&, KerasCall<T>& call) {
    if (call.inputs.size() != 2) fail<ShapeError>("inputs", 2, call.inputs.size());
    std::string equation, result = "b";
    std::vector<Var<T>> inputs;
    char letter = 'c';
    for (std::size_t i = 0; i < 2; ++i) {
      Var<T> x = call.inputs[i].tensor;
      const Index axis = keras_axis("axes", axes[i], x.rank());
      if (axis == 0) fail<ValueError>("axes", "an axis other than the batch", 0);
      if (normalized) {
        const Var<T> unit = normalize(transpose(x, axis, -1));
        x = transpose(unit, axis, -1);
      }
      inputs.push_back(x);
      equation += i == 0 ? "b" : ",b";
      for (Index j = 1; j < x.rank(); ++j) {
        equation += j == axis ? 'a' : letter;
        if (j != axis) result += letter++;
      }
    }
    const Var<T> y = einsum(equation + "->" + result, inputs[0], inputs[1]);
    return without_mask(y.rank() == 1 ? unsqueeze(y, 1) : y);
  };
}

}  // namespace

template <class T>
KerasReaders<T> keras_merging_layers() {
  using X = Var<T>;
  constexpr auto add = [](const X& a, const X& b) { return a + b; };
  constexpr auto subtract = [](const X& a, const X& b) { return a - b; };
  constexpr auto multiply = [](const X& a, const X& b) { return a * b; };
  constexpr auto maximum = [](const X& a, const X& b) {
    return where(a.value() >= b.value(), a, b);
  };
  constexpr auto minimum = [](const X& a, const X& b) {
    return where(a.value() <= b.value(), a, b);
  };
  return {{"Add", &read_merging<T, add>},           {"Average", &read_merging<T, add>},
          {"Subtract", &read_merging<T, subtract>}, {"Multiply", &read_merging<T, multiply>},
          {"Maximum", &read_merging<T, maximum>},   {"Minimum", &read_merging<T, minimum>},
          {"Concatenate", &read_concatenate<T>},    {"Dot", &read_dot<T>}};
}

template KerasReaders<float> keras_merging_layers();
template KerasReaders<double> keras_merging_layers();

}  // namespace weft
