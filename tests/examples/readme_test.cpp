// README: every snippet is a part of a file that is compiled, and its figures of the source tree
// hold.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/messages.hpp"

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(fs::path(WEFT_SOURCE) / file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The code blocks of README in a language.
std::vector<std::string> snippets(const std::string& language) {
  const std::string text = text_of("README.md"), open = "```" + language + "\n";
  std::vector<std::string> found;
  for (std::size_t at = text.find(open); at != text.npos; at = text.find(open, at)) {
    at += open.size();
    found.push_back(text.substr(at, text.find("```", at) - at));
  }
  return found;
}

bool is_part_of_any(const std::string& snippet, const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    return weft::contains(text_of(file), snippet);
  });
}

}  // namespace

TEST_CASE("README: every C++ snippet is compiled", "[examples]") {
  const std::vector<std::string> all = snippets("cpp");
  CHECK(all.size() == 7);
  for (const std::string& snippet : all) {
    INFO(snippet);
    CHECK(is_part_of_any(
        snippet,
        {"examples/first_steps.cpp", "examples/forecast.cpp", "examples/embed/sentence_model.cpp",
         "tests/consumers/square.hpp", "tests/consumers/check_square.hpp",
         "tests/consumers/gated_linear.hpp", "tests/consumers/adapt_weights.hpp"}));
  }
}

TEST_CASE("README: every CMake snippet is of a project that is built", "[examples]") {
  const std::vector<std::string> all = snippets("cmake");
  CHECK(all.size() == 2);
  for (const std::string& snippet : all) {
    INFO(snippet);
    std::string in_tests = snippet;
    const std::string source = "add_executable(my_program my_program.cpp)";
    const std::size_t at = in_tests.find(source);
    REQUIRE(at != in_tests.npos);
    in_tests.replace(at, source.size(), "add_executable(my_program ../consumer.cpp)");
    CHECK(is_part_of_any(in_tests, {"tests/consumers/installed/CMakeLists.txt",
                                    "tests/consumers/subproject/CMakeLists.txt"}));
  }
}

TEST_CASE("README: the engine has as many lines as it says", "[examples]") {
  const std::string readme = text_of("README.md");
  std::smatch match;
  REQUIRE(std::regex_search(readme, match, std::regex(R"((\d+) lines in `autograd/`)")));
  std::ptrdiff_t lines = 0;
  for (const char* folder : {"autograd", "autograd/internal"})
    for (const auto& entry : fs::directory_iterator(fs::path(WEFT_SOURCE) / folder)) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_regular_file() || name.starts_with("gradcheck") ||
          name.starts_with("text_table"))
        continue;
      const std::string text = text_of(std::string(folder) + "/" + name);
      lines += std::count(text.begin(), text.end(), '\n');
    }
  CHECK(lines == std::stol(match[1]));
}
