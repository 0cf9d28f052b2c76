#include "train/pretrained/chat_templates/internal/jinja_scopes.hpp"

#include <algorithm>

#include "weft/autograd/error.hpp"
#include "train/pretrained/chat_templates/internal/jinja_members.hpp"

namespace weft::jinja {

std::optional<Value>* Scope::find(std::string_view name) {
  for (Scope* scope = this; scope; scope = scope->outer)
    if (const auto found = scope->values.find(name); found != scope->values.end())
      return &found->second;
  return nullptr;
}

OpenScope::OpenScope(Context& in, const Names& names, Scope* outer)
    : in_(in), scope_{.outer = outer, .number = ++in.num_scopes} {
  constexpr std::size_t entry_bytes = 96;
  in.charge(entry_bytes * (names.size() + 1));
  for (const auto& [name, use] : names) {
    std::optional<Value> first;
    std::optional<Value>* const known = outer && !use.is_parameter ? outer->find(name) : nullptr;
    if (known && !use.is_set) continue;
    if (known) {
      first = *known;
    } else if (!use.is_parameter && !use.starts_undefined) {
      const auto variable = in.variables.find(name);
      const Signature* const function = find_function(name);
      if (variable != in.variables.end())
        first = variable->second;
      else if (function)
        first = std::make_shared<const Function>(Function{function, std::nullopt});
    }
    scope_.values.emplace(name, std::move(first));
  }
  in.scopes.push_back(&scope_);
}

std::pair<std::string, Flow> captured(Context& in, const Statement& part) {
  struct Capture {
    explicit Capture(Context& of) : in(of), before(std::exchange(of.out, {})) { ++in.captures; }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    ~Capture() {
      in.out = std::move(before);
      --in.captures;
    }
    Context& in;
    std::string before;
  };
  const Capture capture(in);
  const Flow flow = part(in);
  return {std::exchange(in.out, {}), flow};
}

namespace {

Value called_macro(Context& in, const Macro& macro, Arguments arguments) {
  const MacroCode& code = *macro.code;
  if (macro.place >= in.scopes.size() || in.scopes[macro.place]->number != macro.number)
    fail_rendering("a call of a macro inside the scope that defines it",
                   "a call of " + code.name + " outside");
  if (arguments.values.size() > code.parameters.size())
    fail_rendering(str_cat("at most ", code.parameters.size(), " arguments of ", code.name),
                   str_cat(arguments.values.size()));
  const Step step(in);
  OpenScope scope(in, code.names, in.scopes[macro.place]);
  std::vector<bool> is_given(code.parameters.size());
  for (std::size_t i = 0; i < code.parameters.size(); ++i) {
    const auto named = std::ranges::find(arguments.named, code.parameters[i].first,
                                         &std::pair<std::string, Value>::first);
    is_given[i] = i < arguments.values.size() || named != arguments.named.end();
    if (i < arguments.values.size()) {
      scope.set(code.parameters[i].first, arguments.values[i]);
    } else if (is_given[i]) {
      scope.set(code.parameters[i].first, named->second);
      arguments.named.erase(named);
    }
  }
  if (!arguments.named.empty())
    fail_rendering("a known argument of " + code.name, arguments.named.front().first);
  for (std::size_t i = 0; i < code.parameters.size(); ++i)
    if (const auto& [name, fallback] = code.parameters[i]; !is_given[i] && fallback)
      scope.set(name, fallback(in));
  return in.text(captured(in, code.body).first);
}

}  // namespace

Value called(Context& in, const Value& callee, Arguments arguments) {
  if (const auto* macro = callee.as<std::shared_ptr<const Macro>>())
    return called_macro(in, **macro, std::move(arguments));
  const auto* function = callee.as<std::shared_ptr<const Function>>();
  if (const auto* undefined = callee.as<Undefined>(); undefined && undefined->name)
    fail_rendering("a function", str_cat('\'', *undefined->name, "', which is undefined"));
  if (!function) fail_rendering("a function", type_name(callee));
  if ((*function)->own) arguments.values.insert(arguments.values.begin(), *(*function)->own);
  return (*function)->signature->call(in, std::move(arguments));
}

void Target::assign(Context& in, const Value& value) const {
  if (is_tuple) {
    const std::vector<Value> values = items_of(in, value);
    if (values.size() != parts.size())
      fail_rendering(str_cat(parts.size(), " values, one for each name"), str_cat(values.size()));
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].assign(in, values[i]);
    return;
  }
  std::optional<Value>* const variable = in.scopes.back()->find(name);
  if (attribute.empty()) {
    *variable = value;
    return;
  }
  Dict* const* const space = *variable ? (*variable)->as<Dict*>() : nullptr;
  if (!space) fail_rendering(str_cat("a namespace '", name, '\''), "a different type");
  if (attribute.starts_with('_'))
    fail_rendering("names without leading underscores in a namespace", attribute);
  set_entry(in, **space, in.text(attribute), value);
}

}  // namespace weft::jinja
