// write_vectors: saves vectors as CSV or HDF5.
#pragma once

#include <filesystem>
#include <vector>

#include <weft/autograd/tensor.hpp>

namespace weft::embed {

// Throws ValueError unless the name ends in ".csv" or ".h5", and FileError when nothing could be
// written there, or it is one of the inputs; for the program to call before it computes what it
// writes.
void check_vectors_file(const std::filesystem::path& path,
                        const std::vector<std::filesystem::path>& inputs = {});

// A CSV file has a row for each vector below the names of the columns, 0, 1, …; an HDF5 file has
// the dataset "vectors". Throws as check_vectors_file.
void write_vectors(const std::filesystem::path& path, const Tensor<float>& vectors);

}  // namespace weft::embed
