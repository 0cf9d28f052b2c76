#include "train/pretrained/chat_templates/internal/jinja_values.hpp"

#include <algorithm>
#include <cmath>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/pretrained/chat_templates/internal/jinja_operators.hpp"
#include "train/pretrained/chat_templates/internal/jinja_text.hpp"

namespace weft::jinja {
namespace {

// The names of the types of sequences in Python.
constexpr std::array list_names = {"list",        "tuple",      "range",    "dict_keys",
                                   "dict_values", "dict_items", "generator"};

int depth_of(const Value& value) {
  if (const auto* list = value.as<std::shared_ptr<const Sequence>>()) return (*list)->depth;
  if (const auto* dict = value.as<std::shared_ptr<const Dict>>()) return (*dict)->depth;
  return 0;
}

// Updates the depth of a value that contains `inner`.
void nest(int& depth, const Value& inner) {
  constexpr int deepest = 100;
  depth = std::max(depth, depth_of(inner) + 1);
  if (depth > deepest) fail_rendering("at most 100 levels of nested values", "more");
}

class Writer {
 public:
  explicit Writer(Run& run) : run_(run) {}

  void write(std::string_view part) {
    run_.charge(part.size());
    out += part;
  }

  void repr(const Value& value) {
    const Step step(run_);
    if (const auto* text = value.as<Text>()) return write(quoted_as_python(escapable(*text)));
    if (value.as<Undefined>()) return write("Undefined");
    if (value.as<None>()) return write("None");
    if (const bool* is = value.as<bool>()) return write(*is ? "True" : "False");
    if (const auto* number = value.as<std::int64_t>()) return write(str_cat(*number));
    if (const double* number = value.as<double>()) return write(number_text(*number));
    if (const auto* dict = value.as<std::shared_ptr<const Dict>>()) return entries(**dict);
    if (Dict* const* own = value.as<Dict*>()) {
      write("<Namespace ");
      entries(**own);
      return write(">");
    }
    const auto* list = value.as<std::shared_ptr<const Sequence>>();
    if (!list || (*list)->kind == Sequence::Kind::generator)
      fail_rendering("a value that can be printed", type_name(value));
    sequence(**list);
  }

  void json(const Value& value, const JsonForm& form, const std::string& line) {
    const Step step(run_);
    const std::string inner = line + form.indent.value_or("");
    const auto* dict = value.as<std::shared_ptr<const Dict>>();
    const auto* list = value.as<std::shared_ptr<const Sequence>>();
    const auto item = [&](bool is_first) {
      if (!is_first) write(form.between_items);
      if (form.indent) write(inner);
    };
    const auto end = [&](char bracket, bool is_empty) {
      if (form.indent && !is_empty) write(line);
      write({&bracket, 1});
    };
    if (const auto* text = value.as<Text>()) {
      write(quoted_as_json(escapable(*text), form.only_ascii));
    } else if (dict) {
      write("{");
      for (const auto& [key, inner_value] : (*dict)->items) {
        item(&key == &(*dict)->items.front().first);
        const bool is_text = key.template as<Text>();
        if (key.template as<std::shared_ptr<const Sequence>>())
          fail_rendering("a key for tojson", "tuple");
        if (!is_text) write("\"");
        json(key, form, line);
        if (!is_text) write("\"");
        write(form.after_key);
        json(inner_value, form, inner);
      }
      end('}', (*dict)->items.empty());
    } else if (list && (*list)->kind <= Sequence::Kind::tuple) {
      write("[");
      for (const Value& one : (*list)->items) {
        item(&one == &(*list)->items.front());
        json(one, form, inner);
      }
      end(']', (*list)->items.empty());
    } else if (value.as<None>()) {
      write("null");
    } else if (const bool* is = value.as<bool>()) {
      write(*is ? "true" : "false");
    } else if (number_of(value)) {
      repr(value);
    } else {
      fail_rendering("a value for tojson", type_name(value));
    }
  }

  std::string out;

 private:
  // Returns a string to be escaped. Escaping can make it six times as long.
  const std::string& escapable(const Text& text) {
    run_.charge(6 * text->size());
    return *text;
  }

  void entries(const Dict& dict) {
    write("{");
    for (const auto& entry : dict.items) {
      if (&entry != &dict.items.front()) write(", ");
      repr(entry.first);
      write(": ");
      repr(entry.second);
    }
    write("}");
  }

