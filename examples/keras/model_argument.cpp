#include "examples/keras/model_argument.hpp"

namespace weft::keras {

bool parse_model(examples::CommandLine& line, int argc, char** argv, std::string& model,
                 const std::string& names, std::vector<std::string>* others) {
  std::vector<std::string> arguments;
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

}  // namespace weft::keras
