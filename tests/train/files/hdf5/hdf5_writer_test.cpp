#include <cmath>
#include <functional>
#include <utility>

#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/files/hdf5/internal/library.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;

// A path of `depth` groups and a dataset.
std::string nested(std::size_t depth) {
  std::string path;
  for (std::size_t i = 0; i < depth; ++i) path += "g/";
  return path + "weight";
}

}  // namespace

TEST_CASE("hdf5 writer: slashes around a path mean nothing", "[train]") {
  for (const char* path : {"a/b", "/a/b", "a/b/", "//a//b//"}) {
    INFO(path);
    const TemporaryFolder folder;
    Hdf5Writer writer(folder / "file.h5");
    writer.tensor(path, Tensor<float>::full({2}, 3.0f));
    writer.value("c", 0.5);
    writer.save();
    const Hdf5File file(folder / "file.h5");
    CHECK(file.datasets() == Names{"/a/b", "/c"});
    CHECK(file.tensor<float>(path)(1) == 3.0f);
  }
}

TEST_CASE("hdf5 writer: the program's settings of the HDF5 library stay", "[train]") {
  unsigned before = 0, after = 0;
  H5PLset_loading_state(H5PL_FILTER_PLUGIN);
  H5PLget_loading_state(&before);
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "file.h5");
  writer.tensor("x", Tensor<float>({2}));
  writer.save();
  H5PLget_loading_state(&after);
  H5PLset_loading_state(H5PL_ALL_PLUGIN);
  CHECK(after == before);
  CHECK(before != 0);
}

TEST_CASE("hdf5 writer: a path that no file may have throws, and the rest is saved", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "file.h5");
  const Tensor<float> tensor({2});
  for (const std::string& path :
       {std::string(), std::string("/"), std::string("//"), std::string("."), std::string(".."),
        std::string("a/../b"), std::string("./a"), std::string("a\0b", 3), std::string("a\nb"),
        std::string("\x7f"), std::string(Hdf5File::max_name_bytes + 1, 'n'),
        nested(Hdf5File::max_depth + 1), nested(1'000'000)}) {
    INFO(path.substr(0, 100));
    CHECK_THAT(message_of<ValueError>([&] { writer.tensor(path, tensor); }),
               Catch::Contains("file.h5\"") && Catch::Contains(": expected "));
    CHECK_THROWS_AS(writer.value(path, 0.5), ValueError);
  }
  CHECK_THAT(message_of<ValueError>([&] { writer.tensor("a/../b", tensor); }),
             Catch::Contains("/a/../b: expected names in the path that are printable, not '.' or "
                             "'..', and of 1 to 1024 bytes, got '..'"));
  CHECK_THAT(message_of<ValueError>([&] { writer.tensor("/", tensor); }),
             Catch::Contains("/: expected the path of a dataset, got the root"));
  writer.tensor(nested(Hdf5File::max_depth), tensor);
  writer.tensor(std::string(Hdf5File::max_name_bytes, 'n'), tensor);
  writer.save();
  CHECK(Hdf5File(folder / "file.h5").datasets().size() == 2);
}

TEST_CASE("hdf5 writer: tensors without elements, scalars and the longest strings", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "file.h5");
  writer.tensor("empty", Tensor<float>({0, 3}));
  writer.tensor("nothing", Tensor<float>());
  writer.tensor("scalar", Tensor<double>({}, {2.5}));
  writer.tensor("rank", Tensor<float>({1, 1, 1, 1, 1, 2}));
  writer.value("text", std::string(Hdf5File::max_text_bytes - 1, 't'));
  writer.value("none", std::string());
  CHECK_THAT(
      message_of<ValueError>(
          [&] { writer.value("long", std::string(Hdf5File::max_text_bytes, 't')); }),
      Catch::Contains("/long: expected a string of fewer than 16777216 bytes, got 16777216"));
  writer.save();
  const Hdf5File file(folder / "file.h5");
  CHECK(file.datasets() == Names{"/empty", "/none", "/nothing", "/rank", "/scalar", "/text"});
  CHECK(file.tensor<float>("empty").shape() == Shape{0, 3});
  CHECK(file.tensor<double>("scalar").item() == 2.5);
  CHECK(file.shape("rank").rank() == 6);
  CHECK(file.value<std::string>("text").size() == Hdf5File::max_text_bytes - 1);
  CHECK(file.value<std::string>("none").empty());
}

