#include "train/pretrained/chat_templates/internal/jinja_filters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "weft/autograd/error.hpp"
#include "train/files/internal/ascii.hpp"
#include "train/pretrained/chat_templates/internal/jinja_members.hpp"
#include "train/pretrained/chat_templates/internal/jinja_tests.hpp"
#include "train/pretrained/chat_templates/internal/jinja_text.hpp"
#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft::jinja {
namespace {

using Kind = Sequence::Kind;
constexpr std::size_t case_cost = 8;  // the work per byte of changing the case

Value lower_if_text(Run& run, const Value& value) {
  if (!value.as<Text>()) return value;
  const std::string& text = text_in(run, value, "lower case");
  run.charge(case_cost * text.size());
  return run.text(in_case(text, Case::lower));
}

// Looks up an attribute such as "role" or "function.name" in values. If the path is none, returns
// the values themselves.
class Getter {
 public:
  Getter(Run& run, const Value& path) : run_(run) {
    if (path.as<None>()) return;
    split(text_in(run, path, "an attribute"), ".", no_limit, [&](std::string_view part) {
      if (part.empty() || is_ascii_digit(part[0]) || static_cast<signed char>(part[0]) < 0)
        fail_rendering("the name of an attribute", quoted_as_python(part));
      parts_.push_back(run.text(std::string(part)));
    });
  }

  Value operator()(Value item) const {
    const Step step(run_);
    for (const Value& part : parts_) item = element(run_, item, part);
    return item;
  }

