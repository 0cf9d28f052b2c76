#include <filesystem>
#include <iostream>

#include <weft/pretrained.hpp>

using namespace weft;

// Returns the loss of predicting the tokens of a periodic text.
Var<float> loss_of(const Gpt<float>& model, Tape<float>& tape, Index period) {
  Tokens inputs({1, 24}), targets({1, 24});
  for (Index i = 0; i < 24; ++i) {
    inputs(0, i) = static_cast<TokenId>(i % period);
    targets(0, i) = static_cast<TokenId>((i + 1) % period);
  }
  return cross_entropy(model(tape, inputs), targets);
}

void train(Gpt<float>& model, Index period) {
  AdamW optimizer(model, {.lr = 1e-2});
  Tape tape({.training = true});
  for (int step = 0; step < 60; ++step) {
    tape.backward(loss_of(model, tape, period));
    optimizer.step();
  }
}

void show(const char* title, const Gpt<float>& model) {
  Tape tape = Tape<>::inference();
  std::cout << title << ": loss of period 4 " << loss_of(model, tape, 4).item() << ", of period 7 "
            << loss_of(model, tape, 7).item() << '\n';
}

int main() {
  Random random(1);
  Gpt model(
      {.vocabulary_size = 8, .max_len = 32, .num_hiddens = 32, .num_heads = 4, .num_blocks = 2},
      random);
  train(model, 4);
  show("trained", model);

  // Adds adapters of rank 4 to the queries and values, and freezes all other parameters.
  const auto queries_and_values = [](const std::string& name) {
    return name.ends_with("W_q") || name.ends_with("W_v");
  };
  std::cout << add_lora(model, {.rank = 4, .alpha = 8}, queries_and_values, random)
            << " adapters\n";
  train(model, 7);
  show("adapted", model);

  std::filesystem::create_directories("adapters");
  save_lora("adapters", model);
  remove_lora(model);
  show("without", model);
  load_lora("adapters", model);
  merge_lora(model);  // adds the adapters to the weights
  show("merged", model);
}
