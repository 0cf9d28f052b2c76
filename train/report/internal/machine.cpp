#include "train/report/internal/machine.hpp"

#include <sys/utsname.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <thread>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

std::string quoted_for_shell(const std::string& argument) {
  constexpr const char* plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=:,+@%";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) return argument;
  std::string quoted = "'";
  for (const char c : argument)
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  return quoted + "'";
}

// Returns the value in a line "name : value" of a file of the kernel.
std::string value_in(const char* file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name))
      if (const std::size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
          begin != line.npos)
        return line.substr(begin);
  return "";
}

}  // namespace

std::string command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string line, argument;
  while (std::getline(in, argument, '\0')) {
    if (!line.empty()) line += ' ';
    line += quoted_for_shell(argument);
  }
  return line;
}

std::string utc_time() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(now - day);
  const auto two = std::setw(2);
  return str_cat(std::setfill('0'), static_cast<int>(date.year()), '-', two,
                 static_cast<unsigned>(date.month()), '-', two, static_cast<unsigned>(date.day()),
                 ' ', two, time.hours().count(), ':', two, time.minutes().count(), ':', two,
                 time.seconds().count(), " UTC");
}

std::vector<std::pair<std::string, std::string>> machine_settings() {
  std::vector<std::pair<std::string, std::string>> settings;
  settings.emplace_back("processor", value_in("/proc/cpuinfo", "model name"));
  settings.emplace_back("logical cores", str_cat(std::thread::hardware_concurrency()));
  const std::string memory = value_in("/proc/meminfo", "MemTotal");
  if (long kibibytes = 0;
      std::from_chars(memory.data(), memory.data() + memory.size(), kibibytes).ec == std::errc{})
    settings.emplace_back("memory", str_cat(kibibytes / 1024, " MiB"));
  utsname system{};
  if (uname(&system) == 0)
    settings.emplace_back("system", str_cat(system.sysname, ' ', system.release));
  std::erase_if(settings, [](const auto& setting) { return setting.second.empty(); });
  return settings;
}

}  // namespace weft
