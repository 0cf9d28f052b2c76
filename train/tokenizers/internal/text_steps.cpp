#include "train/tokenizers/internal/text_steps.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "train/tokenizers/internal/character_table.hpp"
#include "train/tokenizers/internal/json_entries.hpp"
#include "train/tokenizers/internal/text_pattern.hpp"
#include "train/tokenizers/internal/unicode.hpp"

namespace weft {
namespace {

using nlohmann::json;

// GPT-2's division into words.
constexpr std::string_view gpt2_words =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

[[noreturn]] void fail_on_type(const char* what, const char* expected, const json& description) {
  fail<ValueError>(what, expected,
                   concatenate_text('\'', entry_or<std::string>(description, "type", ""), '\''));
}

// The parts of a Sequence, or the description itself.
std::vector<json> parts_of(const json& description, const char* list) {
  if (description.is_null()) return {};
  if (entry_or<std::string>(description, "type", "") != "Sequence") return {description};
  const json& parts = entry(description, list);
  if (!parts.is_array()) fail<ValueError>(list, "a list", parts.type_name());
  return parts.get<std::vector<json>>();
}

TextPattern pattern_of(const json& description) {
  const json& pattern = entry(description, "pattern");
  if (!entry(pattern, "String").is_null())
    return TextPattern::literal(entry_or<std::string>(pattern, "String", ""));
  return TextPattern("pattern", required_entry<std::string>(pattern, "Regex"));
}

std::u32string code_points(std::string_view text) {
  std::u32string codes;
  for (std::size_t at = 0; at < text.size();) codes += unicode::next_code_point(text, at);
  return codes;
}

std::string utf8(std::u32string_view codes) {
  std::string text;
  for (const char32_t code : codes) unicode::append(text, code);
  return text;
}

Normalizer unicode_form(int options) {
  return [options](std::string_view text) {
    // Texts of ASCII have one form.
    if (std::ranges::all_of(text, [](char byte) { return static_cast<signed char>(byte) >= 0; }))
      return std::string(text);
    utf8proc_uint8_t* mapped = nullptr;
    const utf8proc_ssize_t size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                     static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
    if (size < 0) fail<ValueError>("text", "UTF-8", utf8proc_errmsg(size));
    return std::string(mapped, mapped + size);
  };
}

std::string_view stripped(std::string_view text, bool left, bool right) {
  std::size_t begin = text.size(), end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t character = at;
    if (unicode::is_space(unicode::next_code_point(text, at))) continue;
    begin = std::min(begin, character);
    end = at;
  }
  if (!left) begin = 0;
  if (!right) end = text.size();
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

Normalizer one_normalizer(const json& d) {
  const auto type = entry_or<std::string>(d, "type", "");
  if (type == "NFC") return unicode_form(UTF8PROC_COMPOSE);
  if (type == "NFD") return unicode_form(UTF8PROC_DECOMPOSE);
  if (type == "NFKC") return unicode_form(UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  if (type == "NFKD") return unicode_form(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  if (type == "Lowercase")
    return [](std::string_view text) { return utf8(unicode::lower_case(code_points(text))); };
  if (type == "StripAccents")
    return [](std::string_view text) {
      std::u32string codes = code_points(text);
      std::erase_if(codes, unicode::is_mark);
      return utf8(codes);
    };
  if (type == "Strip")
    return [left = entry_or(d, "strip_left", true), right = entry_or(d, "strip_right", true)](
               std::string_view text) { return std::string(stripped(text, left, right)); };
  if (type == "Prepend")
    return [prefix = required_entry<std::string>(d, "prepend")](std::string_view text) {
      return text.empty() ? std::string() : std::string(prefix).append(text);
    };
  if (type == "Replace")
    return [pattern = pattern_of(d), content = required_entry<std::string>(d, "content")](
               std::string_view text) { return pattern.replaced(text, content); };
  if (type == "Precompiled")
    return [table = CharacterTable(required_entry<std::string>(d, "precompiled_charsmap"))](
               std::string_view text) { return table.mapped(text); };
  fail_on_type("normalizer",
               "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace or "
               "Precompiled",
               d);
}

// What becomes of the places between words where a text is split.
enum class Behavior { isolated, removed, merged_with_previous, merged_with_next, contiguous };

Behavior behavior_of(const json& description) {
  const std::pair<const char*, Behavior> names[] = {
      {"Isolated", Behavior::isolated},
      {"Removed", Behavior::removed},
      {"MergedWithPrevious", Behavior::merged_with_previous},
      {"MergedWithNext", Behavior::merged_with_next},
      {"Contiguous", Behavior::contiguous}};
  const auto text = required_entry<std::string>(description, "behavior");
  for (const auto& [name, behavior] : names)
    if (text == name) return behavior;
  fail<ValueError>("behavior", "a behavior of Split", concatenate_text('\'', text, '\''));
}

// Splits a text at matches, of which `find` calls its argument with each one's begin and end.
template <class Find>
void split(std::string_view text, bool is_first, Behavior behavior, bool invert, const Find& find,
           const WordUse& use) {
  const auto emit = [&](std::size_t begin, std::size_t end) {
    if (begin < end) use(text.substr(begin, end - begin), is_first && begin == 0);
  };
  std::size_t pending = 0;  // where the word begins that is not yet emitted
  std::size_t last = 0;     // the end of the part before
  bool was_match = false, is_empty = true;
  // The next part of the text, which is a match or what is between two.
  const auto add = [&](std::size_t begin, std::size_t end, bool is_match) {
    if (begin == end) return;
    last = end;
    bool joins = false;  // the part belongs to the word before
    switch (behavior) {
      case Behavior::isolated:
      case Behavior::removed:
        break;
      case Behavior::contiguous:
        joins = is_match == was_match;
        break;
      case Behavior::merged_with_previous:
        joins = is_match && !was_match;
        break;
      case Behavior::merged_with_next:
        joins = was_match && !is_match;
        break;
    }
    if (!joins || is_empty) {
      if (!is_empty && !(behavior == Behavior::removed && was_match)) emit(pending, begin);
      pending = begin;
    }
    was_match = is_match;
    is_empty = false;
  };
  std::size_t rest = 0;
  find(text, [&](std::size_t begin, std::size_t end) {
    add(rest, begin, invert);
    add(begin, end, !invert);
    rest = end;
  });
  add(rest, text.size(), invert);
  if (!(behavior == Behavior::removed && was_match)) emit(pending, last);
}

// Finds runs of characters of a kind, or each of these characters.
template <class Predicate>
auto characters(Predicate is_one, bool each) {
  return [is_one, each](std::string_view text, const auto& use) {
    std::size_t begin = 0, end = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t character = at;
      if (!is_one(unicode::next_code_point(text, at))) continue;
      if (each || end != character) {
        if (begin < end) use(begin, end);
        begin = character;
      }
      end = at;
    }
    if (begin < end) use(begin, end);
  };
}

PreTokenizer split_by(const TextPattern& pattern, Behavior behavior, bool invert) {
  return [=](std::string_view text, bool is_first, const WordUse& use) {
    split(
        text, is_first, behavior, invert,
        [&](std::string_view in, const auto& found) { pattern.for_each(in, found); }, use);
  };
}

template <class Predicate>
PreTokenizer split_at_characters(Predicate is_one, bool each, Behavior behavior) {
  return [=](std::string_view text, bool is_first, const WordUse& use) {
    split(text, is_first, behavior, false, characters(is_one, each), use);
  };
}

PreTokenizer byte_level(const json& d) {
  const PreTokenizer words =
      entry_or(d, "use_regex", true)
          ? split_by(TextPattern("pattern", gpt2_words), Behavior::isolated, false)
          : [](std::string_view text, bool is_first, const WordUse& use) { use(text, is_first); };
  if (!entry_or(d, "add_prefix_space", true)) return words;
  return [words](std::string_view text, bool is_first, const WordUse& use) {
    if (text.starts_with(' ')) return words(text, is_first, use);
    words(std::string(" ").append(text), is_first, use);
  };
}

PreTokenizer metaspace(const json& d) {
  const auto replacement = entry_or<std::string>(d, "replacement", "▁");
  // Older files have add_prefix_space instead.
  const auto scheme = entry_or<std::string>(
      d, "prepend_scheme", entry_or(d, "add_prefix_space", true) ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    fail<ValueError>("prepend_scheme", "always, first or never",
                     concatenate_text('\'', scheme, '\''));
  const TextPattern space = TextPattern::literal(" ");
  const PreTokenizer words =
      entry_or(d, "split", true)
          ? split_by(TextPattern::literal(replacement), Behavior::merged_with_next, false)
          : [](std::string_view text, bool is_first, const WordUse& use) { use(text, is_first); };
  return [=](std::string_view text, bool is_first, const WordUse& use) {
    std::string replaced = space.replaced(text, replacement);
    if ((scheme == "always" || (scheme == "first" && is_first)) &&
        !replaced.starts_with(replacement))
      replaced = replacement + replaced;
    words(replaced, is_first, use);
  };
}

PreTokenizer one_pre_tokenizer(const json& d) {
  const auto type = entry_or<std::string>(d, "type", "");
  if (type == "ByteLevel") return byte_level(d);
  if (type == "Metaspace") return metaspace(d);
  if (type == "Split") return split_by(pattern_of(d), behavior_of(d), entry_or(d, "invert", false));
  if (type == "Digits")
    return split_at_characters(unicode::is_number, entry_or(d, "individual_digits", false),
                               Behavior::isolated);
  if (type == "WhitespaceSplit")
    return split_at_characters(unicode::is_space, true, Behavior::removed);
  fail_on_type("pre_tokenizer", "ByteLevel, Split, Digits, Metaspace or WhitespaceSplit", d);
}

// Words of the first one, each of which the second one divides.
PreTokenizer composed(PreTokenizer first, PreTokenizer second) {
  return [first = std::move(first), second = std::move(second)](std::string_view text,
                                                                bool is_first, const WordUse& use) {
    first(text, is_first,
          [&](std::string_view word, bool word_is_first) { second(word, word_is_first, use); });
  };
}

}  // namespace

Normalizer make_normalizer(const json& description) {
  std::vector<Normalizer> steps;
  for (const json& part : parts_of(description, "normalizers"))
    steps.push_back(one_normalizer(part));
  if (steps.empty()) return {};
  return [steps](std::string_view text) {
    std::string result(text);
    for (const Normalizer& step : steps) result = step(result);
    return result;
  };
}

PreTokenizer make_pre_tokenizer(const json& description) {
  PreTokenizer result;
  for (const json& part : parts_of(description, "pretokenizers"))
    result =
        result ? composed(std::move(result), one_pre_tokenizer(part)) : one_pre_tokenizer(part);
  if (result) return result;
  return [](std::string_view text, bool is_first, const WordUse& use) { use(text, is_first); };
}

bool has_byte_letters(const json& pre_tokenizer) {
  return std::ranges::any_of(parts_of(pre_tokenizer, "pretokenizers"), [](const json& part) {
    return entry_or<std::string>(part, "type", "") == "ByteLevel";
  });
}

}  // namespace weft
