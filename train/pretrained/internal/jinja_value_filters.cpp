#include "train/pretrained/internal/jinja_value_filters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "weft/autograd/error.hpp"
#include "train/files/internal/ascii.hpp"
#include "train/pretrained/internal/jinja_text.hpp"
#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft::jinja {
namespace {

constexpr std::size_t case_cost = 8;  // of a byte

// The text of a number without the white space around it and the underscores between digits, as
// Python reads it; empty if it is not a number.
std::string number_in(const std::string& text) {
  const std::string_view own = stripped(text);
  std::string plain;
  const auto is_digit = [&](std::size_t i) {
    return i < own.size() && own[i] >= '0' && own[i] <= '9';
  };
  for (std::size_t i = own.starts_with('+') && !own.starts_with("+-") ? 1 : 0; i < own.size();
       ++i) {
    if (static_cast<signed char>(own[i]) < 0)
      fail_rendering("a number in ASCII", quoted_as_python(own));
    if (own[i] == '_' && !(i > 0 && is_digit(i - 1) && is_digit(i + 1))) return {};
    if (own[i] != '_') plain += own[i];
  }
  return plain;
}
// The text as a number, all of it; overflow is an error.
template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  if (error != std::errc()) fail_rendering("integers of 64 bits and finite numbers", text);
  return number;
}

std::string url_quoted(Run& run, const Value& value, bool in_query) {
  std::string result;
  for (const char c : str(run, value)) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_ascii_letter(c) || is_ascii_digit(c) ||
        std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && !in_query))
      result += c;
    else if (c == ' ' && in_query)
      result += '+';
    else
      (result += '%') += {"0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15U]};
  }
  run.charge(result.size());
  return result;
}

}  // namespace

Value as_float(Call& call) {
  if (call[0].as<Undefined>() || call[0].as<Markup>())
    fail_rendering("a value for float", type_name(call[0]));
  const auto* text = call[0].as<Text>();
  const auto number = text ? parsed<double>(number_in(call.run.read(*text))) : number_of(call[0]);
  return number ? finite(*number) : call[1];
}

Value as_integer(Call& call) {
  if (call[0].as<Undefined>() || call[0].as<Markup>())
    fail_rendering("a value for int", type_name(call[0]));
  if (const auto integer = integer_of(call[0])) return *integer;
  std::optional<double> number = number_of(call[0]);
  if (const auto* text = call[0].as<Text>()) {
    if (call.integer(2) != 10) fail_rendering("the base 10 for int", str_cat(call.integer(2)));
    const std::string plain = number_in(call.run.read(*text));
    if (const auto integer = parsed<std::int64_t>(plain)) return *integer;
    number = parsed<double>(plain);
  }
  if (!number || !std::isfinite(*number)) return call[1];
  constexpr double largest = 9e18;
  if (std::abs(*number) > largest) fail_rendering("integers of 64 bits", number_text(*number));
  return static_cast<std::int64_t>(*number);
}

Value rounded(Call& call) {
  constexpr std::int64_t most = 15;
  const std::string& method = call.text(2);
  const std::int64_t digits = call.integer(1);
  if (digits < 0 || digits > most) fail_rendering("0 to 15 digits for round", str_cat(digits));
  if (method == "common") {
    if (const auto integer = integer_of(call[0])) return *integer;
    std::array<char, 400> buffer;
    const auto end = std::to_chars(buffer.begin(), buffer.end(), *number_of(call[0]),
                                   std::chars_format::fixed, static_cast<int>(digits));
    double result = 0.0;
    std::from_chars(buffer.begin(), end.ptr, result);
    return result;
  }
  if (method != "ceil" && method != "floor")
    fail_rendering("'common', 'ceil' or 'floor' for round", method);
  const Value power = computed(call.run, "**", std::int64_t{10}, digits);
  const double scaled = *number_of(computed(call.run, "*", call[0], power));
  const double whole = method == "ceil" ? std::ceil(scaled) : std::floor(scaled);
  constexpr double largest = 9e15;
  if (std::abs(whole) > largest) fail_rendering("a smaller number for round", number_text(whole));
  return computed(call.run, "/", static_cast<std::int64_t>(whole), power);
}

Value indented(Call& call) {
  const auto width = integer_of(call[1]);
  if (width) call.run.charge(static_cast<std::size_t>(std::max<std::int64_t>(*width, 0)));
  const std::string indent =
      width ? std::string(static_cast<std::size_t>(std::max<std::int64_t>(*width, 0)), ' ')
            : text_in(call.run, call[1], "an indent");
  std::string result = call.flag(2) ? indent : "";
  bool is_first = true;
  split_lines(call.text(0) + '\n', false, [&](std::string_view line) {
    call.run.charge(indent.size() + line.size());
    if (!is_first) result += '\n';
    if (!is_first && (call.flag(3) || !line.empty())) result += indent;
    result += line;
    is_first = false;
  });
  return call.run.text(std::move(result));
}

Value truncated(Call& call) {
  const std::u32string all = code_points(call.text(0)), end = code_points(call.text(3));
  const std::int64_t length = call.integer(1), leeway = call.is_none(4) ? 5 : call.integer(4);
  if (length < std::ssize(end) || leeway < 0)
    fail_rendering("a length for truncate above that of its end", str_cat(length));
  if (std::ssize(all) - leeway <= length) return call[0];
  std::u32string_view part =
      std::u32string_view(all).substr(0, static_cast<std::size_t>(length) - end.size());
  if (!call.flag(2)) part = part.substr(0, part.rfind(U' '));
  return call.run.text(utf8(part) + utf8(end));
}

Value in_titles(Call& call) {
  std::string result;
  bool begins = true;
  const std::string& text = call.text(0);
  call.run.charge(case_cost * text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = unicode::next_code_point(text, at);
    append_in_case(result, code, begins ? Case::upper : Case::lower);
    begins =
        is_space(code) || std::u32string_view(U"-({[<").find(code) != std::u32string_view::npos;
  }
  return call.run.text(std::move(result));
}

Value url_encoded(Call& call) {
  const auto* dict = call[0].as<std::shared_ptr<const Dict>>();
  if (!dict && !call[0].as<std::shared_ptr<const Sequence>>() && !call[0].as<Undefined>())
    return call.run.text(url_quoted(call.run, call[0], false));
  std::string result;
  for (const Value& item : items_of(call.run, call[0])) {
    const std::vector<Value> pair =
        dict ? std::vector{item, *entry_of(call.run, **dict, item)} : items_of(call.run, item);
    if (pair.size() != 2) fail_rendering("pairs for urlencode", str_cat(pair.size()));
    if (!result.empty()) result += '&';
    result += url_quoted(call.run, pair[0], true) + '=' + url_quoted(call.run, pair[1], true);
  }
  return call.run.text(std::move(result));
}

}  // namespace weft::jinja
