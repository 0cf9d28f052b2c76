// adapt_weights: loads another program's file, and saves the model for a third.
#pragma once

#include <string>

#include <weft/weft.hpp>

namespace weft {

inline LoadWeightsReport adapt_weights(const std::string& from, const std::string& to,
                                       Gpt<float>& model) {
  const LoadWeightsReport report =
      load_weights(from, model,
                   {.ignore_unexpected = {"head\\..*"},
                    .rename = {{"trunk\\.layer(\\d+)", "blocks.$1"}, {"trunk\\.", ""}},
                    .except = {"positions.weight"}});
  save_weights(to, model, {.layout = Layout::gpt2, .storage = StorageType::float16});
  return report;
}

}  // namespace weft
