// What a release promises: a changelog of this version, and names that are deprecated for one minor
// version before they go.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/version.hpp>
#include "tests/catch.hpp"

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

std::string text_of(const fs::path& file) {
  std::ifstream in(fs::path(WEFT_SOURCE) / file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What the changelog says of its first version, "0.2.0 – …" and the rest up to the next.
std::string newest_entry(const std::string& changelog) {
  const std::size_t begin = changelog.find("\n## ") + 4;
  return changelog.substr(begin, changelog.find("\n## ", begin) - begin);
}

// The attributes of a header that are not [[deprecated("since weft VERSION: use NAME")]] with the
// version given, or whose NAME the entry of the changelog does not have as code.
Lines wrong_deprecations(const std::string& header, const std::string& version,
                         const std::string& entry) {
  static const std::regex attribute(R"re(\[\[deprecated[^\]]*\]\])re"),
      expected(R"re(\[\[deprecated\("since weft ([\d.]+): use (\w+)"\)\]\])re");
  Lines wrong;
  for (std::sregex_iterator found(header.begin(), header.end(), attribute), end; found != end;
       ++found) {
    const std::string text = found->str();
    std::smatch parts;
    if (!std::regex_match(text, parts, expected) || parts[1] != version ||
        entry.find(weft::str_cat('`', parts[2].str(), '`')) == entry.npos)
      wrong.push_back(text);
  }
  return wrong;
}

const std::string minor_version =
    std::to_string(WEFT_VERSION_MAJOR) + "." + std::to_string(WEFT_VERSION_MINOR);

}  // namespace

TEST_CASE("releases: the changelog begins with this version", "[components]") {
  CHECK(newest_entry(text_of("CHANGELOG.md")).starts_with(WEFT_VERSION " "));
}

TEST_CASE("releases: what is deprecated names its version and what to use instead",
          "[components]") {
  const std::string entry = "0.3.0 – 2027-01-01\n### Deprecated\n- `old_name`: use `new_name`.\n";
  const auto wrong = [&](const std::string& header) {
    return wrong_deprecations(header, "0.3", entry);
  };
  CHECK(wrong("int f();") == Lines{});
  CHECK(wrong("[[deprecated(\"since weft 0.3: use new_name\")]] int f();") == Lines{});
  CHECK(wrong("[[deprecated]] int f();") == Lines{"[[deprecated]]"});
  CHECK(wrong("[[deprecated(\"since weft 0.2: use new_name\")]] int f();").size() == 1);
  CHECK(wrong("[[deprecated(\"since weft 0.3: use other_name\")]] int f();").size() == 1);
}

TEST_CASE("releases: no header has deprecated names of an earlier minor version", "[components]") {
  const std::string entry = newest_entry(text_of("CHANGELOG.md"));
  std::size_t headers = 0;
  for (const char* component : {"autograd", "layers", "train"})
    for (const auto& file : fs::recursive_directory_iterator(fs::path(WEFT_SOURCE) / component)) {
      if (file.path().extension() != ".hpp") continue;
      ++headers;
      INFO(file.path());
      CHECK(wrong_deprecations(text_of(file.path()), minor_version, entry) == Lines{});
    }
  CHECK(headers > 100);
}
