// Printed tensors against PyTorch's. write_printed_tensors.py wrote them.
#include <span>
#include <sstream>
#include <string>

#include <weft/autograd/error.hpp>
#include <weft/autograd/tensor.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

// Compares all tensors of a type, and returns their number.
template <class T>
Index check_tensors(const Hdf5File& file, const std::string& type) {
  const auto shapes = file.tensor<std::int32_t>(type + "/shapes");
  const auto values = file.tensor<T>(type + "/values");
  const T* next = values.data();
  std::istringstream texts(file.value<std::string>(type + "/texts"));
  for (Index i = 0; i < shapes.shape()[0]; ++i) {
    Shape shape;
    for (Index axis = 0; axis < shapes(i, 0); ++axis)
      shape = shape.inserted(axis, shapes(i, axis + 1));
    const Tensor<T> tensor(shape, std::span(next, static_cast<std::size_t>(shape.elements())));
    next += shape.elements();
    std::string text;
    REQUIRE(std::getline(texts, text, '\f'));
    CHECK(str_cat(tensor) == text);
  }
  return shapes.shape()[0];
}

}  // namespace

TEST_CASE("print(torch.tensor(…))", "[golden]") {
  const Hdf5File file(WEFT_TEST_DATA "/printed_tensors.h5");
  CHECK(check_tensors<float>(file, "float32") == 38);
  CHECK(check_tensors<double>(file, "float64") == 38);
  CHECK(check_tensors<std::int32_t>(file, "int32") == 9);
  CHECK(check_tensors<bool>(file, "bool") == 6);
}
