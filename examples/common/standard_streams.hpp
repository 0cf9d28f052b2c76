// Checks of the standard streams, linked into every program. Before `main`, closed descriptors 0, 1
// and 2 are opened. At exit, a program whose output could not be written prints an error and exits
// with 1.
#pragma once

#include <string>

namespace weft::examples {

// Flushes standard output. If output could not be written, prints an error that starts with
// `program` and returns false.
bool flush_output(const std::string& program);

}  // namespace weft::examples
