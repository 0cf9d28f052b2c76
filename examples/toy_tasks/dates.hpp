// Conversion of dates to ISO 8601.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "examples/toy_tasks/task.hpp"

namespace weft::toy_tasks {

// The range of the dates, within which two-digit years are unambiguous.
constexpr std::chrono::sys_days first_day = std::chrono::year(1950) / 1 / 1;
constexpr std::chrono::sys_days last_day = std::chrono::year(2049) / 12 / 31;

// Returns a date in ISO 8601 format, "1998-03-03".
std::string iso_date(std::chrono::sys_days day);

// Returns date formats with fields in braces, such as "{weekday}, {month} {day}, {year}". The
// formats are unambiguous: unless the year is first, the month is before the day in dates with
// slashes, and after the day in dates with dots.
std::span<const std::string> date_formats();

// Formats a date. The fields, for 3 March 1998: {weekday} Tuesday, {wkd} Tue, {day} 3, {dd} 03,
// {nth} 3rd, {month} March, {mon} Mar, {m} 3, {mm} 03, {roman} III, {year} 1998, {yy} 98. Throws
// ValueError for any other field.
std::string format_date(std::chrono::sys_days day, const std::string& format);

// Returns the task of converting a date in any format to ISO 8601. Days and formats are uniformly
// distributed. One in eight questions is in upper case, and one in eight in lower case.
Task date_task();

}  // namespace weft::toy_tasks
