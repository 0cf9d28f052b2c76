#include <weft/autograd/error.hpp>
#include <weft/train/files/json.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

std::string error_of(const std::string& text) {
  return message_of<ValueError>([&] { check_json(text); });
}

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

}  // namespace

TEST_CASE("JSON: one value of any type is accepted, with spaces around it", "[train]") {
  for (const char* const text :
       {"null", "true", "-0", "1e308", "18446744073709551615", "\"\"", R"("\u0000\ud83d\ude00")",
        "[]", " {} \r\n\t", R"({"a": {"a": [{"a": 1}, {"a": 2}]}, "b": "ü"})"}) {
    INFO(text);
    CHECK_NOTHROW(check_json(text));
  }
  CHECK_NOTHROW(check_json(nested(100)));
}

TEST_CASE("JSON: what follows the value, also after a NUL, is an error", "[train]") {
  CHECK(error_of("") == "expected JSON, got an error in line 1, at byte 1");
  CHECK(error_of("{} {}") == "expected JSON, got an error in line 1, at byte 4");
  CHECK(error_of("[1,\n2]\n}") == "expected JSON, got an error in line 3, at byte 8");
  CHECK(error_of({"{}\0", 3}) == "expected JSON, got an error in line 1, at byte 3");
  CHECK(error_of({"{}\0{}", 5}) == "expected JSON, got an error in line 1, at byte 3");
  CHECK(error_of({"[\"\0\"]", 5}) == "expected JSON, got an error in line 1, at byte 3");
  CHECK(error_of({"\0{}", 3}) == "expected JSON, got an error in line 1, at byte 1");
}

TEST_CASE("JSON: a name that an object has twice is an error at every level", "[train]") {
  CHECK(error_of(R"({"a": 1, "b": 2, "a": 1})") == "JSON: expected each name once, got 'a' twice");
  CHECK(error_of(R"([[{"a": [{"b": {"c": 0, "\u0063": 0}}]}]])") ==
        "JSON: expected each name once, got 'c' twice");
  CHECK(error_of(R"({"a": {"x": 1}, "a": null})") ==
        "JSON: expected each name once, got 'a' twice");
}

TEST_CASE("JSON: invalid UTF-8, other syntax and numbers without end are errors", "[train]") {
  for (const char* const text :
       {"\"\xC3\"", "\"\xED\xA0\x80\"", R"("\ud800")", "{'a': 1}", "[1,]", "{\"a\": 1,}", "01",
        "+1", ".5", "NaN", "Infinity", "[1 2]", "// comment\n1", "\"a\tb\"", "tru", "\"a"}) {
    INFO(text);
    CHECK(error_of(text).starts_with("expected JSON, got an error in line 1, at byte "));
  }
  CHECK(error_of("[1e999]") == "expected JSON, got a number out of range");
  CHECK(error_of("-1e999") == "expected JSON, got a number out of range");
}

TEST_CASE("JSON: more than 100 levels are an error, however many", "[train]") {
  const std::string error = "JSON: expected at most 100 levels, got more";
  CHECK(error_of(nested(101)) == error);
  CHECK(error_of(std::string(1'000'000, '[')) == error);
  std::string objects;
  for (int i = 0; i < 200; ++i) objects += "{\"a\":";
  CHECK(error_of(objects) == error);
}
