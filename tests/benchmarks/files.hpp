// Saves and loads the weights of a model of 124 million parameters, GPT-2's smallest.
#pragma once

#include <filesystem>

namespace weft::benchmarks {

struct FileRate {
  double gigabytes_per_second;
  double peak_mib;   // of the process
  double model_mib;  // of the parameters
};

FileRate measure_saving(const std::filesystem::path& file, double seconds);
// A file that was saved by the function above or by a peer.
FileRate measure_loading(const std::filesystem::path& file, double seconds);

}  // namespace weft::benchmarks
