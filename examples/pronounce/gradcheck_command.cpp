#include <iostream>
#include <set>
#include <string>

#include <weft/autograd/gradcheck.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/losses.hpp>
#include "examples/common/command_line.hpp"
#include "examples/pronounce/commands.hpp"
#include "examples/pronounce/model.hpp"

namespace weft::pronounce {
namespace {

// Words of different lengths, so that the batch contains padding.
const std::vector<Entry> entries = {
    {"weft", {{"W", "EH", "F", "T"}}},
    {"a", {{"AH"}, {"EY"}}},
    {"thorough", {{"TH", "ER", "OW"}}},
};

Configuration small_configuration() {
  Configuration configuration = Configuration::quick();
  configuration.width = 8;
  configuration.heads = 2;
  return configuration;
}

}  // namespace

int gradcheck(int argc, char** argv) {
  Configuration configuration = small_configuration();
  examples::CommandLine line(
      "pronounce gradcheck",
      "Compares all gradients of a small model with finite differences, in double precision.");
  const std::set<std::string> shown = {"width",    "layers",          "heads",
                                       "rms-norm", "qk-norm",         "squared-relu",
                                       "dropout",  "label-smoothing", "seed"};
  Configuration::for_each_setting(
      configuration,
      [&](const std::string& name, const char* description, auto& value, auto... range) {
        if (!shown.contains(name)) return;
        if constexpr (sizeof...(range) > 0)
          line.option(name, description, value, range...);
        else
          line.flag(name, description, value);
      });
  if (!line.parse(argc, argv)) return 0;
  configuration.check_state();

  Random random(static_cast<std::uint64_t>(configuration.seed));
  const Language language = Language::of(entries);
  Pronouncer<double> model(configuration, language, random);
  PairBatches batches(language.pairs(entries));
  const PairBatch batch = batches.batch(0, 0);
  const GradCheckReport report = weft::gradcheck(
      [&](Tape<double>& tape) {
        return batch_loss(model, tape, batch, {.label_smoothing = configuration.label_smoothing});
      },
      named_parameters(model),
      {.atol = 1e-7, .rtol = 1e-6, .seed = static_cast<std::uint64_t>(configuration.seed)});
  std::cout << report;
  if (report.passed()) {
    std::cout << "all " << report.checked()
              << " gradients agree within 1e-7 + 1e-6 · |numeric gradient|\n";
    return 0;
  }
  std::cerr << "pronounce gradcheck: some gradients disagree; the largest error is in "
            << report.worst().name << '\n';
  return 1;
}

}  // namespace weft::pronounce