  void sequence(const Sequence& list) {
    using Kind = Sequence::Kind;
    if (list.kind == Kind::range) {
      const auto& [begin, end, step] = list.range;
      write(str_cat("range(", begin, ", ", end));
      return write(step == 1 ? ")" : str_cat(", ", step, ')'));
    }
    const bool is_tuple = list.kind == Kind::tuple;
    const bool is_view = list.kind >= Kind::keys;
    if (is_view) write(std::string(list_names.at(static_cast<std::size_t>(list.kind))) + '(');
    write(is_tuple ? "(" : "[");
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      if (i > 0) write(", ");
      repr(list.items[i]);
    }
    if (is_tuple && list.items.size() == 1) write(",");
    write(is_tuple ? ")" : "]");
    if (is_view) write(")");
  }

  Run& run_;
};

}  // namespace

const Value* Dict::find(const std::string& key) const {
  const auto found = places.find(key);
  return found == places.end() ? nullptr : &items[found->second].second;
}

void Dict::set(const std::string& key, const Value& name, Value value) {
  nest(depth, value);
  if (const auto [place, is_new] = places.emplace(key, items.size()); is_new)
    items.emplace_back(name, std::move(value));
  else
    items[place->second].second = std::move(value);
}

void fail_rendering(const std::string& expected, const std::string& got) {
  fail<ValueError>("chat template", expected, got);
}

void Budget::charge(std::size_t bytes) {
  if (bytes > left)
    fail_rendering(is_for_all ? "parts of a conversation that need less work"
                              : "at most 64 MiB of values and steps",
                   is_for_all ? "more work" : "more");
  left -= bytes;
}

Step::Step(Run& in) : run(in) {
  constexpr int deepest = 500;
  constexpr std::size_t cost = 32;
  run.charge(cost);
  if (run.depth >= deepest) fail_rendering("at most 500 nested steps", "more");
  ++run.depth;
}

const std::string& Run::read(const Text& text) {
  charge(text->size());
  return *text;
}

Value Run::text(std::string text) {
  charge(sizeof(Value) + sizeof(std::string) + text.size());
  return std::make_shared<const std::string>(std::move(text));
}

Value Run::sequence(std::vector<Value> items, Sequence::Kind kind) {
  charge(sizeof(Sequence) + items.size() * sizeof(Value));
  Sequence result{.kind = kind, .items = std::move(items)};
  for (const Value& item : result.items) nest(result.depth, item);
  return std::make_shared<const Sequence>(std::move(result));
}

Value Run::dict(Dict dict) {
  charge(sizeof(Dict));
  return std::make_shared<const Dict>(std::move(dict));
}

Value Run::value(const nlohmann::ordered_json& json) {
  using Type = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Type::null:
      return None{};
    case Type::boolean:
      return json.get<bool>();
    case Type::number_integer:
      return json.get<std::int64_t>();
    case Type::number_unsigned: {
      const auto number = json.get<std::uint64_t>();
      if (number >> 63 != 0) fail_rendering("64-bit integers", str_cat(number));
      return static_cast<std::int64_t>(number);
    }
    case Type::number_float:
      return finite(json.get<double>());
    case Type::string: {
      const auto& own = json.get_ref<const std::string&>();
      check_utf8(own, "chat message");
      return text(own);
    }
    case Type::array: {
      std::vector<Value> items;
      for (const auto& item : json) items.push_back(value(item));
      return sequence(std::move(items));
    }
    default:
      break;
  }
  Dict result;
  for (const auto& [key, item] : json.items()) set_entry(*this, result, value(key), value(item));
  return dict(std::move(result));
}

std::string type_name(const Value& value) {
  if (const auto* list = value.as<std::shared_ptr<const Sequence>>())
    return list_names.at(static_cast<std::size_t>((*list)->kind));
  return std::array{"undefined", "NoneType", "bool",      "int",  "float", "str",     "Markup",
                    "",          "dict",     "Namespace", "loop", "macro", "function"}
      .at(value.index());
}

bool is_true(const Value& value) {
  if (const bool* is = value.as<bool>()) return *is;
  if (const auto number = number_of(value)) return *number != 0.0;
  if (const auto* text = value.as<Text>()) return !(*text)->empty();
  if (const auto* markup = value.as<Markup>()) return !markup->text->empty();
  if (const auto* dict = value.as<std::shared_ptr<const Dict>>()) return !(*dict)->items.empty();
  if (const auto* list = value.as<std::shared_ptr<const Sequence>>())
    return (*list)->kind == Sequence::Kind::generator || !(*list)->items.empty();
  return !value.as<Undefined>() && !value.as<None>();
}

std::optional<std::int64_t> integer_of(const Value& value) {
  if (const bool* is = value.as<bool>()) return *is ? 1 : 0;
  if (const auto* number = value.as<std::int64_t>()) return *number;
  return std::nullopt;
}

