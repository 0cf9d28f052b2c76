#include "weft/layers/module.hpp"

#include <unordered_set>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

template <class T>
class Collector final : public Members<T> {
 public:
  void type(const std::string&, const std::string&) override {}
  void parameter(const std::string& name, Parameter<T>& parameter) override {
    if (!parameters_.insert(&parameter).second) return;
    found.push_back({prefix_ + name, &parameter});
    if (!names_.insert(found.back().name).second)
      fail<Error>("module", "a name of its own for each parameter",
                  concatenate_text("two parameters named ", found.back().name));
  }
  void child(const std::string& name, Module<T>& child) override {
    const std::string outer = std::exchange(prefix_, prefix_ + name + ".");
    child.members(*this);
    prefix_ = outer;
  }

  NamedParameters<T> found;

 private:
  std::string prefix_;
  std::unordered_set<const Parameter<T>*> parameters_;
  std::unordered_set<std::string> names_;
};

}  // namespace

template <class T>
NamedParameters<T> named_parameters(Module<T>& module) {
  Collector<T> collector;
  module.members(collector);
  return std::move(collector.found);
}

template <class T>
void zero_grad(Module<T>& module) {
  for (const auto& [name, parameter] : named_parameters(module)) parameter->zero_grad();
}

template NamedParameters<float> named_parameters(Module<float>&);
template NamedParameters<double> named_parameters(Module<double>&);
template void zero_grad(Module<float>&);
template void zero_grad(Module<double>&);

}  // namespace weft
