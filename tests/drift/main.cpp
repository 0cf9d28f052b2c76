// drift NAME TEXT OUT [REFERENCE]: trains nanoGPT's small character model on TEXT for 200 steps in
// full precision, or in double precision if NAME contains "double", and writes the losses and the
// weights to OUT. Prints a row of a table: NAME, the last loss, and the relative differences from
// the run that wrote REFERENCE: those of the losses of some steps, and the largest one of a weight
// tensor.
#include <cmath>
#include <iostream>
#include <optional>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr Index steps = 200;

template <class T>
double norm(const Tensor<T>& tensor) {
  double sum = 0.0;
  for (const T value : tensor) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

template <class T>
void train(const std::string& text, const std::string& out, const std::string& reference) {
  const Vocabulary vocabulary = Vocabulary::of_characters(text);
  Random random(1);
  Gpt<T> model({.vocabulary_size = vocabulary.size(),
                .max_len = 64,
                .num_hiddens = 128,
                .num_heads = 4,
                .num_blocks = 4,
                .bias = false},
               random);
  AdamW optimizer(model, {.lr = 1e-3, .weight_decay = 0.1});
  const TokenIds ids = vocabulary.encode_text(text);
  WindowBatches<TokenId> windows(Tokens({std::ssize(ids)}, ids),
                                 {.batch_size = 12, .drop_last = true});
  Trainer trainer(model, optimizer, windows,
                  [&](Tape<T>& tape, const TensorBatch<TokenId>& batch) {
                    return cross_entropy(model(tape, batch.inputs), batch.targets);
                  },
                  {.epochs = steps, .max_steps = steps, .clip_norm = 1.0, .output = nullptr});
  Tensor<double> losses({steps});
  trainer.after_step([&](const StepReport& report) { losses(report.step - 1) = report.loss; });
  trainer.run();

  Hdf5Writer writer(out);
  writer.tensor("losses", losses);
  for (const auto& [name, parameter] : named_parameters(model))
    writer.tensor("weights/" + name, parameter->value());
  writer.save();
  std::cout << losses(steps - 1) << std::scientific;
  std::cout.precision(1);
  const Hdf5File file(reference.empty() ? out : reference);
  const auto expected = file.tensor<double>("losses");
  for (const Index step : {1, 10, 50, 100, 200})
    std::cout << " | " << std::abs(losses(step - 1) / expected(step - 1) - 1.0);
  double largest = 0.0;
  for (const auto& [name, parameter] : named_parameters(model)) {
    const auto other = file.tensor<T>("weights/" + name);
    Tensor<T> difference = parameter->value();
    for (Index i = 0; i < other.size(); ++i) difference.data()[i] -= other.data()[i];
    largest = std::max(largest, norm(difference) / norm(other));
  }
  std::cout << " | " << largest << " |\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4 || argc > 5)
    fail<ValueError>("drift", "NAME TEXT OUT [REFERENCE]", str_cat(argc - 1, " arguments"));
  const std::string name = argv[1], reference = argc > 4 ? argv[4] : "";
  const bool is_double = name.find("double") != name.npos;
  std::cout << "| " << name << " | ";
  (is_double ? train<double> : train<float>)(read_text(argv[2]), argv[3], reference);
  return 0;
} catch (const weft::Error& error) {
  std::cerr << "drift: " << error.what() << '\n';
  return 1;
}
