// Descriptions of the program and the machine for reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft {

// Returns the command line of this process, quoted for a shell where necessary.
std::string command_line();
// Returns the current time, "2026-11-23 12:26:18 UTC".
std::string utc_time();
// Returns the processor, memory and operating system, as far as they can be determined.
std::vector<std::pair<std::string, std::string>> machine_settings();

}  // namespace weft