 private:
  Run& run_;
  std::vector<Value> parts_;
};

// Pairs of a key to sort by and a value. Strings in keys are in lower case.
using Keyed = std::vector<std::pair<Value, Value>>;
Value sorted_by_key(Run& run, Keyed items) {
  std::ranges::stable_sort(
      items, [&](const auto& a, const auto& b) { return is_less(run, a.first, b.first); });
  std::vector<Value> result;
  for (auto& item : items) result.push_back(std::move(item.second));
  return run.sequence(std::move(result));
}

// Returns the argument "attribute" if it is the only argument, or else none.
Value only_attribute(const Call& call) {
  const bool is_alone = call.values.size() == 1 && call.named.size() == 1;
  return is_alone && call.named[0].first == "attribute" ? call.named[0].second : Value(None{});
}

Value sorted(Call& call) {
  const Value path = only_attribute(call);
  if (path.as<None>() && call.values.size() + call.named.size() > 1)
    fail_rendering("only the argument attribute of sort", "other arguments");
  if (path.as<Text>() && call.run.read(*path.as<Text>()).find(',') != std::string::npos)
    fail_rendering("a single attribute for sort", "several attributes");
  const Getter getter(call.run, path);
  Keyed items;
  for (const Value& item : items_of(call.run, call[0]))  // compared as lists of one key
    items.emplace_back(call.run.sequence({lower_if_text(call.run, getter(item))}), item);
  return sorted_by_key(call.run, std::move(items));
}

Value dict_sorted(Call& call) {
  const auto* dict = call[0].as<std::shared_ptr<const Dict>>();
  if (!dict) fail_rendering("a dict for dictsort", type_name(call[0]));
  Keyed items;
  for (const auto& [key, value] : (*dict)->items)
    items.emplace_back(lower_if_text(call.run, key), call.run.sequence({key, value}, Kind::tuple));
  return sorted_by_key(call.run, std::move(items));
}

Value smallest(Call& call) {
  std::optional<std::pair<Value, Value>> best;
  for (const Value& item : items_of(call.run, call[0])) {
    Value key = lower_if_text(call.run, item);
    if (!best || is_less(call.run, key, best->first)) best.emplace(std::move(key), item);
  }
  return best ? best->second : Undefined{};
}

Value unique(Call& call) {
  Dict seen;
  std::vector<Value> items;
  for (const Value& item : items_of(call.run, call[0])) {
    const Value key = lower_if_text(call.run, item);
    if (entry_of(call.run, seen, key)) continue;
    set_entry(call.run, seen, key, None{});
    items.push_back(item);
  }
  return call.run.sequence(std::move(items), Kind::generator);
}

// Returns the arguments after the one at `place`, which names a filter or a test.
Arguments after(Call& call, std::size_t place) {
  return {{call.values.begin() + static_cast<std::ptrdiff_t>(place) + 1, call.values.end()},
          call.named};
}
const Signature& callable(Call& call, std::size_t place, const Signature* (*find)(std::string_view),
                          const char* what) {
  const std::string& name = text_in(call.run, call[place], what);
  const Signature* found = find(name);
  if (!found) fail_rendering(str_cat("a known ", what), str_cat('\'', name, '\''));
  return *found;
}

Value mapped(Call& call) {
  std::vector<Value> items;
  if (is_true(call[0])) {
    if (const Value path = only_attribute(call); !path.as<None>()) {
      const Getter getter(call.run, path);
      for (const Value& item : items_of(call.run, call[0])) items.push_back(getter(item));
    } else {
      if (call.values.size() == 1) fail_rendering("a filter or an attribute for map", "none");
      const Signature& filter = callable(call, 1, find_filter, "filter");
      for (const Value& item : items_of(call.run, call[0])) {
        Arguments arguments = after(call, 1);
        arguments.values.insert(arguments.values.begin(), item);
        items.push_back(filter.call(call.run, std::move(arguments)));
      }
    }
  }
  return call.run.sequence(std::move(items), Kind::generator);
}

// Implements the filters select and reject, and with `with_path` selectattr and rejectattr.
Value selected(Call& call, bool with_path, bool wanted) {
  std::vector<Value> items;
  if (is_true(call[0])) {
    const std::size_t place = with_path ? 2 : 1;
    if (call.values.size() < place) fail_rendering("the name of an attribute", "none");
    const Getter getter(call.run, with_path ? call[1] : Value(None{}));
    const Signature* test =
        call.values.size() > place ? &callable(call, place, find_test, "test") : nullptr;
    for (const Value& item : items_of(call.run, call[0])) {
      Value value = getter(item);
      if (test) {
        Arguments arguments = after(call, place);
        arguments.values.insert(arguments.values.begin(), std::move(value));
        value = test->call(call.run, std::move(arguments));
      }
      if (is_true(value) == wanted) items.push_back(item);
    }
  }
  return call.run.sequence(std::move(items), Kind::generator);
}

Value joined(Call& call) {
  const std::string& between = call.text(1);
  std::string result;
  bool is_first = true;
  for (const Value& item : items_of(call.run, call[0])) {
    const std::string text = str(call.run, item);
    call.run.charge(2 * (text.size() + between.size()));
    result += (is_first ? "" : between) + text;
    is_first = false;
  }
  return call.run.text(std::move(result));
}

Value last(Call& call) {
  if (type_name(call[0]) == "generator") fail_rendering("a value with a last item", "generator");
  std::vector<Value> items = items_of(call.run, call[0]);
  return items.empty() ? Undefined{} : items.back();
}

Value as_json(Call& call) {
  JsonForm form{.only_ascii = call.flag(1), .indent = {}};
  if (!call.is_none(2)) {
    constexpr std::int64_t widest = 1000;
    if (call.integer(2) > widest)
      fail_rendering("an indent of at most 1000", str_cat(call.integer(2)));
    form.indent =
        std::string(static_cast<std::size_t>(std::max<std::int64_t>(call.integer(2), 0)), ' ');
    form.between_items.assign(1, ',');  // GCC 12 warns of = "," (GCC bug 105651)
  }
  if (!call.is_none(3)) {
    const std::vector<Value> both = items_of(call.run, call[3]);
    if (both.size() != 2) fail_rendering("two separators", str_cat(both.size()));
    form.between_items = text_in(call.run, both[0], "a separator");
    form.after_key = text_in(call.run, both[1], "a separator");
  }
  return call.run.text(json_text(call.run, call[0], form));
}

Value in_form(Call& call, Case form) {
  call.run.charge(case_cost * call.text(0).size());
  return call.run.text(in_case(call.text(0), form));
}

// Formats values in printf style. Supports only %s.
Value formatted(Call& call) {
  std::string result;
  std::size_t place = 0;
  split(call.text(0), "%", no_limit, [&](std::string_view part) {
    if (place > 0) {
      if (!part.starts_with('s') || place == call.values.size())
        fail_rendering("a format with %s for each value", call.text(0));
      result += str(call.run, call[place]);
      part.remove_prefix(1);
    }
    result += part;
    ++place;
  });
  if (place != call.values.size()) fail_rendering("a format with %s for each value", call.text(0));
  return call.run.text(std::move(result));
}

Value as_integer(Call& call) {
  if (const auto integer = integer_of(call[0])) return *integer;
  if (const double* number = call[0].as<double>()) {
    constexpr double largest = 9e18;
    if (std::abs(*number) > largest) fail_rendering("a 64-bit integer", number_text(*number));
    return static_cast<std::int64_t>(*number);
  }
  if (call[0].as<None>()) return call[1];
  // Python accepts more forms of numbers.
  const std::string_view text = stripped(text_in(call.run, call[0], "int"));
  std::int64_t integer = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), integer);
  if (error != std::errc() || end != text.end())
    fail_rendering("the digits of an integer for int", quoted_as_python(text));
  return integer;
}

