// Outcome: what a program's run came to.
#pragma once

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace weft {

// Collects what is written to a stream.
class Captured {
 public:
  explicit Captured(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Captured() { stream_.rdbuf(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostream& stream_;
  std::ostringstream text_;
  std::streambuf* before_;
};

struct Outcome {
  int status = 0;
  std::string output;
  std::string errors;
};

// Of a program that is the function run(argc, argv).
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
