#include "examples/toy_tasks/dates.hpp"

#include <algorithm>
#include <array>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>

namespace weft::toy_tasks {
namespace {

namespace chrono = std::chrono;

constexpr std::array weekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                              "Thursday", "Friday", "Saturday"};
constexpr std::array months{"January", "February", "March",     "April",   "May",      "June",
                            "July",    "August",   "September", "October", "November", "December"};
constexpr std::array roman_months{"I",   "II",   "III", "IV", "V",  "VI",
                                  "VII", "VIII", "IX",  "X",  "XI", "XII"};

constexpr Index max_question_length = 32;

// Returns a number with a leading zero if it is below 10.
std::string two_digits(unsigned number) { return str_cat(number < 10 ? "0" : "", number); }

// Returns an ordinal number: "1st", "2nd", "3rd", "4th", "11th".
std::string ordinal(unsigned number) {
  const bool is_teen = number / 10 % 10 == 1;
  const unsigned unit = number % 10;
  return str_cat(number, is_teen || unit == 0 || unit > 3 ? "th"
                         : unit == 1                      ? "st"
                         : unit == 2                      ? "nd"
                                                          : "rd");
}

std::string format_field(const std::string& name, chrono::sys_days day) {
  const chrono::year_month_day date(day);
  const auto d = static_cast<unsigned>(date.day());
  const auto m = static_cast<unsigned>(date.month());
  const auto y = static_cast<unsigned>(static_cast<int>(date.year()));
  const std::string weekday = weekdays[chrono::weekday(day).c_encoding()];
  const std::string month = months[m - 1];
  if (name == "weekday") return weekday;
  if (name == "wkd") return weekday.substr(0, 3);
  if (name == "day") return str_cat(d);
  if (name == "dd") return two_digits(d);
  if (name == "nth") return ordinal(d);
  if (name == "month") return month;
  if (name == "mon") return month.substr(0, 3);
  if (name == "m") return str_cat(m);
  if (name == "mm") return two_digits(m);
  if (name == "roman") return roman_months[m - 1];
  if (name == "year") return str_cat(y);
  if (name == "yy") return two_digits(y % 100);
  fail<ValueError>("date format", "a field such as {day}", "{" + name + "}");
}

// Returns `text` with each character c replaced by map(c).
template <class Map>
std::string map_characters(std::string text, const Map& map) {
  for (char& c : text) c = static_cast<char>(map(c));
  return text;
}

Example sample_date(Random& random) {
  const auto days = static_cast<Index>((last_day - first_day).count()) + 1;
  const chrono::sys_days day = first_day + chrono::days(random.below(days));
  const auto formats = date_formats();
  const Index format = random.below(static_cast<Index>(formats.size()));
  std::string text = format_date(day, formats[static_cast<std::size_t>(format)]);
  switch (random.below(8)) {
    case 0:
      text = map_characters(text, [](char c) { return 'a' <= c && c <= 'z' ? c - 'a' + 'A' : c; });
      break;
    case 1:
      text = map_characters(text, [](char c) { return 'A' <= c && c <= 'Z' ? c - 'A' + 'a' : c; });
      break;
    default:
      break;
  }
  return {text, iso_date(day)};
}

std::string alphabet() {
  std::string characters = "0123456789 ,./-'";
  for (char c = 'a'; c <= 'z'; ++c) characters += c;
  for (char c = 'A'; c <= 'Z'; ++c) characters += c;
  return characters;
}

}  // namespace

std::string iso_date(chrono::sys_days day) { return format_date(day, "{year}-{mm}-{dd}"); }

std::span<const std::string> date_formats() {
  static const std::array<std::string, 28> formats{
      "{day} {month} {year}",
      "{day} {mon} {year}",
      "{month} {day}, {year}",
      "{mon} {day}, {year}",
      "{wkd} {day} {mon} {year}",
      "{wkd}, {dd} {mon} {year}",
      "{wkd} {mon} {day} {year}",
      "{weekday} {day} {month} {year}",
      "{weekday}, {month} {day}, {year}",
      "{wkd} the {nth} of {month} {year}",
      "{nth} {month} {year}",
      "the {nth} of {month}, {year}",
      "{month} {nth}, {year}",
      "{year} {month} {day}",
      "{year}, {mon} {nth}",
      "{day} {mon} '{yy}",
      "{dd}-{mon}-{year}",
      "{day}-{mon}-{yy}",
      "{day}.{roman}.{year}",
      "{mm}/{dd}/{year}",
      "{m}/{day}/{yy}",
      "{dd}.{mm}.{year}",
      "{day}.{m}.{yy}",
      "{year}.{mm}.{dd}",
      "{year}/{m}/{day}",
      "{year}-{m}-{day}",
      "{year} {mm} {dd}",
      "{year}{mm}{dd}",
  };
  return formats;
}

std::string format_date(chrono::sys_days day, const std::string& format) {
  std::string text;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '{') {
      text += format[i];
      continue;
    }
    const std::size_t end = std::min(format.find('}', i), format.size());
    text += format_field(format.substr(i + 1, end - i - 1), day);
    i = end;
  }
  return text;
}

Task date_task() {
  Task task{.name = "dates",
            .about = "dates in many formats to ISO 8601",
            .alphabet = alphabet(),
            .max_len = max_question_length,
            .steps = 2500,
            .learning_rate = 2e-3,
            .sample = sample_date};
  task.to_source = [characters = task.alphabet](const std::string& question) {
    if (question.empty() || static_cast<Index>(question.size()) > max_question_length ||
        question.find_first_not_of(characters) != question.npos)
      fail<ValueError>("question",
                       str_cat("a date of at most ", max_question_length,
                               " letters, digits, blanks and , . / - '"),
                       "'" + question + "'");
    return question;
  };
  return task;
}

}  // namespace weft::toy_tasks
