// WeightsFile: an open file of weights, and what its commands read from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <weft/train/hdf5/hdf5_file.hpp>
#include "examples/common/command_line.hpp"

namespace weft::h5weights {

struct WeightsFile {
  // Throws FileError as Hdf5File does.
  explicit WeightsFile(const std::filesystem::path& path);

  // The paths of all datasets by their names: the path with '.' for '/'. Throws FileError when two
  // have the same name.
  std::map<std::string, std::string> paths_by_name() const;

  Hdf5File file;
  // Whether the file ends with the checksum of its other bytes, which then is right.
  bool has_checksum;
  std::uintmax_t bytes;
};

// Parses the command line and returns true when `files` then has as many arguments as there are
// `names`: "FILE", "A", "B". Returns false after --help. Throws UsageError.
bool parse_files(examples::CommandLine& line, int argc, char** argv,
                 const std::vector<std::string>& names, std::vector<std::string>& files);

// An integer with a comma between groups of three digits.
std::string grouped(std::uintmax_t number);
// With four significant digits.
std::string rounded(double number);
// "1 dataset", "2 datasets".
std::string counted(std::size_t count, const std::string& what);

}  // namespace weft::h5weights
