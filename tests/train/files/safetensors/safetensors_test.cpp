#include <chrono>
#include <fstream>

#include <weft/autograd/error.hpp>
#include <weft/layers/linear.hpp>
#include <weft/train/files/safetensors/safetensors_file.hpp>
#include <weft/train/files/safetensors/safetensors_writer.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/weights/convert_weights.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
namespace fs = std::filesystem;

namespace {

// A file of a header and so many bytes of data 0, 1, 2, …
void write(const fs::path& path, const std::string& header, std::size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  for (std::size_t i = 0; i < 8; ++i) out.put(static_cast<char>(header.size() >> (8 * i)));
  out << header;
  for (std::size_t i = 0; i < bytes; ++i) out.put(static_cast<char>(i));
}

// The message without the path of the file, or nothing when it can be opened.
std::string error_of(const std::string& header, std::size_t bytes) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.safetensors";
  write(path, header, bytes);
  try {
    SafetensorsFile file(path);
  } catch (const FileError& error) {
    const std::string message = error.what(), name = "a.safetensors\": ";
    return message.substr(message.find(name) + name.size());
  }
  return "";
}

std::string tensor(const std::string& type, const std::string& shape, const std::string& places) {
  return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + places + "}";
}

}  // namespace

TEST_CASE("safetensors: tensors of every type are read", "[train]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.safetensors";
  std::ofstream out(path, std::ios::binary);
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"f32":)" + tensor("F32", "[2]", "[0,8]") + R"(,"f16":)" +
      tensor("F16", "[1,2]", "[8,12]") + R"(,"b.f16":)" + tensor("BF16", "[]", "[12,14]") +
      R"(,"i32":)" + tensor("I32", "[1]", "[14,18]") + R"(,"f64":)" +
      tensor("F64", "[1]", "[18,26]") + R"(,"none":)" + tensor("F32", "[0,3]", "[26,26]") +
      R"(,"f8":)" + tensor("F8_E4M3", "[2]", "[26,28]") + "}";
  for (std::size_t i = 0; i < 8; ++i) out.put(static_cast<char>(header.size() >> (8 * i)));
  const unsigned char data[] = {0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0, 0, 0x3C, 0, 0xC2, 0x20, 0x41,
                                7, 0, 0,    0,    0, 0, 0, 0,    0, 0,    8, 0x40, 1,    2};
  out << header;
  out.write(reinterpret_cast<const char*>(data), sizeof data);
  out.close();
  const SafetensorsFile file(path);
  CHECK(file.datasets() ==
        std::vector<std::string>{"/b.f16", "/f16", "/f32", "/f64", "/f8", "/i32", "/none"});
  CHECK(same(file.tensor<float>("f32"), Tensor<float>({2}, {1.0f, -2.0f})));
  CHECK(same(file.tensor<float>("/f16"), Tensor<float>({1, 2}, {1.0f, -3.0f})));
  CHECK(file.tensor<double>("b.f16").item() == 10.0);
  CHECK(file.tensor<std::int32_t>("i32").item() == 7);
  CHECK(file.tensor<float>("f64").item() == 3.0f);
  CHECK(file.tensor<float>("none").shape() == Shape{0, 3});
  CHECK(file.dataset("f32").rows<float>(1, 2).item() == -2.0f);
  CHECK(file.type("b.f16") == "bfloat16");
  CHECK(file.type("f8") == "F8_E4M3");
  CHECK_THROWS_AS(file.tensor<float>("f8"), FileError);
  CHECK_THROWS_AS(file.tensor<float>("f33"), FileError);
}

