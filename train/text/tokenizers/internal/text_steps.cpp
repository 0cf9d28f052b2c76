#include "train/text/tokenizers/internal/text_steps.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/text/tokenizers/internal/byte_letters.hpp"
#include "train/text/tokenizers/internal/character_table.hpp"
#include "train/text/tokenizers/internal/step_types.hpp"
#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft {
namespace {

using nlohmann::json;

// The characters that \w matches in Rust's regular expressions. Unlike Oniguruma's \w, they include
// Alphabetic characters that are not letters, such as "Ⓐ", and joiners.
constexpr const char* word_characters = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D})";
// Punctuation: Unicode's, and all printable ASCII characters except letters, digits and spaces.
constexpr const char* punctuation = R"(!-/:-@\[-`{-~\p{P})";

// Returns the number of bytes of the first character.
std::size_t first_character_size(std::string_view text) {
  std::size_t end = 0;
  if (!text.empty()) unicode::next_code_point(text, end);
  return end;
}

Normalizer replacing(const TextPattern& pattern, const std::string& content) {
  return [=](std::string_view text, TextPass& pass) {
    return pattern.replaced(text, pass.budget, [&](const TextMatch& match, std::string& result) {
      result += content;
      // The content takes the position of the last character of the match.
      if (match.begin == 0 && match.end > (content.empty() ? 0 : first_character_size(text)))
        pass.keeps_beginning = false;
      if (match.end == 0 && !content.empty()) pass.inserts_before = true;
    });
  };
}

Normalizer replacing(const std::string& expression, const std::string& content = "") {
  return replacing(TextPattern("pattern", expression), content);
}

// Returns a normalizer for a change that replaces each byte by a few bytes at most.
template <class Change>
Normalizer changing(const Change& change) {
  return [change](std::string_view text, TextPass& pass) {
    std::string result = change(text);
    pass.budget.replace(text.size(), result.size());
    return result;
  };
}

Normalizer to_form(unicode::Form form) {
  return changing([form](std::string_view text) { return unicode::normal_form(text, form); });
}

Normalizer in_sequence(std::vector<Normalizer> steps) {
  if (steps.empty()) return {};
  return [steps = std::move(steps)](std::string_view text, TextPass& pass) {
    std::string result(text);
    for (const Normalizer& step : steps) result = step(result, pass);
    return result;
  };
}

// Creates BERT's normalizer. It separates the same blocks of CJK ideographs as the original, except
// that the block at U+2B820 begins at U+2B920, as in Hugging Face's library.
Normalizer of_bert(const json& d) {
  std::vector<Normalizer> steps;
  if (entry_or(d, "clean_text", true)) {
    steps.push_back(replacing(R"((?![\t\n\r])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\x{FFFD}])"));
    steps.push_back(replacing(R"((?! )\s)", " "));
  }
  if (entry_or(d, "handle_chinese_chars", true))
    steps.emplace_back(
        [ideograph = TextPattern(
             "pattern", R"([\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF})"
                        R"(\x{20000}-\x{2A6DF}\x{2A700}-\x{2B81F}\x{2B920}-\x{2CEAF})"
                        R"(\x{2F800}-\x{2FA1F}])")](std::string_view text, TextPass& pass) {
          return ideograph.replaced(text, pass.budget,
                                    [&](const TextMatch& match, std::string& result) {
                                      result.append(" ")
                                          .append(text.substr(match.begin, match.end - match.begin))
                                          .append(" ");
                                    });
        });
  const bool is_lower_case = entry_or(d, "lowercase", true);
  if (entry_or(d, "strip_accents", is_lower_case)) {
    steps.push_back(to_form(unicode::Form::nfd));
    steps.push_back(replacing(R"(\p{Mn})"));
  }
  if (is_lower_case) steps.push_back(changing(unicode::lower_case));
  return in_sequence(std::move(steps));
}

Normalizer strip(const json& d) {
  std::vector<Normalizer> sides;
  if (required_entry<bool>(d, "strip_left")) sides.push_back(replacing(R"(\A\s+)"));
  if (required_entry<bool>(d, "strip_right"))
    sides.push_back(changing([](std::string_view text) {
      return std::string(text.substr(0, unicode::end_without_spaces(text)));
    }));
  return in_sequence(std::move(sides));
}

