// Module: the base class of layers and models; Members: the visitor of its parameters and children.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/parameter.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

template <class T>
class Module;

// A visitor that receives the type, parameters, buffers and children of a module. Parameter names,
// counts, summaries, optimizers and HDF5 paths are all derived from it.
template <class T = float>
class WEFT_API Members {
 public:
  virtual ~Members() = default;

  // The module's type, and its arguments as PyTorch prints them: "Linear", "in_features=4, …".
  virtual void type(const std::string& name, const std::string& arguments = "") = 0;
  // A parameter, of any shape, under its name in the module.
  virtual void parameter(const std::string& name, const Parameter<T>& parameter) = 0;
  // A module in the module, under its name there.
  virtual void child(const std::string& name, const Module<T>& child) = 0;
  // A tensor, of any shape, that files contain like a parameter, but that is not trained, such as a
  // running mean (torch's register_buffer). Only visitors that save and load use it.
  virtual void buffer(const std::string& /*name*/, const Tensor<T>& /*buffer*/) {}

  // Registers a member, of any shape, under its name; an empty optional is skipped.
  void operator()(const std::string& name, const Parameter<T>& member) { parameter(name, member); }
  void operator()(const std::string& name, const Module<T>& member) { child(name, member); }
  template <class Member>
  void operator()(const std::string& name, const std::optional<Member>& member) {
    if (member) (*this)(name, *member);
  }
  // A list of children, printed as PyTorch's ModuleList and named "name.0", "name.1", …
  template <class Child>
  void operator()(const std::string& name, const std::vector<Child>& children);
  // A module's own children, named "0", "1", …
  template <class Child>
  void operator()(const std::vector<Child>& children) {
    for (std::size_t i = 0; i < children.size(); ++i) child(str_cat(i), children[i]);
  }
};

// A layer or model: a plain struct with default copy and move operations. A copy has its own
// parameters.
//   struct Head : Module<> {
//     Head() : output({.in_features = 8, .out_features = 2}, random) {}
//     Var<> operator()(const Var<>& x) const { return output(x); }
//     void members(Members<>& members) const override { members("output", output); }
//     Linear<> output;
//   };
template <class T = float>
class WEFT_API Module {
 public:
  virtual ~Module() = default;

  // Registers the type, each parameter, each buffer and each child. A parameter that is used in
  // several places (tied weights) may be registered by each of them: it is one parameter, under the
  // first of its names.
  virtual void members(Members<T>& members) const = 0;

 protected:
  Module() = default;
  Module(const Module&) = default;
  Module(Module&&) noexcept = default;
  Module& operator=(const Module&) = default;
  Module& operator=(Module&&) noexcept = default;
};

// Adapts a list of children to a module, so that visitors treat it like any other child.
template <class T, class Child>
class WEFT_API ModuleList final : public Module<T> {
 public:
  explicit ModuleList(const std::vector<Child>& children)
      : children_(children) {}  // kept by reference
  void members(Members<T>& members) const override {
    members.type("ModuleList");
    members(children_);
  }

 private:
  const std::vector<Child>& children_;
};

template <class T>
template <class Child>
void Members<T>::operator()(const std::string& name, const std::vector<Child>& children) {
  ModuleList<T, Child> list(children);
  child(name, list);
}

// All parameters of a module and its children, each under its full name ("encoder.0.norm.weight"),
// in the order in which the modules register them. A parameter with several names (tied weights)
// is listed once, under the first. Throws Error when two parameters have the same name.
//   for (const auto& [name, parameter] : named_parameters(model))
//     std::cout << name << " " << parameter->shape() << "\n";
template <class T>
WEFT_API NamedParameters<T> named_parameters(Module<T>& module);
template <class T>
WEFT_API NamedConstParameters<T> named_parameters(const Module<T>& module);

// A buffer under its full name in a model.
template <class T = float, class Buffer = Tensor<T>>
struct NamedBuffer {
  std::string name;  // with the names of the modules around it
  Buffer* buffer;    // not null
};

// The buffers of a model, in the order in which its modules register them.
template <class T = float>
using NamedBuffers = std::vector<NamedBuffer<T>>;
// The buffers of a const model.
template <class T = float>
using NamedConstBuffers = std::vector<NamedBuffer<T, const Tensor<T>>>;

// All buffers of a module and its children, as `named_parameters` lists the parameters. Throws
// Error when a buffer has the name of another member.
template <class T>
WEFT_API NamedBuffers<T> named_buffers(Module<T>& module);
template <class T>
WEFT_API NamedConstBuffers<T> named_buffers(const Module<T>& module);

// Another name of a parameter that `named_parameters` lists under the `first`.
struct TiedName {
  std::string name, first;  // full names
};

// The names under which parameters are registered again, in the order in which the modules register
// them. Throws as `named_parameters` does.
template <class T>
WEFT_API std::vector<TiedName> tied_names(const Module<T>& module);

// Returns a filter for the names that `named_parameters` lists. It selects a parameter when
// `filter` selects any of its names. Empty when `filter` is.
//   with_tied_names(gpt, below("output"))("tokens.weight")  // true when the two are tied
template <class T>
WEFT_API NameFilter with_tied_names(const Module<T>& module, NameFilter filter);

// Clears the gradients of all parameters of a module, also of those that no optimizer updates: with
// these left, each backward would add to the gradients of all steps before (torch's
// model.zero_grad()).
template <class T>
WEFT_API void zero_grad(Module<T>& module);

}  // namespace weft
