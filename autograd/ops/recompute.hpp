// recompute: a part of a model that is computed again in backward instead of being kept.
#pragma once

#include <tuple>

#include "weft/autograd/operation.hpp"

namespace weft {

// part(inputs...), of whose pass only the inputs are kept: backward computes the part once more,
// with the same random numbers, and walks it back. Takes the memory of one part at a time and about
// a third more time (Chen et al., 2016); gradients differ at most in how sums are rounded. `part`
// takes and returns Vars; it is copied, called on a tape of its own, and may use parameters, but no
// other Var. Throws Error for inputs of different tapes, and what `part` throws.
template <class T, class Part, class... Inputs>
Var<T> recompute(const Part& part, const Var<T>& first, const Inputs&... others) {
  Pass<T>& pass = pass_of("recompute", first, others...);
  if (!pass.recording()) return part(first, others...);

  const std::uint32_t streams = pass.random_streams();
  Tape<T>& once = pass.replay(streams);
  const Var<T> result = part(once.constant(first.value()), once.constant(others.value())...);
  pass.set_random_streams(once.pass().random_streams());
  const bool has_parameters = result.node() != no_node;
  const Tensor<T> y = result.value();
  once.clear();
  if (!has_parameters && first.node() == no_node && ((others.node() == no_node) && ...))
    return pass.constant(y);

  struct Input {
    NodeId node;
    Tensor<T> value;
  };
  const auto kept = [](const Var<T>& input) { return Input{input.node(), input.value()}; };
  return pass.record_always(
      "recompute", y,
      [part, streams, inputs = std::tuple(kept(first), kept(others)...)](Pass<T>& backward,
                                                                         const Tensor<T>& dy) {
        Tape<T>& again = backward.replay(streams);
        const auto leaf = [&](const Input& input) {
          if (input.node == no_node) return again.constant(input.value);
          return again.pass().record_always(
              "input", input.value, [&backward, node = input.node](Pass<T>&, const Tensor<T>& dx) {
                backward.add_gradient(node, dx);
              });
        };
        const Var<T> result_again =
            std::apply([&](const auto&... each) { return part(leaf(each)...); }, inputs);
        if (result_again.node() != no_node) again.backward(result_again, dy);
      });
}

}  // namespace weft