Normalizer nmt(const json&) {
  return in_sequence(
      {replacing(R"([\x{1}-\x{8}\x{B}\x{E}-\x{1F}\x{7F}\x{8F}\x{9F}])"),
       replacing(R"([\t\n\f\r\x{1680}\x{200B}-\x{200F}\x{2028}\x{2029}\x{2581}\x{FEFF}\x{FFFD}])",
                 " ")});
}

Normalizer prepend(const json& d) {
  const auto prefix = required_entry<std::string>(d, "prepend");
  if (prefix.empty()) fail<ValueError>("prepend", "a nonempty string", "an empty string");
  return changing([prefix](std::string_view text) {
    return text.empty() ? std::string() : std::string(prefix).append(text);
  });
}

Normalizer precompiled(const json& d) {
  return [table = CharacterTable(required_entry<std::string>(d, "precompiled_charsmap"))](
             std::string_view text, TextPass& pass) { return table.mapped(text, pass.budget); };
}

const std::vector<StepType<Normalizer>>& normalizer_types() {
  static const std::vector<StepType<Normalizer>> types = {
      {"NFC", {}, [](const json&) { return to_form(unicode::Form::nfc); }},
      {"NFD", {}, [](const json&) { return to_form(unicode::Form::nfd); }},
      {"NFKC", {}, [](const json&) { return to_form(unicode::Form::nfkc); }},
      {"NFKD", {}, [](const json&) { return to_form(unicode::Form::nfkd); }},
      {"Lowercase", {}, [](const json&) { return changing(unicode::lower_case); }},
      {"StripAccents", {}, [](const json&) { return replacing(R"(\p{M})"); }},
      {"Strip", {"strip_left", "strip_right"}, strip},
      {"Nmt", {}, nmt},
      {"Prepend", {"prepend"}, prepend},
      {"Replace",
       {"pattern", "content"},
       [](const json& d) {
         return replacing(pattern_of(d), required_entry<std::string>(d, "content"));
       }},
      {"Precompiled", {"precompiled_charsmap"}, precompiled},
      {"ByteLevel", {}, [](const json&) { return changing(byte_pairs::letters_of); }},
      {"BertNormalizer",
       {"clean_text", "handle_chinese_chars", "?strip_accents", "lowercase"},
       of_bert}};
  return types;
}

// How matches are treated when a text is split.
enum class Behavior { isolated, removed, merged_with_previous, merged_with_next, contiguous };

Behavior behavior_of(const json& description, std::optional<Behavior> otherwise = {}) {
  constexpr std::pair<const char*, Behavior> names[] = {
      {"Isolated", Behavior::isolated},
      {"Removed", Behavior::removed},
      {"MergedWithPrevious", Behavior::merged_with_previous},
      {"MergedWithNext", Behavior::merged_with_next},
      {"Contiguous", Behavior::contiguous}};
  if (otherwise && !description.contains("behavior")) return *otherwise;
  const auto text = required_entry<std::string>(description, "behavior");
  for (const auto& [name, behavior] : names)
    if (text == name) return behavior;
  fail<ValueError>("behavior", "a behavior of Split", shown(text));
}

// Splits a text at matches or, with `invert`, at the text between matches.
PreTokenizer split_by(const TextPattern& pattern, Behavior behavior, bool invert = false) {
  return [=](std::string_view text, bool is_first, TextPass& pass, const WordUse& use) {
    // The current word, not yet passed to `use`, and whether it ends with a match.
    std::size_t begin = 0, end = 0;
    bool was_match = false;
    const auto finish = [&] {
      if (begin < end && !(behavior == Behavior::removed && was_match))
        use(text.substr(begin, end - begin), is_first && begin == 0);
    };
    // Adds the next part of the text: a match, which may be empty, or the text between two matches.
    const auto add = [&](std::size_t part, std::size_t part_end, bool is_match) {
      const bool joins = behavior == Behavior::contiguous             ? is_match == was_match
                         : behavior == Behavior::merged_with_previous ? is_match && !was_match
                         : behavior == Behavior::merged_with_next     ? was_match && !is_match
                                                                      : false;
      if (!joins) {
        finish();
        begin = part;
      }
      end = part_end;
      was_match = is_match;
    };
    std::size_t rest = 0;
    pattern.for_each(text, pass.budget, [&](const TextMatch& match) {
      if (rest < match.begin) add(rest, match.begin, invert);
      add(match.begin, match.end, !invert);
      rest = match.end;
    });
    if (rest < text.size()) add(rest, text.size(), invert);
    finish();
  };
}

