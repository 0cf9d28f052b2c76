// The values of chat templates, as in Python: they do not change, but for namespaces, and share
// what they consist of.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace weft::jinja {

struct Dict;
struct Function;
struct Loop;
struct Macro;
struct Sequence;
using Text = std::shared_ptr<const std::string>;

struct Undefined {
  Text name;  // of what is not there; null if it has none
};
struct None {};
// A string to which the filter safe was applied. It can be written, and "+" adds escaped strings.
struct Markup {
  Text text;
};

// The pointer to a Dict is a namespace; a rendering owns these.
struct Value : std::variant<Undefined, None, bool, std::int64_t, double, Text, Markup,
                            std::shared_ptr<const Sequence>, std::shared_ptr<const Dict>, Dict*,
                            std::shared_ptr<Loop>, std::shared_ptr<const Macro>,
                            std::shared_ptr<const Function>> {
  using variant::variant;

  template <class T>
  const T* as() const {
    return std::get_if<T>(this);
  }
};

// A list, a tuple, range(…), keys(), values() and items() of a dict, and what is read once
// (Python's generators).
struct Sequence {
  enum class Kind { list, tuple, range, keys, values, items, generator };
  Kind kind = Kind::list;
  std::vector<Value> items;
  std::array<std::int64_t, 3> range = {};  // its begin, end and step
  int depth = 0;                           // of nested values
  mutable std::size_t used = 0;            // items of a generator that were read

  bool has_places() const { return kind <= Kind::range; }
};

struct Dict {
  std::vector<std::pair<Value, Value>> items;
  std::unordered_map<std::string, std::size_t> places;  // by key_of
  int depth = 0;

  const Value* find(const std::string& key) const;
  void set(const std::string& key, const Value& name, Value value);
};

// The variable `loop`.
struct Loop {
  std::vector<Value> items;    // those known so far
  std::size_t index = 0;       // of the current one, from 0
  std::function<bool()> more;  // adds the next item, if there is one; empty when the loop ended
};

// Functions throw ValueError, "chat template: expected …, got …".
[[noreturn]] void fail_rendering(const std::string& expected, const std::string& got);

// The work that renderings may still do: about one unit for each byte of data read or made.
struct Budget {
  static constexpr std::size_t most = std::size_t{64} << 20;
  std::size_t left = most;
  bool is_for_all = false;  // parts of a conversation

  void charge(std::size_t bytes);
};

// A rendering. All values are made and all strings are read here, which charges their sizes.
class Run {
 public:
  Run(Budget& budget, std::chrono::local_seconds time) : now(time), budget_(budget) {}

  void charge(std::size_t bytes) { budget_.charge(bytes); }
  const std::string& read(const Text& text);
  Value text(std::string text);
  Value sequence(std::vector<Value> items, Sequence::Kind kind = Sequence::Kind::list);
  Value dict(Dict dict);
  Value name_space(Dict dict) { return &namespaces_.emplace_back(std::move(dict)); }
  Value value(const nlohmann::ordered_json& json);

  const std::chrono::local_seconds now;
  int depth = 0;  // of what is being computed

 private:
  Budget& budget_;
  std::deque<Dict> namespaces_;
};

// Counts how deeply computations are nested, and charges each.
struct Step {
  explicit Step(Run& run);
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step() { --run.depth; }
  Run& run;
};

// The name of the type in Python.
std::string type_name(const Value& value);
bool is_true(const Value& value);
// A bool or an int.
std::optional<std::int64_t> integer_of(const Value& value);
std::optional<double> number_of(const Value& value);

// The sequence, if the value has one of items at places.
const Sequence* places_in(const Value& value);
// The text of a string, not of Markup.
const std::string& text_in(Run& run, const Value& value, const std::string& what);

// str(value) and repr(value).
std::string str(Run& run, const Value& value);
std::string repr(Run& run, const Value& value);

struct JsonForm {
  bool only_ascii = false;
  std::optional<std::string> indent;
  std::string between_items = ", ", after_key = ": ";
};
// json.dumps(value, …).
std::string json_text(Run& run, const Value& value, const JsonForm& form);

// A text that is equal for equal keys. Throws for what cannot be one.
std::string key_of(Run& run, const Value& value);
const Value* entry_of(Run& run, const Dict& dict, const Value& key);
void set_entry(Run& run, Dict& dict, const Value& key, Value value);

// Goes through a value, in a loop say.
class Items {
 public:
  // Throws for a value that has no items.
  Items(Run& run, Value value);
  std::optional<Value> next();

 private:
  Run& run_;
  Value value_;
  std::size_t at_ = 0;
};
std::vector<Value> items_of(Run& run, const Value& value);
// len(value), if it has one.
std::optional<std::size_t> length_of(Run& run, const Value& value);

}  // namespace weft::jinja
