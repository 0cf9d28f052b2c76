#include "train/tokenizers/internal/token_files.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "weft/autograd/error.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/tokenizers/internal/json_entries.hpp"

namespace weft::byte_pairs {
namespace {

namespace fs = std::filesystem;

// What a message shows of a text that may be long.
std::string beginning(const std::string& text) {
  constexpr std::size_t longest = 80;
  return concatenate_text('\'', text.substr(0, longest), text.size() > longest ? "…'" : "'");
}

}  // namespace

std::vector<std::string> parse_vocabulary(std::string_view text, const fs::path& path) {
  const nlohmann::json object = parse_json(text, path);
  const std::string expected = "an object of tokens and their ids";
  if (!object.is_object()) fail_on_file(path, expected, object.type_name());
  std::vector<std::string> names(object.size());
  for (const auto& [name, id] : object.items()) {
    if (name.empty()) fail_on_file(path, "tokens that are not empty", "''");
    if (!id.is_number_integer())
      fail_on_file(path, "an integer for token " + beginning(name), id.type_name());
    const bool is_in_range =
        id.is_number_unsigned() && id.get<std::uint64_t>() < std::uint64_t{names.size()};
    if (!is_in_range || !names[id.get<std::size_t>()].empty())
      fail_on_file(path, concatenate_text("the ids 0 … ", names.size() - 1, ", each once"),
                   id.dump() + " for token " + beginning(name));
    names[id.get<std::size_t>()] = name;
  }
  return names;
}

std::vector<NamedMerge> parse_merges(std::string_view text, const fs::path& path) {
  std::vector<NamedMerge> merges;
  std::size_t number = 0;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string line(text.substr(begin, end - begin));
    if (line.ends_with('\r')) line.pop_back();
    ++number;
    if (number == 1 && line.starts_with("#version")) continue;
    if (line.empty() && end + 1 >= text.size()) break;
    const std::size_t space = line.find(' ');
    if (space == line.npos || space == 0 || space + 1 == line.size() ||
        line.find(' ', space + 1) != line.npos)
      fail_on_line(path, number, "two tokens with a space between them", beginning(line));
    merges.push_back({line.substr(0, space), line.substr(space + 1), number});
  }
  return merges;
}

void fail_on_line(const fs::path& path, std::size_t line, const std::string& expected,
                  const std::string& got) {
  fail<FileError>(concatenate_text(quoted(path), ", line ", line), expected, got);
}

std::string vocabulary_text(const std::vector<std::string>& names) {
  std::string text = "{";
  for (std::size_t id = 0; id < names.size(); ++id)
    text += concatenate_text(id > 0 ? "," : "", nlohmann::json(names[id]).dump(), ':', id);
  return text + "}\n";
}

std::string merges_text(const std::vector<NamedMerge>& merges) {
  std::string text = "#version: 0.2\n";
  for (const auto& [first, second, line] : merges) text += first + ' ' + second + '\n';
  return text;
}

}  // namespace weft::byte_pairs
