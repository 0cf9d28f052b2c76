#include <weft/train/files/hdf5/hdf5_file.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

namespace weft {
namespace {

const std::string kinds = WEFT_TEST_DATA "/hdf5_kinds.h5";

template <class T>
std::vector<T> values_of(const Tensor<T>& tensor) {
  return {tensor.begin(), tensor.end()};
}

}  // namespace

TEST_CASE("hdf5: all floating-point types are read as float and as double", "[train]") {
  const Hdf5File file(kinds);
  const std::vector<double> expected{0.5, -1.25, 2.0, 3.0, 0.0, -4.75};
  const std::vector<std::string> datasets = file.datasets("floats");
  CHECK(datasets.size() == 6);
  for (const std::string& dataset : datasets) {
    INFO(dataset);
    CHECK(file.shape(dataset) == Shape{2, 3});
    CHECK(values_of(file.tensor<double>(dataset)) == expected);
    CHECK(values_of(file.tensor<float>(dataset)) ==
          std::vector<float>(expected.begin(), expected.end()));
  }
  CHECK(file.type("/floats/float16") == "float16");
  CHECK(file.type("/floats/float32") == "float32");
  CHECK(file.type("/floats/big_endian_float64") == "big-endian float64");
}

TEST_CASE("hdf5: all integer types are read, and values out of range throw", "[train]") {
  const Hdf5File file(kinds);
  for (const char* name :
       {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}) {
    CHECK(file.type(std::string("integers/") + name) == name);
    CHECK(values_of(file.tensor<std::int32_t>(std::string("integers/") + name)) ==
          std::vector<std::int32_t>{0, 1, 100});
  }
  CHECK_THAT(
      message_of<FileError>([&] { file.tensor<std::int32_t>("integers/large"); }),
      Catch::Contains("/integers/large: expected integers of 32 bits, got 2147483648 at [1]"));
  CHECK_THAT(message_of<FileError>([&] { file.tensor<std::int32_t>("integers/huge"); }),
             Catch::Contains("expected integers of 32 bits, got 9223372036854775808 at [0]"));
}

TEST_CASE("hdf5: booleans, scalars, empty tensors and strings are read", "[train]") {
  const Hdf5File file(kinds);
  CHECK(values_of(file.tensor<bool>("truth")) == std::vector<bool>{true, false, false, true});
  CHECK(file.tensor<float>("scalar").shape() == Shape{});
  CHECK(file.tensor<float>("scalar").item() == 2.5f);
  CHECK(file.value<double>("scalar") == 2.5);
  CHECK(file.tensor<float>("empty").shape() == Shape{0, 3});
  CHECK(file.value<std::string>("text") == "päper");
}

TEST_CASE("hdf5: chunked and compressed data are read", "[train]") {
  const Hdf5File file(kinds);
  for (const std::string& dataset : file.datasets("stored")) {
    INFO(dataset);
    const Tensor<float> tensor = file.tensor<float>(dataset, {20, 30});
    for (Index i = 0; i < tensor.size(); ++i) REQUIRE(tensor.data()[i] == static_cast<float>(i));
  }
}

TEST_CASE("hdf5: attributes are read", "[train]") {
  const Hdf5File file(kinds);
  CHECK(file.attribute<std::string>("/", "text") == "päper");
  CHECK(file.attribute<std::string>("/", "fixed") == "paper");
  CHECK(file.attribute<std::int64_t>("/", "integer") == 42);
  CHECK(file.attribute<double>("/", "number") == 2.5);
  CHECK(file.attribute<std::string>("floats", "of") == "a group");
  CHECK(file.has_attribute("/", "text"));
  CHECK_FALSE(file.has_attribute("/", "nothing"));
  CHECK_THAT(message_of<FileError>([&] { file.attribute<double>("/", "nothing"); }),
             Catch::Contains("/ attribute nothing: expected an attribute, got no such attribute"));
}

}  // namespace weft
