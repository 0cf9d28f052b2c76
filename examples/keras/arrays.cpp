#include "examples/keras/arrays.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include <weft/autograd/error.hpp>

namespace weft::keras {
namespace {

namespace fs = std::filesystem;

constexpr char magic[] = "\x93NUMPY";
constexpr std::size_t max_numbers = std::size_t{1} << 30;

[[noreturn]] void fail_on(const fs::path& path, const std::string& expected,
                          const std::string& got) {
  fail<FileError>("'" + path.string() + "'", expected, got);
}

// Returns the text between `begin` and `end` in the entry `name` of a header, which is a Python
// dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
std::string header_entry(const std::string& header, const std::string& name, char end) {
  const std::string key = "'" + name + "': ";
  const std::size_t start = header.find(key);
  if (start == header.npos) return "";
  const std::size_t first = start + key.size();
  return header.substr(first, header.find(end, first + 1) - first);
}

std::vector<Index> header_shape(const fs::path& path, const std::string& header) {
  std::string text = header_entry(header, "shape", ')');
  if (!text.starts_with('(')) fail_on(path, "a .npy header with a shape", header);
  std::vector<Index> shape;
  const char* next = text.data() + 1;
  const char* const end = text.data() + text.size();
  for (;;) {
    while (next != end && (*next == ' ' || *next == ',')) ++next;
    Index size = 0;
    const auto [after, error] = std::from_chars(next, end, size);
    if (after == next) break;
    shape.push_back(size);
    next = after;
  }
  double elements = 1;
  for (Index size : shape) elements *= size < 0 ? INFINITY : static_cast<double>(size);
  if (next != end || shape.empty() || shape.size() > Shape::max_rank || !(elements <= max_numbers))
    fail_on(path,
            str_cat("an array of 1 to ", Shape::max_rank, " axes and at most ", max_numbers,
                    " numbers"),
            "shape " + text);
  return shape;
}

template <class E>
void read_numbers(std::istream& file, Tensor<float>& array) {
  std::vector<E> numbers(static_cast<std::size_t>(array.size()));
  file.read(reinterpret_cast<char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(E)));
  std::ranges::transform(numbers, array.data(), [](E x) { return static_cast<float>(x); });
}

}  // namespace

Tensor<float> read_npy(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> start{};
  if (!file.read(start.data(), start.size()) || std::memcmp(start.data(), magic, 6) != 0)
    fail_on(path, "a .npy file", "other data");
  std::uint32_t length = 0;  // little-endian, of 2 or 4 bytes
  file.read(reinterpret_cast<char*>(&length), start[6] == 1 ? 2 : 4);
  if (!file || length > 65536) fail_on(path, "a .npy header", "other data");
  std::string header(length, '\0');
  file.read(header.data(), length);
  if (header_entry(header, "fortran_order", ',') != "False")
    fail_on(path, "an array in C order (numpy.ascontiguousarray)", "Fortran order");
  Tensor<float> array{Shape(header_shape(path, header))};
  const std::string type = header_entry(header, "descr", ',');
  if (type == "'<f4'")
    read_numbers<float>(file, array);
  else if (type == "'<f8'")
    read_numbers<double>(file, array);
  else if (type == "'<i4'")
    read_numbers<std::int32_t>(file, array);
  else if (type == "'<i8'")
    read_numbers<std::int64_t>(file, array);
  else if (type == "'|u1'" || type == "'|b1'")
    read_numbers<std::uint8_t>(file, array);
  else
    fail_on(path, "float32, float64, int32, int64, uint8 or bool", "type " + type);
  if (!file) fail_on(path, str_cat(array.size(), " numbers"), "fewer");
  if (file.peek() != std::ifstream::traits_type::eof())
    fail_on(path, str_cat(array.size(), " numbers"), "more");
  return array;
}

void write_npy(const fs::path& path, const Tensor<float>& array) {
  std::string shape;
  for (Index size : array.shape()) shape += str_cat(size, ", ");
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The numbers start at a multiple of 64 bytes.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  std::ofstream file(path, std::ios::binary);
  file.write(magic, 6).write("\x01\x00", 2);
  file.write(reinterpret_cast<const char*>(&length), 2) << header;
  file.write(reinterpret_cast<const char*>(array.data()),
             static_cast<std::streamsize>(sizeof(float)) * array.size());
  file.flush();
  if (!file)
    throw FileError("cannot write output '" + path.string() + "': " + std::strerror(errno));
}

void write_csv(std::ostream& out, const Tensor<float>& rows) {
  const Index columns = rows.size() / std::max<Index>(1, rows.shape()[0]);
  for (Index column = 0; column < columns; ++column) out << (column == 0 ? "" : ",") << column;
  out << '\n';
  std::array<char, 32> digits;
  for (Index i = 0; i < rows.size(); ++i) {
    // to_chars writes the shortest string that is read back as the same float.
    const auto [end, error] = std::to_chars(digits.begin(), digits.end(), rows.data()[i]);
    out.write(digits.data(), end - digits.begin()) << ((i + 1) % columns == 0 ? '\n' : ',');
  }
}

Tensor<float> shaped_for(const KerasInput& input, const Tensor<float>& rows) {
  std::vector<Index> sizes{rows.shape()[0]};
  Index known = 1, unknown = 0;
  for (Index size : input.sizes) {
    sizes.push_back(size);
    if (size < 0)
      ++unknown;
    else
      known *= size;
  }
  const Index numbers = rows.size() / std::max<Index>(1, rows.shape()[0]);
  const bool fits = unknown == 0   ? numbers == known
                    : unknown == 1 ? known > 0 && numbers % known == 0
                                   : false;
  std::string expected;
  for (Index size : input.sizes)
    expected += (expected.empty() ? "" : ", ") + (size < 0 ? "any" : str_cat(size));
  if (!fits)
    fail<ShapeError>("input " + input.name, "rows of [" + expected + "]",
                     str_cat("rows of ", numbers, " numbers"));
  return rows.reshaped(sizes);
}

}  // namespace weft::keras
