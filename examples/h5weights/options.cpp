#include "examples/h5weights/options.hpp"

#include "examples/h5weights/formats.hpp"

namespace weft::h5weights {

bool parse_files(examples::CommandLine& line, int argc, char** argv,
                 const std::vector<std::string>& names, std::vector<std::string>& files) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
  line.arguments(list, files);
  if (!line.parse(argc, argv)) return false;
  if (files.size() != names.size())
    fail<examples::UsageError>("command line", list, counted(files.size(), "argument"));
  return true;
}

}  // namespace weft::h5weights
