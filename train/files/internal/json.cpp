#include "train/files/internal/json.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/random_access_file.hpp"

namespace weft {
namespace {

constexpr std::size_t max_levels = 100;

// Builds the value from the events of nlohmann's parser. The parser's own handlers accept repeated
// names, and with a callback take quadratic time.
template <class Json>
class JsonBuilder {
 public:
  explicit JsonBuilder(std::string_view text) : text_(text) {}
  Json result() { return std::move(result_); }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(typename Json::number_integer_t value) { return add(value); }
  bool number_unsigned(typename Json::number_unsigned_t value) { return add(value); }
  bool number_float(typename Json::number_float_t value, const std::string& /*digits*/) {
    return add(value);
  }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(typename Json::binary_t& /*value*/) { return false; }  // not in JSON
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (!open_.back().names.insert(name).second)
      fail<ValueError>("JSON", "each name once", str_cat("'", name.substr(0, 80), "' twice"));
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const typename Json::exception& error) {
    if (dynamic_cast<const typename Json::out_of_range*>(&error))
      throw ValueError("expected JSON, got a number out of range");
    fail_at(position);
  }
  [[noreturn]] void fail_at(std::size_t position) const {
    const auto line = 1 + std::ranges::count(text_.substr(0, position), '\n');
    throw ValueError(str_cat("expected JSON, got an error in line ", line, ", at byte ", position));
  }

 private:
  struct Open {
    Json* value;
    std::set<std::string> names;  // the names used so far, for an object
  };

  bool add(Json value) { return place(std::move(value)) != nullptr; }
  bool open(Json value) {
    if (open_.size() == max_levels)
      fail<ValueError>("JSON", str_cat("at most ", max_levels, " levels"), "more");
    open_.push_back({place(std::move(value)), {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  // Adds a value to its parent, and returns its address, which is valid until its next sibling is
  // added.
  Json* place(Json value) {
    if (open_.empty()) return &(result_ = std::move(value));
    Json& parent = *open_.back().value;
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    auto& object = parent.template get_ref<typename Json::object_t&>();
    // The emplace function of ordered_json takes linear time.
    if constexpr (std::is_same_v<Json, nlohmann::ordered_json>)
      return &object.emplace_back(std::move(name_), std::move(value)).second;
    else
      return &object.emplace(std::move(name_), std::move(value)).first->second;
  }

  std::string_view text_;
  Json result_;
  std::string name_;  // the name of the next value in an object
  std::vector<Open> open_;
};

}  // namespace

template <class Json>
Json read_json(std::string_view text) {
  JsonBuilder<Json> builder(text);
  // The parser would treat a NUL as the end.
  if (const std::size_t nul = text.find('\0'); nul != text.npos) builder.fail_at(nul + 1);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.result();
}

nlohmann::json parse_json(std::string_view text, const std::filesystem::path& path) {
  if (const std::string content = known_content(text); !content.empty())
    fail_on_file(path, "JSON", content);
  try {
    return read_json(text);
  } catch (const ValueError& error) {
    throw FileError(str_cat(quoted(path), ": ", error.what()));
  }
}

template nlohmann::json read_json(std::string_view);
template nlohmann::ordered_json read_json(std::string_view);

}  // namespace weft
