#include "examples/h5weights/weights_file.hpp"

#include <algorithm>
#include <sstream>
#include <system_error>

#include <weft/autograd/error.hpp>

namespace weft::h5weights {
namespace {

// Only files of weft have a checksum.
bool is_verified(const std::filesystem::path& path) {
  try {
    Hdf5File::open_verified(path);
    return true;
  } catch (const FileError&) {
    return false;
  }
}

}  // namespace

WeightsFile::WeightsFile(const std::filesystem::path& path)
    : file(path), has_checksum(is_verified(path)) {
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  bytes = ignored ? 0 : size;
}

std::map<std::string, std::string> WeightsFile::paths_by_name() const {
  std::map<std::string, std::string> paths;
  for (const std::string& path : file.datasets()) {
    std::string name = path.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    if (const auto [same, is_new] = paths.emplace(name, path); !is_new)
      fail<FileError>(concatenate_text("file '", file.path().string(), '\''),
                      concatenate_text("one dataset for ", name),
                      concatenate_text(same->second, " and ", path));
  }
  return paths;
}

bool parse_files(examples::CommandLine& line, int argc, char** argv,
                 const std::vector<std::string>& names, std::vector<std::string>& files) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
  line.arguments(list, files);
  if (!line.parse(argc, argv)) return false;
  if (files.size() != names.size())
    fail<examples::UsageError>("command line", list, counted(files.size(), "argument"));
  return true;
}

std::string grouped(std::uintmax_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string rounded(double number) {
  std::ostringstream out;
  out.precision(4);
  out << number;
  return std::move(out).str();
}

std::string counted(std::size_t count, const std::string& what) {
  return concatenate_text(grouped(count), ' ', what, count == 1 ? "" : "s");
}

}  // namespace weft::h5weights
