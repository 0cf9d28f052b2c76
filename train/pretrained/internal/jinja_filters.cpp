#include "train/pretrained/internal/jinja_filters.hpp"

#include <algorithm>
#include <charconv>

#include "weft/autograd/error.hpp"
#include "train/pretrained/internal/jinja_members.hpp"
#include "train/pretrained/internal/jinja_tests.hpp"
#include "train/pretrained/internal/jinja_text.hpp"
#include "train/pretrained/internal/jinja_value_filters.hpp"

namespace weft::jinja {
namespace {

using Kind = Sequence::Kind;
constexpr std::size_t case_cost = 8;  // of a byte

Value number_value(std::size_t number) { return static_cast<std::int64_t>(number); }

Value lower_if_text(Run& run, const Value& value) {
  if (!value.as<Text>()) return value;
  const std::string& text = text_in(run, value, "lower case");
  run.charge(case_cost * text.size());
  return run.text(in_case(text, Case::lower));
}

// Looks up an attribute such as "function.name" or "items.0" in values.
class Getter {
 public:
  Getter(Run& run, const Value& path, bool ignores_case, Value fallback = None{})
      : run_(run), ignores_case_(ignores_case), fallback_(std::move(fallback)) {
    if (!path.as<Text>()) {
      if (!path.as<None>()) parts_.push_back(path);
      return;
    }
    split(text_in(run, path, "an attribute"), ".", no_limit, false, [&](std::string_view part) {
      std::int64_t place = 0;
      if (is_all(part, Class::ascii) && is_all(part, Class::digit) &&
          std::from_chars(part.begin(), part.end(), place).ec == std::errc())
        parts_.emplace_back(place);
      else
        parts_.push_back(run.text(std::string(part)));
    });
  }

  Value operator()(Value item) const {
    const Step step(run_);
    for (const Value& part : parts_) {
      item = element(run_, item, part);
      if (item.as<Undefined>() && !fallback_.as<None>()) item = fallback_;
    }
    return ignores_case_ ? lower_if_text(run_, item) : item;
  }

