#include "train/pretrained/chat_templates/internal/jinja_functions.hpp"

#include <algorithm>
#include <ctime>
#include <map>

#include "weft/autograd/error.hpp"

namespace weft::jinja {
namespace {

// Parses a default value, as written in a table of signatures.
Value fallback_value(Run& run, const std::string& text) {
  if (text == "none") return None{};
  if (text == "true" || text == "false") return text == "true";
  if (text.starts_with('\'')) return run.text(text.substr(1, text.size() - 2));
  return static_cast<std::int64_t>(std::stoll(text));
}

Dict dict_of(Call& call) {
  Dict dict;
  for (const auto& [name, value] : call.named)
    set_entry(call.run, dict, call.run.text(name), value);
  return dict;
}

// Formats the time like CPython's strftime in the locale "C".
std::string date_text(Run& run, const std::string& format) {
  bool is_known = format.find('\0') == format.npos;
  for (std::size_t i = 0; (i = format.find('%', i)) != format.npos; i += 2)
    is_known = is_known && i + 1 < format.size() &&
               std::string_view("fzZs").find(format[i + 1]) == std::string_view::npos;
  if (!is_known) fail_rendering("a date without %f, %z, %Z and %s", format);
  const std::time_t seconds = run.now.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  constexpr std::size_t longest = 32;  // the maximum length of the result of a directive
  std::string text(longest * (format.size() + 1), '\0');
  run.charge(text.size());
  text.resize(strftime_l(text.data(), text.size(), format.c_str(), &parts, plain));
  if (text.empty() && !format.empty()) fail_rendering("a shorter date", format);
  return text;
}

Value range(Call& call) {
  const std::size_t count = call.values.size();
  std::array<std::int64_t, 3> given = {0, 0, 1};
  for (std::size_t i = 0; i < count && i < 3; ++i) {
    const auto number = integer_of(call[i]);
    if (!number) fail_rendering("integers for range", type_name(call[i]));
    given[count == 1 ? 1 : i] = *number;
  }
  if (count < 1 || count > 3 || given[2] == 0)
    fail_rendering("one to three integers for range, with a step other than 0", "other arguments");
  std::vector<Value> items;
  constexpr std::size_t longest = 100'000;  // as in Jinja's sandbox
  for (std::int64_t i = given[0]; given[2] > 0 ? i < given[1] : i > given[1];) {
    if (items.size() == longest)
      fail_rendering("a range of at most 100000 items", "a longer range");
    items.emplace_back(i);
    if (__builtin_add_overflow(i, given[2], &i)) break;
  }
  Sequence result{.kind = Sequence::Kind::range, .items = std::move(items), .range = given};
  call.run.charge(sizeof(Value) * result.items.size());
  return std::make_shared<const Sequence>(std::move(result));
}

const Table& functions() {
  static const Table table = table_of({
      {"range", "*", range},
      {"dict", "**", [](Call& call) { return call.run.dict(dict_of(call)); }},
      {"namespace", "**",
       [](Call& call) {
         Dict dict = dict_of(call);
         for (const auto& [name, value] : call.named)
           if (name.starts_with('_'))
             fail_rendering("names without leading underscores in a namespace", name);
         return call.run.name_space(std::move(dict));
       }},
      {"raise_exception", "message:t",
       [](Call& call) -> Value { throw ValueError("chat template: " + call.text(0)); }},
      {"strftime_now", "format:s",
       [](Call& call) { return call.run.text(date_text(call.run, call.text(0))); }},
      {"lipsum cycler joiner", "*; **", nullptr},
  });
  return table;
}

}  // namespace

Signature::Signature(std::string_view names, std::string_view written, Implementation own)
    : name(names), run(own) {
  for (std::size_t at = 0; at < written.size();) {
    const std::size_t end = std::min(written.find("; ", at), written.size());
    const std::string part(written.substr(at, end - at));
    at = end + 2;
    if (part == "/") {
      for (Parameter& parameter : parameters) parameter.is_by_place = true;
    } else if (part == "*" || part == "**" || part == ".") {
      (part == "*" ? takes_more : part == "." ? is_member : takes_names) = true;
    } else {
      Parameter& parameter = parameters.emplace_back();
      const std::size_t equals = std::min(part.find('='), part.size());
      const std::size_t colon = std::min(part.find(':'), equals);
      parameter.name = part.substr(0, colon);
      if (colon < equals) parameter.type = part[colon + 1];
      parameter.may_be_none = equals > 0 && part[equals - 1] == '?';
      if (equals < part.size()) parameter.fallback = part.substr(equals + 1);
    }
  }
}

Value Signature::call(Run& rendering, Arguments arguments) const {
  if (!run) fail_rendering("a template without " + name + ", which is not supported", name);
  Call call{rendering, {}, {}};
  const std::size_t given = arguments.values.size();
  if (given > parameters.size() && !takes_more)
    fail_rendering(str_cat("at most ", parameters.size(), " arguments of ", name), str_cat(given));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const std::string what = str_cat("argument ", parameter.name, " of ", name);
    const auto named = std::ranges::find_if(arguments.named, [&](const auto& argument) {
      return argument.first == parameter.name && !parameter.is_by_place;
    });
    const bool is_named = named != arguments.named.end();
    if (is_named && i < given) fail_rendering(what + " once", "two values for it");
    if (!is_named && i >= given && parameter.fallback.empty()) fail_rendering(what, "none");
    Value value = i < given  ? arguments.values[i]
                  : is_named ? named->second
                             : fallback_value(rendering, parameter.fallback);
    if (is_named) arguments.named.erase(named);
    call.values.push_back(parameter.may_be_none && value.as<None>()
                              ? std::move(value)
                              : converted(rendering, std::move(value), parameter.type, what));
  }
  for (std::size_t i = parameters.size(); i < given; ++i)
    call.values.push_back(arguments.values[i]);
  if (!arguments.named.empty() && !takes_names)
    fail_rendering("a known argument of " + name, arguments.named.front().first);
  call.named = std::move(arguments.named);
  return run(call);
}

Table table_of(std::initializer_list<Signature> rows) {
  Table table;
  for (const Signature& row : rows)
    for (std::size_t at = 0; at < row.name.size();) {
      const std::size_t end = std::min(row.name.find(' ', at), row.name.size());
      const auto [place, is_new] = table.emplace(row.name.substr(at, end - at), row);
      place->second.name = place->first;
      at = end + 1;
    }
  return table;
}

const Signature* found_in(const Table& table, std::string_view name) {
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

Value converted(Run& run, Value value, char type, const std::string& what) {
  if (type == 'b') return is_true(value);
  if (type == 't' && !value.as<Markup>())
    return value.as<Text>() ? std::move(value) : run.text(str(run, value));
  const auto integer = integer_of(value);
  if (type == 'i' && integer) return *integer;
  if (type == 'x' || (type == 's' && value.as<Text>())) return value;
  fail_rendering(str_cat(type == 'i' ? "an integer as " : "a string as ", what), type_name(value));
}

const Signature* find_function(std::string_view name) { return found_in(functions(), name); }

}  // namespace weft::jinja
