// What a report says of the program that trains and of its machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft {

// The arguments of this process, quoted for a shell where necessary.
std::string command_line();
// "2026-11-23 12:26:18 UTC"
std::string utc_time();
// Processor, memory and operating system; what cannot be found out is left out.
std::vector<std::pair<std::string, std::string>> machine_settings();

}  // namespace weft
