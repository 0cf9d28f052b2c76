#include "weft/layers/module.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "weft/autograd/error.hpp"
#include "layers/internal/full_names.hpp"

namespace weft {
namespace {

template <class T>
class Collector final : public FullNames<T> {
 public:
  void parameter(const std::string& name, const Parameter<T>& parameter) override {
    const std::string full = this->full_name(name);
    const auto [first, is_new] = first_names_.try_emplace(&parameter, full);
    if (!is_new) {
      if (first->second != full) tied.push_back({full, first->second});
      return;
    }
    parameters.push_back({full, &parameter});
    if (!names_.insert(full).second)
      fail<Error>("module", "a unique name for each parameter",
                  str_cat("two parameters named ", full));
  }
  void buffer(const std::string& name, const Tensor<T>& buffer) override {
    if (!buffers_.insert(&buffer).second) return;
    buffers.push_back({this->full_name(name), &buffer});
    if (!names_.insert(buffers.back().name).second)
      fail<Error>("module", "a unique name for each parameter and buffer",
                  str_cat("two members named ", buffers.back().name));
  }

  void running_buffer(const std::string& name, const Tensor<T>& buffer) override {
    const std::size_t before = buffers.size();
    this->buffer(name, buffer);
    if (buffers.size() > before) running_buffers.push_back(buffers.back());
  }

  NamedConstParameters<T> parameters;
  NamedConstBuffers<T> buffers, running_buffers;
  std::vector<TiedName> tied;

 private:
  std::unordered_map<const Parameter<T>*, std::string> first_names_;
  std::unordered_set<const Tensor<T>*> buffers_;
  std::unordered_set<std::string> names_;
};

template <class T>
Collector<T> members_of(const Module<T>& module) {
  Collector<T> collector;
  module.members(collector);
  return collector;
}

}  // namespace

template <class T>
NamedConstParameters<T> named_parameters(const Module<T>& module) {
  return members_of(module).parameters;
}

template <class T>
NamedConstBuffers<T> named_buffers(const Module<T>& module) {
  return members_of(module).buffers;
}

template <class T>
NamedConstBuffers<T> named_running_buffers(const Module<T>& module) {
  return members_of(module).running_buffers;
}

// The members of a non-const module are not const either.
template <class T>
NamedParameters<T> named_parameters(Module<T>& module) {
  NamedParameters<T> parameters;
  for (const auto& [name, parameter] : named_parameters(std::as_const(module)))
    parameters.push_back({name, const_cast<Parameter<T>*>(parameter.get())});
  return parameters;
}

template <class T>
NamedBuffers<T> named_buffers(Module<T>& module) {
  NamedBuffers<T> buffers;
  for (const auto& [name, buffer] : named_buffers(std::as_const(module)))
    buffers.push_back({name, const_cast<Tensor<T>*>(buffer)});
  return buffers;
}

template <class T>
std::vector<TiedName> tied_names(const Module<T>& module) {
  return members_of(module).tied;
}

template <class T>
NameFilter with_tied_names(const Module<T>& module, NameFilter filter) {
  if (!filter) return filter;
  return [filter = std::move(filter), tied = tied_names(module)](const std::string& name) {
    return filter(name) || std::ranges::any_of(tied, [&](const TiedName& other) {
             return other.first == name && filter(other.name);
           });
  };
}

template <class T>
void zero_grad(Module<T>& module) {
  for (const auto& [name, parameter] : named_parameters(module)) parameter->zero_grad();
}

template NamedParameters<float> named_parameters(Module<float>&);
template NamedConstParameters<float> named_parameters(const Module<float>&);
template NamedParameters<double> named_parameters(Module<double>&);
template NamedConstParameters<double> named_parameters(const Module<double>&);
template NamedBuffers<float> named_buffers(Module<float>&);
template NamedConstBuffers<float> named_buffers(const Module<float>&);
template NamedBuffers<double> named_buffers(Module<double>&);
template NamedConstBuffers<double> named_buffers(const Module<double>&);
template NamedConstBuffers<float> named_running_buffers(const Module<float>&);
template NamedConstBuffers<double> named_running_buffers(const Module<double>&);
template std::vector<TiedName> tied_names(const Module<float>&);
template std::vector<TiedName> tied_names(const Module<double>&);
template NameFilter with_tied_names(const Module<float>&, NameFilter);
template NameFilter with_tied_names(const Module<double>&, NameFilter);
template void zero_grad(Module<float>&);
template void zero_grad(Module<double>&);

}  // namespace weft
