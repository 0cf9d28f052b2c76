#include "tests/benchmarks/phases.hpp"

#include <weft/autograd.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/layers/summary.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/clip.hpp>
#include "tests/benchmarks/measure.hpp"

namespace weft::benchmarks {

Phases measure_phases(double seconds) {
  constexpr Index vocabulary = 50257, context = 64, batch = 4;
  Random random(1);
  Gpt<float> model({.vocabulary_size = vocabulary,
                    .max_len = context,
                    .num_hiddens = 768,
                    .num_heads = 12,
                    .num_blocks = 12},
                   random);
  AdamW<float> optimizer(model, {.lr = 1e-3});
  Tape<float> tape({.training = true});
  const auto time_of = [&](Index rows) {
    Tokens tokens({rows, context});
    for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(vocabulary));
    return median_seconds(seconds, [&] {
      zero_grad(model);
      tape.backward(cross_entropy(model(tape, tokens), tokens));
    });
  };
  const double whole_batch = time_of(batch), half_batch = time_of(batch / 2);
  // The optimizer updates what has a gradient.
  const auto get_gradients = [&] {
    const Tokens token({1, 1});
    tape.backward(cross_entropy(model(tape, token), token));
  };
  const double gradients = median_seconds(seconds, [&] {
    get_gradients();
    optimizer.zero_grad();
  });
  const double gradients_and_update = median_seconds(seconds, [&] {
    get_gradients();
    optimizer.step(clip_factor(optimizer.grad_norm(), 1.0));
  });
  return {whole_batch, half_batch, gradients_and_update - gradients, count_parameters(model)};
}

}  // namespace weft::benchmarks