TEST_CASE("safetensors: what a file must not be", "[train]") {
  const std::string f32 = tensor("F32", "[2]", "[0,8]");
  CHECK(error_of(R"({"a":)" + f32 + "}", 8).empty());
  CHECK(error_of("{}", 0).empty());
  CHECK(error_of(R"({"a":)" + f32 + "}", 7) ==
        "expected a complete file with 8 bytes of data, got 7");
  CHECK(error_of(R"({"a":)" + f32 + "}", 9) ==
        "expected a complete file with 8 bytes of data, got 9");
  CHECK(error_of("[]", 0) == "expected a header that starts with {, got '[]'");
  CHECK(error_of(" {}", 0) == "expected a header that starts with {, got ' {}'");
  CHECK(error_of("{", 0) == "header: expected JSON, got an error in line 1, at byte 2");
  CHECK(error_of("{}  ", 0).empty());  // aligns the data
  CHECK(error_of("{} {}", 0) == "header: expected JSON, got an error in line 1, at byte 4");
  CHECK(error_of({"{}\0garbage", 10}, 0) ==
        "header: expected JSON, got an error in line 1, at byte 3");
  CHECK(error_of("{\"a\":" + std::string(100'000, '['), 0) ==
        "header: JSON: expected at most 100 levels, got more");
  CHECK(error_of(R"({"a":)" + f32 + R"(,"a":)" + f32 + "}", 8) ==
        "header: JSON: expected each name once, got 'a' twice");
  CHECK(error_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"shape":[1]}})", 8) ==
        "header: JSON: expected each name once, got 'shape' twice");
  CHECK(error_of(R"({"__metadata__":{"format":"pt"}})", 0).empty());
  CHECK(error_of(R"({"__metadata__":[1]})", 0) ==
        "expected an object of strings as __metadata__, got [1]");
  CHECK(error_of(R"({"__metadata__":{"a":1}})", 0) ==
        "expected an object of strings as __metadata__, got {\"a\":1}");
  for (const std::string text : {R"(["pt"])", R"("pt")", "[]", "null"})
    CHECK(contains(error_of("{\"__metadata__\":" + text + "}", 0),
                   "expected an object of strings as __metadata__, got "));
  CHECK(error_of(R"({"a":)" + tensor("F33", "[2]", "[0,8]") + "}", 8) ==
        "expected a dtype of safetensors, got 'F33'");
  CHECK(error_of(R"({"a":)" + f32 + R"(,"/a":)" + tensor("F32", "[0]", "[8,8]") + "}", 8) ==
        "expected each tensor once, got /a twice");
  CHECK(error_of(R"({"a":)" + f32 + R"(,"b":)" + tensor("F32", "[1]", "[4,8]") + "}", 8) ==
        "expected b at byte 8 of the data, got bytes 4 to 8");
  CHECK(error_of(R"({"a":)" + tensor("F32", "[1]", "[4,8]") + "}", 8) ==
        "expected a at byte 0 of the data, got bytes 4 to 8");
  CHECK(error_of(R"({"a":)" + tensor("F32", "[3]", "[0,8]") + "}", 8) ==
        "expected a of 3 elements of 32 bits, got 8 bytes");
  CHECK(error_of(R"({"a":)" + tensor("F32", "[-1]", "[0,8]") + "}", 8) ==
        "expected integers ≥ 0 as shape, got -1");
  CHECK(error_of(R"({"a":)" + tensor("F32", "[4611686018427387904,4]", "[0,8]") + "}", 8)
            .starts_with("expected a shape that fits into the file"));
  CHECK(error_of(R"({"a":)" + tensor("F32", "[1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]") + "}", 4)
            .starts_with("expected at most"));
  CHECK(error_of(R"({"a":)" + tensor("F32", "[2]", "[0,18446744073709551615]") + "}", 8)
            .starts_with("expected a of 2 elements"));
  CHECK(error_of(R"({"a":)" + tensor("F32", "[2]", "[0]") + "}", 8)
            .starts_with("expected a dtype, a shape and two data_offsets"));
  CHECK(error_of(R"({"a":5})", 0) == "expected a dtype, a shape and two data_offsets, got 5");
  CHECK(error_of(R"({"":)" + f32 + "}", 8) == "expected names of 1 to 1024 bytes, got 0 bytes");
  const TemporaryFolder folder;
  const fs::path path = folder / "a.safetensors";
  std::ofstream(path) << "short";
  CHECK_THROWS_AS(SafetensorsFile(path), FileError);
  std::ofstream(path) << "\xff\xff\xff\xff\xff\xff\xff\xff{}";
  CHECK(message_of<FileError>([&] {
          SafetensorsFile file(path);
        }).ends_with("expected a header of at most 33554432 bytes, got 18446744073709551615"));
  CHECK_THROWS_AS(SafetensorsFile(folder / "none.safetensors"), FileError);
}

