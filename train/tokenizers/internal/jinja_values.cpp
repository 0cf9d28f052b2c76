#include "train/tokenizers/internal/jinja_values.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <map>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/data/characters.hpp"

namespace weft::jinja {
namespace {

const std::string& text_in(const json& value, const std::string& what) {
  if (!value.is_string()) fail_rendering("a text for " + what, value.type_name());
  return value.get_ref<const std::string&>();
}

// As Python's json.dumps, with a space after each colon and comma.
std::string json_text(const json& value) {
  if (!value.is_structured()) return value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string text;
  for (const auto& [key, item] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += json(key).dump() + ": ";
    text += json_text(item);
  }
  return value.is_object() ? '{' + text + '}' : '[' + text + ']';
}

std::string with_case(std::string text, int (*convert)(int)) {
  for (char& c : text)
    if (static_cast<signed char>(c) >= 0) c = static_cast<char>(convert(c));
  return text;
}

std::string stripped(std::string_view text, bool left, bool right, const std::string& characters) {
  if (left) text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
  if (right) text = text.substr(0, text.find_last_not_of(characters) + 1);
  return std::string(text);
}

json parts_between(std::string_view text, const std::string& separator, Values& values) {
  json parts = json::array();
  for (std::size_t at; !separator.empty() && (at = text.find(separator)) != text.npos;
       text.remove_prefix(at + separator.size())) {
    values.charge(sizeof(std::string));
    parts.push_back(text.substr(0, at));
  }
  parts.push_back(text);
  return parts;
}

std::string joined(const json& parts, const std::string& between, Values& values) {
  if (!parts.is_array()) fail_rendering("a list for join", parts.type_name());
  std::string result;
  for (const json& part : parts) {
    const std::string text = (&part == &parts.front() ? "" : between) + text_of(&part);
    values.charge(text.size());
    result += text;
  }
  return result;
}

std::int64_t integer_of(Value value, std::int64_t otherwise) {
  if (!value || value->is_null()) return otherwise;
  if (!value->is_number_integer()) fail_rendering("an integer", value->type_name());
  return value->get<std::int64_t>();
}

bool contains(const json& whole, const json& part) {
  if (whole.is_string()) return text_in(whole, "in").find(text_in(part, "in")) != std::string::npos;
  if (whole.is_object()) return part.is_string() && whole.contains(part.get<std::string>());
  return std::ranges::find(whole, part) != whole.end();
}

json call_function(const std::string& name, const Arguments& arguments) {
  if (name == "raise_exception()") throw ValueError("chat template: " + arguments.text(0));
  if (name == "namespace()" || name == "dict()") return arguments.named;
  if (name == "range()" && !arguments.values.empty()) {
    const bool has_begin = arguments.values.size() > 1;
    const std::int64_t begin = has_begin ? integer_of(arguments.values[0], 0) : 0;
    const std::int64_t end = integer_of(arguments.values[has_begin ? 1 : 0], 0);
    constexpr std::int64_t longest = 1'000'000;
    if (begin < -longest || end > longest)
      fail_rendering("a range within ± a million", "a longer one");
    json numbers = json::array();
    for (std::int64_t i = begin; i < end; ++i) numbers.push_back(i);
    return numbers;
  }
  if (name == "strftime_now()") {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    char text[128];
    return std::string(text, std::strftime(text, sizeof text, arguments.text(0).c_str(), &parts));
  }
  fail_rendering("a known function", concatenate_text('\'', name, '\''));
}

json sum_or_product(const std::string& sign, const json& a, const json& b) {
  if (sign == "+" && a.is_string() && b.is_string())
    return a.get<std::string>() + b.get<std::string>();
  if (sign == "+" && a.is_array() && b.is_array()) {
    json sum = a;
    sum.insert(sum.end(), b.begin(), b.end());
    return sum;
  }
  if (!a.is_number() || !b.is_number())
    fail_rendering("numbers, texts or lists for " + sign,
                   concatenate_text(a.type_name(), " and ", b.type_name()));
  const double x = a.get<double>(), y = b.get<double>();
  if (y == 0.0 && (sign == "/" || sign == "//" || sign == "%")) fail_rendering("a divisor", "0");
  const double result = sign == "+"    ? x + y
                        : sign == "-"  ? x - y
                        : sign == "*"  ? x * y
                        : sign == "/"  ? x / y
                        : sign == "//" ? std::floor(x / y)
                                       : x - y * std::floor(x / y);
  constexpr double largest_integer = 9e15;
  if (sign != "/" && a.is_number_integer() && b.is_number_integer() &&
      std::abs(result) < largest_integer)
    return static_cast<std::int64_t>(result);
  return result;
}

}  // namespace

void fail_rendering(const std::string& expected, const std::string& got) {
  fail<ValueError>("chat template", expected, got);
}

void Values::charge(std::size_t bytes) {
  constexpr std::size_t most = 64 << 20;
  if ((bytes_ += bytes) > most) fail_rendering("at most 64 MiB of values and steps", "more");
}

std::size_t Values::bytes_in(const json& value, int depth) {
  constexpr int deepest = 100;
  if (depth > deepest) fail_rendering("values that are nested at most 100 times", "a deeper one");
  std::size_t bytes = sizeof(json);
  if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  if (value.is_structured())
    for (const auto& [key, item] : value.items()) bytes += key.size() + bytes_in(item, depth + 1);
  return bytes;
}

const json& defined(Value value, std::string_view what) {
  if (!value) fail_rendering(concatenate_text("a value of ", what), "an undefined one");
  return *value;
}

bool is_true(Value value) {
  if (!value || value->is_null()) return false;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number()) return value->get<double>() != 0.0;
  return value->is_string() ? !value->get_ref<const std::string&>().empty() : !value->empty();
}