PreTokenizer split_by(const std::string& expression, Behavior behavior, bool invert = false) {
  return split_by(TextPattern("pattern", expression), behavior, invert);
}

void use_whole(std::string_view text, bool is_first, TextPass& pass, const WordUse& use) {
  pass.budget.spend(text.size());
  use(text, is_first);
}

PreTokenizer byte_level(const json& d) {
  // Splits into words as GPT-2 does.
  const PreTokenizer words =
      entry_or(d, "use_regex", true)
          ? split_by(R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
                     Behavior::isolated)
          : use_whole;
  const bool adds_space = required_entry<bool>(d, "add_prefix_space");
  return [=](std::string_view text, bool is_first, TextPass& pass, const WordUse& use) {
    // Hugging Face's library would produce such words twice.
    if (is_first && pass.inserts_before)
      fail<ValueError>("pre_tokenizer ByteLevel", "a text before which Replace inserts nothing",
                       shown(std::string(text)));
    if (!adds_space || text.starts_with(' ')) return words(text, is_first, pass, use);
    words(std::string(" ").append(text), is_first, pass, use);
  };
}

// Returns a pre-tokenizer with the same words, written in GPT-2's letters for bytes.
PreTokenizer in_byte_letters(const PreTokenizer& words) {
  return [words](std::string_view text, bool is_first, TextPass& pass, const WordUse& use) {
    words(text, is_first, pass, [&](std::string_view word, bool word_is_first) {
      use(byte_pairs::letters_of(word), word_is_first);
    });
  };
}

PreTokenizer metaspace(const json& d) {
  const std::string replacement = character_in(d, "replacement"), scheme = prepend_scheme(d);
  const TextPattern space = TextPattern::literal(" ");
  const PreTokenizer words =
      entry_or(d, "split", true)
          ? split_by(TextPattern::literal(replacement), Behavior::merged_with_next)
          : use_whole;
  return [=](std::string_view text, bool is_first, TextPass& pass, const WordUse& use) {
    std::string replaced = space.replaced(
        text, pass.budget, [&](const TextMatch&, std::string& result) { result += replacement; });
    if ((scheme == "always" || (scheme == "first" && is_first)) &&
        !replaced.starts_with(replacement))
      replaced.insert(0, replacement);
    words(replaced, is_first, pass, use);
  };
}

PreTokenizer fixed_length(const json& d) {
  const auto length = entry_or<std::int64_t>(d, "length", 5);
  if (length < 1) fail<ValueError>("length", "at least 1", length);
  return [length](std::string_view text, bool is_first, TextPass& pass, const WordUse& use) {
    pass.budget.spend(text.size());
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      for (std::int64_t i = 0; i < length && end < text.size(); ++i)
        unicode::next_code_point(text, end);
      use(text.substr(begin, end - begin), is_first && begin == 0);
    }
  };
}

