#include "train/tokenizers/internal/text_steps.hpp"

#include <algorithm>
#include <optional>
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

std::string type_of(const json& description) {
  return entry_or<std::string>(description, "type", "");
}

// The parts of a Sequence, or the description itself.
std::vector<json> parts_of(const json& description, const char* list) {
  if (description.is_null()) return {};
  if (type_of(description) != "Sequence") return {description};
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

Normalizer replacing(const TextPattern& pattern, const std::string& content) {
  return [=](std::string_view text) {
    return pattern.replaced(text, [&](auto, std::string& result) { result += content; });
  };
}

Normalizer replacing(const char* expression, const std::string& content = "") {
  return replacing(TextPattern("pattern", expression), content);
}

Normalizer to_form(unicode::Form form) {
  return [form](std::string_view text) { return unicode::normal_form(text, form); };
}

Normalizer in_sequence(std::vector<Normalizer> steps) {
  std::erase_if(steps, [](const Normalizer& step) { return !step; });
  if (steps.empty()) return {};
  return [steps = std::move(steps)](std::string_view text) {
    std::string result(text);
    for (const Normalizer& step : steps) result = step(result);
    return result;
  };
}

// BERT's. The blocks of CJK ideographs that it separates are those of its authors, but that of
// U+2B820 begins at U+2B920 in Hugging Face's library.
Normalizer of_bert(const json& d) {
  std::vector<Normalizer> steps;
  if (entry_or(d, "clean_text", true)) {
    steps.push_back(replacing(R"((?![\t\n\r])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\x{FFFD}])"));
    steps.push_back(replacing(R"((?! )\s)", " "));
  }
  if (entry_or(d, "handle_chinese_chars", true))
    steps.emplace_back(
        [ideograph =
             TextPattern("pattern", R"([\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF})"
                                    R"(\x{20000}-\x{2A6DF}\x{2A700}-\x{2B81F}\x{2B920}-\x{2CEAF})"
                                    R"(\x{2F800}-\x{2FA1F}])")](std::string_view text) {
          return ideograph.replaced(text, [](std::string_view match, std::string& result) {
            result.append(" ").append(match).append(" ");
          });
        });
  const bool is_lower_case = entry_or(d, "lowercase", true);
  if (entry_or(d, "strip_accents", is_lower_case)) {
    steps.push_back(to_form(unicode::Form::nfd));
    steps.push_back(replacing(R"(\p{Mn})"));
  }
  if (is_lower_case) steps.emplace_back(unicode::lower_case);
  return in_sequence(std::move(steps));
}

Normalizer one_normalizer(const json& d) {
  const std::string type = type_of(d);
  if (type == "NFC") return to_form(unicode::Form::nfc);
  if (type == "NFD") return to_form(unicode::Form::nfd);
  if (type == "NFKC") return to_form(unicode::Form::nfkc);
  if (type == "NFKD") return to_form(unicode::Form::nfkd);
  if (type == "Lowercase") return unicode::lower_case;
  if (type == "StripAccents") return replacing(R"(\p{M})");
  if (type == "BertNormalizer") return of_bert(d);
  if (type == "Strip") {
    std::vector<Normalizer> sides;
    if (entry_or(d, "strip_left", true)) sides.push_back(replacing(R"(\A\s+)"));
    if (entry_or(d, "strip_right", true)) sides.push_back(replacing(R"((?<!\s)\s+\z)"));
    return in_sequence(std::move(sides));
  }
  if (type == "Prepend")
    return [prefix = required_entry<std::string>(d, "prepend")](std::string_view text) {
      return text.empty() ? std::string() : std::string(prefix).append(text);
    };
  if (type == "Replace") return replacing(pattern_of(d), required_entry<std::string>(d, "content"));
  if (type == "Precompiled")
    return [table = CharacterTable(required_entry<std::string>(d, "precompiled_charsmap"))](
               std::string_view text) { return table.mapped(text); };
  fail<ValueError>("normalizer",
                   "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace, "
                   "Precompiled or BertNormalizer",
                   shown(type));
}

// What becomes of the places between words where a text is split.
enum class Behavior { isolated, removed, merged_with_previous, merged_with_next, contiguous };

Behavior behavior_of(const json& description, std::optional<Behavior> otherwise = {}) {
  constexpr std::pair<const char*, Behavior> names[] = {
      {"Isolated", Behavior::isolated},
      {"Removed", Behavior::removed},
      {"MergedWithPrevious", Behavior::merged_with_previous},
      {"MergedWithNext", Behavior::merged_with_next},
      {"Contiguous", Behavior::contiguous}};
  if (otherwise && entry(description, "behavior").is_null()) return *otherwise;
  const auto text = required_entry<std::string>(description, "behavior");
  for (const auto& [name, behavior] : names)
    if (text == name) return behavior;
  fail<ValueError>("behavior", "a behavior of Split", shown(text));
}

// Splits texts at matches, or with `invert` between them.
PreTokenizer split_by(const TextPattern& pattern, Behavior behavior, bool invert = false) {
  return [=](std::string_view text, bool is_first, const WordUse& use) {
    // The word that is not yet given to `use`, and whether it ends with a match.
    std::size_t begin = 0, end = 0;
    bool was_match = false;
    const auto finish = [&] {
      if (begin < end && !(behavior == Behavior::removed && was_match))
        use(text.substr(begin, end - begin), is_first && begin == 0);
    };
    // The next part of the text, which is a match or what is between two.
    const auto add = [&](std::size_t part, std::size_t part_end, bool is_match) {
      if (part == part_end) return;
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
    pattern.for_each(text, [&](std::size_t match, std::size_t match_end) {
      add(rest, match, invert);
      add(match, match_end, !invert);
      rest = match_end;
    });
    add(rest, text.size(), invert);
    finish();
  };
}

PreTokenizer split_by(const char* expression, Behavior behavior, bool invert = false) {
  return split_by(TextPattern("pattern", expression), behavior, invert);
}

void use_whole(std::string_view text, bool is_first, const WordUse& use) { use(text, is_first); }

PreTokenizer byte_level(const json& d) {
  // GPT-2's division into words.
  const PreTokenizer words =
      entry_or(d, "use_regex", true)
          ? split_by(R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
                     Behavior::isolated)
          : use_whole;
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
  const Normalizer without_spaces = replacing(" ", replacement);
  const PreTokenizer words =
      entry_or(d, "split", true)
          ? split_by(TextPattern::literal(replacement), Behavior::merged_with_next)
          : use_whole;
  return [=](std::string_view text, bool is_first, const WordUse& use) {
    std::string replaced = without_spaces(text);
    if ((scheme == "always" || (scheme == "first" && is_first)) &&
        !replaced.starts_with(replacement))
      replaced = replacement + replaced;
    words(replaced, is_first, use);
  };
}

PreTokenizer one_pre_tokenizer(const json& d) {
  // Words are what is not removed.
  constexpr const char* bert_words = R"([!-/:-@\[-`{-~\p{P}]|[^\s!-/:-@\[-`{-~\p{P}]+)";
  const std::string type = type_of(d);
  if (type == "ByteLevel") return byte_level(d);
  if (type == "Metaspace") return metaspace(d);
  if (type == "Split") return split_by(pattern_of(d), behavior_of(d), entry_or(d, "invert", false));
  if (type == "Digits")
    return split_by(entry_or(d, "individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)",
                    Behavior::isolated);
  if (type == "Punctuation")
    return split_by(R"([!-/:-@\[-`{-~\p{P}])", behavior_of(d, Behavior::isolated));
  if (type == "WhitespaceSplit") return split_by(R"(\s)", Behavior::removed);
  if (type == "BertPreTokenizer") return split_by(bert_words, Behavior::removed, true);
  fail<ValueError>("pre_tokenizer",
                   "ByteLevel, Split, Digits, Punctuation, Metaspace, WhitespaceSplit or "
                   "BertPreTokenizer",
                   shown(type));
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
  return in_sequence(std::move(steps));
}

PreTokenizer make_pre_tokenizer(const json& description) {
  PreTokenizer result;
  for (const json& part : parts_of(description, "pretokenizers"))
    result =
        result ? composed(std::move(result), one_pre_tokenizer(part)) : one_pre_tokenizer(part);
  return result ? result : use_whole;
}

bool has_byte_letters(const json& pre_tokenizer) {
  return std::ranges::any_of(parts_of(pre_tokenizer, "pretokenizers"),
                             [](const json& part) { return type_of(part) == "ByteLevel"; });
}

}  // namespace weft
