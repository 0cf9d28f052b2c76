#include "examples/pronounce/saved_model.hpp"

#include <weft/train/weights/checkpoint.hpp>
#include "examples/common/settings.hpp"

namespace weft::pronounce {
namespace {

// Returns a model with random weights, which the checkpoint's weights overwrite.
Pronouncer<float> initial_model(const Configuration& configuration, const Language& language) {
  Random random(0);
  return Pronouncer<float>(configuration, language, random);
}

}  // namespace

SavedModel::SavedModel(const std::filesystem::path& checkpoint)
    : configuration(examples::load_configuration<Configuration>(checkpoint)),
      language(Language::of(configuration)),
      model(initial_model(configuration, language)) {
  load_checkpoint(checkpoint, model);
}

}  // namespace weft::pronounce
