// Module: the base class of layers and models; Members: the visitor of its parameters and children.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/parameter.hpp"
#include "weft/layers/model_description.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

template <class T>
class WEFT_API Module;

// A visitor that receives the type, parameters, buffers and children of a module. The names and
// numbers of parameters, summaries, optimizers and HDF5 paths are all derived from it.
template <class T = float>
class WEFT_API Members {
 public:
  virtual ~Members() = default;

  // Receives the module's type and its arguments as PyTorch prints them: "Linear", "in_features=4,
  // …".
  virtual void type(const std::string& name, const std::string& arguments = "") = 0;
  // Receives a parameter, of any shape, and its name within the module.
  virtual void parameter(const std::string& name, const Parameter<T>& parameter) = 0;
  // Receives a child and its name within the module.
  virtual void child(const std::string& name, const Module<T>& child) = 0;
  // Receives a tensor, of any shape, that is saved along with the parameters but not trained, such
  // as a table of constants (torch's register_buffer), and its name within the module. Only
  // visitors that save and load use buffers; the default ignores them.
  virtual void buffer(const std::string& /*name*/, const Tensor<T>& /*buffer*/) {}
  // Receives a buffer, of any shape, that training passes change, such as a running mean, and its
  // name within the module. The default treats it like any other buffer.
  virtual void running_buffer(const std::string& name, const Tensor<T>& buffer) {
    this->buffer(name, buffer);
  }

  // Registers a member, of any shape, under its name. An empty optional is skipped.
  void operator()(const std::string& name, const Parameter<T>& member) { parameter(name, member); }
  void operator()(const std::string& name, const Module<T>& member) { child(name, member); }
  template <class Member>
  void operator()(const std::string& name, const std::optional<Member>& member) {
    if (member) (*this)(name, *member);
  }
  // Registers a list of children, which is printed as PyTorch's ModuleList. The children are named
  // "name.0", "name.1", …
  template <class Child>
  void operator()(const std::string& name, const std::vector<Child>& children);
  // Registers a list of children directly in the module, under the names "0", "1", …
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

  // Registers the type and each parameter, buffer and child. If several members register the same
  // parameter (tied weights), it counts as one parameter, with the first of its names.
  virtual void members(Members<T>& members) const = 0;

  // Returns the type and the options of a model, which checkpoints contain so that programs can
  // create the model again, for example with load_gpt. Nothing by default.
  virtual std::optional<ModelDescription> description() const { return std::nullopt; }

 protected:
  Module() = default;
  Module(const Module&) = default;
  Module(Module&&) noexcept = default;
  Module& operator=(const Module&) = default;
  Module& operator=(Module&&) noexcept = default;
};

// Presents a list of children as a module, so that visitors treat it like any other child.
template <class T, class Child>
class WEFT_API ModuleList final : public Module<T> {
 public:
  explicit ModuleList(const std::vector<Child>& children)
      : children_(children) {}  // keeps a reference to `children`
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

// Returns all parameters of a module and its children, each with its full name
// ("encoder.0.norm.weight"), in the order in which the modules register them. A parameter with
// several names (tied weights) is listed once, under its first name. Throws Error if two members,
// parameters or buffers, have the same name.
//   for (const auto& [name, parameter] : named_parameters(model))
//     std::cout << name << " " << parameter->shape() << "\n";
template <class T>
WEFT_API NamedParameters<T> named_parameters(Module<T>& module);
template <class T>
WEFT_API NamedConstParameters<T> named_parameters(const Module<T>& module);

// A buffer and its full name in a model.
template <class T = float, class Buffer = Tensor<T>>
struct NamedBuffer {
  std::string name;  // the full name, which includes the names of the enclosing modules
  Buffer* buffer;    // not null
};

// The buffers of a model, in the order in which its modules register them.
template <class T = float>
using NamedBuffers = std::vector<NamedBuffer<T>>;
// The buffers of a const model.
template <class T = float>
using NamedConstBuffers = std::vector<NamedBuffer<T, const Tensor<T>>>;

// Returns all buffers of a module and its children, each with its full name, in the order in which
// the modules register them. Throws Error if two members, parameters or buffers, have the same
// name.
template <class T>
WEFT_API NamedBuffers<T> named_buffers(Module<T>& module);
template <class T>
WEFT_API NamedConstBuffers<T> named_buffers(const Module<T>& module);

// Returns the buffers that training passes change, as registered by `running_buffer`: a part of the
// result of `named_buffers`. Throws the same exceptions.
template <class T>
WEFT_API NamedConstBuffers<T> named_running_buffers(const Module<T>& module);

// An additional name of a parameter (tied weights), which `named_parameters` lists as `first`.
struct TiedName {
  std::string name, first;  // a full name
};

// Returns the additional names of all tied parameters, in the order in which the modules register
// them. Throws the same exceptions as `named_parameters`.
template <class T>
WEFT_API std::vector<TiedName> tied_names(const Module<T>& module);

// Returns a filter for the names that `named_parameters` lists. It selects a parameter if `filter`
// selects any of its names. The result is empty if `filter` is empty.
//   with_tied_names(gpt, below("output"))("tokens.weight")  // true if the two are tied
template <class T>
WEFT_API NameFilter with_tied_names(const Module<T>& module, NameFilter filter);

// Clears the gradients of all parameters of a module (torch's model.zero_grad()), including
// parameters that no optimizer updates: otherwise each backward would add to their gradients from
// all earlier steps.
template <class T>
WEFT_API void zero_grad(Module<T>& module);

}  // namespace weft