TEST_CASE("safetensors: an index and its files agree", "[train]") {
  const TemporaryFolder folder;
  const fs::path index = folder / "model.safetensors.index.json";
  write(folder / "1.safetensors", R"({"a":)" + tensor("F32", "[1]", "[0,4]") + "}", 4);
  write(folder / "2.safetensors", R"({"b":)" + tensor("F32", "[1]", "[0,4]") + "}", 4);
  const auto error = [&](const std::string& text) -> std::string {
    std::ofstream(index) << text;
    try {
      return str_cat(SafetensorsFile(index).datasets().size(), " tensors");
    } catch (const FileError& failure) {
      const std::string message = failure.what();
      return message.substr(std::min(message.find("expected"), message.find("cannot read")));
    }
  };
  CHECK(error(R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})") == "2 tensors");
  CHECK(error(R"({"weight_map":{"a":"1.safetensors","c":"2.safetensors"}})") ==
        "expected only tensors that the index lists, got the tensor b");
  CHECK(error(R"({"weight_map":{"a":"1.safetensors","b":"1.safetensors"}})") ==
        "expected b, which the index lists, got no such tensor");
  CHECK(error(R"({"weight_map":{"a":"../1.safetensors"}})") ==
        "expected names of files in the directory of the index, got \"../1.safetensors\"");
  CHECK(error(R"({"weight_map":{"a":5}})") ==
        "expected names of files in the directory of the index, got 5");
  CHECK(error(R"({})") == "expected an index with a weight_map, got no weight_map");
  CHECK(error(R"({"metadata":5,"weight_map":{"a":"1.safetensors"}})") ==
        "expected an object as metadata, got 5");
  CHECK(error(R"({"metadata":{},"weight_map":{"a":"1.safetensors","a":"2.safetensors"}})") ==
        "expected each name once, got 'a' twice");
  CHECK(error(R"({"weight_map":{"a":"3.safetensors"}})") ==
        "cannot read \"" + (folder / "3.safetensors").string() + "\": No such file or directory");
}

TEST_CASE("safetensors: what is written is read, in any type", "[train]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.safetensors";
  Random random(1);
  const Linear<float> model({.in_features = 3, .out_features = 2}, random);
  const auto [type, bound] = GENERATE(table<StorageType, double>({{StorageType::same, 0.0},
                                                                  {StorageType::float64, 0.0},
                                                                  {StorageType::float16, 1e-3},
                                                                  {StorageType::bfloat16, 1e-2}}));
  save_weights(path, model, {.storage = type});
  Random zeros = Random::zeros();
  Linear<float> loaded({.in_features = 3, .out_features = 2}, zeros);
  CHECK(load_weights(path, loaded).loaded.size() == 2);
  for (Index i = 0; i < 6; ++i)
    CHECK(std::abs(loaded.weight.value().data()[i] - model.weight.value().data()[i]) <= bound);
  const std::string before = fs::file_size(path) > 0 ? "saved" : "";
  CHECK_THROWS_AS(
      [&] {
        SafetensorsWriter writer(path);
        writer.tensor<float>("a", {2}, [] { return Tensor<float>({3}); });
        writer.save();
      }(),
      ShapeError);
  CHECK(load_weights(path, loaded).loaded.size() == 2);
}

