// Addition: sums of two numbers written in digits.
#pragma once

#include "examples/toy_tasks/task.hpp"

namespace weft::toy_tasks {

// "47+1234" → "1281": numbers of 1 … 5 digits, each count as often. The model reads both with
// five digits, "00047+01234", and writes the sum from the units up, "182100": in this order each
// digit needs only two digits of the question and the carry from the one before.
Task addition_task();

}  // namespace weft::toy_tasks
