#include "examples/keras/model_argument.hpp"

namespace weft::keras {

bool ModelArgument::parse(examples::CommandLine& line, int argc, char** argv,
                          const std::string& names, std::vector<std::string>* others) {
  std::vector<std::string> arguments;
  line.option("weights", "file of the weights, if MODEL is the JSON of model.to_json() in Keras 2",
              weights);
  line.arguments(names.empty() ? "MODEL" : "MODEL " + names, arguments);
  if (!line.parse(argc, argv)) return false;
  const bool is_any = names.ends_with("...");
  const std::size_t least = others ? 2 : 1;
  if (arguments.size() < least || (arguments.size() > least && !is_any))
    fail<examples::UsageError>("command line", names.empty() ? "MODEL" : "MODEL " + names,
                               str_cat(arguments.size(), " arguments"));
  model = arguments.front();
  if (others) others->assign(arguments.begin() + 1, arguments.end());
  return true;
}

KerasModel<float> ModelArgument::load() const {
  return weights.empty() ? load_keras(model) : load_keras(model, weights);
}

std::vector<std::filesystem::path> ModelArgument::files() const {
  std::vector<std::filesystem::path> files{model};
  if (!weights.empty()) files.emplace_back(weights);
  return files;
}

}  // namespace weft::keras
