// The values of chat templates, as in Python. Values are immutable, except for namespaces, so
// copies share their contents.
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

// An undefined value.
struct Undefined {
  Text name;  // the name that is not defined; null if there is none
};
struct None {};
// A string after the filter safe. It can be written, and "+" adds escaped strings to it.
struct Markup {
  Text text;
};

// A value. A Dict* is a namespace, which the rendering owns.
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

// A list, a tuple, range(…), the keys(), values() or items() of a dict, or a generator, which can
// be iterated only once.
struct Sequence {
  enum class Kind { list, tuple, range, keys, values, items, generator };
  Kind kind = Kind::list;
  std::vector<Value> items;
  std::array<std::int64_t, 3> range = {};  // begin, end and step of a range
  int depth = 0;                           // how deeply values are nested
  mutable std::size_t used = 0;            // the number of items of a generator already read

  bool has_places() const { return kind <= Kind::range; }
};

// A dict, or the attributes of a namespace.
struct Dict {
  std::vector<std::pair<Value, Value>> items;
  std::unordered_map<std::string, std::size_t> places;  // indices in `items`, by key_of
  int depth = 0;

  const Value* find(const std::string& key) const;
  void set(const std::string& key, const Value& name, Value value);
};

// The variable `loop`.
struct Loop {
  std::vector<Value> items;    // the items read so far
  std::size_t index = 0;       // the index of the current item
  std::function<bool()> more;  // reads the next item, if any; null after the end of the loop
};

// Throws ValueError, "chat template: expected …, got …". The other functions throw errors in this
// way.
[[noreturn]] void fail_rendering(const std::string& expected, const std::string& got);

// A limit on the work of renderings: about one unit for each byte of data read or created.
struct Budget {
  static constexpr std::size_t most = std::size_t{64} << 20;
  std::size_t left = most;
  bool is_for_all = false;  // whether the limit is for all parts of a conversation together

  void charge(std::size_t bytes);
};

// The state of a rendering. It creates all values and reads all strings, and charges the budget for
// their sizes.
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
  int depth = 0;  // how deeply the current computation is nested

 private:
  Budget& budget_;
  std::deque<Dict> namespaces_;
};

// Limits how deeply computations are nested, and charges the budget for each computation.
struct Step {
  explicit Step(Run& run);
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step() { --run.depth; }
  Run& run;
};

// Returns the name of the type in Python.
std::string type_name(const Value& value);
bool is_true(const Value& value);
// Return the value of a bool, an int or (number_of) a float; std::nullopt for other types.
std::optional<std::int64_t> integer_of(const Value& value);
std::optional<double> number_of(const Value& value);

// Returns the value as a sequence that can be indexed, or null.
const Sequence* places_in(const Value& value);
// Returns the contents of a string. Throws ValueError for other types, including Markup.
const std::string& text_in(Run& run, const Value& value, std::string_view what);

// Return str(value) and repr(value).
std::string str(Run& run, const Value& value);
std::string repr(Run& run, const Value& value);

// Options of json_text. They correspond to the arguments ensure_ascii, indent and separators of
// Python's json.dumps.
struct JsonForm {
  bool only_ascii = false;
  std::optional<std::string> indent;
  std::string between_items = ", ", after_key = ": ";
};
// Returns json.dumps(value, …).
std::string json_text(Run& run, const Value& value, const JsonForm& form);

// Returns a string that is equal for equal keys of a dict. Throws ValueError for values that cannot
// be keys.
std::string key_of(Run& run, const Value& value);
const Value* entry_of(Run& run, const Dict& dict, const Value& key);
void set_entry(Run& run, Dict& dict, const Value& key, Value value);

// Iterates over a value, as a loop does.
class Items {
 public:
  // Throws ValueError for a value that cannot be iterated.
  Items(Run& run, Value value);
  std::optional<Value> next();

 private:
  Run& run_;
  Value value_;
  std::size_t at_ = 0;
};
std::vector<Value> items_of(Run& run, const Value& value);
// Returns len(value), or std::nullopt if the value has no length.
std::optional<std::size_t> length_of(Run& run, const Value& value);

}  // namespace weft::jinja
