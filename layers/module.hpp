// Module: what every layer and model is; Members: how it names its parameters and children.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/parameter.hpp"

namespace weft {

template <class T>
class Module;

// Receives what a module says of itself. Parameter names, counts, summaries, optimizers and HDF5
// paths all come from this one list.
template <class T = float>
class Members {
 public:
  virtual ~Members() = default;

  // The module's type, and its arguments as PyTorch prints them: "Linear", "in_features=4, …".
  virtual void type(const std::string& name, const std::string& arguments = "") = 0;
  virtual void parameter(const std::string& name, Parameter<T>& parameter) = 0;
  virtual void child(const std::string& name, Module<T>& child) = 0;

  // A member under its name; one that is not there is passed over.
  void operator()(const std::string& name, Parameter<T>& member) { parameter(name, member); }
  void operator()(const std::string& name, Module<T>& member) { child(name, member); }
  template <class Member>
  void operator()(const std::string& name, std::optional<Member>& member) {
    if (member) (*this)(name, *member);
  }
  // A list of children, printed as PyTorch's ModuleList and named "name.0", "name.1", …
  template <class Child>
  void operator()(const std::string& name, std::vector<Child>& children);
  // A module's own children, named "0", "1", …
  template <class Child>
  void operator()(std::vector<Child>& children) {
    for (std::size_t i = 0; i < children.size(); ++i) child(std::to_string(i), children[i]);
  }
};

// A layer or model: a plain struct whose copies and moves are the compiler's own. A copy has
// parameters of its own.
template <class T = float>
class Module {
 public:
  virtual ~Module() = default;

  // Names the type, each parameter and each child once.
  virtual void members(Members<T>& members) = 0;

 protected:
  Module() = default;
  Module(const Module&) = default;
  Module(Module&&) = default;
  Module& operator=(const Module&) = default;
  Module& operator=(Module&&) = default;
};

// The children of a list as a module, so that every visitor meets them as it meets any children.
template <class T, class Child>
class ModuleList final : public Module<T> {
 public:
  explicit ModuleList(std::vector<Child>& children) : children_(children) {}
  void members(Members<T>& members) override {
    members.type("ModuleList");
    members(children_);
  }

 private:
  std::vector<Child>& children_;
};

template <class T>
template <class Child>
void Members<T>::operator()(const std::string& name, std::vector<Child>& children) {
  ModuleList<T, Child> list(children);
  child(name, list);
}

// All parameters of a module and its children, each under its full name ("encoder.0.norm.weight"),
// in the order in which the modules name them.
template <class T>
NamedParameters<T> named_parameters(Module<T>& module);

extern template NamedParameters<float> named_parameters(Module<float>&);
extern template NamedParameters<double> named_parameters(Module<double>&);

}  // namespace weft
