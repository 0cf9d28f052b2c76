// outcome_of: the exit status and the output of a program that is a function.
#pragma once

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace weft {

// Captures the output to a stream during its lifetime.
class Captured {
 public:
  explicit Captured(std::ostream& stream)
      : stream_(stream), previous_(stream.rdbuf(text_.rdbuf())) {}
  ~Captured() { stream_.rdbuf(previous_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostream& stream_;
  std::ostringstream text_;
  std::streambuf* previous_;
};

struct Outcome {
  int status = 0;
  std::string output;
  std::string errors;
};

// Calls run(argc, argv) with `name` as argv[0].
inline Outcome outcome_of(int (*run)(int, char**), const std::string& name,
                          std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), name);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const Captured output(std::cout), errors(std::cerr);
  const int status = run(static_cast<int>(arguments.size()), argv.data());
  return {status, output.text(), errors.text()};
}

inline bool is_one_line(const std::string& text) {
  return !text.empty() && text.find('\n') == text.size() - 1;
}

}  // namespace weft
