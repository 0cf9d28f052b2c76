#include "weft/train/tokenizers/word_piece.hpp"

#include <algorithm>
#include <array>

#include "weft/autograd/error.hpp"
#include "weft/train/data/characters.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/tokenizers/internal/unicode.hpp"

namespace weft {
namespace {

constexpr std::array special_tokens{"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"};
constexpr std::size_t longest_word = 100;
constexpr std::string_view continuation = "##";

// The blocks of CJK ideographs that BERT's tokenizers separate; that of U+2B820 begins at U+2B920
// in Hugging Face's.
bool is_chinese(char32_t code) {
  constexpr std::array<std::pair<char32_t, char32_t>, 7> blocks{{{0x3400, 0x4DBF},
                                                                 {0x4E00, 0x9FFF},
                                                                 {0xF900, 0xFAFF},
                                                                 {0x20000, 0x2A6DF},
                                                                 {0x2A700, 0x2B81F},
                                                                 {0x2B920, 0x2CEAF},
                                                                 {0x2F800, 0x2FA1F}}};
  return std::any_of(blocks.begin(), blocks.end(), [code](const auto& block) {
    return block.first <= code && code <= block.second;
  });
}

// ASCII's symbols, such as "$", separate words as punctuation does.
bool separates(char32_t code) {
  if (code < 0x80)
    return code > ' ' && code < 0x7F && !unicode::is_letter(code) && !unicode::is_number(code);
  return unicode::is_punctuation(code);
}

// Without control characters, white space as ' ', and each Chinese character between two.
std::u32string cleaned(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = unicode::next_code_point(text, at);
    const bool is_line_or_tab = code == U'\t' || code == U'\n' || code == U'\r';
    if (code == 0xFFFD || (unicode::is_control(code) && !is_line_or_tab)) continue;
    if (is_chinese(code))
      result.append({U' ', code, U' '});
    else
      result.push_back(unicode::is_space(code) ? U' ' : code);
  }
  return result;
}

// The number of tokens that are kept of two texts with these numbers, `room` in all.
std::pair<std::size_t, std::size_t> shares_of(std::size_t first, std::size_t second,
                                              std::size_t room) {
  if (first + second <= room) return {first, second};
  const std::size_t shorter = std::min(first, second);
  if (const std::size_t half = room / 2; shorter > half) {
    const std::size_t other = room - half;
    return first > second ? std::pair(other, half) : std::pair(half, other);
  }
  return first < second ? std::pair(first, room - first) : std::pair(room - second, second);
}

// max_len as a number of tokens beside `specials` others.
std::size_t room_of(std::optional<Index> max_len, Index specials) {
  if (!max_len) return std::string::npos;
  if (*max_len < specials)
    fail<ValueError>("WordPiece: max_len", concatenate_text("at least ", specials), *max_len);
  return static_cast<std::size_t>(*max_len - specials);
}

}  // namespace

WordPiece::WordPiece(const std::filesystem::path& vocabulary, const WordPieceOptions& options)
    : options_(options) {
  const std::string text = read_text(vocabulary, max_vocabulary_bytes);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string token = text.substr(begin, end - begin);
    if (token.ends_with('\r')) token.pop_back();
    add(token, vocabulary);
    begin = end + 1;
  }
  unk_ = required("[UNK]", vocabulary);
  cls_ = required("[CLS]", vocabulary);
  sep_ = required("[SEP]", vocabulary);
  for (const char* token : special_tokens)
    if (const std::optional<TokenId> id = find(token)) specials_.emplace_back(token, *id);
}

void WordPiece::add(const std::string& token, const std::filesystem::path& vocabulary) {
  const auto [previous, is_new] = ids_.emplace(token, static_cast<TokenId>(tokens_.size()));
  const std::size_t line = tokens_.size() + 1;
  if (token.empty())
    fail_on_file(vocabulary, "a token in each line", concatenate_text("none in line ", line));
  if (!is_new)
    fail_on_file(vocabulary, "each token once",
                 concatenate_text("'", token, "' in lines ", previous->second + 1, " and ", line));
  tokens_.push_back(token);
  longest_ = std::max(longest_, token.size());
}

TokenId WordPiece::required(std::string_view token, const std::filesystem::path& vocabulary) const {
  const std::optional<TokenId> id = find(token);
  if (!id)
    fail_on_file(vocabulary, "a vocabulary with [UNK], [CLS] and [SEP]",
                 concatenate_text("one of ", size(), " tokens without ", token));
  return *id;
}