Value indented(Call& call) {
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(call.integer(1), 0));
  call.run.charge(width);
  const std::string indent(width, ' ');
  std::string result = call.flag(2) ? indent : "";
  bool is_first = true;
  split_lines(call.text(0) + '\n', [&](std::string_view line) {
    call.run.charge(indent.size() + line.size());
    if (!is_first) result += '\n';
    if (!is_first && !line.empty()) result += indent;
    result += line;
    is_first = false;
  });
  return call.run.text(std::move(result));
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

const Table& filters() {
  static const Table table = table_of({
      {"capitalize", "s:t",
       [](Call& call) { return call.run.text(in_title_case(call.text(0), true)); }},
      {"count length", "obj; /",
       [](Call& call) -> Value {
         const auto length = length_of(call.run, call[0]);
         if (!length) fail_rendering("a value with a length", type_name(call[0]));
         return static_cast<std::int64_t>(*length);
       }},
      {"d default", "value; default_value=''; boolean:b=false",
       [](Call& call) {
         const bool is_used = call[0].as<Undefined>() || (call.flag(2) && !is_true(call[0]));
         return call[is_used ? 1 : 0];
       }},
      {"dictsort", "value", dict_sorted},
      {"first", "seq",
       [](Call& call) { return Items(call.run, call[0]).next().value_or(Undefined{}); }},
      {"format", "value:t; *", formatted},
      {"indent", "s:s; width:i=4; first:b=false", indented},
      {"int", "value; default=0", as_integer},
      {"items", "value",
       [](Call& call) {
         const auto* dict = call[0].as<std::shared_ptr<const Dict>>();
         if (!dict && !call[0].as<Undefined>())
           fail_rendering("a dict for items", type_name(call[0]));
         std::vector<Value> items;
         if (dict)
           for (const auto& [key, value] : (*dict)->items)
             items.push_back(call.run.sequence({key, value}, Kind::tuple));
         return call.run.sequence(std::move(items), Kind::generator);
       }},
      {"join", "value; d:t=''", joined},
      {"last", "seq", last},
      {"list", "value", [](Call& call) { return call.run.sequence(items_of(call.run, call[0])); }},
      {"lower", "s:t", [](Call& call) { return in_form(call, Case::lower); }},
      {"map", "value; *; **", mapped},
      {"min", "value", smallest},
      {"reject", "value; *; **", [](Call& call) { return selected(call, false, false); }},
      {"rejectattr", "value; *; **", [](Call& call) { return selected(call, true, false); }},
      {"replace", "s:t; old:t; new:t; count:i?=none",
       [](Call& call) {
         Value count = call.is_none(3) ? Value(std::int64_t{-1}) : call[3];
         return find_member("str", "replace")
             ->call(call.run, {{call[0], call[1], call[2], std::move(count)}, {}});
       }},
      {"safe", "value:t", [](Call& call) -> Value { return Markup{*call[0].as<Text>()}; }},
      {"select", "value; *; **", [](Call& call) { return selected(call, false, true); }},
      {"selectattr", "value; *; **", [](Call& call) { return selected(call, true, true); }},
      {"sort", "value; *; **", sorted},
      {"string", "object; /",
       [](Call& call) {
         const bool is_text = call[0].as<Text>() || call[0].as<Markup>();
         return is_text ? call[0] : call.run.text(str(call.run, call[0]));
       }},
      {"title", "s:t", in_titles},
      {"tojson", "x; ensure_ascii:b=false; indent:i?=none; separators=none", as_json},
      {"trim", "value:t; chars:s?=none",
       [](Call& call) {
         return find_member("str", "strip")->call(call.run, {call.values, {}});
       }},
      {"unique", "value", unique},
      {"upper", "s:t", [](Call& call) { return in_form(call, Case::upper); }},
      {"abs attr batch center e escape filesizeformat float forceescape groupby max pprint random "
       "reverse round slice striptags sum truncate urlencode urlize wordcount wordwrap xmlattr",
       "*; **", nullptr},
  });
  return table;
}

}  // namespace

const Signature* find_filter(std::string_view name) { return found_in(filters(), name); }

}  // namespace weft::jinja
