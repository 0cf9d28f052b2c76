// The components of the source tree: which includes which, and what is public.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

// From the ground up. A file belongs to the longest prefix of its path that stands here, and may
// include what stands in its own line or above it.
const std::vector<Lines> floors = {
    {"autograd/error", "autograd/shape", "autograd/export", "autograd/enum_names",
     "autograd/precision", "autograd/internal/"},
    {"autograd/buffer", "autograd/internal/pool", "autograd/parallel",
     "autograd/nested_parallel_for"},
    {"autograd/tensor", "autograd/finite"},
    {"autograd/gradient.", "autograd/parameter", "autograd/random"},
    {"autograd/tape_observer"},
    {"autograd/tape.", "autograd/operation"},
    {"autograd/kernels/", "autograd/precision.cpp"},
    {"autograd/ops/"},
    {"autograd/gradcheck"},
    {"layers/"},
    {"layers/models/"},
    {"train/files/"},
    {"train/data/"},
    {"train/text/"},
    {"train/weights/"},
    {"train/optim/"},
    {"train/parallel/"},
    {"train/training_observer"},
    {"train/report/"},
    {"train/"},
    {"train/pretrained/"},
    {"examples/common/"},
    {"examples/"},
};

// Headers of other libraries, and the only places that may include them.
const std::map<std::string, Lines> libraries = {
    {"Eigen/", {"autograd/kernels/"}},
    {"dnnl", {"autograd/kernels/"}},
    {"omp.h", {"autograd/parallel.cpp", "autograd/kernels/"}},
    {"hdf5", {"train/files/hdf5/"}},
    {"H5", {"train/files/hdf5/"}},
    {"zlib.h", {"train/files/hdf5/", "train/report/internal/png.cpp"}},
    {"minizip/", {"train/pretrained/keras/internal/zip_archive.cpp"}},
    {"xxhash.h", {"train/files/internal/"}},
    {"csv.h", {"train/data/"}},
    {"cxxopts", {"examples/"}},
    {"mpi.h", {"train/parallel/internal/transport.cpp"}},
    {"utf8proc.h",
     {"train/files/internal/code_point.hpp", "train/text/tokenizers/internal/",
      "train/pretrained/chat_templates/internal/jinja_text.cpp"}},
    {"nlohmann/",
     {"train/files/internal/json", "train/files/safetensors/", "train/text/tokenizers/",
      "train/pretrained/", "train/report/", "examples/common/", "examples/embed/sentence_files.cpp",
      "examples/gpt/conversations.cpp"}},
    {"oniguruma.h", {"train/text/tokenizers/internal/text_pattern.cpp"}},
    {"catch2/", {}},
};

struct Include {
  std::string file, path;
  bool is_quoted;
};

std::vector<std::string> source_files(const Lines& components) {
  std::vector<std::string> files;
  for (const std::string& component : components)
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(WEFT_SOURCE) / component))
      if (const std::string extension = entry.path().extension().string();
          extension == ".hpp" || extension == ".cpp")
        files.push_back(fs::relative(entry.path(), WEFT_SOURCE).string());
  std::sort(files.begin(), files.end());
  return files;
}

