// Addition of two decimal numbers.
#pragma once

#include "examples/toy_tasks/task.hpp"

namespace weft::toy_tasks {

// "47+1234" → "1281": numbers of 1 … 5 digits, with a uniform distribution of the number of digits.
// The source pads both to five digits, "00047+01234", and the target is the sum with the units
// first, "182100": in this order a digit depends only on two source digits and the carry.
Task addition_task();

}  // namespace weft::toy_tasks
