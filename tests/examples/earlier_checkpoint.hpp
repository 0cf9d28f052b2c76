// Checkpoints of programs as weft 0.2 wrote them, for tests of loading them.
#pragma once

#include <algorithm>

#include "tests/train/earlier_checkpoint.hpp"

namespace weft {

// Rewrites a checkpoint without the new settings of its configuration and without the options of
// its model. Returns the number of settings that were left out.
template <class Configuration>
auto make_earlier(const std::filesystem::path& checkpoint) {
  const std::string settings = "/configuration/", options = "/model_options/";
  const auto left_out = make_earlier(checkpoint, [&](const std::string& path) {
    return path.starts_with(options) ||
           (path.starts_with(settings) &&
            Configuration().is_new_since_0_2(path.substr(settings.size())));
  });
  return std::ranges::count_if(left_out, [&](auto& path) { return path.starts_with(settings); });
}

}  // namespace weft