Lines lines_of(const std::string& file) {
  std::ifstream in(fs::path(WEFT_SOURCE) / file);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<Include> includes_of(const std::string& file) {
  static const std::regex directive(R"(^\s*#\s*include\s+([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  for (const std::string& line : lines_of(file))
    if (std::smatch match; std::regex_search(line, match, directive))
      includes.push_back({file, match[2], match[1] == "\""});
  return includes;
}

bool is_internal(const std::string& header) {
  static const std::regex internal("(^|/)internal/|^autograd/kernels/");
  return std::regex_search(header, internal);
}

// The path in the source tree of a header of weft; empty for others.
std::string source_of(std::string path) {
  if (path.starts_with("weft/")) path = path.substr(5);
  return fs::exists(fs::path(WEFT_SOURCE) / path) && path.find('/') != path.npos ? path : "";
}

std::size_t floor_of(const std::string& file) {
  std::size_t found = floors.size(), length = 0;
  for (std::size_t floor = 0; floor < floors.size(); ++floor)
    for (const std::string& prefix : floors[floor])
      if (file.starts_with(prefix) && prefix.size() > length) {
        found = floor;
        length = prefix.size();
      }
  return found;
}

const Lines library = {"autograd", "layers", "train"};
const Lines library_and_examples = {"autograd", "layers", "train", "examples"};

}  // namespace

TEST_CASE("components: every file stands on a floor and includes nothing from above it",
          "[components]") {
  Lines upward;
  std::size_t checked = 0;
  for (const std::string& file : source_files(library_and_examples)) {
    if (floor_of(file) == floors.size()) upward.push_back(file + " stands on no floor");
    for (const auto& [from, path, is_quoted] : includes_of(file)) {
      const std::string header = source_of(path);
      if (header.empty()) continue;
      ++checked;
      if (floor_of(header) > floor_of(file) || header.starts_with("tests/"))
        upward.push_back(file + " includes " + path);
    }
  }
  CHECK(upward == Lines{});
  CHECK(checked > 500);
}

TEST_CASE("components: a public header includes public headers and the standard library only",
          "[components]") {
  static const std::regex standard("^[a-z0-9_]+$");
  Lines wrong;
  std::size_t headers = 0;
  for (const std::string& file : source_files(library)) {
    if (!file.ends_with(".hpp") || is_internal(file)) continue;
    ++headers;
    for (const auto& [from, path, is_quoted] : includes_of(file)) {
      const bool is_public = path.starts_with("weft/") && !is_internal(path.substr(5));
      if (!is_public && !(std::regex_match(path, standard) && !is_quoted))
        wrong.push_back(file + " includes " + path);
    }
    // A compiler without -fopenmp warns of these.
    for (const std::string& line : lines_of(file))
      if (line.starts_with("#pragma omp")) wrong.push_back(file + " has " + line);
  }
  CHECK(wrong == Lines{});
  CHECK(headers > 60);
}

TEST_CASE("components: public headers are included as <weft/...>, internal ones by their path",
          "[components]") {
  Lines wrong;
  for (const std::string& file : source_files(library_and_examples))
    for (const auto& [from, path, is_quoted] : includes_of(file)) {
      const std::string header = source_of(path);
      if (header.empty() || header.starts_with("examples/")) continue;
      if (is_internal(header) == path.starts_with("weft/"))
        wrong.push_back(file + " includes " + path);
      if (is_internal(header) && file.starts_with("examples/"))
        wrong.push_back(file + " includes the internal " + path);
    }
  CHECK(wrong == Lines{});
}

TEST_CASE("components: operations that a public header declares are exported", "[components]") {
  static const std::regex declaration(R"(^\s*(Var<T> \w+)\([^{]*\);)");
  Lines hidden;
  for (const std::string& file : source_files(library)) {
    if (!file.ends_with(".hpp") || is_internal(file)) continue;
    // A declaration at a time, from the line after `template` to the first ';' or '{'.
    std::string statement;
    bool is_template = false;
    for (const std::string& line : lines_of(file)) {
      if (line.starts_with("template <class T>")) {
        is_template = true;
        statement.clear();
        continue;
      }
      if (!is_template) continue;
      // A default argument's braces are not those of a definition.
      statement += std::regex_replace(line, std::regex(R"(= \{[^}]*\})"), "") + ' ';
      if (statement.find_first_of(";{") == statement.npos) continue;
      is_template = false;
      if (std::smatch match; std::regex_search(statement, match, declaration))
        hidden.push_back(file + ": " + match[1].str());
    }
  }
  CHECK(hidden == Lines{});
}

TEST_CASE("components: headers define constants inline, and functions by name instead of lambdas",
          "[components]") {
  // Anything else at namespace scope is another object, or another type, in each file that includes
  // the header.
  static const std::regex constant(R"(^(static )?(constexpr|const) [^()]*(=|\{))");
  static const std::regex lambda(R"(^(static )?(inline )?(constexpr|const) auto .*= *\[)");
  Lines wrong;
  for (const std::string& file : source_files(library)) {
    if (!file.ends_with(".hpp")) continue;
    std::string before;
    for (const std::string& line : lines_of(file)) {
      const bool is_template = before.starts_with("template");
      if ((std::regex_search(line, constant) && !is_template) || std::regex_search(line, lambda))
        wrong.push_back(file + ": " + line);
      before = line;
    }
  }
  CHECK(wrong == Lines{});
}

TEST_CASE("components: functions that the library contains have no constraints", "[components]") {
  // Their symbols contain the constraint, which g++ 14 and clang 19 write differently: what one of
  // them compiles could not be linked with a library that the other has built.
  static const std::regex constrained(R"(\) (const )?requires [^{]*;)");
  Lines wrong;
  for (const std::string& file : source_files(library))
    if (file.ends_with(".hpp"))
      for (const std::string& line : lines_of(file))
        if (std::regex_search(line, constrained)) wrong.push_back(file + ": " + line);
  CHECK(wrong == Lines{});
}

TEST_CASE("components: each library is used by one component", "[components]") {
  Lines strays;
  for (const std::string& file : source_files(library_and_examples))
    for (const auto& [from, path, is_quoted] : includes_of(file))
      for (const auto& [prefix, users] : libraries)
        if (!is_quoted && path.starts_with(prefix) &&
            std::none_of(users.begin(), users.end(),
                         [&](const std::string& user) { return file.starts_with(user); }))
          strays.push_back(file + " includes " + path);
  CHECK(strays == Lines{});
}

TEST_CASE("components: texts do not depend on the program's locale", "[components]") {
  // What formats or reads numbers by the global or the C locale, where `str_cat`,
  // TextStream and std::from_chars do not.
  static const std::regex by_locale(
      R"(\b(v?sn?printf|f?printf|strto(f|d|ld)|atof|sto(f|d|ld))\()"
      R"(|std::(to_string\(|w?[io]?stringstream|put_time|get_time|locale|use_facet|setlocale))"
      R"(|std::(is(alnum|alpha|digit|space|upper|lower|punct|xdigit|print)|to(upper|lower))\b)"
      R"(|\b(strftime|imbue)\()");
  // A stream of a file has the global locale: these write and read strings only.
  static const std::regex file_stream(R"(std::(o|i)?fstream)");
  const Lines string_files = {"train/report/internal/metrics_observer.hpp",
                              "train/report/internal/event_file.hpp",
                              "train/report/internal/machine.cpp", "examples/"};
  // Lines and words are split from texts.
  const Lines word_streams = {"examples/common/training_options.cpp",
                              "examples/pronounce/say_command.cpp",
                              "examples/pronounce/training.cpp"};
  const auto is_in = [](const Lines& places, const std::string& file) {
    return std::ranges::any_of(places, [&](const auto& place) { return file.starts_with(place); });
  };
  Lines wrong;
  for (const std::string& file : source_files(library_and_examples)) {
    if (file == "autograd/error.hpp") continue;
    for (const std::string& line : lines_of(file)) {
      const std::string code = line.substr(0, line.find("//"));
      const bool splits = code.find("std::istringstream") != code.npos && is_in(word_streams, file);
      if ((std::regex_search(code, by_locale) && !splits) ||
          (std::regex_search(code, file_stream) && !is_in(string_files, file)))
        wrong.push_back(file + ": " + line);
    }
  }
  CHECK(wrong == Lines{});
}

TEST_CASE("components: definitions stand under the name of their header", "[components]") {
  Lines wrong;
  for (const std::string& file : source_files(library)) {
    if (!file.ends_with(".cpp")) continue;
    const std::string header = file.substr(0, file.size() - 4) + ".hpp";
    const std::vector<Include> includes = includes_of(file);
    if (includes.empty() || source_of(includes.front().path) != header) wrong.push_back(file);
  }
  CHECK(wrong == Lines{});
}

TEST_CASE("components: headers begin by saying what they hold, and files stay short",
          "[components]") {
  Lines wrong;
  for (const std::string& file : source_files(library_and_examples)) {
    const Lines lines = lines_of(file);
    if (file.ends_with(".hpp") && (lines.empty() || !lines.front().starts_with("// ")))
      wrong.push_back(file + " does not say what it holds");
    if (lines.size() > 500) wrong.push_back(file + " has more than 500 lines");
  }
  CHECK(wrong == Lines{});
}
