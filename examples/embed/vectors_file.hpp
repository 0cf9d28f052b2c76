// write_vectors: saves vectors as CSV or HDF5.
#pragma once

#include <filesystem>
#include <vector>

#include <weft/autograd/tensor.hpp>

namespace weft::embed {

// Checks that vectors can be written to a file; call it before computing them. Throws ValueError
// unless the name ends in ".csv" or ".h5". Throws FileError if the file cannot be written or is one
// of the inputs.
void check_vectors_file(const std::filesystem::path& path,
                        const std::vector<std::filesystem::path>& inputs = {});

// Writes vectors to a file: as CSV, with a header of the column numbers 0, 1, … and one row per
// vector, or as HDF5, in the dataset "vectors". Throws the same exceptions as check_vectors_file.
void write_vectors(const std::filesystem::path& path, const Tensor<float>& vectors);

}  // namespace weft::embed
