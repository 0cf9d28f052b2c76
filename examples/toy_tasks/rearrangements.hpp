// Copying, reversing and sorting.
#pragma once

#include "examples/toy_tasks/task.hpp"

namespace weft::toy_tasks {

// 1 … 16 letters a–z, unchanged and in reverse order.
Task copy_task();
Task reverse_task();
// 1 … 12 digits in ascending order.
Task sort_task();

}  // namespace weft::toy_tasks
