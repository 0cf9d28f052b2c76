// The standard streams of every program. A part of each executable, whether it calls this or not:
// before `main`, descriptors 0, 1 and 2 are opened if they are closed; at exit, a program whose
// output could not be written prints an error and exits with 1.
#pragma once

#include <string>

namespace weft::examples {

// Flushes standard output. Returns false, after printing an error that starts with `program`, when
// not all output could be written.
bool flush_output(const std::string& program);

}  // namespace weft::examples
