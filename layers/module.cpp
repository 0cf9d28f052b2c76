#include "weft/layers/module.hpp"

#include <unordered_map>
#include <unordered_set>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

template <class T>
class Collector final : public Members<T> {
 public:
  void type(const std::string&, const std::string&) override {}
  void parameter(const std::string& name, Parameter<T>& parameter) override {
    const std::string full = prefix_ + name;
    const auto [first, is_new] = first_names_.try_emplace(&parameter, full);
    if (!is_new) {
      if (first->second != full) tied.push_back({full, first->second});
      return;
    }
    parameters.push_back({full, &parameter});
    if (!names_.insert(full).second)
      fail<Error>("module", "a name of its own for each parameter",
                  concatenate_text("two parameters named ", full));
  }
  void buffer(const std::string& name, Tensor<T>& buffer) override {
    if (!buffers_.insert(&buffer).second) return;
    buffers.push_back({prefix_ + name, &buffer});
    if (!names_.insert(buffers.back().name).second)
      fail<Error>("module", "a name of its own for each parameter and buffer",
                  concatenate_text("two members named ", buffers.back().name));
  }
  void child(const std::string& name, Module<T>& child) override {
    const std::string outer = std::exchange(prefix_, prefix_ + name + ".");
    child.members(*this);
    prefix_ = outer;
  }

  NamedParameters<T> parameters;
  NamedBuffers<T> buffers;
  std::vector<TiedName> tied;

 private:
  std::string prefix_;
  std::unordered_map<const Parameter<T>*, std::string> first_names_;
  std::unordered_set<const Tensor<T>*> buffers_;
  std::unordered_set<std::string> names_;
};

template <class T>
Collector<T> members_of(Module<T>& module) {
  Collector<T> collector;
  module.members(collector);
  return collector;
}

}  // namespace

template <class T>
NamedParameters<T> named_parameters(Module<T>& module) {
  return members_of(module).parameters;
}

template <class T>
NamedBuffers<T> named_buffers(Module<T>& module) {
  return members_of(module).buffers;
}

template <class T>
std::vector<TiedName> tied_names(Module<T>& module) {
  return members_of(module).tied;
}

template <class T>
void zero_grad(Module<T>& module) {
  for (const auto& [name, parameter] : named_parameters(module)) parameter->zero_grad();
}

template NamedParameters<float> named_parameters(Module<float>&);
template NamedParameters<double> named_parameters(Module<double>&);
template NamedBuffers<float> named_buffers(Module<float>&);
template NamedBuffers<double> named_buffers(Module<double>&);
template std::vector<TiedName> tied_names(Module<float>&);
template std::vector<TiedName> tied_names(Module<double>&);
template void zero_grad(Module<float>&);
template void zero_grad(Module<double>&);

}  // namespace weft