std::string text_of(Value value) {
  if (!value) return "";
  if (value->is_string()) return value->get<std::string>();
  if (value->is_null()) return "None";
  if (value->is_boolean()) return value->get<bool>() ? "True" : "False";
  return json_text(*value);
}

json items_of(const json& value) {
  json items = json::array();
  for (const auto& [key, item] : value.items())
    items.push_back(value.is_object() ? json(key) : item);
  return items;
}

std::string Arguments::text(std::size_t index, const std::string& otherwise) const {
  return index < values.size() ? text_in(defined(values[index], "an argument"), "an argument")
                               : otherwise;
}

Value call(Values& values, const std::string& name, Value value, const Arguments& arguments) {
  if (name.ends_with(')')) return values.keep(call_function(name, arguments));
  const auto argument = [&](std::size_t index) { return arguments.text(index); };
  if (name == "default")
    return value || arguments.values.empty() ? value : arguments.values.front();
  const json& own = defined(value, name);
  if (name == "list" || name == "safe") return value;
  if (name == "first" || name == "last") {
    if (!own.is_array() || own.empty()) return nullptr;
    return name == "first" ? &own.front() : &own.back();
  }
  if (name == "get") {
    const json key = argument(0);
    const Value found = own.is_object() ? element(value, &key) : nullptr;
    return found ? found : arguments.values.size() > 1 ? arguments.values[1] : values.keep(nullptr);
  }
  const auto text = [&]() -> const std::string& { return text_in(own, name); };
  const auto result = [&]() -> json {
    if (name == "trim" || name.ends_with("strip"))
      return stripped(text(), name != "rstrip", name != "lstrip", arguments.text(0, " \t\n\r\v\f"));
    if (name == "upper") return with_case(text(), std::toupper);
    if (name == "lower") return with_case(text(), std::tolower);
    if (name == "startswith") return text().starts_with(argument(0));
    if (name == "endswith") return text().ends_with(argument(0));
    if (name == "split") return parts_between(text(), arguments.text(0, " "), values);
    if (name == "replace")
      return joined(parts_between(text(), argument(0), values), argument(1), values);
    if (name == "join") return joined(own, argument(0), values);
    if (name == "length" || name == "count")
      return own.is_string() ? count_characters(text()) : own.size();
    if (name == "tojson") return json_text(own);
    if (name == "string") return text_of(value);
    if (name != "items") fail_rendering("a known function", concatenate_text('\'', name, '\''));
    json pairs = json::array();
    for (const auto& [key, item] : own.items()) pairs.push_back({key, item});
    return pairs;
  };
  return values.keep(result());
}

