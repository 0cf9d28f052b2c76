#include "weft/layers/module.hpp"

namespace weft {
namespace {

template <class T>
class Collector final : public Members<T> {
 public:
  void type(const std::string&, const std::string&) override {}
  void parameter(const std::string& name, Parameter<T>& parameter) override {
    found.push_back({prefix_ + name, &parameter});
  }
  void child(const std::string& name, Module<T>& child) override {
    const std::string outer = std::exchange(prefix_, prefix_ + name + ".");
    child.members(*this);
    prefix_ = outer;
  }

  NamedParameters<T> found;

 private:
  std::string prefix_;
};

}  // namespace

template <class T>
NamedParameters<T> named_parameters(Module<T>& module) {
  Collector<T> collector;
  module.members(collector);
  return std::move(collector.found);
}

template NamedParameters<float> named_parameters(Module<float>&);
template NamedParameters<double> named_parameters(Module<double>&);

}  // namespace weft
