#include "examples/common/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cxxopts.hpp>
#include <functional>
#include <iostream>

#include <weft/autograd/parallel.hpp>

namespace weft::examples {
namespace {

constexpr const char* rest = "arguments";

// Throws UsageError unless all of `text` is a number within lowest … highest.
template <class Number>
Number number_in(const std::string& name, const std::string& text, Number lowest, Number highest) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() ||
      !(lowest <= number && number <= highest))
    fail<UsageError>("option --" + name, concatenate_text("a number in ", lowest, " … ", highest),
                     "'" + text + "'");
  return number;
}

}  // namespace

class CommandLine::Parser {
 public:
  Parser(const std::string& command, const std::string& about) : options_(command, about) {
    options_.custom_help("[OPTION...]").positional_help("");
    options_.add_options()("help", "Write this and end");
    options_.add_options("hidden")(rest, "", cxxopts::value<std::vector<std::string>>());
    options_.parse_positional({rest});
    number("threads", "Threads to work with", threads_, std::int64_t{1},
           std::int64_t{thread_limit()});
  }

  // Calls set(text) with what is given for the option.
  template <class Set>
  void option(const std::string& name, const std::string& description, const std::string& value,
              const Set& set) {
    options_.add_options()(name, description, cxxopts::value<std::string>()->default_value(value));
    setters_.push_back([this, name, set] {
      if (result_->count(name) > 0) set((*result_)[name].as<std::string>());
    });
  }

  template <class Number>
  void number(const std::string& name, const std::string& description, Number& value, Number lowest,
              Number highest) {
    option(name, description, concatenate_text(value), [=, &value](const std::string& text) {
      value = number_in(name, text, lowest, highest);
    });
  }

  void flag(const std::string& name, const std::string& description, bool& value) {
    options_.add_options()(name, description, cxxopts::value<bool>());
    setters_.push_back([this, name, &value] {
      if (result_->count(name) > 0) value = (*result_)[name].as<bool>();
    });
  }

  void arguments(const std::string& name, std::vector<std::string>& values) {
    options_.positional_help(name);
    takes_arguments_ = true;
    setters_.push_back([this, &values] {
      if (result_->count(rest) > 0) values = (*result_)[rest].as<std::vector<std::string>>();
    });
  }

  bool parse(int argc, char** argv) {
    try {
      result_ = std::make_unique<cxxopts::ParseResult>(options_.parse(argc, argv));
      if (result_->count("help") > 0) {
        std::cout << options_.help({""});
        return false;
      }
      if (!takes_arguments_ && result_->count(rest) > 0)
        fail<UsageError>("command line", "options only",
                         "'" + (*result_)[rest].as<std::vector<std::string>>().front() + "'");
      apply();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {  // the two versions of cxxopts name theirs differently
      throw UsageError(error.what());
    }
    return true;
  }

  void apply() const {
    for (const auto& set : setters_) set();
    set_thread_count(static_cast<int>(threads_));
  }

 private:
  cxxopts::Options options_;
  bool takes_arguments_ = false;
  std::int64_t threads_ = thread_count();
  std::unique_ptr<cxxopts::ParseResult> result_;
  std::vector<std::function<void()>> setters_;
};

CommandLine::CommandLine(const std::string& command, const std::string& about)
    : parser_(std::make_unique<Parser>(command, about)) {}
CommandLine::~CommandLine() = default;

void CommandLine::option(const std::string& name, const std::string& description,
                         std::int64_t& value, std::int64_t lowest, std::int64_t highest) {
  parser_->number(name, description, value, lowest, highest);
}

void CommandLine::option(const std::string& name, const std::string& description, double& value,
                         double lowest, double highest) {
  parser_->number(name, description, value, lowest, highest);
}

void CommandLine::option(const std::string& name, const std::string& description,
                         std::string& value) {
  parser_->option(name, description, value, [&value](const std::string& text) { value = text; });
}

void CommandLine::choice(const std::string& name, const std::string& description,
                         std::string& value, const std::vector<std::string>& choices) {
  std::string listed;
  for (const std::string& word : choices) listed += (listed.empty() ? "" : ", ") + word;
  const auto set = [&value, name, choices, listed](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end())
      fail<UsageError>("option --" + name, "one of " + listed, "'" + text + "'");
    value = text;
  };
  parser_->option(name, description + ": " + listed, value, set);
}

void CommandLine::flag(const std::string& name, const std::string& description, bool& value) {
  parser_->flag(name, description, value);
}

void CommandLine::arguments(const std::string& name, std::vector<std::string>& values) {
  parser_->arguments(name, values);
}

bool CommandLine::parse(int argc, char** argv) { return parser_->parse(argc, argv); }

void CommandLine::apply() const { parser_->apply(); }

}  // namespace weft::examples
