// Dates: the many ways of writing one, and the one of ISO 8601.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "examples/toy_tasks/task.hpp"

namespace weft::toy_tasks {

// The days that the task is about; years of two digits are of these.
constexpr std::chrono::sys_days first_day = std::chrono::year(1950) / 1 / 1;
constexpr std::chrono::sys_days last_day = std::chrono::year(2049) / 12 / 31;

// "1998-03-03"
std::string iso_date(std::chrono::sys_days day);

// How dates are written: texts with fields in braces, such as "{weekday}, {month} {day}, {year}".
// No two readings of a date fit them: between slashes the month comes first and between dots the
// day, unless the year does.
std::span<const std::string> date_forms();

// A day in a form, for 3 March 1998: {weekday} Tuesday, {wkd} Tue, {day} 3, {dd} 03, {nth} 3rd,
// {month} March, {mon} Mar, {m} 3, {mm} 03, {roman} III, {year} 1998, {yy} 98. Throws ValueError
// for any other field.
std::string write_date(std::chrono::sys_days day, const std::string& form);

// Any day in any form → ISO: every day and every form as often; one in eight all in capitals, one
// in eight all in small letters.
Task date_task();

}  // namespace weft::toy_tasks
