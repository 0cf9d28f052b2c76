#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include "examples/toy_tasks/dates.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using namespace weft::toy_tasks;

namespace {

namespace chrono = std::chrono;

struct Date {
  int year = 0, month = 0, day = 0;
};

std::string iso_text(const Date& date) {
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d", date.year, date.month, date.day);
  return text;
}

// The maximal runs of digits and of letters, in lower case.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  char previous = ' ';
  for (const char c : text) {
    const auto kind = [](char character) {
      const auto byte = static_cast<unsigned char>(character);
      return std::isdigit(byte) ? 1 : std::isalpha(byte) ? 2 : 0;
    };
    if (kind(c) != 0) {
      if (kind(c) != kind(previous)) words.emplace_back();
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    previous = c;
  }
  return words;
}

// Parses a date independently of date_formats(). `weekday` is set to the first three letters of the
// weekday, if there is one.
Date parse(const std::string& text, std::string& weekday) {
  static const std::map<std::string, int> months{{"jan", 1}, {"feb", 2},  {"mar", 3},  {"apr", 4},
                                                 {"may", 5}, {"jun", 6},  {"jul", 7},  {"aug", 8},
                                                 {"sep", 9}, {"oct", 10}, {"nov", 11}, {"dec", 12}};
  static const std::map<std::string, int> roman{{"i", 1},  {"ii", 2}, {"iii", 3}, {"iv", 4},
                                                {"v", 5},  {"vi", 6}, {"vii", 7}, {"viii", 8},
                                                {"ix", 9}, {"x", 10}, {"xi", 11}, {"xii", 12}};
  static const std::set<std::string> weekdays{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
  Date date;
  std::vector<std::string> numbers;
  for (const std::string& word : words_of(text)) {
    const std::string start = word.substr(0, 3);
    if (std::isdigit(static_cast<unsigned char>(word[0])))
      numbers.push_back(word);
    else if (roman.count(word))
      date.month = roman.at(word);
    else if (months.count(start))
      date.month = months.at(start);
    else if (weekdays.count(start))
      weekday = start;
  }
  if (numbers.size() == 1) {
    const std::string digits = numbers[0];
    numbers = {digits.substr(0, 4), digits.substr(4, 2), digits.substr(6)};
  }
  const bool year_first = numbers[0].size() == 4;
  if (date.month == 0) {
    const std::size_t month_index = year_first ? 1 : text.find('/') != text.npos ? 0 : 1;
    date.month = std::stoi(numbers[month_index]);
    numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(month_index));
  }
  const std::string year = numbers[year_first ? 0 : 1];
  date.day = std::stoi(numbers[year_first ? 1 : 0]);
  date.year = std::stoi(year);
  if (year.size() == 2) date.year += date.year >= 50 ? 1900 : 2000;
  return date;
}

// Tomohiko Sakamoto's formula of 1992.
std::string weekday_of(Date date) {
  constexpr int shift[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  const char* const names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
  const int y = date.year - (date.month < 3);
  return names[(y + y / 4 - y / 100 + y / 400 + shift[date.month - 1] + date.day) % 7];
}

Date next_day(Date date) {
  const bool leap = (date.year % 4 == 0 && date.year % 100 != 0) || date.year % 400 == 0;
  const int days[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (date.day < days[date.month - 1]) return {date.year, date.month, date.day + 1};
  if (date.month < 12) return {date.year, date.month + 1, 1};
  return {date.year + 1, 1, 1};
}

}  // namespace

TEST_CASE("dates: 3 March 1998 in every format", "[examples]") {
  const chrono::sys_days day = chrono::year(1998) / 3 / 3;
  CHECK(iso_date(day) == "1998-03-03");
  std::vector<std::string> formatted;
  for (const std::string& format : date_formats()) formatted.push_back(format_date(day, format));
  CHECK(formatted == std::vector<std::string>{"3 March 1998",
                                              "3 Mar 1998",
                                              "March 3, 1998",
                                              "Mar 3, 1998",
                                              "Tue 3 Mar 1998",
                                              "Tue, 03 Mar 1998",
                                              "Tue Mar 3 1998",
                                              "Tuesday 3 March 1998",
                                              "Tuesday, March 3, 1998",
                                              "Tue the 3rd of March 1998",
                                              "3rd March 1998",
                                              "the 3rd of March, 1998",
                                              "March 3rd, 1998",
                                              "1998 March 3",
                                              "1998, Mar 3rd",
                                              "3 Mar '98",
                                              "03-Mar-1998",
                                              "3-Mar-98",
                                              "3.III.1998",
                                              "03/03/1998",
                                              "3/3/98",
                                              "03.03.1998",
                                              "3.3.98",
                                              "1998.03.03",
                                              "1998/3/3",
                                              "1998-3-3",
                                              "1998 03 03",
                                              "19980303"});
}

TEST_CASE("dates: iso_date is correct for every day of the hundred years", "[examples]") {
  Date date{1950, 1, 1};
  Index wrong = 0;
  for (chrono::sys_days day = first_day; day <= last_day; day += chrono::days(1)) {
    wrong += iso_date(day) != iso_text(date);
    date = next_day(date);
  }
  CHECK(wrong == 0);
  CHECK(iso_text(date) == "2050-01-01");
}

TEST_CASE("dates: every format is parsed to the same day and the correct weekday", "[examples]") {
  Index with_weekday = 0;
  // Steps of 97 days cover all days of the month and of the week.
  for (chrono::sys_days day = first_day; day <= last_day; day += chrono::days(97))
    for (const std::string& format : date_formats()) {
      const std::string text = format_date(day, format);
      INFO(text);
      std::string weekday;
      const Date date = parse(text, weekday);
      CHECK(iso_text(date) == iso_date(day));
      if (weekday.empty()) continue;
      CHECK(weekday == weekday_of(date));
      ++with_weekday;
    }
  CHECK(with_weekday > 1000);
}

TEST_CASE("dates: leap days are correct and are sampled", "[examples]") {
  const chrono::sys_days february_28 = chrono::year(2000) / 2 / 28;
  CHECK(format_date(february_28 + chrono::days(1), "{weekday}, {month} {nth}, {year}") ==
        "Tuesday, February 29th, 2000");
  CHECK(iso_date(february_28 + chrono::days(2)) == "2000-03-01");
  CHECK(iso_date(chrono::sys_days(chrono::year(1999) / 2 / 28) + chrono::days(1)) == "1999-03-01");

  Random random(1);
  const Task task = date_task();
  Index leap_days = 0;
  for (int i = 0; i < 20000; ++i)
    leap_days += task.sample(random).answer.substr(5) == "02-29";  // 25 of 36,525 days
  CHECK(leap_days > 0);
  CHECK(leap_days < 50);
}

TEST_CASE("dates: sampled questions are parsed to their answers in any case", "[examples]") {
  Random random(2);
  const Task task = date_task();
  Index upper_case = 0;
  for (int i = 0; i < 2000; ++i) {
    const Example example = task.sample(random);
    INFO(example.question);
    std::string weekday;
    const Date date = parse(example.question, weekday);
    CHECK(iso_text(date) == example.answer);
    if (!weekday.empty()) CHECK(weekday == weekday_of(date));
    upper_case += example.question.find("MAR") != std::string::npos;
  }
  CHECK(upper_case > 0);
}

TEST_CASE("dates: ordinals have the correct suffixes", "[examples]") {
  const auto nth = [](unsigned day) {
    return format_date(chrono::year(2024) / 1 / static_cast<int>(day), "{nth}");
  };
  CHECK(nth(1) == "1st");
  CHECK(nth(2) == "2nd");
  CHECK(nth(3) == "3rd");
  for (const unsigned day : {4u, 11u, 12u, 13u, 20u, 30u}) CHECK(nth(day) == str_cat(day, "th"));
  CHECK(nth(21) == "21st");
  CHECK(nth(22) == "22nd");
  CHECK(nth(23) == "23rd");
  CHECK(nth(31) == "31st");
}

TEST_CASE("dates: an error names an unknown field", "[examples]") {
  CHECK(message_of<ValueError>([] { format_date(first_day, "{day} {moon}"); }) ==
        "date format: expected a field such as {day}, got {moon}");
}
