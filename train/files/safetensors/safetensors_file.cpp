#include "weft/train/files/safetensors/safetensors_file.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "train/files/hdf5/internal/stored_data.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/files/internal/random_access_file.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using hdf5::ElementType;
using hdf5::fail_structure;
using nlohmann::json;

// A type in the safetensors format.
struct StoredType {
  ElementType element;
  std::uint64_t bits;
};

StoredType stored_type(const std::string& name) {
  using Kind = ElementType::Kind;
  static const std::map<std::string, ElementType> read = {
      {"F64", {Kind::float64, 8, false, "float64"}},
      {"F32", {Kind::float32, 4, false, "float32"}},
      {"F16", {Kind::float16, 2, false, "float16"}},
      {"BF16", {Kind::bfloat16, 2, false, "bfloat16"}},
      {"I64", {Kind::signed_integer, 8, false, "int64"}},
      {"I32", {Kind::signed_integer, 4, false, "int32"}},
      {"I16", {Kind::signed_integer, 2, false, "int16"}},
      {"I8", {Kind::signed_integer, 1, false, "int8"}},
      {"U64", {Kind::unsigned_integer, 8, false, "uint64"}},
      {"U32", {Kind::unsigned_integer, 4, false, "uint32"}},
      {"U16", {Kind::unsigned_integer, 2, false, "uint16"}},
      {"U8", {Kind::unsigned_integer, 1, false, "uint8"}},
      {"BOOL", {Kind::boolean, 1, false, "bool"}}};
  static const std::map<std::string, std::uint64_t> only_listed = {
      {"C64", 64},        {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
      {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4}};
  if (const auto found = read.find(name); found != read.end())
    return {found->second, 8 * found->second.bytes};
  const auto found = only_listed.find(name);
  if (found == only_listed.end())
    fail_structure("a dtype of safetensors", str_cat('\'', name.substr(0, 40), '\''));
  return {{ElementType::Kind::other, 0, false, name}, found->second};
}

struct OpenShard {
  fs::path path;
  RandomAccessFile bytes;
};

class SafetensorsSource final : public hdf5::DatasetSource {
 public:
  SafetensorsSource(std::shared_ptr<const OpenShard> file, std::string path, ElementType type,
                    const Shape& shape, std::uint64_t begin)
      : DatasetSource(std::move(path), std::move(type)),
        file_(std::move(file)),
        shape_(shape),
        begin_(begin) {}

  hdf5::Location location() const override { return {file_->path, path()}; }
  Shape shape() const override { return shape_; }
  void locate() override {}
  void read(Index first, Index last, const hdf5::ElementSink& sink) const override {
    const Index row = shape_.rank() == 0 || shape_.elements() == 0 ? shape_.elements()
                                                                   : shape_.elements() / shape_[0];
    const std::uint64_t begin = begin_ + static_cast<std::uint64_t>(first * row) * type().bytes;
    hdf5::read_in_blocks((last - first) * row, type().bytes,
                         [&](std::uint64_t offset, std::span<std::byte> bytes) {
                           if (!file_->bytes.read(begin + offset, bytes))
                             fail_structure("data that can be read",
                                            "a read error or a truncated file");
                         },
                         sink);
  }

 private:
  std::shared_ptr<const OpenShard> file_;
  Shape shape_;
  std::uint64_t begin_;  // position of the data in the file
};

// Parses a JSON object. Throws StructureError, naming `what`, for other strings.
json object_in(const std::string& text, const char* what) {
  json object;
  try {
    object = read_json(text);
  } catch (const ValueError& error) {
    throw hdf5::StructureError(str_cat(what, ": ", error.what()));
  }
  if (!object.is_object()) fail_structure(str_cat("a JSON object as ", what), object.type_name());
  return object;
}

std::uint64_t unsigned_number(const json& value, const char* what) {
  if (!value.is_number_unsigned())
    fail_structure(str_cat("integers ≥ 0 as ", what), value.dump().substr(0, 40));
  return value.get<std::uint64_t>();
}

// A tensor listed in the header.
struct Entry {
  std::string name;
  StoredType type;
  Shape shape;
  std::uint64_t begin, end;  // positions in the data
};

Entry entry_of(const std::string& name, const json& value) {
  if (name.empty() || name.size() > TensorFile::max_name_bytes)
    fail_structure(str_cat("names of 1 to ", TensorFile::max_name_bytes, " bytes"),
                   str_cat(name.size(), " bytes"));
  const auto field = [&](const char* key) -> const json& {
    static const json none;
    const auto found = value.is_object() ? value.find(key) : value.end();
    return found == value.end() ? none : *found;
  };
  const json &type = field("dtype"), &sizes = field("shape"), &places = field("data_offsets");
  if (!type.is_string() || !sizes.is_array() || !places.is_array() || places.size() != 2)
    fail_structure("a dtype, a shape and two data_offsets", value.dump().substr(0, 80));
  if (sizes.size() > static_cast<std::size_t>(Shape::max_rank))
    fail_structure(str_cat("at most ", Shape::max_rank, " axes"), sizes.size());
  std::vector<Index> axes;
  for (const json& size : sizes) {
    const std::uint64_t number = unsigned_number(size, "shape");
    if (number > std::uint64_t{1} << 62) fail_structure("a shape that fits into the file", number);
    axes.push_back(static_cast<Index>(number));
  }
  Entry entry{name, stored_type(type.get<std::string>()), {}, 0, 0};
  try {
    entry.shape = Shape(axes);
  } catch (const Error& error) {
    fail_structure("a shape that fits into the file", error.what());
  }
  entry.begin = unsigned_number(places[0], "data_offsets");
  entry.end = unsigned_number(places[1], "data_offsets");
  return entry;
}

void check_metadata(const json& value) {
  const bool is_texts = value.is_object() && std::ranges::all_of(value, [](const json& text) {
                          return text.is_string();
                        });
  if (!is_texts) fail_structure("an object of strings as __metadata__", shown(value));
}

// Throws StructureError unless the tensors fill the data without gaps or overlaps.
void check_places(std::vector<Entry>& entries, std::uint64_t size) {
  std::ranges::sort(entries, {},
                    [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
  std::uint64_t end = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != end || entry.end < entry.begin)
      fail_structure(str_cat(entry.name, " at byte ", end, " of the data"),
                     str_cat("bytes ", entry.begin, " to ", entry.end));
    end = entry.end;
    const auto elements = static_cast<std::uint64_t>(entry.shape.elements());
    const std::uint64_t bytes = entry.end - entry.begin;
    std::uint64_t needed_bits = 0, bits = 0;
    if (__builtin_mul_overflow(elements, entry.type.bits, &needed_bits) ||
        __builtin_mul_overflow(bytes, 8, &bits) || bits != needed_bits)
      fail_structure(
          str_cat(entry.name, " of ", elements, " elements of ", entry.type.bits, " bits"),
          str_cat(bytes, " bytes"));
  }
  if (end != size) fail_structure(str_cat("a complete file with ", end, " bytes of data"), size);
}

}  // namespace

