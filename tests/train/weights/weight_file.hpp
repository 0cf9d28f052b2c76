// WeightFile: a file of weights and the model that loads it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {

template <class Model>
struct WeightFile {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "weights.h5";
  Model model;

  // `write` receives the Hdf5Writer.
  template <class Write>
  WeightFile(Model for_model, const Write& write) : model(std::move(for_model)) {
    Hdf5Writer writer(path);
    write(writer);
    writer.save();
  }

  // The message of the error on loading; checks that the model is unchanged.
  template <class E = FileError>
  std::string error(const LoadWeightsOptions& options = {}) {
    for (const auto& [name, parameter] : named_parameters(model))
      std::ranges::fill(parameter->values(), 5.0f);
    const std::string message = message_of<E>([&] { (void)load_weights(path, model, options); });
    CHECK_FALSE(message.empty());
    for (const auto& [name, parameter] : named_parameters(model))
      for (float value : parameter->value()) CHECK(value == 5.0f);
    return message;
  }
};

}  // namespace weft
