#include "weft/layers/summary.hpp"

#include <ostream>

#include "autograd/internal/text_table.hpp"

namespace weft {
namespace {

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

std::string indented(const std::string& text) {
  std::string result;
  for (char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

template <class T>
class TreePrinter final : public Members<T> {
 public:
  static std::string print(const Module<T>& module) {
    TreePrinter printer;
    module.members(printer);
    return printer.text();
  }

  void type(const std::string& name, const std::string& arguments) override {
    type_ = name;
    arguments_ = arguments;
  }
  void parameter(const std::string&, const Parameter<T>&) override {}
  void child(const std::string& name, const Module<T>& child) override {
    std::string text = print(child);
    if (!runs_.empty() && is_number(name) && is_number(runs_.back().last) &&
        runs_.back().text == text) {
      runs_.back().last = name;
      ++runs_.back().length;
    } else {
      runs_.push_back({name, name, 1, std::move(text)});
    }
  }

 private:
  // Consecutive children with identical text.
  struct Run {
    std::string first, last;
    Index length;
    std::string text;
  };

  std::string text() const {
    if (runs_.empty()) return type_ + "(" + arguments_ + ")";
    std::string lines = arguments_.empty() ? "" : "\n" + arguments_;
    for (const Run& run : runs_) {
      lines += "\n(" + run.first;
      if (run.length > 1) lines += "-" + run.last;
      lines += "): ";
      if (run.length > 1) lines += str_cat(run.length) + " x ";
      lines += run.text;
    }
    return type_ + "(" + indented(lines) + "\n)";
  }

  std::string type_ = "Module";
  std::string arguments_;
  std::vector<Run> runs_;
};

}  // namespace

template <class T>
Index count_parameters(const Module<T>& module) {
  Index count = 0;
  for (const auto& [name, parameter] : named_parameters(module)) count += parameter->size();
  return count;
}

template <class T>
std::ostream& operator<<(std::ostream& out, const Module<T>& module) {
  return out << TreePrinter<T>::print(module);
}

template <class T>
std::string parameter_table(const Module<T>& module) {
  using enum TextTable::Align;
  TextTable table({left, left, right, right});
  const auto add = [&table](const std::string& name, const std::string& shape, Index count) {
    table.add({name, shape, str_cat(count), str_cat(count * Index{sizeof(T)})});
  };
  const NamedConstParameters<T> parameters = named_parameters(module);
  table.add({"parameter", "shape", "count", "bytes"});
  for (const auto& [name, parameter] : parameters)
    add(name, parameter->shape().to_string(), parameter->size());
  add("total of " + str_cat(parameters.size()), "", count_parameters(module));
  return table.text();
}

template Index count_parameters(const Module<float>&);
template Index count_parameters(const Module<double>&);
template std::ostream& operator<<(std::ostream&, const Module<float>&);
template std::ostream& operator<<(std::ostream&, const Module<double>&);
template std::string parameter_table(const Module<float>&);
template std::string parameter_table(const Module<double>&);

}  // namespace weft
