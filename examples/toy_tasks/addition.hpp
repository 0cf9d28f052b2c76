// Addition of two decimal numbers.
#pragma once

#include "examples/toy_tasks/task.hpp"

namespace weft::toy_tasks {

// Returns the task "47+1234" → "1281". The numbers have 1 to 5 digits, uniformly distributed. The
// source pads both numbers to five digits, "00047+01234". The target is the sum with the units
// first, "182100": in this order, a digit depends only on two source digits and the carry.
Task addition_task();

}  // namespace weft::toy_tasks
