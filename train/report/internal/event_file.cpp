#include "train/report/internal/event_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "weft/autograd/error.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/report/internal/page.hpp"
#include "train/report/internal/png.hpp"

namespace weft {
namespace {

// --- Protobuf's wire format: a message is the concatenation of its fields

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

template <class Bits>
std::string little_endian(Bits bits) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof bits; ++i) bytes += static_cast<char>(bits >> 8 * i & 0xFFU);
  return bytes;
}

std::string field(unsigned number, std::int64_t value) {
  return varint(number << 3U) + varint(static_cast<std::uint64_t>(value));
}
std::string field(unsigned number, double value) {
  return varint(number << 3U | 1U) + little_endian(std::bit_cast<std::uint64_t>(value));
}
std::string field(unsigned number, float value) {
  return varint(number << 3U | 5U) + little_endian(std::bit_cast<std::uint32_t>(value));
}
// Encodes a string, bytes, a message, or packed numbers.
std::string field(unsigned number, const std::string& contents) {
  return varint(number << 3U | 2U) + varint(contents.size()) + contents;
}
std::string field(unsigned number, const std::vector<double>& values) {
  std::string packed;
  for (const double value : values) packed += little_endian(std::bit_cast<std::uint64_t>(value));
  return field(number, packed);
}

// --- Records

// Returns the CRC-32C (Castagnoli). Bits are processed from the lowest to the highest.
std::uint32_t crc32c(const std::string& data) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      entries[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        entries[i] = entries[i] >> 1U ^ (entries[i] & 1U ? 0x82F63B78U : 0U);
    }
    return entries;
  }();
  std::uint32_t crc = ~0U;
  for (const char c : data) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xFFU] ^ crc >> 8U;
  return ~crc;
}

std::string masked_crc(const std::string& data) {
  return little_endian(std::rotr(crc32c(data), 15) + 0xA282EAD8U);
}

// --- Values of a summary: tag 1, simple_value 2, image 4, histo 5, tensor 8, metadata 9

std::string plugin(const std::string& name, const std::string& content = "") {
  return field(1, field(1, name) + (content.empty() ? "" : field(2, content)));
}

// Indents the text, so that TensorBoard's Markdown shows it literally.
std::string text_value(const std::string& tag, const std::string& text) {
  constexpr std::int64_t dt_string = 7;
  std::string literal = "    ";
  for (const char c : text) literal += c == '\n' ? "\n    " : std::string(1, c);
  return field(1, printable(tag)) + field(8, field(1, dt_string) + field(8, literal)) +
         field(9, plugin("text"));
}

std::string image_value(const std::string& tag, const Tensor<float>& weights) {
  constexpr Index cell = 8;
  constexpr std::int64_t grey = 1;
  return field(1, printable(tag)) + field(4, field(1, std::int64_t{weights.shape()[0] * cell}) +
                                                 field(2, std::int64_t{weights.shape()[1] * cell}) +
                                                 field(3, grey) + field(4, png_of(weights, cell)));
}

template <class Rows>
std::string lines_of(const std::vector<std::string>& columns, const Rows& rows) {
  std::string text;
  for (const std::string& column : columns) text += column + "\t";
  for (const auto& row : rows) {
    text += "\n";
    for (const auto& cell : row) text += str_cat(cell, "\t");
  }
  return text;
}

std::string text_of(const ReportBlock& block) {
  using enum ReportBlock::Kind;
  if (block.kind == text || block.kind == preformatted) return block.text;
  if (block.kind == table) return lines_of(block.columns, block.cells);
  std::vector<std::vector<double>> rows;
  const auto columns = block.counts.shape()[1];
  for (auto row = block.counts.begin(); row != block.counts.end(); row += columns)
    rows.emplace_back(row, row + columns);
  return lines_of(block.columns, rows);
}

}  // namespace

std::string tf_record(const std::string& data) {
  const std::string length = little_endian(std::uint64_t{data.size()});
  return length + masked_crc(length) + data + masked_crc(data);
}

// Events: wall_time 1, step 2, file_version 3, summary 5, session_log 7 (status 1: START).
EventFile::EventFile(const std::filesystem::path& folder, std::int64_t first_step) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  path_ = folder / str_cat("events.out.tfevents.", seconds.count(), ".weft.", getpid());
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail_with_errno(path_, "write");
  add_event(field(3, std::string("brain.Event:2")));
  if (first_step > 0) add_event(field(2, first_step + 1) + field(7, field(1, std::int64_t{1})));
}

void EventFile::add_scalar(const std::string& tag, std::int64_t step, double value) {
  add_value(step, field(1, tag) + field(2, static_cast<float>(value)));
}

template <class T>
void EventFile::add_histogram(const std::string& tag, std::int64_t step,
                              std::span<const T> values) {
  constexpr std::size_t buckets = 30;
  double low = std::numeric_limits<double>::max(), high = -low;
  double sum = 0.0, squares = 0.0;
  std::int64_t count = 0;
  const auto for_each_finite = [values](const auto& body) {
    for (const T element : values)
      if (std::isfinite(element)) body(static_cast<double>(element));
  };
  for_each_finite([&](double value) {
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
    squares += value * value;
    ++count;
  });
  if (count == 0) return;
  const double width = high > low ? (high - low) / buckets : 1.0 / buckets;
  std::vector<double> limits(buckets), counts(buckets);
  for (std::size_t i = 0; i < buckets; ++i) limits[i] = low + static_cast<double>(i + 1) * width;
  for_each_finite([&](double value) {
    counts[std::min(static_cast<std::size_t>((value - low) / width), buckets - 1)] += 1.0;
  });
  add_value(step,
            field(1, tag) + field(5, field(1, low) + field(2, high) +
                                         field(3, static_cast<double>(count)) + field(4, sum) +
                                         field(5, squares) + field(6, limits) + field(7, counts)));
}

void EventFile::add_section(std::int64_t step, const ReportSection& section) {
  for (const ReportBlock& block : section.blocks()) {
    if (block.kind != ReportBlock::Kind::attention)
      add_value(step, text_value(block.title, text_of(block)));
    for (const AttentionMap& map : block.maps)
      add_value(step, image_value(block.title + "/" + map.title, map.weights));
  }
}

// Writes a value of the plugin "hparams" whose metadata contain the settings: HParamsPluginData
// with session_start_info 3, whose map hparams 1 maps names to google.protobuf.Value (string_value
// 3).
void EventFile::add_settings(const std::vector<std::pair<std::string, std::string>>& settings) {
  constexpr std::int64_t dt_float = 1;
  std::string info;
  for (const auto& [name, value] : settings)
    info += field(1, field(1, name) + field(2, field(3, printable(beginning_of(value, 200)))));
  add_value(0, field(1, std::string("_hparams_/session_start_info")) +
                   field(8, field(1, dt_float) + field(2, std::string()) +
                                field(5, little_endian(std::uint32_t{0}))) +
                   field(9, plugin("hparams", field(3, info))));
}

void EventFile::add_value(std::int64_t step, const std::string& value) {
  add_event((step == 0 ? "" : field(2, step)) + field(5, field(1, value)));
}

void EventFile::add_event(std::string event) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  time_ = std::max(time_, now.count());
  file_ << tf_record(field(1, time_) + std::move(event)) << std::flush;
  if (!file_) fail_with_errno(path_, "append an event to");
}

template void EventFile::add_histogram(const std::string&, std::int64_t, std::span<const float>);
template void EventFile::add_histogram(const std::string&, std::int64_t, std::span<const double>);

}  // namespace weft
