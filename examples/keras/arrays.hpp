// Reads and writes arrays of numbers: NumPy's .npy files, and CSV.
#pragma once

#include <filesystem>

#include <weft/autograd/tensor.hpp>
#include <weft/train/pretrained/keras/keras_files.hpp>

namespace weft::keras {

// Reads an array [...] of floating-point numbers, integers or Booleans from a .npy file in C order
// (NumPy Enhancement Proposal 1, versions 1 to 3). Throws FileError for other files.
Tensor<float> read_npy(const std::filesystem::path& path);
// Writes an array [...] of float32.
void write_npy(const std::filesystem::path& path, const Tensor<float>& array);
// Writes rows [rows, …] as CSV, with a header of the column numbers 0, 1, ….
void write_csv(std::ostream& out, const Tensor<float>& rows);

// Reshapes rows [rows, numbers] to the shape of an input of a model, [rows, sizes of the input]. At
// most one size of the input may be unknown. Throws ShapeError, naming the input, for a number of
// numbers that does not fit.
Tensor<float> shaped_for(const KerasInput& input, const Tensor<float>& rows);

}  // namespace weft::keras
