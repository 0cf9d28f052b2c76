#include <iostream>

#include <weft/train/weights/convert_weights.hpp>
#include "examples/common/output_files.hpp"
#include "examples/h5weights/commands.hpp"
#include "examples/h5weights/formats.hpp"
#include "examples/h5weights/options.hpp"

namespace weft::h5weights {
namespace {

template <class Names>
std::vector<std::string> choices(const Names& names) {
  std::vector<std::string> choices;
  for (const auto& [value, name] : names) choices.emplace_back(name);
  return choices;
}

// Returns "weft, state_dict, …".
std::string convertible() {
  std::string text;
  for (const std::string& name : convertible_layouts()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

int convert(int argc, char** argv) {
  std::vector<std::string> files;
  std::string layout = "weft", storage = "same";
  bool averaged = true;
  examples::CommandLine line("h5weights convert",
                             "Converts the weights in IN to another layout, and writes them to "
                             "OUT, as HDF5 or safetensors "
                             "according to its extension. Layouts that IN may have: " +
                                 convertible() + '.');
  line.choice("layout", "layout (names of the datasets) of OUT", layout, choices(layout_names));
  line.choice("storage", "type of the numbers in OUT", storage, choices(storage_type_names));
  line.flag("averaged",
            "write the averaged weights if IN has any; --averaged=false writes the last weights",
            averaged);
  if (!parse_files(line, argc, argv, {"IN", "OUT"}, files)) return 0;

  examples::check_replaceable(files[1], examples::model_files(files[0]));
  const ConvertWeightsReport report =
      convert_weights(files[0], files[1],
                      {.layout = enum_from_name("layout", layout, layout_names),
                       .storage = enum_from_name("storage", storage, storage_type_names)},
                      averaged);
  std::cout << files[1] << ": " << counted(static_cast<std::size_t>(report.written), "dataset")
            << " in the layout " << layout << ", from " << report.layout
            << (report.averaged ? ", averaged\n" : "\n");
  for (const std::string& name : report.unused)
    std::cout << "left out: " << printable(name) << '\n';
  return 0;
}

}  // namespace weft::h5weights
