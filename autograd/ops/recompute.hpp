// recompute: a part of a model that is computed again in backward instead of being kept.
#pragma once

#include <tuple>

#include "weft/autograd/tape.hpp"

namespace weft {

// part(inputs...), of whose pass only the inputs are kept: backward computes the part once more,
// with the same random numbers, and walks it back. Takes the memory of one part at a time and about
// a third more time (Chen et al., 2016); gradients differ at most in how sums are rounded. `part`
// takes and returns Vars; it is copied, called on a tape of its own, and may use parameters, but no
// other Var. Throws Error for inputs of different tapes, and what `part` throws.
template <class T, class Part, class... Inputs>
Var<T> recompute(const Part& part, const Var<T>& first, const Inputs&... others) {
  Tape<T>& tape = common_tape("recompute", first, others...);
  if (!tape.recording()) return part(first, others...);

  const std::uint32_t streams = tape.random_streams();
  Tape<T>& once = tape.replay(streams);
  const Var<T> result = part(once.constant(first.value()), once.constant(others.value())...);
  tape.set_random_streams(once.random_streams());
  const bool has_parameters = result.node() != no_node;
  const Tensor<T> y = result.value();
  once.clear();
  if (!has_parameters && first.node() == no_node && ((others.node() == no_node) && ...))
    return tape.constant(y);

  struct Input {
    NodeId node;
    Tensor<T> value;
  };
  const auto kept = [](const Var<T>& input) { return Input{input.node(), input.value()}; };
  return tape.record_always(
      "recompute", y,
      [part, streams, inputs = std::tuple(kept(first), kept(others)...)](Tape<T>& t,
                                                                         const Tensor<T>& dy) {
        Tape<T>& again = t.replay(streams);
        const auto leaf = [&](const Input& input) {
          if (input.node == no_node) return again.constant(input.value);
          return again.record_always(
              "input", input.value,
              [&t, node = input.node](Tape<T>&, const Tensor<T>& dx) { t.add_gradient(node, dx); });
        };
        const Var<T> result_again =
            std::apply([&](const auto&... each) { return part(leaf(each)...); }, inputs);
        if (result_again.node() != no_node) again.backward(result_again, dy);
      });
}

}  // namespace weft