const std::vector<StepType<PreTokenizer>>& pre_tokenizer_types() {
  static const std::string not_word = str_cat("[^", word_characters, R"(\s])");
  static const std::string mark = str_cat('[', punctuation, ']');
  static const std::vector<StepType<PreTokenizer>> types = {
      {"ByteLevel", {"add_prefix_space", "trim_offsets", "?use_regex"}, byte_level},
      {"Split",
       {"pattern", "behavior", "invert"},
       [](const json& d) {
         return split_by(pattern_of(d), behavior_of(d), required_entry<bool>(d, "invert"));
       }},
      {"Digits",
       {"individual_digits"},
       [](const json& d) {
         return split_by(required_entry<bool>(d, "individual_digits") ? R"(\p{N})" : R"(\p{N}+)",
                         Behavior::isolated);
       }},
      {"Punctuation",
       {"?behavior"},
       [](const json& d) { return split_by(mark, behavior_of(d, Behavior::isolated)); }},
      {"Metaspace",
       {"replacement", "?add_prefix_space", "?prepend_scheme", "?split", "?str_rep"},
       metaspace},
      // Removes the matches; the text between them is the words.
      {"Whitespace",
       {},
       [](const json&) {
         return split_by(str_cat('[', word_characters, "]+|", not_word, '+'), Behavior::removed,
                         true);
       }},
      {"WhitespaceSplit", {}, [](const json&) { return split_by(R"(\s)", Behavior::removed); }},
      {"BertPreTokenizer",
       {},
       [](const json&) {
         return split_by(str_cat(mark, R"(|[^\s)", punctuation, "]+"), Behavior::removed, true);
       }},
      {"CharDelimiterSplit",
       {"delimiter"},
       [](const json& d) {
         return split_by(TextPattern::literal(character_in(d, "delimiter")), Behavior::removed);
       }},
      {"FixedLength", {"?length"}, fixed_length}};
  return types;
}

// Splits each word of `first` further with `second`.
PreTokenizer composed(PreTokenizer first, PreTokenizer second) {
  return [first = std::move(first), second = std::move(second)](
             std::string_view text, bool is_first, TextPass& pass, const WordUse& use) {
    first(text, is_first, pass, [&](std::string_view word, bool word_is_first) {
      second(word, word_is_first, pass, use);
    });
  };
}

bool is_byte_level(const json& step) {
  return entry_or<std::string>(step, "type", "") == "ByteLevel";
}

}  // namespace

std::string character_in(const json& description, const char* name) {
  const auto text = required_entry<std::string>(description, name);
  if (count_characters(text) != 1) fail<ValueError>(name, "one character", shown(text));
  return text;
}

std::string prepend_scheme(const json& description) {
  // Older files contain add_prefix_space instead.
  const bool adds_space = entry_or(description, "add_prefix_space", true);
  const auto scheme =
      entry_or<std::string>(description, "prepend_scheme", adds_space ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    fail<ValueError>("prepend_scheme", "always, first or never", shown(scheme));
  if (!adds_space && scheme != "never")
    fail<ValueError>("prepend_scheme", "never, because add_prefix_space is false", shown(scheme));
  return scheme;
}

TextPattern pattern_of(const json& description) {
  const json& pattern = entry(description, "pattern");
  if (pattern.size() == 1 && pattern.contains("String"))
    return TextPattern::literal(required_entry<std::string>(pattern, "String"));
  check_entries("pattern", pattern, {"Regex"});
  return TextPattern("pattern", required_entry<std::string>(pattern, "Regex"));
}

Normalizer make_normalizer(const json& description) {
  std::vector<Normalizer> steps;
  for (const json& part : steps_of(description, "normalizers"))
    if (Normalizer step = make_step("normalizer", normalizer_types(), part))
      steps.push_back(std::move(step));
  return in_sequence(std::move(steps));
}

bool ends_with_byte_letters(const json& pre_tokenizer) {
  const std::vector<json> steps = steps_of(pre_tokenizer, "pretokenizers");
  return !steps.empty() && is_byte_level(steps.back()) &&
         std::ranges::count_if(steps, is_byte_level) == 1;
}

PreTokenizer make_pre_tokenizer(const json& description, bool keeps_bytes) {
  PreTokenizer result;
  for (const json& part : steps_of(description, "pretokenizers")) {
    PreTokenizer step = make_step("pre_tokenizer", pre_tokenizer_types(), part);
    if (is_byte_level(part) && !keeps_bytes) step = in_byte_letters(step);
    result = result ? composed(std::move(result), std::move(step)) : std::move(step);
  }
  return result ? result : use_whole;
}

}  // namespace weft
