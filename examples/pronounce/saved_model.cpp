#include "examples/pronounce/saved_model.hpp"

#include <weft/train/weights/checkpoint.hpp>

namespace weft::pronounce {
namespace {

// Its random weights are about to be replaced.
Pronouncer<float> model_to_fill(const Configuration& configuration, const Language& language) {
  Random random(0);
  return Pronouncer<float>(configuration, language, random);
}

}  // namespace

Configuration load_configuration(const std::filesystem::path& checkpoint) {
  Configuration configuration;
  load_state(checkpoint, "configuration", configuration);
  return configuration;
}

SavedModel::SavedModel(const std::filesystem::path& checkpoint)
    : configuration(load_configuration(checkpoint)),
      language(Language::of(configuration)),
      model(model_to_fill(configuration, language)) {
  load_checkpoint(checkpoint, model);
}

}  // namespace weft::pronounce
