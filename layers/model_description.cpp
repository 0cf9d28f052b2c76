#include "weft/layers/model_description.hpp"

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

// The types of values, by their places in OptionValue.
constexpr const char* type_names[] = {"an integer", "a number", "a string"};

template <class T>
const char* type_name() {
  if constexpr (std::is_same_v<T, bool>)
    return "0 or 1";
  else
    return type_names[OptionValue(T()).index()];
}

// Sets `value` to `read` if it is of the same type.
template <class T>
bool convert(const OptionValue& read, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    const auto* const number = std::get_if<std::int64_t>(&read);
    if (!number || (*number != 0 && *number != 1)) return false;
    value = *number == 1;
  } else {
    const T* const same = std::get_if<T>(&read);
    if (!same) return false;
    value = *same;
  }
  return true;
}

std::string text_of(const OptionValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text ? printable(*text)
              : std::visit([](const auto& number) { return str_cat(number); }, value);
}

}  // namespace

bool OptionReader::contains(const std::string& name) const {
  if (values_.contains(name)) return true;
  // '/' is the character after '.'.
  return values_.lower_bound(name + '.') != values_.lower_bound(name + '/');
}

template <class T>
bool OptionReader::take(const std::string& name, T& value) {
  const auto found = values_.extract(name);
  if (found.empty()) {
    wrong_.push_back("no value of " + name);
    return false;
  }
  if (convert(found.mapped(), value)) return true;
  wrong_.push_back(str_cat(text_of(found.mapped()), " instead of ", type_name<T>(), " for ", name));
  return false;
}

void OptionReader::check(const std::string& what) const {
  std::vector<std::string> wrong = wrong_;
  for (const auto& [name, value] : values_) wrong.push_back("the unknown option " + name);
  if (wrong.empty()) return;
  std::string text;
  for (const std::string& each : wrong) text += (text.empty() ? "" : ", ") + each;
  fail<ValueError>(what, "a value of its type for each option", text);
}

template bool OptionReader::take(const std::string&, bool&);
template bool OptionReader::take(const std::string&, std::int64_t&);
template bool OptionReader::take(const std::string&, double&);
template bool OptionReader::take(const std::string&, std::string&);

}  // namespace weft
