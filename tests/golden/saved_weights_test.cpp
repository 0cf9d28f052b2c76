// Writes models for tests/state_dicts.sh, which loads them in PyTorch, with their outputs.
#include <cstdlib>

#include <weft/layers/models/bert.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/hdf5/hdf5_writer.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

// Biases and scales, which start as zeros and ones, become distinguishable.
void randomize(Module<float>& model, Random& random) {
  for (const auto& [name, parameter] : named_parameters(model))
    parameter->set_value(random.normal_tensor<float>(parameter->shape(), 0.0, 0.3));
}

}  // namespace

TEST_CASE("saved weights: files for tests/state_dicts.sh", "[.state_dicts]") {
  const char* variable = std::getenv("WEFT_STATE_DICTS");
  REQUIRE(variable);
  const std::filesystem::path folder = variable;
  Random random(3);
  const Tokens tokens({2, 5}, {3, 1, 28, 0, 7, 7, 9, 2, 11, 20});
  const Tokens segments({2, 5}, {0, 0, 1, 1, 1, 1, 0, 0, 1, 0});
  Hdf5Writer outputs(folder / "outputs.h5");
  outputs.tensor("tokens", tokens);
  outputs.tensor("segments", segments);
  Tape<float> tape = Tape<float>::inference();
  for (const auto& [layout, activation] :
       {std::pair(Layout::nanogpt, Activation::gelu), {Layout::gpt2, Activation::gelu_tanh}})
    for (const std::string variant : {"", "_untied", "_unbiased"}) {
      if (layout == Layout::nanogpt && variant == "_unbiased") continue;
      Gpt<float> gpt({.vocabulary_size = 29,
                      .max_len = 16,
                      .num_hiddens = 12,
                      .num_heads = 3,
                      .num_blocks = 2,
                      .bias = variant != "_unbiased",
                      .tied = variant != "_untied",
                      .activation = activation},
                     random);
      randomize(gpt, random);
      const std::string name = to_string(layout) + variant;
      save_weights(folder / (name + ".h5"), gpt, {.layout = layout});
      save_weights(folder / (name + "_float16.h5"), gpt,
                   {.layout = layout, .storage = StorageType::float16});
      outputs.tensor(name, gpt(tape, tokens).value());
    }
  Bert<float> bert({.vocabulary_size = 29,
                    .max_len = 16,
                    .num_hiddens = 12,
                    .num_heads = 3,
                    .num_blocks = 2,
                    .ffn_num_hiddens = 20,
                    .pooler = true},
                   random);
  randomize(bert, random);
  save_weights(folder / "bert.h5", bert, {.layout = Layout::bert});
  const Var states = bert(tape, tokens, segments);
  outputs.tensor("bert", states.value());
  outputs.tensor("bert_pooled", bert.pooled(states).value());

  TransformerEncoder<float> encoder({.num_blocks = 2, .num_hiddens = 12, .ffn_num_hiddens = 8},
                                    random);
  randomize(encoder, random);
  save_weights(folder / "own.h5", encoder, {.layout = Layout::pytorch});
  save_weights(folder / "own_nested.h5", encoder, {.layout = Layout::pytorch_nested});
  outputs.save();
}

}  // namespace weft
