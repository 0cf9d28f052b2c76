// error_of: the error of a load that fails and changes nothing.
#pragma once

#include <algorithm>
#include <string>

#include <weft/train/weights/load_weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

namespace weft {

// Returns the message of the error on loading. Checks that the model is unchanged.
template <class E = FileError>
std::string error_of(const std::string& path, Module<float>& model,
                     const LoadWeightsOptions& options = {}) {
  for (const auto& [name, parameter] : named_parameters(model))
    std::ranges::fill(parameter->values(), 5.0f);
  const std::string message = message_of<E>([&] { (void)load_weights(path, model, options); });
  CHECK_FALSE(message.empty());
  bool unchanged = true;
  for (const auto& [name, parameter] : named_parameters(model))
    for (const float value : parameter->value()) unchanged = unchanged && value == 5.0f;
  CHECK(unchanged);
  return message;
}

}  // namespace weft
