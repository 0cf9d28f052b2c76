#include "train/pretrained/internal/jinja_members.hpp"

#include <algorithm>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/pretrained/internal/jinja_text.hpp"
#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft::jinja {
namespace {

using Kind = Sequence::Kind;
constexpr std::size_t case_cost = 8;  // of a byte

Value number_value(std::size_t number) { return static_cast<std::int64_t>(number); }
std::size_t limit_of(std::int64_t count) {
  return count < 0 ? no_limit : static_cast<std::size_t>(count);
}

Value cased(Call& call, std::string (*convert)(std::string_view)) {
  call.run.charge(case_cost * call.text(0).size());
  return call.run.text(convert(call.text(0)));
}

Value stripped_text(Call& call, bool left, bool right) {
  const std::string& text = call.text(0);
  if (call.is_none(1)) return call.run.text(std::string(stripped(text, left, right)));
  call.run.charge(sizeof(char32_t) * text.size() * (1 + call.text(1).size() / 64));
  return call.run.text(stripped(text, call.text(1), left, right));
}

// The text with `count` characters before and after it.
Value padded(Call& call, std::size_t before, std::size_t after, const std::string& fill) {
  call.run.charge((before + after) * fill.size());
  std::string result;
  for (std::size_t i = 0; i < before; ++i) result += fill;
  result += call.text(0);
  for (std::size_t i = 0; i < after; ++i) result += fill;
  return call.run.text(std::move(result));
}
// The characters that the text lacks to the width.
std::size_t missing(Call& call) {
  const auto size = static_cast<std::int64_t>(count_characters(call.text(0)));
  return static_cast<std::size_t>(std::max<std::int64_t>(call.integer(1) - size, 0));
}
const std::string& fill_of(Call& call) {
  if (count_characters(call.text(2)) != 1)
    fail_rendering("one character to fill with", call.text(2));
  return call.text(2);
}

Value split_at(Call& call, bool from_end) {
  if (!call.is_none(1) && call.text(1).empty()) fail_rendering("a separator", "an empty one");
  std::vector<Value> parts;
  split(call.text(0), call.is_none(1) ? "" : call.text(1), limit_of(call.integer(2)), from_end,
        [&](std::string_view part) { parts.push_back(call.run.text(std::string(part))); });
  if (from_end) std::ranges::reverse(parts);
  return call.run.sequence(std::move(parts));
}

Value partitioned(Call& call, bool from_end) {
  const std::string &text = call.text(0), &separator = call.text(1);
  if (separator.empty()) fail_rendering("a separator", "an empty one");
  const std::size_t found = from_end ? find_last_in(text, separator) : find_in(text, separator);
  const bool is_found = found != text.npos;
  const std::size_t begin = is_found ? found : from_end ? 0 : text.size();
  const std::size_t size = is_found ? separator.size() : 0;
  return call.run.sequence(
      {call.run.text(text.substr(0, begin)), call.run.text(text.substr(begin, size)),
       call.run.text(text.substr(begin + size))},
      Kind::tuple);
}

// Python's text[start:end] for arguments 2 and 3, with the number of characters before; nothing
// where the start is beyond the end.
std::optional<std::pair<std::string_view, std::size_t>> range_in(Call& call) {
  const std::string& text = call.text(0);
  if (call.is_none(2) && call.is_none(3)) return std::pair(std::string_view(text), std::size_t{0});
  const auto size = static_cast<std::int64_t>(count_characters(text));
  const auto place = [&](std::size_t i, std::int64_t otherwise) {
    const std::int64_t given = call.is_none(i) ? otherwise : call.integer(i);
    return given < 0 ? std::max<std::int64_t>(given + size, 0) : given;
  };
  const std::int64_t begin = place(2, 0), end = std::min(place(3, size), size);
  if (begin > end) return std::nullopt;
  std::size_t first = 0, last = 0;
  for (std::int64_t i = 0; i < end; ++i) {
    if (i == begin) first = last;
    unicode::next_code_point(text, last);
  }
  if (begin == end) first = last;
  return std::pair(std::string_view(text).substr(first, last - first),
                   static_cast<std::size_t>(begin));
}

Value place_of(Call& call, bool from_end, bool must_be_there) {
  const auto range = range_in(call);
  const std::string& part = call.text(1);
  const std::size_t found = !range     ? part.npos
                            : from_end ? find_last_in(range->first, part)
                                       : find_in(range->first, part);
  if (found != part.npos)
    return number_value(range->second + count_characters(range->first.substr(0, found)));
  if (must_be_there) fail_rendering("a string that contains " + quoted_as_python(part), "another");
  return std::int64_t{-1};
}

Value begins_or_ends(Call& call, bool begins) {
  const auto range = range_in(call);
  const Sequence* several = places_in(call[1]);
  if (several && type_name(call[1]) != "tuple") fail_rendering("a string or a tuple", "list");
  for (const Value& one : several ? several->items : std::vector{call[1]}) {
    const std::string& part = text_in(call.run, one, "startswith or endswith");
    if (range && (begins ? range->first.starts_with(part) : range->first.ends_with(part)))
      return true;
  }
  return false;
}

Value replaced_in(Call& call) {
  const std::string &text = call.text(0), &old = call.text(1), &other = call.text(2);
  const std::size_t count = std::min(limit_of(call.integer(3)), count_of(text, old));
  if (other.size() != 0 && count > Budget::most / other.size()) call.run.charge(no_limit);
  call.run.charge(count * other.size());
  return call.run.text(replaced(text, old, other, count));
}

Value joined(Call& call) {
  std::string result;
  bool is_first = true;
  const std::string& between = call.text(0);
  for (const Value& item : items_of(call.run, call[1])) {
    call.run.charge(between.size());
    result += (is_first ? "" : between) + text_in(call.run, item, "join");
    is_first = false;
  }
  return call.run.text(std::move(result));
}

Value zero_filled(Call& call) {
  const std::string& text = call.text(0);
  const bool has_sign = text.starts_with('+') || text.starts_with('-');
  const std::size_t zeros = missing(call);
  call.run.charge(zeros);
  return call.run.text(text.substr(0, has_sign ? 1 : 0) + std::string(zeros, '0') +
                       text.substr(has_sign ? 1 : 0));
}

template <Class wanted>
Value is_text_of(Call& call) {
  return is_all(call.text(0), wanted);
}

const Dict& dict_in(Call& call) { return **call[0].as<std::shared_ptr<const Dict>>(); }
Value view(Call& call, Kind kind) {
  std::vector<Value> items;
  for (const auto& [key, value] : dict_in(call).items)
    items.push_back(kind == Kind::keys     ? key
                    : kind == Kind::values ? value
                                           : call.run.sequence({key, value}, Kind::tuple));
  return call.run.sequence(std::move(items), kind);
}

Value place_in_list(Call& call) {
  const std::vector<Value>& items = places_in(call[0])->items;
  const auto place = [&](std::size_t i) {
    const std::int64_t given = call.is_none(i) ? std::ssize(items) : call.integer(i);
    return std::clamp<std::int64_t>(given < 0 ? given + std::ssize(items) : given, 0,
                                    std::ssize(items));
  };
  for (std::int64_t i = place(2); i < place(3); ++i)
    if (are_equal(call.run, items[static_cast<std::size_t>(i)], call[1])) return i;
  fail_rendering("a list with the value for index", "another");
}

Value count_in_list(Call& call) {
  std::int64_t count = 0;
  for (const Value& item : places_in(call[0])->items)
    count += are_equal(call.run, item, call[1]) ? 1 : 0;
  return count;
}

Loop& loop_in(Call& call) {
  Loop& loop = **call[0].as<std::shared_ptr<Loop>>();
  if (!loop.more) fail_rendering("loop within its loop", "loop after it");
  return loop;
}
bool has_next(Loop& loop) { return loop.index + 1 < loop.items.size() || loop.more(); }
std::size_t length_in(Call& call) {
  Loop& loop = loop_in(call);
  while (loop.more()) continue;
  return loop.items.size();
}

const Table& members() {
  static const Table table = table_of({
      {"str.capitalize", "self; /",
       [](Call& call) {
         return cased(call, [](std::string_view text) { return in_title_case(text, true); });
       }},
      {"str.center", "self; width:i; fillchar:s=' '; /",
       [](Call& call) {
         const std::size_t space = missing(call);
         const std::size_t before =
             space / 2 + (space & static_cast<std::size_t>(call.integer(1)) & 1U);
         return padded(call, before, space - before, fill_of(call));
       }},
      {"str.count", "self; sub:s; start:i?=none; end:i?=none; /",
       [](Call& call) {
         const auto range = range_in(call);
         return number_value(range ? count_of(range->first, call.text(1)) : 0);
       }},
      {"str.endswith", "self; suffix; start:i?=none; end:i?=none; /",
       [](Call& call) { return begins_or_ends(call, false); }},
      {"str.find", "self; sub:s; start:i?=none; end:i?=none; /",
       [](Call& call) { return place_of(call, false, false); }},
      {"str.index", "self; sub:s; start:i?=none; end:i?=none; /",
       [](Call& call) { return place_of(call, false, true); }},
      {"str.isalnum", "self; /", is_text_of<Class::alnum>},
      {"str.isalpha", "self; /", is_text_of<Class::alpha>},
      {"str.isascii", "self; /", is_text_of<Class::ascii>},
      {"str.isdecimal", "self; /", is_text_of<Class::decimal>},
      {"str.isdigit", "self; /", is_text_of<Class::digit>},
      {"str.isnumeric", "self; /", is_text_of<Class::numeric>},
      {"str.isprintable", "self; /", is_text_of<Class::printable>},
      {"str.isspace", "self; /", is_text_of<Class::space>},
      {"str.islower", "self; /",
       [](Call& call) -> Value { return is_all_in_case(call.text(0), Case::lower); }},
      {"str.isupper", "self; /",
       [](Call& call) -> Value { return is_all_in_case(call.text(0), Case::upper); }},
      {"str.join", "self; iterable; /", joined},
      {"str.ljust", "self; width:i; fillchar:s=' '; /",
       [](Call& call) { return padded(call, 0, missing(call), fill_of(call)); }},
      {"str.lower", "self; /",
       [](Call& call) {
         return cased(call, [](std::string_view text) { return in_case(text, Case::lower); });
       }},
      {"str.lstrip", "self; chars:s?=none; /",
       [](Call& call) { return stripped_text(call, true, false); }},
      {"str.partition", "self; sep:s; /", [](Call& call) { return partitioned(call, false); }},
      {"str.removeprefix", "self; prefix:s; /",
       [](Call& call) {
         const bool has = call.text(0).starts_with(call.text(1));
         return call.run.text(call.text(0).substr(has ? call.text(1).size() : 0));
       }},
      {"str.removesuffix", "self; suffix:s; /",
       [](Call& call) {
         const bool has = call.text(0).ends_with(call.text(1));
         return call.run.text(
             call.text(0).substr(0, call.text(0).size() - (has ? call.text(1).size() : 0)));
       }},
      {"str.replace", "self; old:s; new:s; count:i=-1; /", replaced_in},
      {"str.rfind", "self; sub:s; start:i?=none; end:i?=none; /",
       [](Call& call) { return place_of(call, true, false); }},
      {"str.rindex", "self; sub:s; start:i?=none; end:i?=none; /",
       [](Call& call) { return place_of(call, true, true); }},
      {"str.rjust", "self; width:i; fillchar:s=' '; /",
       [](Call& call) { return padded(call, missing(call), 0, fill_of(call)); }},
      {"str.rpartition", "self; sep:s; /", [](Call& call) { return partitioned(call, true); }},
      {"str.rsplit", "self; sep:s?=none; maxsplit:i=-1",
       [](Call& call) { return split_at(call, true); }},
      {"str.rstrip", "self; chars:s?=none; /",
       [](Call& call) { return stripped_text(call, false, true); }},
      {"str.split", "self; sep:s?=none; maxsplit:i=-1",
       [](Call& call) { return split_at(call, false); }},
      {"str.splitlines", "self; keepends:i=0",
       [](Call& call) {
         std::vector<Value> lines;
         split_lines(call.text(0), call.integer(1) != 0, [&](std::string_view line) {
           lines.push_back(call.run.text(std::string(line)));
         });
         return call.run.sequence(std::move(lines));
       }},
      {"str.startswith", "self; prefix; start:i?=none; end:i?=none; /",
       [](Call& call) { return begins_or_ends(call, true); }},
      {"str.strip", "self; chars:s?=none; /",
       [](Call& call) { return stripped_text(call, true, true); }},
      {"str.title", "self; /",
       [](Call& call) {
         return cased(call, [](std::string_view text) { return in_title_case(text, false); });
       }},
      {"str.upper", "self; /",
       [](Call& call) {
         return cased(call, [](std::string_view text) { return in_case(text, Case::upper); });
       }},
      {"str.zfill", "self; width:i; /", zero_filled},
      {"str.casefold str.encode str.expandtabs str.format str.format_map str.isidentifier "
       "str.istitle str.maketrans str.swapcase str.translate",
       "*; **", nullptr},
      {"dict.copy", "self; /", [](Call& call) { return call[0]; }},
      {"dict.get", "self; key; default=none; /",
       [](Call& call) {
         const Value* found = entry_of(call.run, dict_in(call), call[1]);
         return found ? *found : call[2];
       }},
      {"dict.items", "self; /", [](Call& call) { return view(call, Kind::items); }},
      {"dict.keys", "self; /", [](Call& call) { return view(call, Kind::keys); }},
      {"dict.values", "self; /", [](Call& call) { return view(call, Kind::values); }},
      {"list.copy", "self; /", [](Call& call) { return call[0]; }},
      {"list.count tuple.count", "self; value; /", count_in_list},
      {"list.index tuple.index", "self; value; start:i=0; stop:i?=none; /", place_in_list},
      {"tuple.grouper", "self; .", [](Call& call) { return places_in(call[0])->items[0]; }},
      {"tuple.list", "self; .", [](Call& call) { return places_in(call[0])->items[1]; }},
      // Those that change a value are refused by Jinja's sandbox, too.
      {"dict.clear dict.fromkeys dict.pop dict.popitem dict.setdefault dict.update list.append "
       "list.clear list.extend list.insert list.pop list.remove list.reverse list.sort "
       "range.count range.index range.start range.stop range.step int.as_integer_ratio "
       "int.bit_count int.bit_length int.conjugate int.denominator int.from_bytes int.imag "
       "int.numerator int.real int.to_bytes float.as_integer_ratio float.conjugate float.fromhex "
       "float.hex float.imag float.is_integer float.real",
       "*; **", nullptr},
      {"loop.changed", "self; *",
       [](Call& call) -> Value {
         std::vector<Value> given(call.values.begin() + 1, call.values.end());
         std::vector<Value>& last = loop_in(call).compared;
         const bool is_same = loop_in(call).was_compared &&
                              std::ranges::equal(given, last, [&](const Value& a, const Value& b) {
                                return are_equal(call.run, a, b);
                              });
         loop_in(call).was_compared = true;
         last = std::move(given);
         return !is_same;
       }},
      {"loop.cycle", "self; *",
       [](Call& call) {
         if (call.values.size() == 1) fail_rendering("items for loop.cycle", "none");
         return call[1 + loop_in(call).index % (call.values.size() - 1)];
       }},
      {"loop.depth", "self; .", [](Call& call) -> Value { return loop_in(call), std::int64_t{1}; }},
      {"loop.depth0", "self; .",
       [](Call& call) -> Value { return loop_in(call), std::int64_t{0}; }},
      {"loop.first", "self; .", [](Call& call) -> Value { return loop_in(call).index == 0; }},
      {"loop.index", "self; .", [](Call& call) { return number_value(loop_in(call).index + 1); }},
      {"loop.index0", "self; .", [](Call& call) { return number_value(loop_in(call).index); }},
      {"loop.last", "self; .", [](Call& call) -> Value { return !has_next(loop_in(call)); }},
      {"loop.length", "self; .", [](Call& call) { return number_value(length_in(call)); }},
      {"loop.nextitem", "self; .",
       [](Call& call) -> Value {
         Loop& loop = loop_in(call);
         return has_next(loop) ? loop.items[loop.index + 1] : Undefined{};
       }},
      {"loop.previtem", "self; .",
       [](Call& call) -> Value {
         const Loop& loop = loop_in(call);
         return loop.index > 0 ? loop.items[loop.index - 1] : Undefined{};
       }},
      {"loop.revindex", "self; .",
       [](Call& call) { return number_value(length_in(call) - loop_in(call).index); }},
      {"loop.revindex0", "self; .",
       [](Call& call) { return number_value(length_in(call) - loop_in(call).index - 1); }},
  });
  return table;
}

bool is_closed(const Value& value) {
  const auto* list = value.as<std::shared_ptr<const Sequence>>();
  return value.as<Markup>() || value.as<std::shared_ptr<Loop>>() ||
         value.as<std::shared_ptr<const Macro>>() || value.as<std::shared_ptr<const Function>>() ||
         (list && !(*list)->has_places());
}

}  // namespace

