#include "weft/train/files/safetensors/safetensors_writer.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"
#include "train/files/hdf5/internal/elements.hpp"
#include "train/files/internal/atomic_file.hpp"

namespace weft {
namespace {

struct NumberType {
  const char* name;
  std::uint64_t bytes;
};

template <class T>
NumberType number_type(StorageType type) {
  if (type == StorageType::float16) return {"F16", 2};
  if (type == StorageType::bfloat16) return {"BF16", 2};
  if (type == StorageType::same)
    type = std::is_same_v<T, float> ? StorageType::float32 : StorageType::float64;
  return type == StorageType::float32 ? NumberType{"F32", 4} : NumberType{"F64", 8};
}

}  // namespace

template <class T>
void SafetensorsWriter::tensor(const std::string& name, const Shape& shape,
                               std::function<Tensor<T>()> make, StorageType type) {
  const std::string own = name.starts_with('/') ? name.substr(1) : name;
  check_function(hdf5::Location{path_, own}.text(), make);
  const auto [type_name, bytes] = number_type<T>(type);
  Entry entry{type_name, shape, bytes * static_cast<std::uint64_t>(shape.elements()),
              [path = path_, own, shape, make = std::move(make), type](const auto& sink) {
                const Tensor<T> made = make();
                const hdf5::Location location{path, own};
                if (made.shape() != shape) fail<ShapeError>(location.text(), shape, made.shape());
                hdf5::store_elements(made, type, location, sink);
              }};
  if (own.empty() || !entries_.emplace(own, std::move(entry)).second)
    fail<ValueError>(hdf5::Location{path_, own}.text(), "a nonempty, unused name",
                     "an empty or repeated name");
}

void SafetensorsWriter::save() {
  nlohmann::ordered_json header = {{"__metadata__", {{"format", "pt"}}}};
  std::uint64_t end = 0;
  for (const auto& [name, entry] : entries_) {
    const std::uint64_t begin = end;
    end += entry.bytes;
    header[name] = {{"dtype", entry.type},
                    {"shape", std::vector<Index>(entry.shape.begin(), entry.shape.end())},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  constexpr std::size_t alignment = 8;  // alignment of the data in the file
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  std::array<std::byte, 8> size;
  for (std::size_t i = 0; i < size.size(); ++i)
    size[i] = static_cast<std::byte>(text.size() >> (8 * i));
  AtomicFile file(path_);
  file.write(size);
  file.write(std::as_bytes(std::span(text)));
  for (const auto& [name, entry] : entries_)
    entry.store([&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

bool is_safetensors(const std::filesystem::path& path) {
  return path.extension() == ".safetensors";
}

template void SafetensorsWriter::tensor(const std::string&, const Shape&,
                                        std::function<Tensor<float>()>, StorageType);
template void SafetensorsWriter::tensor(const std::string&, const Shape&,
                                        std::function<Tensor<double>()>, StorageType);

}  // namespace weft