bool passes(const std::string& test, Value value) {
  using Test = bool (*)(const json&);
  static const std::map<std::string_view, Test> tests = {
      {"none", [](const json& own) { return own.is_null(); }},
      {"string", [](const json& own) { return own.is_string(); }},
      {"mapping", [](const json& own) { return own.is_object(); }},
      {"number", [](const json& own) { return own.is_number(); }},
      {"true", [](const json& own) { return own == true; }},
      {"false", [](const json& own) { return own == false; }},
      {"iterable", [](const json& own) { return own.is_string() || own.is_structured(); }},
      {"sequence", [](const json& own) { return own.is_string() || own.is_structured(); }}};
  if (test == "defined" || test == "undefined") return (value != nullptr) == (test == "defined");
  const auto found = tests.find(test);
  if (found == tests.end()) fail_rendering("a known test", concatenate_text('\'', test, '\''));
  return value && found->second(*value);
}

Value computed(Values& values, const std::string& sign, Value left, Value right) {
  for (const Value operand : {left, right})
    if (operand) values.charge(*operand);
  if (sign == "~") return values.keep(text_of(left) + text_of(right));
  const bool are_equal = left && right ? *left == *right : left == right;
  if (sign == "==" || sign == "!=") return values.keep(are_equal == (sign == "=="));
  const json &a = defined(left, "the left of " + sign), &b = defined(right, "the right of " + sign);
  return values.keep(sign == "in"       ? json(contains(b, a))
                     : sign == "not in" ? json(!contains(b, a))
                     : sign == "<"      ? json(a < b)
                     : sign == ">"      ? json(b < a)
                     : sign == "<="     ? json(a <= b)
                     : sign == ">="     ? json(b <= a)
                                        : sum_or_product(sign, a, b));
}

Value slice(Values& values, Value value, Value begin, Value end, Value step) {
  json whole = defined(value, "a slice");
  const bool is_text = whole.is_string();
  if (is_text) {
    values.charge(sizeof(std::string) * text_in(whole, "a slice").size());
    whole = utf8_characters(text_in(whole, "a slice"), "chat template");
  }
  const std::int64_t by = integer_of(step, 1), size = std::ssize(whole);
  if (!whole.is_array() || (by != 1 && by != -1))
    fail_rendering("a slice of a list or a text, with step 1 or -1",
                   concatenate_text(whole.type_name(), " and step ", by));
  const auto place = [&](Value at, std::int64_t otherwise) {
    const std::int64_t given = integer_of(at, otherwise);
    const bool is_from_end = at && !at->is_null() && given < 0;
    return std::clamp<std::int64_t>(is_from_end ? given + size : given, by > 0 ? 0 : -1,
                                    by > 0 ? size : size - 1);
  };
  const std::int64_t last = place(end, by > 0 ? size : -1);
  json list = json::array();
  for (std::int64_t i = place(begin, by > 0 ? 0 : size - 1); by > 0 ? i < last : i > last; i += by)
    list.push_back(whole[static_cast<std::size_t>(i)]);
  return values.keep(is_text ? json(joined(list, "", values)) : list);
}

Value element(Value value, Value key) {
  const json& own = defined(value, "what has the entry " + text_of(key));
  if (own.is_object() && key && key->is_string()) {
    const auto found = own.find(key->get_ref<const std::string&>());
    return found == own.end() ? nullptr : &*found;
  }
  if (!own.is_array() || !key || !key->is_number_integer()) return nullptr;
  auto index = key->get<std::int64_t>();
  if (index < 0) index += std::ssize(own);
  if (index < 0 || index >= std::ssize(own)) return nullptr;
  return &own[static_cast<std::size_t>(index)];
}

}  // namespace weft::jinja