struct SafetensorsFile::State {
  explicit State(const fs::path& own_path) : path(own_path) {
    if (path.extension() == ".json")
      add_files_of_index();
    else
      add_file(path, nullptr);
  }

  void add_files_of_index() {
    hdf5::at({path}, [&] {
      const std::string text = file_contents(path, max_header_bytes).value_or("");
      const json index = object_in(text, "an index");
      const auto map = index.find("weight_map");
      if (map == index.end() || !map->is_object())
        fail_structure("an index with a weight_map", "no weight_map");
      if (const json& metadata = entry(index, "metadata");
          !metadata.is_null() && !metadata.is_object())
        fail_structure("an object as metadata", shown(metadata));
      std::map<std::string, std::set<std::string>> names;  // names of tensors, by file
      for (const auto& [name, file] : map->items()) {
        const std::string text_of_file = file.is_string() ? file.get<std::string>() : "";
        const bool is_name = fs::path(text_of_file).filename() == text_of_file &&
                             text_of_file.find('\0') == std::string::npos;
        if (!is_name || text_of_file.empty() || text_of_file == "." || text_of_file == "..")
          fail_structure("names of files in the directory of the index", file.dump().substr(0, 80));
        names[text_of_file].insert(full_path(name));
      }
      for (const auto& [file, tensors] : names) add_file(path.parent_path() / file, &tensors);
    });
  }

