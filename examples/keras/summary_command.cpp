#include <iostream>

#include <weft/layers/summary.hpp>
#include "examples/common/command_line.hpp"
#include "examples/keras/commands.hpp"
#include "examples/keras/model_argument.hpp"

namespace weft::keras {

int summary(int argc, char** argv) {
  bool parameters = false;
  ModelArgument argument;
  examples::CommandLine line("keras summary", "Shows the layers of a Keras model.");
  line.flag("parameters", "also list all parameters", parameters);
  if (!argument.parse(line, argc, argv)) return 0;
  const KerasModel<float> model = argument.load();
  std::cout << model << "\n";
  for (const KerasInput& input : model.inputs()) {
    std::cout << "input " << input.name << " [batch";
    for (Index size : input.sizes) std::cout << ", " << (size < 0 ? "any" : str_cat(size));
    std::cout << "]\n";
  }
  if (const std::string loss = model.training_loss(); !loss.empty())
    std::cout << "trained with " << loss << '\n';
  std::cout << count_parameters(model) << " parameters\n";
  if (parameters) std::cout << parameter_table(model);
  return 0;
}

}  // namespace weft::keras
