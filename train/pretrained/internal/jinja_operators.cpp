#include "train/pretrained/internal/jinja_operators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/autograd/error.hpp"
#include "train/pretrained/internal/jinja_text.hpp"

namespace weft::jinja {
namespace {

std::string types_of(const Value& a, const Value& b) {
  return str_cat(type_name(a), " and ", type_name(b));
}

const std::string* string_in(const Value& value) {
  const auto* text = value.as<Text>();
  const auto* markup = value.as<Markup>();
  return text ? text->get() : markup ? markup->text.get() : nullptr;
}

// Sequences of one type, which are compared item by item.
std::optional<std::pair<const Sequence*, const Sequence*>> sequences(const Value& a,
                                                                     const Value& b) {
  const Sequence *left = places_in(a), *right = places_in(b);
  if (!left || !right || type_name(a) != type_name(b)) return std::nullopt;
  return std::pair(left, right);
}

// Numbers are compared exactly.
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
  fail_rendering("integers of 64 bits and finite numbers", "others");
}

std::int64_t integer_result(char sign, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (sign == '+'   ? __builtin_add_overflow(a, b, &result)
      : sign == '-' ? __builtin_sub_overflow(a, b, &result)
                    : __builtin_mul_overflow(a, b, &result))
    fail_on_size();
  return result;
}

// a // b, or a % b, as in Python: the remainder has the sign of the divisor.
std::int64_t divided(std::int64_t a, std::int64_t b, bool wants_remainder) {
  if (b == -1) return wants_remainder ? 0 : integer_result('-', 0, a);
  const std::int64_t remainder = a % b;
  const bool is_adjusted = remainder != 0 && (remainder < 0) != (b < 0);
  return wants_remainder ? remainder + (is_adjusted ? b : 0) : a / b - (is_adjusted ? 1 : 0);
}
double divided(double a, double b, bool wants_remainder) {
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0.0 && (b < 0) != (remainder < 0)) {
    remainder += b;
    quotient -= 1.0;
  }
  if (wants_remainder) return remainder == 0.0 ? std::copysign(0.0, b) : remainder;
  if (quotient == 0.0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = integer_result('*', result, base);
    if (exponent > 1) base = integer_result('*', base, base);
  }
  return result;
}

Value arithmetic(const std::string& sign, const Value& left, const Value& right) {
  const auto a = number_of(left), b = number_of(right);
  if (!a || !b) fail_rendering("numbers for " + sign, types_of(left, right));
  const bool divides = sign == "/" || sign == "//" || sign == "%";
  if (divides && *b == 0.0) fail_rendering("a divisor", "0");
  const auto m = integer_of(left), n = integer_of(right);
  if (m && n && sign != "/" && !(sign == "**" && *n < 0)) {
    if (sign == "**") {
      if (*m == 0 || *m == 1) return *n == 0 ? std::int64_t{1} : *m;
      if (*m == -1) return *n % 2 == 0 ? std::int64_t{1} : std::int64_t{-1};
      return integer_power(*m, *n);
    }
    return divides ? divided(*m, *n, sign == "%") : integer_result(sign[0], *m, *n);
  }
  // Integers that a double does not hold.
  constexpr std::int64_t most = std::int64_t{1} << 53;
  if ((m && std::max(*m, -*m) > most) || (n && std::max(*n, -*n) > most)) fail_on_size();
  if (sign == "**") {
    if (*a == 0.0 && *b < 0.0) fail_rendering("a divisor", "0");
    if (*a < 0.0 && *b != std::floor(*b)) fail_rendering("a power that is real", "another");
    return finite(std::pow(*a, *b));
  }
  return finite(sign == "+"   ? *a + *b
                : sign == "-" ? *a - *b
                : sign == "*" ? *a * *b
                : sign == "/" ? *a / *b
                              : divided(*a, *b, sign == "%"));
}

std::string escaped(Run& run, const Value& value) {
  if (const auto* markup = value.as<Markup>()) return run.read(markup->text);
  return escaped_as_html(run.read(*value.as<Text>()));
}

