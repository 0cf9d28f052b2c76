#include "train/pretrained/chat_templates/internal/jinja_members.hpp"

#include <algorithm>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/pretrained/chat_templates/internal/jinja_text.hpp"

namespace weft::jinja {
namespace {

using Kind = Sequence::Kind;
constexpr std::size_t case_cost = 8;  // the work per byte of changing the case

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

Value split_at(Call& call) {
  if (!call.is_none(1) && call.text(1).empty())
    fail_rendering("a separator that is not empty", "''");
  std::vector<Value> parts;
  split(call.text(0), call.is_none(1) ? "" : call.text(1), limit_of(call.integer(2)),
        [&](std::string_view part) { parts.push_back(call.run.text(std::string(part))); });
  return call.run.sequence(std::move(parts));
}

Value place_of(Call& call, std::size_t (*find)(std::string_view, std::string_view)) {
  const std::size_t found = find(call.text(0), call.text(1));
  if (found == std::string::npos) return std::int64_t{-1};
  return number_value(count_characters(std::string_view(call.text(0)).substr(0, found)));
}

Value replaced_in(Call& call) {
  const std::string &text = call.text(0), &old = call.text(1), &other = call.text(2);
  const std::size_t count = std::min(limit_of(call.integer(3)), count_of(text, old));
  if (other.size() != 0 && count > Budget::most / other.size()) call.run.charge(no_limit);
  call.run.charge(count * other.size());
  return call.run.text(replaced(text, old, other, count));
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

Loop& loop_in(Call& call) {
  Loop& loop = **call[0].as<std::shared_ptr<Loop>>();
  if (!loop.more) fail_rendering("loop inside its loop", "loop after the end of its loop");
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
      {"str.endswith", "self; suffix:s; /",
       [](Call& call) -> Value { return call.text(0).ends_with(call.text(1)); }},
      {"str.find", "self; sub:s; /",
       [](Call& call) {
         return place_of(call, [](auto text, auto part) { return find_in(text, part); });
       }},
      {"str.lower", "self; /",
       [](Call& call) {
         return cased(call, [](std::string_view text) { return in_case(text, Case::lower); });
       }},
      {"str.lstrip", "self; chars:s?=none; /",
       [](Call& call) { return stripped_text(call, true, false); }},
      {"str.replace", "self; old:s; new:s; count:i=-1; /", replaced_in},
      {"str.rfind", "self; sub:s; /", [](Call& call) { return place_of(call, find_last_in); }},
      {"str.rstrip", "self; chars:s?=none; /",
       [](Call& call) { return stripped_text(call, false, true); }},
      {"str.split", "self; sep:s?=none; maxsplit:i=-1", split_at},
      {"str.startswith", "self; prefix:s; /",
       [](Call& call) -> Value { return call.text(0).starts_with(call.text(1)); }},
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
      {"str.casefold str.center str.count str.encode str.expandtabs str.format str.format_map "
       "str.index str.isalnum str.isalpha str.isascii str.isdecimal str.isdigit str.isidentifier "
       "str.islower str.isnumeric str.isprintable str.isspace str.istitle str.isupper str.join "
       "str.ljust str.maketrans str.partition str.removeprefix str.removesuffix str.rindex "
       "str.rjust "
       "str.rpartition str.rsplit str.splitlines str.swapcase str.translate str.zfill",
       "*; **", nullptr},
      {"dict.get", "self; key; default=none; /",
       [](Call& call) {
         const Value* found = entry_of(call.run, dict_in(call), call[1]);
         return found ? *found : call[2];
       }},
      {"dict.items", "self; /", [](Call& call) { return view(call, Kind::items); }},
      {"dict.keys", "self; /", [](Call& call) { return view(call, Kind::keys); }},
      {"dict.values", "self; /", [](Call& call) { return view(call, Kind::values); }},
      // Jinja's sandbox also rejects the methods that change a value.
      {"dict.clear dict.copy dict.fromkeys dict.pop dict.popitem dict.setdefault dict.update "
       "list.append "
       "list.clear list.copy list.count list.extend list.index list.insert list.pop list.remove "
       "list.reverse list.sort "
       "tuple.count tuple.index range.count range.index range.start range.stop range.step "
       "int.as_integer_ratio "
       "int.bit_count int.bit_length int.conjugate int.denominator int.from_bytes int.imag "
       "int.numerator int.real int.to_bytes float.as_integer_ratio float.conjugate float.fromhex "
       "float.hex float.imag float.is_integer float.real",
       "*; **", nullptr},
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
      {"loop.changed loop.cycle loop.depth loop.depth0 loop.revindex loop.revindex0", "*; **",
       nullptr},
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
                                   : "an undefined value");
  run.charge(name->size() + 16);
  if (name->starts_with("__")) fail_rendering("names without leading underscores", *name);
  const Signature* member = find_member(type, *name);
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
