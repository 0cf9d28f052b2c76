#include "examples/pronounce/dictionary.hpp"

#include <algorithm>
#include <iterator>

#include <weft/autograd/error.hpp>
#include <weft/train/files/utf8.hpp>
#include "examples/common/text_input.hpp"

namespace weft::pronounce {
namespace {

// Returns the fields of a line, which are separated by blanks.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  constexpr std::string_view blanks = " \t\r";
  for (std::size_t begin = line.find_first_not_of(blanks); begin != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(blanks, end);
  }
  return fields;
}

// Returns "word" for "word(2)", and other words unchanged.
std::string without_variant_number(const std::string& word) {
  const std::size_t open = word.rfind('(');
  if (open == word.npos || word.back() != ')' || open + 2 >= word.size()) return word;
  const bool digits = std::all_of(word.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                                  word.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? word.substr(0, open) : word;
}

// Parses a line that has at least one field. Throws ValueError for a malformed line.
Entry parse_line(const std::string& line, const std::vector<std::string_view>& fields) {
  static const std::string what = "dictionary line";
  const auto control = [](char c) {
    return (c >= 0 && c < ' ' && c != '\t' && c != '\r') || c == 0x7F;
  };
  if (line.find(examples::byte_order_mark) != line.npos)
    fail<ValueError>(what, "text", "a byte-order mark");
  if (std::ranges::any_of(line, control)) fail<ValueError>(what, "text", "a control character");
  if (fields.size() < 2)
    fail<ValueError>(what, "a word and its phones", str_cat("only '", fields[0], "'"));
  const std::string word = without_variant_number(lower_case(fields.front()));
  if (word.empty() || word.find_first_of("()") != word.npos)
    fail<ValueError>(what, "a word such as 'either' or 'either(2)'",
                     str_cat("'", fields.front(), "'"));
  check_utf8(line, what);
  const std::size_t letters = count_characters(word), phones = fields.size() - 1;
  if (letters > max_len || phones > max_len)
    fail<ValueError>(what,
                     str_cat("at most ", max_len, " letters and at most ", max_len, " phones"),
                     str_cat(letters, " letters and ", phones, " phones"));
  return {word, {Phones(fields.begin() + 1, fields.end())}};
}

std::vector<Entry> parse(std::istream& file, const std::string& name) {
  std::vector<Entry> lines;
  std::string line;
  std::string line_name = name + ", line ";
  const std::size_t before_number = line_name.size();
  for (std::size_t number = 1;; ++number) {
    line_name.replace(before_number, line_name.npos, str_cat(number));
    if (!examples::read_line(file, line, line_name)) break;
    if (number == 1) examples::remove_byte_order_mark(line);
    const std::vector<std::string_view> fields = fields_of(line);
    if (line.starts_with(";;;") || fields.empty()) continue;
    try {
      lines.push_back(parse_line(line, fields));
    } catch (const ValueError& error) {
      throw FileError(line_name + ": " + error.what());
    }
  }
  return lines;
}

}  // namespace

std::string to_string(const Phones& phones) {
  std::string text;
  for (const std::string& phone : phones) text += (text.empty() ? "" : " ") + phone;
  return text;
}

std::vector<Entry> read_dictionary(const std::filesystem::path& path) {
  const std::string name = "dictionary '" + path.string() + "'";
  std::ifstream file = examples::open_text(path, name, max_vocabulary_bytes);
  return read_dictionary(file, name);
}

std::vector<Entry> read_dictionary(std::istream& text, const std::string& name) {
  std::vector<Entry> lines = parse(text, name);
  if (lines.empty()) fail<FileError>(name, "at least one word", "none");

  std::stable_sort(lines.begin(), lines.end(),
                   [](const Entry& a, const Entry& b) { return a.word < b.word; });
  std::vector<Entry> entries;
  for (Entry& line : lines) {
    if (entries.empty() || entries.back().word != line.word) {
      entries.push_back(std::move(line));
      continue;
    }
    std::vector<Phones>& known = entries.back().pronunciations;
    Phones& phones = line.pronunciations.front();
    if (std::find(known.begin(), known.end(), phones) == known.end())
      known.push_back(std::move(phones));
  }
  return entries;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::vector<Entry> entries_of(Split split, const std::vector<Entry>& dictionary) {
  std::vector<Entry> entries;
  std::copy_if(dictionary.begin(), dictionary.end(), std::back_inserter(entries),
               [split](const Entry& entry) { return examples::split_of(entry.word) == split; });
  return entries;
}

}  // namespace weft::pronounce