TEST_CASE("hdf5 writer: other types, beyond the first block", "[train]") {
  const TemporaryFolder folder;
  const Index n = 10'000;
  Tensor<double> values({n});
  for (Index i = 0; i < n; ++i) values.data()[i] = 1.0 + static_cast<double>(i) / 4096;
  // Between 1 + 2^-11 and its lower neighbour in single precision: halfway for float16 there.
  values.data()[n - 1] = 1.0 + 0x1p-11 + 0x1p-40;
  Hdf5Writer writer(folder / "file.h5");
  writer.tensor("float16", values, StorageType::float16);
  writer.tensor("bfloat16", values, StorageType::bfloat16);
  writer.tensor("float32", values, StorageType::float32);
  writer.tensor("float64", values, StorageType::float64);
  writer.tensor("wide", Tensor<float>({2}, {0.1f, 3.0f}), StorageType::float64);
  writer.tensor<float>("made", Shape{2, n}, [] { return Tensor<float>::full({2, 10'000}, 3.0f); });
  writer.save();
  const Hdf5File file(folder / "file.h5");
  for (const auto& [name, precision] : {std::pair<const char*, double>{"float16", 0x1p-11},
                                        {"bfloat16", 0x1p-8},
                                        {"float32", 0x1p-24},
                                        {"float64", 0.0}}) {
    INFO(name);
    CHECK(file.type(name) == name);
    const Tensor<double> read = file.tensor<double>(name);
    for (Index i = 0; i < n; ++i) {
      const double value = std::as_const(values).data()[i];
      REQUIRE(std::abs(read.data()[i] - value) <= precision * value);
    }
  }
  CHECK(file.tensor<double>("float16").data()[n - 1] == 1.0 + 0x1p-10);
  CHECK(file.tensor<double>("wide")(0) == 0.1f);
  CHECK(file.tensor<float>("made")(1, n - 1) == 3.0f);
}

TEST_CASE("hdf5 writer: numbers beyond a type, and tensors of another shape, throw", "[train]") {
  const TemporaryFolder folder;
  Tensor<float> values({10, 1000});
  values(7, 3) = -70'000.0f;
  Hdf5Writer writer(folder / "file.h5");
  writer.tensor("x", values, StorageType::bfloat16);
  writer.tensor("y", values, StorageType::float16);
  CHECK_THAT(message_of<ValueError>([&] { writer.save(); }),
             Catch::Contains("/y: expected numbers in the range of float16, got -70000 at [7, 3]"));
  Hdf5Writer other(folder / "file.h5");
  other.tensor<float>("x", Shape{3}, [] { return Tensor<float>({2}); });
  CHECK_THAT(message_of<ShapeError>([&] { other.save(); }),
             Catch::Contains("/x: expected a tensor of shape [3], got [2]"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("hdf5 writer: an attribute without a valid name throws", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "file.h5");
  for (const std::string& name : {std::string(), std::string("a\0b", 3), std::string("a\nb")})
    CHECK_THROWS_AS(writer.attribute(name, 0.5), ValueError);
  writer.attribute("name", 0.5);
  writer.save();
  const Hdf5File file(folder / "file.h5");
  CHECK(file.has_attribute("/", "name"));
  CHECK_FALSE(file.has_attribute("/", std::string("name\0more", 9)));
}

TEST_CASE("hdf5 writer: a string with NUL, which readers would cut, throws", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "file.h5");
  CHECK_THROWS_AS(writer.value("text", std::string("a\0b", 3)), ValueError);
  CHECK_THROWS_AS(writer.attribute("text", std::string("a\0b", 3)), ValueError);
}

TEST_CASE("hdf5 writer: two objects of one name throw", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "file.h5");
  const Tensor<float> tensor({2});
  writer.tensor("a", tensor);
  CHECK_THROWS_AS(writer.tensor("a", tensor), FileError);
  CHECK_THROWS_AS(writer.tensor("a/b", tensor), FileError);
  writer.tensor("b/c", tensor);
  CHECK_THROWS_AS(writer.tensor("b", tensor), FileError);
  writer.save();
  CHECK(Hdf5File(folder / "file.h5").datasets() == Names{"/a", "/b/c"});
}

TEST_CASE("hdf5 writer: nothing is added after saving, which can be repeated", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "folder/file.h5");
  writer.value("number", 0.5);
  CHECK_THROWS_AS(writer.save(), FileError);
  std::filesystem::create_directory(folder / "folder");
  writer.save();
  for (const auto& add : {std::function<void()>([&] { writer.value("other", 0.5); }),
                          std::function<void()>([&] { writer.attribute("other", 0.5); }),
                          std::function<void()>([&] { writer.tensor("o", Tensor<float>({2})); })})
    CHECK_THAT(message_of<ValueError>(add),
               Catch::Contains("expected a file that is not yet saved, got a saved file"));
  CHECK(Hdf5File(folder / "folder/file.h5").value<double>("number") == 0.5);
}

TEST_CASE("hdf5: paths that no file may have name nothing", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "file.h5");
  writer.value("group/number", 0.5);
  writer.save();
  const Hdf5File file(folder / "file.h5");
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "g/";
  for (const std::string& path :
       {std::string("group/number\0more", 17), std::string("group/./number"),
        std::string("group/../group/number"), std::string("."), std::string(".."), deep}) {
    CHECK_THAT(message_of<FileError>([&] { file.dataset(path); }),
               Catch::Contains("expected an object, got no object of this name"));
    CHECK_FALSE(file.has_group(path));
    CHECK_THROWS_AS(file.datasets(path), FileError);
    CHECK_THROWS_AS(file.has_attribute(path, "name"), FileError);
  }
  CHECK_THAT(message_of<FileError>([&] { file.dataset(std::string("group\0more", 10)); }),
             Catch::Contains("/group\\x00more: expected an object, got no object of this name"));
}

TEST_CASE("hdf5: a path on disk with a NUL, or none, throws", "[train]") {
  const TemporaryFolder folder;
  const auto path = folder / std::string("file.h5\0more", 12);
  CHECK_THAT(
      message_of<FileError>([&] { Hdf5Writer writer(path); }),
      Catch::Contains("file.h5\\x00more\": expected a path without NUL, got a path with NUL"));
  CHECK(std::filesystem::is_empty(folder.path()));
  Hdf5Writer(folder / "file.h5").save();
  CHECK_THAT(
      message_of<FileError>([&] { Hdf5File file(path); }),
      Catch::Contains("file.h5\\x00more\": expected a path without NUL, got a path with NUL"));
  CHECK_THAT(message_of<FileError>([] { Hdf5Writer writer(""); }),
             Catch::Contains("\"\": expected a nonempty path, got an empty path"));
  CHECK_THAT(message_of<FileError>([] { Hdf5File file(""); }),
             Catch::Contains("\"\": expected a nonempty path, got an empty path"));
}

TEST_CASE("hdf5: what was moved from throws", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "file.h5");
  writer.value("number", 0.5);
  Hdf5Writer moved_writer = std::move(writer);
  CHECK_THROWS_AS(writer.save(), ValueError);
  CHECK_THROWS_AS(writer.value("other", 0.5), ValueError);
  CHECK_THROWS_AS(writer.attribute("other", 0.5), ValueError);
  CHECK_THROWS_AS(writer.tensor("other", Tensor<float>({2})), ValueError);
  moved_writer.save();

  Hdf5File file(folder / "file.h5");
  const Hdf5File moved_file = std::move(file);
  CHECK_THROWS_AS(file.path(), ValueError);
  CHECK_THROWS_AS(file.datasets(), ValueError);
  CHECK_THROWS_AS(file.has_group("/"), ValueError);
  CHECK_THROWS_AS(file.dataset("number"), ValueError);
  CHECK_THROWS_AS(file.has_attribute("/", "name"), ValueError);
  CHECK_THROWS_AS(file.attribute<double>("/", "name"), ValueError);

  StoredDataset dataset = moved_file.dataset("number");
  const StoredDataset moved_dataset = std::move(dataset);
  CHECK_THROWS_AS(dataset.path(), ValueError);
  CHECK_THROWS_AS(dataset.type(), ValueError);
  CHECK_THROWS_AS(dataset.shape(), ValueError);
  CHECK_THROWS_AS(dataset.tensor<float>(), ValueError);
  CHECK_THROWS_AS(dataset.value<double>(), ValueError);
  CHECK(moved_dataset.value<double>() == 0.5);
}

}  // namespace weft
