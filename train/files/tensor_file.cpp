#include "weft/train/files/tensor_file.hpp"

#include <algorithm>

namespace weft {

std::string TensorFile::full_path(const std::string& path) {
  std::string full;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) full += '/' + path.substr(begin, end - begin);
    begin = end + 1;
  }
  return full.empty() ? "/" : full;
}

}  // namespace weft