  // Adds the tensors of a file. If `expected` is not null, throws unless the file contains exactly
  // these tensors.
  void add_file(const fs::path& file_path, const std::set<std::string>* expected) {
    hdf5::at({file_path}, [&] {
      const auto file =
          std::make_shared<const OpenShard>(OpenShard{file_path, RandomAccessFile(file_path)});
      std::array<std::byte, 8> size_bytes;
      if (!file->bytes.read(0, size_bytes))
        fail_structure("a safetensors file", str_cat(file->bytes.size(), " bytes"));
      if (const std::string content = known_content(file->bytes); !content.empty())
        fail_structure("a safetensors file", content);
      const std::uint64_t header_size = hdf5::little_endian(size_bytes);
      if (header_size > max_header_bytes)
        fail_structure(str_cat("a header of at most ", max_header_bytes, " bytes"), header_size);
      const std::uint64_t data = size_bytes.size() + header_size;
      if (data > file->bytes.size())
        fail_structure(str_cat("a header of ", header_size, " bytes"),
                       str_cat("a file of ", file->bytes.size(), " bytes"));
      std::string header(header_size, '\0');
      if (!file->bytes.read(size_bytes.size(), std::as_writable_bytes(std::span(header))))
        fail_structure("a readable header", "a read error");
      if (!header.starts_with('{')) fail_structure("a header that starts with {", shown(header));
      std::vector<Entry> entries;
      const json tensors = object_in(header, "header");
      for (const auto& [name, value] : tensors.items())
        if (name == "__metadata__")
          check_metadata(value);
        else
          entries.push_back(entry_of(name, value));
      check_places(entries, file->bytes.size() - data);
      for (Entry& entry : entries) {
        const std::string tensor = full_path(entry.name);
        if (expected && !expected->contains(tensor))
          fail_structure("only tensors that the index lists", str_cat("the tensor ", entry.name));
        auto source = std::make_shared<SafetensorsSource>(
            file, tensor, std::move(entry.type.element), entry.shape, data + entry.begin);
        if (!sources.emplace(tensor, std::move(source)).second)
          fail_structure("each tensor once", str_cat(entry.name, " twice"));
        if (sources.size() > max_objects)
          fail_structure(str_cat("at most ", max_objects, " tensors"), "more");
      }
      if (expected)
        for (const std::string& tensor : *expected)
          if (!sources.contains(tensor))
            fail_structure(str_cat(tensor.substr(1), ", which the index lists"), "no such tensor");
    });
  }

  fs::path path;
  std::map<std::string, std::shared_ptr<SafetensorsSource>> sources;  // by full path
};

SafetensorsFile::SafetensorsFile(const fs::path& path)
    : state_(std::make_shared<const State>(path)) {}

const fs::path& SafetensorsFile::path() const { return state_->path; }

bool SafetensorsFile::has_group(const std::string& path) const { return full_path(path) == "/"; }

std::vector<std::string> SafetensorsFile::datasets(const std::string& group) const {
  if (!has_group(group))
    hdf5::fail_at({path(), group}, "no group, because safetensors files have none", "a group");
  std::vector<std::string> paths;
  for (const auto& [name, source] : state_->sources) paths.push_back(name);
  return paths;
}

StoredDataset SafetensorsFile::dataset(const std::string& tensor) const {
  const auto found = state_->sources.find(full_path(tensor));
  if (found == state_->sources.end()) hdf5::fail_at({path(), tensor}, "a tensor", "no such tensor");
  return StoredDataset(found->second);
}

std::unique_ptr<const TensorFile> open_tensor_file(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json"))
    return std::make_unique<const SafetensorsFile>(path);
  return std::make_unique<const Hdf5File>(path);
}

}  // namespace weft