Value repeated(Run& run, const Value& value, std::int64_t count) {
  const auto times = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
  const auto* text = value.as<Text>();
  const std::size_t size = text ? (*text)->size() : sizeof(Value) * places_in(value)->items.size();
  if (size != 0 && times > Budget::most / size) run.charge(no_limit);
  run.charge(times * size);
  std::string joined;
  std::vector<Value> items;
  for (std::size_t i = 0; size != 0 && i < times; ++i)
    if (text)
      joined += **text;
    else
      items.insert(items.end(), places_in(value)->items.begin(), places_in(value)->items.end());
  if (text) return run.text(std::move(joined));
  const Sequence::Kind kind = places_in(value)->kind;
  return run.sequence(std::move(items),
                      kind == Sequence::Kind::group ? Sequence::Kind::tuple : kind);
}

bool is_repeatable(const Value& value) {
  const Sequence* list = places_in(value);
  return value.as<Text>() || (list && list->kind != Sequence::Kind::range);
}

Value sum_of(Run& run, const Value& a, const Value& b) {
  if (const auto* x = string_in(a), *y = string_in(b); x && y) {
    if (!a.as<Markup>() && !b.as<Markup>()) {
      run.charge(x->size() + y->size());
      return run.text(*x + *y);
    }
    return Markup{*run.text(escaped(run, a) + escaped(run, b)).as<Text>()};
  }
  const auto both = sequences(a, b);
  if (!both || both->first->kind == Sequence::Kind::range) return arithmetic("+", a, b);
  run.charge(sizeof(Value) * (both->first->items.size() + both->second->items.size()));
  std::vector<Value> items = both->first->items;
  items.insert(items.end(), both->second->items.begin(), both->second->items.end());
  return run.sequence(std::move(items),
                      type_name(a) == "list" ? Sequence::Kind::list : Sequence::Kind::tuple);
}

}  // namespace

std::string escaped_as_html(std::string_view text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '\'':
        result += "&#39;";
        break;
      case '"':
        result += "&#34;";
        break;
      default:
        result += c;
    }
  return result;
}

Value finite(double number) {
  if (!std::isfinite(number)) fail_on_size();
  return number;
}

bool are_equal(Run& run, const Value& a, const Value& b) {
  const Step step(run);
  if (const auto both = numbers(a, b)) return both->first == both->second;
  if (const auto* x = string_in(a), *y = string_in(b); x && y) {
    run.charge(x->size() == y->size() ? x->size() : 0);
    return *x == *y;
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
    if (value->as<std::shared_ptr<Loop>>() || value->as<std::shared_ptr<const Function>>() ||
        (list && !(*list)->has_places()))
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
  if (const auto* x = string_in(a), *y = string_in(b); x && y) {
    run.charge(std::min(x->size(), y->size()));
    return *x < *y;
  }
  const auto both = sequences(a, b);
  if (!both || both->first->kind == Sequence::Kind::range)
    fail_rendering("values that have an order", types_of(a, b));
  const auto &x = both->first->items, &y = both->second->items;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (!are_equal(run, x[i], y[i])) return is_less(run, x[i], y[i]);
  return x.size() < y.size();
}

bool contains(Run& run, const Value& whole, const Value& part) {
  if (const auto* text = string_in(whole)) {
    const auto* own = string_in(part);
    if (!own) fail_rendering("a string in a string", type_name(part));
    run.charge(text->size() + own->size());
    return find_in(*text, *own) != text->npos;
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
  if (sign == "%" && string_in(left)) fail_rendering("numbers for %", "str");
  if (sign == "*" && is_repeatable(left) && integer_of(right))
    return repeated(run, left, *integer_of(right));
  if (sign == "*" && is_repeatable(right) && integer_of(left))
    return repeated(run, right, *integer_of(left));
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
  if (by == 0) fail_rendering("a slice with another step", "0");
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
  return run.sequence(std::move(items),
                      list->kind == Sequence::Kind::group ? Sequence::Kind::tuple : list->kind);
}

}  // namespace weft::jinja
