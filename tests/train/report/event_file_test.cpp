#include "train/report/internal/event_file.hpp"

#include <cstring>
#include <limits>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

std::string hex(const std::string& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4U];
    text += digits[static_cast<unsigned char>(c) & 15U];
  }
  return text;
}

// The messages in the event files of a folder, without their times, which are never before those of
// earlier messages.
std::vector<std::string> events_in(const TemporaryFolder& folder) {
  std::vector<std::string> events;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    CHECK(contains(entry.path().filename().string(), "tfevents"));
    const std::string bytes = bytes_of(entry.path());
    double last = 0.0;
    for (std::size_t at = 0; at < bytes.size();) {
      std::uint64_t size = 0;
      std::memcpy(&size, bytes.data() + at, sizeof size);
      const std::string data = bytes.substr(at + 12, size);
      REQUIRE(bytes.substr(at, size + 16) == tf_record(data));
      CHECK(data[0] == '\x09');
      double time = 0.0;
      std::memcpy(&time, data.data() + 1, sizeof time);
      CHECK(time >= last);
      CHECK(time > 1.7e9);
      last = time;
      events.push_back(data.substr(9));
      at += size + 16;
    }
  }
  return events;
}

constexpr const char* version = "1a0d627261696e2e4576656e743a32";

}  // namespace

TEST_CASE("event file: a record is its length and data, each with a masked CRC-32C", "[report]") {
  // The CRC by tests/golden/write_events.py.
  const std::string record = tf_record("123456789");
  CHECK(hex(record.substr(0, 8)) == "0900000000000000");
  CHECK(hex(record.substr(12)) == hex("123456789") + "e5b08ac7");
}

// Those that TensorBoard's classes write: tests/golden/write_events.py.
TEST_CASE("event file: scalars, texts, histograms and hyperparameters", "[report]") {
  const TemporaryFolder folder;
  {
    EventFile events(folder.path(), 0);
    events.add_scalar("loss", 300, 0.75);
    ReportSection section;
    section.text("sample", "a\n<b>");
    events.add_section(7, section);
    const std::vector<double> values{31.0, std::numeric_limits<double>::quiet_NaN(), 1.0, 31.0,
                                     std::numeric_limits<double>::infinity()};
    events.add_histogram("h", 5, std::span<const double>(values));
    events.add_settings({{"lr", "0.001"}});
  }
  const std::vector<std::string> events = events_in(folder);
  REQUIRE(events.size() == 5);
  CHECK(hex(events[0]) == version);
  CHECK(hex(events[1]) == "10ac022a0d0a0b0a046c6f7373150000403f");
  CHECK(hex(events[2]) ==
        "10072a270a250a0673616d706c6542110807420d20202020610a202020203c623e4a080a060a0474657874");
  CHECK(hex(events[3]) ==
        "10052a9c040a99040a01682a930409000000000000f03f110000000000003f4019000000000000084021"
        "0000000000804f402900000000000c9e4032f00100000000000000400000000000000840000000000000"
        "1040000000000000144000000000000018400000000000001c4000000000000020400000000000002240"
        "0000000000002440000000000000264000000000000028400000000000002a400000000000002c400000"
        "000000002e40000000000000304000000000000031400000000000003240000000000000334000000000"
        "000034400000000000003540000000000000364000000000000037400000000000003840000000000000"
        "39400000000000003a400000000000003b400000000000003c400000000000003d400000000000003e40"
        "0000000000003f403af001000000000000f03f0000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "0000000000000000000000000000000000000000000000000000000000000000000000000000000040");
  CHECK(hex(events[4]) ==
        "2a4c0a4a0a1c5f68706172616d735f2f73657373696f6e5f73746172745f696e666f420a080112002a04000000"
        "004a1e0a1c0a0768706172616d7312111a0f0a0d0a026c7212071a05302e303031");
}

// Limits of 2 + (i + 1) / 30, and all values in the first bucket.
TEST_CASE("event file: equal values are in the first of buckets that are 1 wide together",
          "[report]") {
  const TemporaryFolder folder;
  {
    EventFile events(folder.path(), 0);
    const std::vector<float> values(3, 2.0F);
    events.add_histogram("h", 5, std::span<const float>(values));
  }
  const std::string event = events_in(folder).at(1);
  constexpr std::size_t count = 30;
  std::vector<double> numbers(count);
  const auto numbers_at = [&](std::size_t at) {
    std::memcpy(numbers.data(), event.data() + at, count * sizeof(double));
    return numbers;
  };
  // The counts end the message; before them and their tag and size are the limits.
  const std::size_t counts = event.size() - count * sizeof(double);
  std::vector<double> expected(count, 0.0);
  expected.front() = 3.0;
  CHECK(numbers_at(counts) == expected);
  const std::vector<double> limits = numbers_at(counts - 3 - count * sizeof(double));
  for (std::size_t i = 0; i < count; ++i)
    CHECK(limits[i] == Approx(2.0 + static_cast<double>(i + 1) / count));
}

TEST_CASE("event file: a run that resumes hides what came after", "[report]") {
  const TemporaryFolder folder;
  { EventFile events(folder.path(), 300); }
  const std::vector<std::string> events = events_in(folder);
  REQUIRE(events.size() == 2);
  CHECK(hex(events[1]) == "10ad023a020801");
}

TEST_CASE("event file: attention as a picture of grey", "[report]") {
  const TemporaryFolder folder;
  {
    EventFile events(folder.path(), 0);
    ReportSection section;
    section.attention("word", {"A"}, {"a", "b"}, {{"head 1", Tensor<float>({1, 2}, {0.0f, 1.0f})}});
    events.add_section(3, section);
  }
  const std::string image = events_in(folder).at(1);
  CHECK(contains(image, "word/head 1"));
  // 8 high, 16 wide, colour space 1.
  CHECK(contains(hex(image),
                 "081010"
                 "1801"
                 "22"));
  CHECK(contains(image, "\x89PNG\r\n\x1a\n"));
  CHECK(contains(hex(image), hex("IHDR") + "0000001000000008"
                                           "0800000000"));
}

TEST_CASE("event file: tables are lines of cells", "[report]") {
  const TemporaryFolder folder;
  {
    EventFile events(folder.path(), 0);
    ReportSection section;
    section.table("t", {"word", "phones"}, {{"weft", "W EH F T"}, {"a", "AH"}});
    events.add_section(3, section);
  }
  CHECK(contains(events_in(folder).at(1), "    word\tphones\t\n    weft\tW EH F T\t\n    a\tAH\t"));
}

TEST_CASE("event file: a folder that cannot be written is refused", "[report]") {
  CHECK(contains(message_of<FileError>([] { EventFile("/dev/null/x", 0); }), "/dev/null/x"));
}
