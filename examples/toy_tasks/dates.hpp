// Conversion of dates to ISO 8601.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "examples/toy_tasks/task.hpp"

namespace weft::toy_tasks {

// The range of the dates, which makes two-digit years unambiguous.
constexpr std::chrono::sys_days first_day = std::chrono::year(1950) / 1 / 1;
constexpr std::chrono::sys_days last_day = std::chrono::year(2049) / 12 / 31;

// "1998-03-03"
std::string iso_date(std::chrono::sys_days day);

// Date formats with fields in braces, such as "{weekday}, {month} {day}, {year}". They are
// unambiguous: unless the year is first, the month precedes the day with slashes and follows it
// with dots.
std::span<const std::string> date_formats();

// Formats a date. The fields, for 3 March 1998: {weekday} Tuesday, {wkd} Tue, {day} 3, {dd} 03,
// {nth} 3rd, {month} March, {mon} Mar, {m} 3, {mm} 03, {roman} III, {year} 1998, {yy} 98. Throws
// ValueError for any other field.
std::string format_date(std::chrono::sys_days day, const std::string& format);

// A date in any format → ISO 8601, uniform over days and formats; one in eight questions is in
// upper case and one in eight in lower case.
Task date_task();

}  // namespace weft::toy_tasks
