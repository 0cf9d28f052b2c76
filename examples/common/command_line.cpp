#include "examples/common/command_line.hpp"

// cxxopts splits positional arguments at this character. No argument can contain a NUL.
#define CXXOPTS_VECTOR_DELIMITER '\0'

#include <algorithm>
#include <charconv>
#include <cxxopts.hpp>
#include <functional>
#include <iostream>
#include <map>
#include <string_view>

#include <weft/autograd/parallel.hpp>

namespace weft::examples {
namespace {

constexpr const char* positional = "arguments";

// Parses all of `text` as a number. Throws UsageError unless lowest ≤ number ≤ highest.
template <class Number>
Number parse_number(const std::string& name, const std::string& text, Number lowest,
                    Number highest) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() ||
      !(lowest <= number && number <= highest))
    fail<UsageError>("option --" + name, str_cat("a number from ", lowest, " to ", highest),
                     "'" + text + "'");
  return number;
}

std::string with_plain_quotes(std::string text) {
  for (const std::string_view mark : {"‘", "’"})
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
      text.replace(at, mark.size(), "'");
  return text;
}

}  // namespace

class CommandLine::Parser {
 public:
  Parser(const std::string& command, const std::string& about) : options_(command, about) {
    options_.custom_help("[OPTION...]").positional_help("");
    options_.add_options()("help", "print this help");
    options_.add_options("hidden")(positional, "", cxxopts::value<std::vector<std::string>>());
    options_.parse_positional({positional});
    numeric_option("threads", "number of threads", threads_, std::int64_t{1},
                   std::int64_t{thread_limit()});
  }

  // Adds an option. If the option is given, `apply` calls set(text) with its value.
  template <class Set>
  void option(const std::string& name, const std::string& description, const std::string& value,
              const Set& set) {
    options_.add_options()(name, description, cxxopts::value<std::string>()->default_value(value));
    setters_.push_back([this, name, set] {
      if (const auto text = given_.find(name); text != given_.end()) set(text->second);
    });
  }

  // Adds an option whose value must be one of `choices`.
  template <class Set>
  void choice(const std::string& name, const std::string& description, const std::string& value,
              const std::vector<std::string>& choices, const Set& set) {
    std::string list;
    for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
    option(name, description + ": " + list, value, [=](const std::string& text) {
      if (std::find(choices.begin(), choices.end(), text) == choices.end())
        fail<UsageError>("option --" + name, "one of " + list, "'" + text + "'");
      set(text);
    });
  }

  template <class Number>
  void numeric_option(const std::string& name, const std::string& description, Number& value,
                      Number lowest, Number highest) {
    option(name, description, str_cat(value), [=, &value](const std::string& text) {
      value = parse_number(name, text, lowest, highest);
    });
  }

  void flag(const std::string& name, const std::string& description, bool& value) {
    if (value)
      options_.add_options()(name, description + "; --" + name + "=false disables",
                             cxxopts::value<bool>()->default_value("true"));
    else
      options_.add_options()(name, description, cxxopts::value<bool>());
    setters_.emplace_back([this, name, &value] {
      // cxxopts accepts 1, t, true, T, True, and 0, f, false, F, False: the first letter decides.
      if (const auto text = given_.find(name); text != given_.end())
        value = std::string_view("1tT").find(text->second[0]) != std::string_view::npos;
    });
  }

  void arguments(const std::string& name, std::vector<std::string>& values) {
    options_.positional_help(name);
    arguments_ = &values;
  }

  bool parse(int argc, char** argv) {
    try {
      result_ = std::make_unique<cxxopts::ParseResult>(options_.parse(argc, argv));
      if (result_->count("help") > 0) {
        std::cout << options_.help({""});
        return false;
      }
      if (result_->count(positional) > 0) {
        const auto& arguments = (*result_)[positional].as<std::vector<std::string>>();
        if (!arguments_)
          fail<UsageError>("command line", "options only", "'" + arguments.front() + "'");
        *arguments_ = arguments;
      }
      for (const cxxopts::KeyValue& option : result_->arguments())
        if (option.key() != positional) given_[option.key()] = option.value();
      apply();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      // cxxopts 2 and 3 throw different types of exceptions and use different quotation marks.
      throw UsageError(with_plain_quotes(error.what()));
    }
    return true;
  }

  void apply() const {
    for (const auto& set : setters_) set();
    set_thread_count(static_cast<int>(threads_));
  }

  std::map<std::string, std::string> given_;

 private:
  cxxopts::Options options_;
  std::vector<std::string>* arguments_ = nullptr;  // null if the command has none
  std::int64_t threads_ = thread_count();
  std::unique_ptr<cxxopts::ParseResult> result_;
  std::vector<std::function<void()>> setters_;
};

CommandLine::CommandLine(const std::string& command, const std::string& about)
    : parser_(std::make_unique<Parser>(command, about)) {}
CommandLine::~CommandLine() = default;

void CommandLine::option(const std::string& name, const std::string& description,
                         std::int64_t& value, std::int64_t lowest, std::int64_t highest) {
  parser_->numeric_option(name, description, value, lowest, highest);
}

void CommandLine::option(const std::string& name, const std::string& description, double& value,
                         double lowest, double highest) {
  parser_->numeric_option(name, description, value, lowest, highest);
}

void CommandLine::option(const std::string& name, const std::string& description,
                         std::string& value) {
  parser_->option(name, description, value, [&value, name](const std::string& text) {
    if (text.empty()) fail<UsageError>("option --" + name, "a non-empty value", "''");
    value = text;
  });
}

void CommandLine::choice(const std::string& name, const std::string& description,
                         std::string& value, const std::vector<std::string>& choices) {
  parser_->choice(name, description, value, choices,
                  [&value](const std::string& text) { value = text; });
}

void CommandLine::choice(const std::string& name, const std::string& description,
                         Precision& value) {
  std::vector<std::string> choices;
  for (const auto& [precision, its_name] : precision_names) choices.emplace_back(its_name);
  parser_->choice(name, description, name_of("precision", value, precision_names), choices,
                  [&value](const std::string& text) {
                    value = enum_from_name("precision", text, precision_names);
                  });
}

void CommandLine::flag(const std::string& name, const std::string& description, bool& value) {
  parser_->flag(name, description, value);
}

void CommandLine::arguments(const std::string& name, std::vector<std::string>& values) {
  parser_->arguments(name, values);
}

bool CommandLine::parse(int argc, char** argv) { return parser_->parse(argc, argv); }

std::vector<std::pair<std::string, std::string>> CommandLine::given() const {
  return {parser_->given_.begin(), parser_->given_.end()};
}

void CommandLine::take(const std::vector<std::pair<std::string, std::string>>& options) {
  parser_->given_.insert(options.begin(), options.end());
  apply();
}

void CommandLine::without_effect(std::initializer_list<std::string> options,
                                 const std::string& reason) const {
  for (const std::string& name : options)
    if (parser_->given_.contains(name))
      throw UsageError(str_cat("option --", name, ": has no effect ", reason));
}

void CommandLine::apply() const { parser_->apply(); }

}  // namespace weft::examples