const Signature* find_member(std::string_view type, std::string_view name) {
  return found_in(members(), str_cat(type == "bool" ? "int" : type, '.', name));
}

Value attribute(Run& run, const Value& own, const Text& name) {
  const std::string type = type_name(own);
  if (const auto* undefined = own.as<Undefined>())
    fail_rendering(str_cat("a value with '", *name, '\''),
                   undefined->name ? str_cat('\'', *undefined->name, "', which is undefined")
                                   : "an undefined one");
  run.charge(name->size() + 16);
  if (name->starts_with("__")) fail_rendering("names without leading underscores", *name);
  const Signature* member = find_member(type, *name);
  const bool is_group = places_in(own) && places_in(own)->kind == Kind::group;
  if (member && member->is_member && type == "tuple" && !is_group) member = nullptr;
  if (member && (!member->run || member->is_member)) return member->call(run, {{own}, {}});
  if (member) return std::make_shared<const Function>(Function{member, own});
  if (is_closed(own)) fail_rendering(str_cat("a member of a ", type), str_cat('\'', *name, '\''));
  const Value* found = nullptr;
  if (Dict* const* space = own.as<Dict*>()) found = (*space)->find('s' + *name);
  if (const auto* dict = own.as<std::shared_ptr<const Dict>>()) found = (*dict)->find('s' + *name);
  return found ? *found : Undefined{name};
}

Value element(Run& run, const Value& own, const Value& key) {
  const auto* text = own.as<Text>();
  const auto* name = key.as<Text>();
  const Sequence* list = places_in(own);
  if (const auto place = integer_of(key); place && (text || list)) {
    const auto size =
        static_cast<std::int64_t>(text ? count_characters(run.read(*text)) : list->items.size());
    const std::int64_t at = *place < 0 ? *place + size : *place;
    if (at < 0 || at >= size) return Undefined{};
    if (list) return list->items[static_cast<std::size_t>(at)];
    return slice(run, own, {at, at + 1, None{}});
  }
  if (const auto* dict = own.as<std::shared_ptr<const Dict>>()) {
    const bool is_unhashable = key.as<std::shared_ptr<const Dict>>() || type_name(key) == "list";
    const Value* found = is_unhashable ? nullptr : entry_of(run, **dict, key);
    if (found) return *found;
  }
  if (name) return attribute(run, own, *name);
  if (own.as<Undefined>()) return attribute(run, own, *run.text(str(run, key)).as<Text>());
  if (is_closed(own)) fail_rendering("a value with elements", type_name(own));
  return Undefined{};
}

}  // namespace weft::jinja
