#include "train/pretrained/chat_templates/internal/jinja_operators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/autograd/error.hpp"
#include "train/pretrained/chat_templates/internal/jinja_text.hpp"

namespace weft::jinja {
namespace {

std::string types_of(const Value& a, const Value& b) {
  return str_cat(type_name(a), " and ", type_name(b));
}

// Returns two strings, unless one of the values is Markup or not a string.
std::optional<std::pair<std::string_view, std::string_view>> strings(const Value& a,
                                                                     const Value& b) {
  const auto *x = a.as<Text>(), *y = b.as<Text>();
  return x && y ? std::optional(std::pair<std::string_view, std::string_view>(**x, **y))
                : std::nullopt;
}

// Returns two sequences of the same type, which are compared item by item.
std::optional<std::pair<const Sequence*, const Sequence*>> sequences(const Value& a,
                                                                     const Value& b) {
  const Sequence *left = places_in(a), *right = places_in(b);
  if (!left || !right || type_name(a) != type_name(b)) return std::nullopt;
  return std::pair(left, right);
}

// Returns two numbers in a form that is compared exactly.
std::optional<std::pair<long double, long double>> numbers(const Value& a, const Value& b) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto exact = [](const Value& value) -> std::optional<long double> {
    if (const auto integer = integer_of(value)) return static_cast<long double>(*integer);
    const double* number = value.as<double>();
    return number ? std::optional<long double>(*number) : std::nullopt;
  };
  const auto x = exact(a), y = exact(b);
  return x && y ? std::optional(std::pair(*x, *y)) : std::nullopt;
}

[[noreturn]] void fail_on_size() {
  fail_rendering("a result that is a 64-bit integer or a finite number", "an overflow");
}

std::int64_t integer_result(char sign, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (sign == '+'   ? __builtin_add_overflow(a, b, &result)
      : sign == '-' ? __builtin_sub_overflow(a, b, &result)
                    : __builtin_mul_overflow(a, b, &result))
    fail_on_size();
  return result;
}

// Returns the remainder as in Python, with the sign of the divisor.
std::int64_t remainder_of(std::int64_t a, std::int64_t b) {
  if (b == 0) fail_rendering("a divisor other than 0", "0");
  if (b == -1) return 0;
  const std::int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

Value arithmetic(const std::string& sign, const Value& left, const Value& right) {
  const auto a = number_of(left), b = number_of(right);
  if (!a || !b) fail_rendering("numbers for " + sign, types_of(left, right));
  const auto m = integer_of(left), n = integer_of(right);
  if (m && n) return sign == "%" ? remainder_of(*m, *n) : integer_result(sign[0], *m, *n);
  if (sign == "%") fail_rendering("integers for %", types_of(left, right));
  // Integers that a double cannot represent exactly.
  constexpr std::int64_t most = std::int64_t{1} << 53;
  for (const std::int64_t integer : {m.value_or(0), n.value_or(0)})
    if (integer > most || integer < -most) fail_on_size();
  return finite(sign == "+" ? *a + *b : sign == "-" ? *a - *b : *a * *b);
}

Value repeated(Run& run, const std::string& text, std::int64_t count) {
  const auto times = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
  if (!text.empty() && times > Budget::most / text.size()) run.charge(no_limit);
  run.charge(times * text.size());
  std::string result;
  for (std::size_t i = 0; !text.empty() && i < times; ++i) result += text;
  return run.text(std::move(result));
}

// Returns a string as "+" adds it to Markup: with HTML entities, unless it is Markup itself.
std::string escaped(Run& run, const Value& value) {
  if (const auto* markup = value.as<Markup>()) return run.read(markup->text);
  constexpr std::string_view special = "&<>'\"";
  constexpr std::array entities = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
  std::string result;
  for (const char c : run.read(*value.as<Text>()))
    if (const std::size_t at = special.find(c); at != special.npos)
      result += entities[at];
    else
      result += c;
  return result;
}

Value sum_of(Run& run, const Value& a, const Value& b) {
  if (const auto texts = strings(a, b)) {
    run.charge(texts->first.size() + texts->second.size());
    return run.text(std::string(texts->first).append(texts->second));
  }
  const auto is_string = [](const Value& value) { return value.as<Text>() || value.as<Markup>(); };
  if (is_string(a) && is_string(b))
    return Markup{*run.text(escaped(run, a) + escaped(run, b)).as<Text>()};
  const auto both = sequences(a, b);
  if (!both || both->first->kind == Sequence::Kind::range) return arithmetic("+", a, b);
  run.charge(sizeof(Value) * (both->first->items.size() + both->second->items.size()));
  std::vector<Value> items = both->first->items;
  items.insert(items.end(), both->second->items.begin(), both->second->items.end());
  return run.sequence(std::move(items), both->first->kind);
}

}  // namespace

Value finite(double number) {
  if (!std::isfinite(number)) fail_on_size();
  return number;
}

bool are_equal(Run& run, const Value& a, const Value& b) {
  const Step step(run);
  if (const auto both = numbers(a, b)) return both->first == both->second;
  if (const auto texts = strings(a, b)) {
    run.charge(texts->first.size() == texts->second.size() ? texts->first.size() : 0);
    return texts->first == texts->second;
  }
  if (const auto both = sequences(a, b))
    return std::ranges::equal(both->first->items, both->second->items,
                              [&](const Value& x, const Value& y) { return are_equal(run, x, y); });
  const auto* x = a.as<std::shared_ptr<const Dict>>();
  const auto* y = b.as<std::shared_ptr<const Dict>>();
  if (x && y)
    return (*x)->items.size() == (*y)->items.size() &&
           std::ranges::all_of((*x)->items, [&](const auto& entry) {
             const Value* other = entry_of(run, **y, entry.first);
             return other && are_equal(run, entry.second, *other);
           });
  for (const Value* value : {&a, &b}) {
    const auto* list = value->as<std::shared_ptr<const Sequence>>();
    if (value->as<Markup>() || value->as<std::shared_ptr<Loop>>() ||
        value->as<std::shared_ptr<const Function>>() || (list && !(*list)->has_places()))
      fail_rendering("values that can be compared", types_of(a, b));
  }
  if (a.index() != b.index() || places_in(a)) return false;
  if (Dict* const* own = a.as<Dict*>()) return *own == *b.as<Dict*>();
  if (const auto* macro = a.as<std::shared_ptr<const Macro>>())
    return *macro == *b.as<std::shared_ptr<const Macro>>();
  return true;
}

bool is_less(Run& run, const Value& a, const Value& b) {
  const Step step(run);
  if (const auto both = numbers(a, b)) return both->first < both->second;
  if (const auto texts = strings(a, b)) {
    run.charge(std::min(texts->first.size(), texts->second.size()));
    return texts->first < texts->second;
  }
  const auto both = sequences(a, b);
  if (!both || both->first->kind == Sequence::Kind::range)
    fail_rendering("values that can be ordered", types_of(a, b));
  const auto &x = both->first->items, &y = both->second->items;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (!are_equal(run, x[i], y[i])) return is_less(run, x[i], y[i]);
  return x.size() < y.size();
}

bool contains(Run& run, const Value& whole, const Value& part) {
  if (whole.as<Text>()) {
    const auto texts = strings(whole, part);
    if (!texts) fail_rendering("a string in a string", type_name(part));
    run.charge(texts->first.size() + texts->second.size());
    return find_in(texts->first, texts->second) != std::string::npos;
  }
  if (const auto* dict = whole.as<std::shared_ptr<const Dict>>())
    return entry_of(run, **dict, part) != nullptr;
  Items items(run, whole);
  while (const std::optional<Value> item = items.next())
    if (are_equal(run, *item, part)) return true;
  return false;
}

Value computed(Run& run, const std::string& sign, const Value& left, const Value& right) {
  if (sign == "~") return run.text(str(run, left) + str(run, right));
  if (sign == "==" || sign == "!=") return are_equal(run, left, right) == (sign == "==");
  if (sign == "in" || sign == "not in") return contains(run, right, left) == (sign == "in");
  if (sign == "<") return is_less(run, left, right);
  if (sign == ">") return is_less(run, right, left);
  if (sign == "<=") return !is_less(run, right, left);
  if (sign == ">=") return !is_less(run, left, right);
  if (sign == "+") return sum_of(run, left, right);
  if (sign == "*" && left.as<Text>() && integer_of(right))
    return repeated(run, **left.as<Text>(), *integer_of(right));
  if (sign == "*" && right.as<Text>() && integer_of(left))
    return repeated(run, **right.as<Text>(), *integer_of(left));
  return arithmetic(sign, left, right);
}

Value slice(Run& run, const Value& value, const std::array<Value, 3>& places) {
  const auto* text = value.as<Text>();
  const Sequence* list = places_in(value);
  if (!text && (!list || list->kind == Sequence::Kind::range))
    fail_rendering("a slice of a string, a list or a tuple", type_name(value));
  const std::u32string characters = text ? code_points(run.read(*text)) : std::u32string();
  run.charge(sizeof(char32_t) * characters.size());
  const auto size = static_cast<std::int64_t>(text ? characters.size() : list->items.size());
  const auto given = [&](std::size_t i) -> std::optional<std::int64_t> {
    if (places[i].as<None>()) return std::nullopt;
    const auto place = integer_of(places[i]);
    if (!place) fail_rendering("integers in a slice", type_name(places[i]));
    return place;
  };
  const std::int64_t by = given(2).value_or(1);
  if (by == 0) fail_rendering("a slice with a step other than 0", "0");
  const std::int64_t lowest = by > 0 ? 0 : -1, highest = by > 0 ? size : size - 1;
  const auto place = [&](std::size_t i, std::int64_t otherwise) {
    const auto at = given(i);
    return at ? std::clamp(*at < 0 && *at > -size - 2 ? *at + size : *at, lowest, highest)
              : otherwise;
  };
  const std::int64_t begin = place(0, by > 0 ? lowest : highest);
  const std::int64_t end = place(1, by > 0 ? highest : lowest);
  std::u32string part;
  std::vector<Value> items;
  for (std::int64_t i = begin; by > 0 ? i < end : i > end;) {
    const auto at = static_cast<std::size_t>(i);
    if (text)
      part += characters[at];
    else
      items.push_back(list->items[at]);
    if (__builtin_add_overflow(i, by, &i)) break;
  }
  if (text) return run.text(utf8(part));
  return run.sequence(std::move(items), list->kind);
}

}  // namespace weft::jinja
