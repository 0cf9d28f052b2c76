#include "examples/common/json_config.hpp"

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using examples::JsonConfig;

namespace {

JsonConfig config_of(const std::string& text) {
  const TemporaryFolder folder;
  write_bytes(folder / "config.json", text);
  return JsonConfig(folder / "config.json");
}

// The error of reading a file with this text and then a field of it, without the path.
template <class Read>
std::string message_for(const std::string& text, const Read& read) {
  const std::string message = message_of<FileError>([&] { read(config_of(text)); });
  const std::size_t name = message.find("config.json");
  return name == message.npos ? message : message.substr(name);
}

std::string parse_error(const std::string& text) {
  return message_for(text, [](const JsonConfig&) {});
}

}  // namespace

TEST_CASE("JsonConfig: fields of each type, and what they are otherwise", "[examples]") {
  const JsonConfig config = config_of(
      R"({"hidden_size": 384, "eps": 1e-12, "act": "gelu", "lower": true, "accents": null})");
  CHECK(config.size("hidden_size") == 384);
  CHECK(config.number("eps") == 1e-12);
  CHECK(config.number("hidden_size") == 384.0);
  CHECK(config.text("act") == "gelu");
  CHECK(config.flag("lower"));
  CHECK(config.has("act"));
  CHECK_FALSE(config.has("accents"));
  CHECK_FALSE(config.has("layers"));
  CHECK(config.size("layers", 12) == 12);
  CHECK(config.flag("accents", true));
  CHECK(config.text("position", "absolute") == "absolute");
}

TEST_CASE("JsonConfig: a file that is too large is an error", "[examples]") {
  const TemporaryFolder folder;
  const auto path = folder / "config.json";
  write_bytes(path, "{}");
  std::filesystem::resize_file(path, 300'000'000);
  CHECK(contains(message_of<FileError>([&] { JsonConfig config(path); }),
                 "config.json\": expected a file of at most 4194304 bytes, got 300000000 bytes"));
}

TEST_CASE("JsonConfig: files that are no JSON object are errors with their position",
          "[examples]") {
  CHECK(parse_error("{\n  \"a\": 1,\n  b\n}") ==
        "config.json': expected JSON, got an error in line 3, at byte 15");
  CHECK(parse_error("{\"a\": 1") ==
        "config.json': expected JSON, got an error in line 1, at byte 8");
  CHECK(parse_error({"{}\0{", 4}) ==
        "config.json': expected JSON, got an error in line 1, at byte 3");
  CHECK(parse_error(R"({"a": 1, "a": 2})") ==
        "config.json': JSON: expected each name once, got 'a' twice");
  CHECK(parse_error("[1, 2]") == "config.json': expected a JSON object, got array");
  CHECK(contains(parse_error(""), "expected text, got an empty file"));
  CHECK(contains(parse_error("\"\xFF\""), "expected UTF-8 text"));
  CHECK_THROWS_AS(JsonConfig("no_such_config.json"), FileError);
}

TEST_CASE("JsonConfig: missing fields and other types are errors that name the field",
          "[examples]") {
  const auto size = [](const JsonConfig& config) { (void)config.size("n"); };
  for (const std::string value :
       {"0", "-1", "2147483648", "99999999999999999999", "1.5", "\"1\"", "true", "[]"})
    CHECK(contains(message_for("{\"n\": " + value + "}", size),
                   "config.json': expected an integer from 1 to 2147483647 as n, got "));
  CHECK(message_for("{}", size) ==
        "config.json': expected an integer from 1 to 2147483647 as n, got none");
  CHECK(message_for("{\"n\": \"x\"}", size) ==
        "config.json': expected an integer from 1 to 2147483647 as n, got \"x\"");
  CHECK(message_for("{\"n\": \"x\"}", [](const JsonConfig& c) { (void)c.number("n", 1.0); }) ==
        "config.json': expected a number as n, got \"x\"");
  CHECK(message_for("{\"n\": 1}", [](const JsonConfig& c) { (void)c.text("n"); }) ==
        "config.json': expected a string as n, got 1");
  CHECK(message_for("{\"n\": 1}", [](const JsonConfig& c) { (void)c.flag("n"); }) ==
        "config.json': expected true or false as n, got 1");
}
