#include "examples/embed/vectors_file.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include <weft/autograd/error.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include "examples/common/output_files.hpp"

namespace weft::embed {
namespace {

namespace fs = std::filesystem;

void write_csv(const fs::path& path, const Tensor<float>& vectors) {
  std::ofstream file(path, std::ios::binary);
  const Index columns = vectors.shape()[1];
  for (Index column = 0; column < columns; ++column)
    file << str_cat(column == 0 ? "" : ",", column);
  file << '\n';
  std::array<char, 32> digits;
  for (Index row = 0; row < vectors.shape()[0]; ++row)
    for (Index column = 0; column < columns; ++column) {
      // to_chars writes the shortest string that is read back as the same float.
      const auto [end, error] = std::to_chars(digits.begin(), digits.end(), vectors(row, column));
      file.write(digits.data(), end - digits.begin()) << (column + 1 == columns ? '\n' : ',');
    }
  file.flush();
  if (!file)
    throw FileError("cannot write output '" + path.string() + "': " + std::strerror(errno));
}

}  // namespace

void check_vectors_file(const fs::path& path, const std::vector<fs::path>& inputs) {
  if (const fs::path extension = path.extension(); extension != ".csv" && extension != ".h5")
    fail<ValueError>("output '" + path.string() + "'", "a name that ends in .csv or .h5",
                     extension.empty() ? "none" : extension.string());
  examples::make_directory(fs::absolute(path).parent_path());
  examples::check_replaceable(path, inputs);
}

void write_vectors(const fs::path& path, const Tensor<float>& vectors) {
  check_vectors_file(path);
  if (path.extension() == ".csv") return write_csv(path, vectors);
  Hdf5Writer writer(path);
  writer.tensor("vectors", vectors);
  writer.save();
}

}  // namespace weft::embed