const std::string& WordPiece::token(TokenId id) const {
  if (id < 0 || id >= size())
    fail<ValueError>("WordPiece: id", concatenate_text("0 … ", size() - 1), id);
  return tokens_[static_cast<std::size_t>(id)];
}

std::optional<TokenId> WordPiece::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

Sequence WordPiece::encode(std::string_view text, std::optional<Index> max_len) const {
  const std::size_t room = room_of(max_len, 2);
  Sequence ids{cls_};
  append(ids, text);
  ids.resize(1 + std::min(ids.size() - 1, room));
  ids.push_back(sep_);
  return ids;
}

WordPiecePair WordPiece::encode_pair(std::string_view first, std::string_view second,
                                     std::optional<Index> max_len) const {
  const std::size_t room = room_of(max_len, 3);
  Sequence ids, others;
  append(ids, first);
  append(others, second);
  const auto [first_size, second_size] = shares_of(ids.size(), others.size(), room);
  WordPiecePair pair;
  pair.tokens = {cls_};
  pair.tokens.insert(pair.tokens.end(), ids.begin(), ids.begin() + std::ptrdiff_t(first_size));
  pair.tokens.push_back(sep_);
  pair.segments.assign(pair.tokens.size(), 0);
  pair.tokens.insert(pair.tokens.end(), others.begin(),
                     others.begin() + std::ptrdiff_t(second_size));
  pair.tokens.push_back(sep_);
  pair.segments.resize(pair.tokens.size(), 1);
  return pair;
}

void WordPiece::append(Sequence& ids, std::string_view text) const {
  check_utf8(text, "WordPiece: text");
  std::size_t begin = 0;
  for (std::size_t at = text.find('['); at != text.npos;) {
    const auto special = std::find_if(specials_.begin(), specials_.end(), [&](const auto& token) {
      return text.substr(at).starts_with(token.first);
    });
    if (special == specials_.end()) {
      at = text.find('[', at + 1);
      continue;
    }
    append_words(ids, text.substr(begin, at - begin));
    ids.push_back(special->second);
    begin = at + special->first.size();
    at = text.find('[', begin);
  }
  append_words(ids, text.substr(begin));
}

void WordPiece::append_words(Sequence& ids, std::string_view text) const {
  std::u32string codes = cleaned(text);
  if (options_.strip_accents.value_or(options_.lower_case)) {
    codes = unicode::decompose(codes);
    std::erase_if(codes, unicode::is_nonspacing_mark);
  }
  if (options_.lower_case) codes = unicode::lower_case(codes);

  std::string word;
  std::size_t characters = 0;
  const auto finish_word = [&] {
    if (characters > longest_word)
      ids.push_back(unk_);
    else if (characters > 0)
      append_word(ids, word);
    word.clear();
    characters = 0;
  };
  const auto extend_word = [&](char32_t code) {
    unicode::append(word, code);
    ++characters;
  };
  for (const char32_t code : codes) {
    const bool is_word = separates(code);
    if (is_word || unicode::is_space(code)) finish_word();
    if (unicode::is_space(code)) continue;
    extend_word(code);
    if (is_word) finish_word();
  }
  finish_word();
}

void WordPiece::append_word(Sequence& ids, std::string_view word) const {
  const std::size_t first = ids.size();
  std::string piece;
  for (std::size_t begin = 0; begin < word.size();) {
    // The longest token first; ends inside a character match none.
    piece = begin == 0 ? "" : continuation;
    const std::size_t prefix = piece.size();
    piece += word.substr(begin, longest_);
    std::optional<TokenId> id = find(piece);
    while (!id && piece.size() > prefix + 1) {
      piece.pop_back();
      id = find(piece);
    }
    if (!id) {
      ids.resize(first);
      ids.push_back(unk_);
      return;
    }
    ids.push_back(*id);
    begin += piece.size() - prefix;
  }
}

bool WordPiece::is_special(TokenId id) const {
  return std::any_of(specials_.begin(), specials_.end(),
                     [id](const auto& special) { return special.second == id; });
}

std::string WordPiece::decode(std::span<const TokenId> ids) const {
  std::string text;
  bool is_first = true;
  for (const TokenId id : ids) {
    std::string_view piece = token(id);
    if (is_special(id)) continue;
    if (!is_first && piece.starts_with(continuation))
      piece.remove_prefix(continuation.size());
    else if (!is_first && std::string_view(".?!,").find(piece.front()) == std::string_view::npos)
      text += ' ';
    text += piece;
    is_first = false;
  }
  return text;
}

}  // namespace weft
