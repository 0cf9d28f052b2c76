// Copying, reversing and sorting.
#pragma once

#include "examples/toy_tasks/task.hpp"

namespace weft::toy_tasks {

// Return the tasks of copying and of reversing 1 to 16 letters a–z.
Task copy_task();
Task reverse_task();
// Returns the task of sorting 1 to 12 digits in ascending order.
Task sort_task();

}  // namespace weft::toy_tasks