 private:
  Run& run_;
  std::vector<Value> parts_;
  bool ignores_case_;
  Value fallback_;
};

// Pairs of keys and values, in the order of the keys.
using Keyed = std::vector<std::pair<Value, Value>>;
void sort_by_key(Run& run, Keyed& items, bool is_reversed) {
  std::ranges::stable_sort(items, [&](const auto& a, const auto& b) {
    return is_reversed ? is_less(run, b.first, a.first) : is_less(run, a.first, b.first);
  });
}

Value sorted(Call& call) {
  std::vector<Getter> getters;
  if (call[3].as<Text>())
    split(call.text(3), ",", no_limit, false, [&](std::string_view path) {
      getters.emplace_back(call.run, call.run.text(std::string(path)), !call.flag(2));
    });
  else
    getters.emplace_back(call.run, call[3], !call.flag(2));
  Keyed items;
  for (const Value& item : items_of(call.run, call[0])) {
    std::vector<Value> key;
    for (const Getter& getter : getters) key.push_back(getter(item));
    items.emplace_back(call.run.sequence(std::move(key)), item);
  }
  sort_by_key(call.run, items, call.flag(1));
  std::vector<Value> result;
  for (auto& item : items) result.push_back(std::move(item.second));
  return call.run.sequence(std::move(result));
}

Value dict_sorted(Call& call) {
  const auto* dict = call[0].as<std::shared_ptr<const Dict>>();
  if (!dict) fail_rendering("a dict for dictsort", type_name(call[0]));
  const std::string& by = call.text(2);
  if (by != "key" && by != "value") fail_rendering("'key' or 'value' for dictsort", by);
  Keyed items;
  for (const auto& [key, value] : (*dict)->items) {
    const Value& own = by == "key" ? key : value;
    items.emplace_back(call.flag(1) ? own : lower_if_text(call.run, own),
                       call.run.sequence({key, value}, Kind::tuple));
  }
  sort_by_key(call.run, items, call.flag(3));
  std::vector<Value> result;
  for (auto& item : items) result.push_back(std::move(item.second));
  return call.run.sequence(std::move(result));
}

Value grouped(Call& call) {
  const Getter key(call.run, call[1], !call.flag(3), call[2]);
  const Getter shown(call.run, call[1], false, call[2]);
  Keyed items;
  for (const Value& item : items_of(call.run, call[0])) items.emplace_back(key(item), item);
  sort_by_key(call.run, items, false);
  std::vector<Value> groups;
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    std::vector<Value> group;
    for (; end < items.size() && are_equal(call.run, items[end].first, items[begin].first); ++end)
      group.push_back(items[end].second);
    Value name = shown(group.front());
    groups.push_back(
        call.run.sequence({std::move(name), call.run.sequence(std::move(group))}, Kind::group));
  }
  return call.run.sequence(std::move(groups));
}

Value extreme(Call& call, bool is_largest) {
  const Getter getter(call.run, call[2], !call.flag(1));
  std::optional<std::pair<Value, Value>> best;
  for (const Value& item : items_of(call.run, call[0])) {
    Value key = getter(item);
    if (!best ||
        (is_largest ? is_less(call.run, best->first, key) : is_less(call.run, key, best->first)))
      best.emplace(std::move(key), item);
  }
  return best ? best->second : Undefined{};
}

Value unique(Call& call) {
  const Getter getter(call.run, call[2], !call.flag(1));
  Dict seen;
  std::vector<Value> items;
  for (const Value& item : items_of(call.run, call[0])) {
    const Value key = getter(item);
    if (entry_of(call.run, seen, key)) continue;
    set_entry(call.run, seen, key, None{});
    items.push_back(item);
  }
  return call.run.sequence(std::move(items), Kind::generator);
}

// The name of a filter or a test among the arguments, and those after it.
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
    const auto named = [&](std::string_view name) -> const Value* {
      for (const auto& argument : call.named)
        if (argument.first == name) return &argument.second;
      return nullptr;
    };
    if (const Value* path = named("attribute"); path && call.values.size() == 1) {
      const Value* fallback = named("default");
      if (call.named.size() > (fallback ? 2U : 1U))
        fail_rendering("arguments attribute and default of map", "others");
      const Getter getter(call.run, *path, false, fallback ? *fallback : None{});
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

// select and reject, of an attribute if `with_path`.
Value selected(Call& call, bool with_path, bool wanted) {
  std::vector<Value> items;
  if (is_true(call[0])) {
    const std::size_t place = with_path ? 2 : 1;
    if (call.values.size() < place) fail_rendering("the name of an attribute", "none");
    const Getter getter(call.run, with_path ? call[1] : Value(None{}), false);
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
  const Getter getter(call.run, call[2], false);
  const std::string& between = call.text(1);
  std::string result;
  bool is_first = true;
  for (const Value& item : items_of(call.run, call[0])) {
    const std::string text = str(call.run, getter(item));
    call.run.charge(2 * (text.size() + between.size()));
    result += (is_first ? "" : between) + text;
    is_first = false;
  }
  return call.run.text(std::move(result));
}

Value batches(Call& call) {
  std::vector<Value> all, part;
  const auto add = [&] { all.push_back(call.run.sequence(std::exchange(part, {}))); };
  const std::int64_t size = call.integer(1);
  for (const Value& item : items_of(call.run, call[0])) {
    if (std::ssize(part) == size) add();
    part.push_back(item);
  }
  if (!part.empty()) {
    if (!call.is_none(2) && std::ssize(part) < size) {
      call.run.charge(sizeof(Value) * static_cast<std::size_t>(size));
      part.resize(static_cast<std::size_t>(size), call[2]);
    }
    add();
  }
  return call.run.sequence(std::move(all), Kind::generator);
}

Value slices(Call& call) {
  const std::vector<Value> items = items_of(call.run, call[0]);
  const std::int64_t count = call.integer(1);
  if (count == 0) fail_rendering("a number of slices", "0");
  std::vector<Value> all;
  std::size_t begin = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t extra = std::ssize(items) % count;
    const auto size = static_cast<std::size_t>(std::ssize(items) / count + (i < extra ? 1 : 0));
    const auto at = items.begin() + static_cast<std::ptrdiff_t>(begin);
    std::vector<Value> part(at, at + static_cast<std::ptrdiff_t>(size));
    begin += size;
    if (!call.is_none(2) && i >= extra) part.push_back(call[2]);
    all.push_back(call.run.sequence(std::move(part)));
  }
  return call.run.sequence(std::move(all), Kind::generator);
}

Value reversed(Call& call) {
  if (const auto* text = call[0].as<Text>()) {
    std::u32string characters = code_points(call.run.read(*text));
    std::ranges::reverse(characters);
    return call.run.text(utf8(characters));
  }
  std::vector<Value> items = items_of(call.run, call[0]);
  std::ranges::reverse(items);
  const bool is_generator = type_name(call[0]) == "generator";
  return call.run.sequence(std::move(items), is_generator ? Kind::list : Kind::generator);
}

Value last(Call& call) {
  if (type_name(call[0]) == "generator") fail_rendering("a value with a last item", "generator");
  std::vector<Value> items = items_of(call.run, call[0]);
  return items.empty() ? Undefined{} : items.back();
}

Value total(Call& call) {
  if (call[2].as<Text>()) fail_rendering("a start of sum that is no string", "str");
  const Getter getter(call.run, call[1], false);
  Value sum = call[2];
  for (const Value& item : items_of(call.run, call[0]))
    sum = computed(call.run, "+", sum, getter(item));
  return sum;
}

Value as_json(Call& call) {
  JsonForm form{.only_ascii = call.flag(1), .is_sorted = call.flag(4), .indent = {}};
  if (!call.is_none(2)) {
    constexpr std::int64_t widest = 1000;
    const auto width = integer_of(call[2]);
    if (width && *width > widest) fail_rendering("an indent of at most 1000", "more");
    form.indent =
        width ? std::string(static_cast<std::size_t>(std::max<std::int64_t>(*width, 0)), ' ')
              : text_in(call.run, call[2], "an indent");
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

// printf-style formatting by %s only.
Value formatted(Call& call) {
  std::string result;
  std::size_t place = 0;
  split(call.text(0), "%", no_limit, false, [&](std::string_view part) {
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

Value markup(Call& call, const std::string& text) {
  return Markup{*call.run.text(text).as<Text>()};
}

const Table& filters() {
  static const Table table = table_of({
      {"abs", "x:n; /",
       [](Call& call) {
         return is_less(call.run, call[0], std::int64_t{0})
                    ? computed(call.run, "-", std::int64_t{0}, call[0])
                    : computed(call.run, "+", std::int64_t{0}, call[0]);
       }},
      {"batch", "value; linecount:i; fill_with=none", batches},
      {"capitalize", "s:t",
       [](Call& call) { return call.run.text(in_title_case(call.text(0), true)); }},
      {"center", "value:t; width:i=80",
       [](Call& call) {
         return find_member("str", "center")->call(call.run, {{call[0], call[1]}, {}});
       }},
      {"count length", "obj; /",
       [](Call& call) {
         const auto length = length_of(call.run, call[0]);
         if (!length) fail_rendering("a value with a length", type_name(call[0]));
         return number_value(*length);
       }},
      {"d default", "value; default_value=''; boolean:b=false",
       [](Call& call) {
         const bool is_used = call[0].as<Undefined>() || (call.flag(2) && !is_true(call[0]));
         return call[is_used ? 1 : 0];
       }},
      {"dictsort", "value; case_sensitive:b=false; by:s='key'; reverse:b=false", dict_sorted},
      {"e escape", "s; /",
       [](Call& call) {
         return call[0].as<Markup>() ? call[0]
                                     : markup(call, escaped_as_html(str(call.run, call[0])));
       }},
      {"first", "seq",
       [](Call& call) { return Items(call.run, call[0]).next().value_or(Undefined{}); }},
      {"float", "value; default=0.0", as_float},
      {"forceescape", "value:T",
       [](Call& call) { return markup(call, escaped_as_html(call.text(0))); }},
      {"format", "value:t; *", formatted},
      {"groupby", "value; attribute; default=none; case_sensitive:b=false", grouped},
      {"indent", "s:s; width=4; first:b=false; blank:b=false", indented},
      {"int", "value; default=0; base:i=10", as_integer},
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
      {"join", "value; d:T=''; attribute=none", joined},
      {"last", "seq", last},
      {"list", "value", [](Call& call) { return call.run.sequence(items_of(call.run, call[0])); }},
      {"lower", "s:t", [](Call& call) { return in_form(call, Case::lower); }},
      {"map", "value; *; **", mapped},
      {"max", "value; case_sensitive:b=false; attribute=none",
       [](Call& call) { return extreme(call, true); }},
      {"min", "value; case_sensitive:b=false; attribute=none",
       [](Call& call) { return extreme(call, false); }},
      {"reject", "value; *; **", [](Call& call) { return selected(call, false, false); }},
      {"rejectattr", "value; *; **", [](Call& call) { return selected(call, true, false); }},
      {"replace", "s:T; old:T; new:T; count:i?=none",
       [](Call& call) {
         Value count = call.is_none(3) ? Value(std::int64_t{-1}) : call[3];
         return find_member("str", "replace")
             ->call(call.run, {{call[0], call[1], call[2], std::move(count)}, {}});
       }},
      {"reverse", "value", reversed},
      {"round", "value:n; precision:i=0; method:s='common'", rounded},
      {"safe", "value:T", [](Call& call) { return markup(call, call.text(0)); }},
      {"select", "value; *; **", [](Call& call) { return selected(call, false, true); }},
      {"selectattr", "value; *; **", [](Call& call) { return selected(call, true, true); }},
      {"slice", "value; slices:i; fill_with=none", slices},
      {"sort", "value; reverse:b=false; case_sensitive:b=false; attribute=none", sorted},
      {"string", "object; /",
       [](Call& call) {
         const bool is_text = call[0].as<Text>() || call[0].as<Markup>();
         return is_text ? call[0] : call.run.text(str(call.run, call[0]));
       }},
      {"sum", "iterable; attribute=none; start=0", total},
      {"title", "s:t", in_titles},
      {"tojson", "x; ensure_ascii:b=false; indent=none; separators=none; sort_keys:b=false",
       as_json},
      {"trim", "value:t; chars:s?=none",
       [](Call& call) {
         return find_member("str", "strip")->call(call.run, {call.values, {}});
       }},
      {"truncate", "s:s; length:i=255; killwords:b=false; end:s='...'; leeway:i?=none", truncated},
      {"unique", "value; case_sensitive:b=false; attribute=none", unique},
      {"upper", "s:t", [](Call& call) { return in_form(call, Case::upper); }},
      {"urlencode", "value", url_encoded},
      {"wordcount", "s:t", [](Call& call) { return number_value(count_words(call.text(0))); }},
      {"attr filesizeformat pprint random striptags urlize wordwrap xmlattr", "*; **", nullptr},
  });
  return table;
}

}  // namespace

const Signature* find_filter(std::string_view name) { return found_in(filters(), name); }

}  // namespace weft::jinja
