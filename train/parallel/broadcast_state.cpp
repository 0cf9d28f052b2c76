#include "weft/train/parallel/broadcast_state.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace weft {
namespace {

template <class T>
class Broadcaster final : public State<T> {
 public:
  explicit Broadcaster(ProcessGroup& processes) : processes_(processes) {}

  void tensor(const std::string&, Tensor<T>& value) override {
    processes_.broadcast(std::as_writable_bytes(value.values()));
  }
  void integer(const std::string&, std::int64_t& value) override { scalar(value); }
  void number(const std::string&, double& value) override { scalar(value); }
  void text(const std::string&, std::string& value) override {
    value = processes_.broadcast(std::move(value));
  }

 private:
  template <class Scalar>
  void scalar(Scalar& value) {
    processes_.broadcast(std::as_writable_bytes(std::span(&value, 1)));
  }

  ProcessGroup& processes_;
};

}  // namespace

template <class T>
void broadcast_state(ProcessGroup& processes, Module<T>& model) {
  for (const auto& [name, parameter] : named_parameters(model))
    processes.broadcast(std::as_writable_bytes(parameter->values()));
  for (const auto& [name, buffer] : named_buffers(model))
    processes.broadcast(std::as_writable_bytes(buffer->values()));
}

template <class T>
void broadcast_state(ProcessGroup& processes, Stateful<T>& object) {
  Broadcaster<T> broadcaster(processes);
  object.state(broadcaster);
}

template void broadcast_state(ProcessGroup&, Module<float>&);
template void broadcast_state(ProcessGroup&, Module<double>&);
template void broadcast_state(ProcessGroup&, Stateful<float>&);
template void broadcast_state(ProcessGroup&, Stateful<double>&);

}  // namespace weft
