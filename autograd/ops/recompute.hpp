// recompute: activation checkpointing, which recomputes a part of a model in backward.
#pragma once

#include <tuple>

#include "weft/autograd/operation.hpp"

namespace weft {

// Computes `y = part(inputs…)`, of any shapes, and keeps only the inputs. Backward computes the
// part again, with the same random numbers, and then its gradients. This needs the memory of one
// part at a time and about a third more time (Chen et al., 2016). Gradients differ at most in the
// rounding of sums. `part` takes and returns Vars. It is copied and called on a separate tape; it
// may use parameters, but no Vars except its arguments. Throws Error if the inputs are on different
// tapes, and whatever `part` throws. Backward throws Error if a parameter used by the part has been
// moved, removed or replaced in the meantime.
//   Var y = recompute([&](const auto& v) { return encoder_block(v); }, x);
template <class T, class Part, class... Inputs>
Var<T> recompute(const Part& part, const Var<T>& first, const Inputs&... others) {
  Tape<T>& tape = tape_of("recompute", first, others...);
  if (!tape.recording()) return part(first, others...);

  const std::uint32_t streams = tape.random_streams();
  Tape<T>& forward_tape = tape.replay(streams);
  const Var<T> result =
      part(forward_tape.constant(first.value()), forward_tape.constant(others.value())...);
  tape.set_random_streams(forward_tape.random_streams());
  const bool has_parameters = result.node() != no_node;
  const Tensor<T> y = result.value();
  for (const double labels : forward_tape.label_counts()) tape.count_labels(labels);
  tape.keep_parameters_of(forward_tape);
  forward_tape.clear();
  if (!has_parameters && first.node() == no_node && ((others.node() == no_node) && ...))
    return tape.constant(y);

  struct Input {
    NodeId node;
    Tensor<T> value;
  };
  const auto input_of = [](const Var<T>& input) { return Input{input.node(), input.value()}; };
  return tape.record_always(
      "recompute", y,
      [part, streams, inputs = std::tuple(input_of(first), input_of(others)...)](
          Tape<T>& backward, const Tensor<T>& dy) {
        Tape<T>& backward_tape = backward.replay(streams);
        const auto leaf = [&](const Input& input) {
          if (input.node == no_node) return backward_tape.constant(input.value);
          return backward_tape.record_always(
              "input", input.value, [&backward, node = input.node](Tape<T>&, const Tensor<T>& dx) {
                backward.add_gradient(node, dx);
              });
        };
        const Var<T> recomputed =
            std::apply([&](const auto&... each) { return part(leaf(each)...); }, inputs);
        if (recomputed.node() != no_node) backward_tape.backward(recomputed, dy);
      });
}

}  // namespace weft