std::optional<double> number_of(const Value& value) {
  if (const double* number = value.as<double>()) return *number;
  const auto integer = integer_of(value);
  return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
}

const Sequence* places_in(const Value& value) {
  const auto* list = value.as<std::shared_ptr<const Sequence>>();
  return list && (*list)->has_places() ? list->get() : nullptr;
}

const std::string& text_in(Run& run, const Value& value, std::string_view what) {
  const auto* text = value.as<Text>();
  if (!text) fail_rendering(str_cat("a string for ", what), type_name(value));
  return run.read(*text);
}

std::string str(Run& run, const Value& value) {
  if (const auto* text = value.as<Text>()) return run.read(*text);
  if (const auto* markup = value.as<Markup>()) return run.read(markup->text);
  return value.as<Undefined>() ? std::string() : repr(run, value);
}

std::string repr(Run& run, const Value& value) {
  Writer writer(run);
  writer.repr(value);
  return std::move(writer.out);
}

std::string json_text(Run& run, const Value& value, const JsonForm& form) {
  Writer writer(run);
  writer.json(value, form, "\n");
  return std::move(writer.out);
}

std::string key_of(Run& run, const Value& value) {
  if (const auto* text = value.as<Text>()) return 's' + run.read(*text);
  if (const auto number = integer_of(value)) return str_cat('i', *number);
  if (const double* number = value.as<double>()) {
    constexpr double largest = 9e15;
    const bool is_whole = std::abs(*number) < largest &&
                          static_cast<double>(static_cast<std::int64_t>(*number)) == *number;
    return is_whole ? str_cat('i', static_cast<std::int64_t>(*number)) : 'f' + number_text(*number);
  }
  if (value.as<None>() || value.as<Undefined>()) return value.as<None>() ? "n" : "u";
  const Sequence* tuple = places_in(value);
  if (!tuple || tuple->kind == Sequence::Kind::list || tuple->kind == Sequence::Kind::range)
    fail_rendering("a key of a dict", type_name(value));
  const Step step(run);
  std::string key = "(";
  for (const Value& item : tuple->items) {
    const std::string own = key_of(run, item);
    key += str_cat(own.size(), ':', own);
  }
  return key;
}

const Value* entry_of(Run& run, const Dict& dict, const Value& key) {
  return dict.find(key_of(run, key));
}

void set_entry(Run& run, Dict& dict, const Value& key, Value value) {
  constexpr std::size_t place_bytes = 64;
  run.charge(2 * sizeof(Value) + place_bytes);
  dict.set(key_of(run, key), key, std::move(value));
}

Items::Items(Run& run, Value value) : run_(run), value_(std::move(value)) {
  if (value_.as<Undefined>()) value_ = std::make_shared<const Sequence>();
  if (!value_.as<Text>() && !value_.as<std::shared_ptr<const Sequence>>() &&
      !value_.as<std::shared_ptr<const Dict>>())
    fail_rendering("a value with items", type_name(value_));
}

std::optional<Value> Items::next() {
  run_.charge(sizeof(Value));
  if (const auto* text = value_.as<Text>()) {
    if (at_ == (*text)->size()) return std::nullopt;
    const std::size_t begin = at_;
    do ++at_;
    while (at_ < (*text)->size() && !starts_character((**text)[at_]));
    return run_.text((*text)->substr(begin, at_ - begin));
  }
  if (const auto* dict = value_.as<std::shared_ptr<const Dict>>())
    return at_ < (*dict)->items.size() ? std::optional((*dict)->items[at_++].first) : std::nullopt;
  const Sequence& list = **value_.as<std::shared_ptr<const Sequence>>();
  std::size_t& at = list.kind == Sequence::Kind::generator ? list.used : at_;
  return at < list.items.size() ? std::optional(list.items[at++]) : std::nullopt;
}

std::vector<Value> items_of(Run& run, const Value& value) {
  Items items(run, value);
  std::vector<Value> all;
  while (std::optional<Value> item = items.next()) all.push_back(*std::move(item));
  return all;
}

std::optional<std::size_t> length_of(Run& run, const Value& value) {
  if (const auto* text = value.as<Text>()) return count_characters(run.read(*text));
  if (const auto* dict = value.as<std::shared_ptr<const Dict>>()) return (*dict)->items.size();
  if (value.as<Undefined>()) return 0;
  const auto* list = value.as<std::shared_ptr<const Sequence>>();
  if (!list || (*list)->kind == Sequence::Kind::generator) return std::nullopt;
  return (*list)->items.size();
}

}  // namespace weft::jinja
