#include "examples/pronounce/saved_model.hpp"

#include <weft/train/weights/checkpoint.hpp>

namespace weft::pronounce {
namespace {

// The random weights are overwritten by those of the checkpoint.
Pronouncer<float> initial_model(const Configuration& configuration, const Language& language) {
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
      model(initial_model(configuration, language)) {
  load_checkpoint(checkpoint, model);
}

}  // namespace weft::pronounce