TEST_CASE("safetensors: weights are converted from and to HDF5", "[train]") {
  const TemporaryFolder folder;
  Random random(1);
  const Linear<float> model({.in_features = 3, .out_features = 2}, random);
  save_weights(folder / "a.safetensors", model);
  (void)convert_weights(folder / "a.safetensors", folder / "b.h5", {.layout = Layout::weft});
  (void)convert_weights(folder / "b.h5", folder / "c.safetensors", {.layout = Layout::pytorch});
  Random zeros = Random::zeros();
  Linear<float> loaded({.in_features = 3, .out_features = 2}, zeros);
  (void)load_weights(folder / "c.safetensors", loaded);
  CHECK(same(loaded.weight.value(), model.weight.value()));
}

TEST_CASE("safetensors: a tensor has the bytes of its elements, and no others", "[train]") {
  const auto with = [](const std::string& shape, const std::string& places, std::size_t bytes) {
    return error_of(R"({"a":)" + tensor("F32", shape, places) + "}", bytes);
  };
  CHECK(with("[2]", "[0,8]", 8).empty());
  for (const std::size_t bytes : {4u, 7u, 9u, 12u})
    CHECK(with("[2]", "[0," + std::to_string(bytes) + "]", bytes)
              .find("a of 2 elements of 32 bits") != std::string::npos);
}

TEST_CASE("safetensors: tensors of types that are only listed have their sizes, too", "[train]") {
  // The types of safetensors 0.6, with the bits of an element.
  for (const auto& [type, bits] : {std::pair<std::string, std::size_t>{"F4", 4},
                                   {"F6_E2M3", 6},
                                   {"F6_E3M2", 6},
                                   {"F8_E4M3", 8},
                                   {"F8_E5M2", 8},
                                   {"F8_E8M0", 8},
                                   {"C64", 64}}) {
    INFO(type);
    const std::size_t bytes = 4 * bits / 8;
    const auto with = [&, &name = type](std::size_t size) {
      return error_of(R"({"a":)" + tensor(name, "[4]", str_cat("[0,", size, "]")) + "}", size);
    };
    CHECK(with(bytes).empty());
    CHECK(with(bytes + 1) ==
          str_cat("expected a of 4 elements of ", bits, " bits, got ", bytes + 1, " bytes"));
  }
}

TEST_CASE(
    "safetensors: a file of many tensors is opened in time that does not grow with its square",
    "[train]") {
  // With a comparison of each tensor with all others, a quarter of a minute.
  const TemporaryFolder folder;
  const fs::path path = folder / "a.safetensors";
  std::string header = "{";
  constexpr int count = 30'000;
  for (int i = 0; i < count; ++i)
    header += str_cat(i == 0 ? "" : ",", "\"layers.", i,
                      ".weight\":", tensor("F32", "[1]", str_cat("[", 4 * i, ",", 4 * i + 4, "]")));
  write(path, header + "}", 4 * count);
  const auto start = std::chrono::steady_clock::now();
  CHECK(SafetensorsFile(path).datasets().size() == count);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

TEST_CASE("safetensors: data that are written are aligned, under names of their own", "[train]") {
  const TemporaryFolder folder;
  for (const char* name : {"a", "ab", "abc", "abcdefgh"}) {
    const fs::path path = folder / "file.safetensors";
    SafetensorsWriter writer(path);
    const auto make = [] { return Tensor<double>::full({3}, 2.0); };
    writer.tensor<double>(name, {3}, make);
    CHECK_THROWS_AS(writer.tensor<double>(name, {3}, make), ValueError);
    CHECK_THROWS_AS(writer.tensor<double>("", {3}, make), ValueError);
    writer.save();
    CHECK(fs::file_size(path) % 8 == 0);
    CHECK(SafetensorsFile(path).tensor<double>(name)(2) == 2.0);
  }
}
