#include "weft/autograd/tape.hpp"

#include <algorithm>

#include "weft/autograd/finite.hpp"

namespace weft {

template <class T>
Tape<T>::~Tape() {
  clear();
  pool_->abandon();
}

template <class T>
Var<T> Tape<T>::parameter(const Parameter<T>& parameter) {
  if (!options_.recording) return constant(parameter.value());
  push("parameter", parameter.shape(), &parameter, nullptr, nullptr);
  return Var<T>(*this, parameter.value(), static_cast<NodeId>(nodes_.size()) - 1, pass_);
}

template <class T>
void Tape<T>::push(const char* operation, const Shape& shape, const Parameter<T>* parameter,
                   Invoke invoke, void* closure) {
  nodes_.push_back({operation, shape, Tensor<T>(), parameter, invoke, closure});
}

template <class T>
void Tape<T>::backward(const Var<T>& loss) {
  if (loss.size() != 1)
    fail<ShapeError>("backward", "a loss of one element (or an upstream gradient)", loss.shape());
  Tensor<T> one = uninitialized(loss.shape());
  one.fill(T{1});
  backward(loss, one);
}

template <class T>
void Tape<T>::backward(const Var<T>& y, const Tensor<T>& upstream) {
  if (&y.tape() != this)
    throw Error("backward: expected a variable of this tape, got one of another");
  if (!options_.recording)
    throw Error("backward: expected a tape that records, got one for inference");
  if (y.node() == no_node)
    throw Error(
        "backward: expected a variable that depends on a parameter, got a constant "
        "(or a variable of a pass that has ended)");
  if (upstream.shape() != y.shape())
    fail<ShapeError>("backward", concatenate_text("an upstream gradient of shape ", y.shape()),
                     upstream.shape());
  // Whatever happens, the pass ends here.
  struct End {
    Tape* tape;
    ~End() { tape->end_pass(); }
  } const end{this};

  add_gradient(y.node(), upstream);
  for (auto id = static_cast<NodeId>(nodes_.size()) - 1; id >= 0; --id) {
    Node& node = nodes_[static_cast<std::size_t>(id)];
    if (node.parameter) continue;
    void* closure = std::exchange(node.closure, nullptr);
    // A record that the result does not depend on got no gradient.
    if (!node.gradient.data()) {
      node.invoke(closure, *this, nullptr, Action::destroy);
      continue;
    }
    const Tensor<T> dy = std::exchange(node.gradient, Tensor<T>());
    touched_.clear();
    node.invoke(closure, *this, &dy, Action::run_and_destroy);
    if (options_.detect_anomaly) check_gradients(node.operation);
  }
}

template <class T>
void Tape<T>::clear() {
  end_pass();
}

template <class T>
Tape<T>& Tape<T>::replay(std::uint32_t streams) {
  if (!replay_) replay_ = std::make_unique<Tape>(options_);
  replay_->clear();
  replay_->set_step(step_);
  replay_->set_random_streams(streams);
  return *replay_;
}

template <class T>
void Tape<T>::end_pass() {
  for (Node& node : nodes_)
    if (node.closure) node.invoke(node.closure, *this, nullptr, Action::destroy);
  nodes_.clear();
  arena_.reset();
  streams_ = 0;
  ++pass_;
  ++step_;
}

template <class T>
Gradient<T> Tape<T>::gradient(NodeId id) {
  if (id == no_node) return {};
  touched_.push_back(id);
  Node& node = nodes_[static_cast<std::size_t>(id)];
  if (node.parameter) {
    const Parameter<T>& parameter = *node.parameter;
    const bool fresh = !parameter.has_grad(options_.part);
    Tensor<T>& target =
        fresh ? parameter.grad_to_overwrite(options_.part) : parameter.grad(options_.part);
    return {target.values(), true, fresh};
  }
  const bool fresh = !node.gradient.data();
  if (fresh) {
    node.gradient = uninitialized(node.shape);
  } else if (!node.gradient.unique()) {
    Tensor<T> own = uninitialized(node.shape);
    std::copy(node.gradient.begin(), node.gradient.end(), own.begin());
    node.gradient = std::move(own);
  }
  return {node.gradient.values(), true, fresh};
}

template <class T>
void Tape<T>::add_gradient(NodeId id, const Tensor<T>& dy) {
  if (id == no_node) return;
  Node& node = nodes_[static_cast<std::size_t>(id)];
  if (!node.parameter && !node.gradient.data()) {
    touched_.push_back(id);
    node.gradient = dy.reshaped(node.shape);
    return;
  }
  const Gradient<T> dx = gradient(id);
  const std::span<const T> from = dy.values();
  if (dx.fresh)
    std::copy(from.begin(), from.end(), dx.values.begin());
  else
    std::transform(from.begin(), from.end(), dx.values.begin(), dx.values.begin(), std::plus<T>());
}

template <class T>
void Tape<T>::check_value(const char* operation, const Tensor<T>& value) const {
  if (const Index at = first_non_finite(value.values()); at >= 0)
    throw NonFiniteError(concatenate_text("operation '", operation, "' (record ", nodes_.size(),
                                          " of the pass): expected finite values, got ",
                                          value.data()[at], " at ", value.shape().position(at),
                                          " of ", value.shape()));
}

template <class T>
void Tape<T>::check_gradients(const char* operation) {
  for (NodeId id : touched_) {
    const Node& node = nodes_[static_cast<std::size_t>(id)];
    const Tensor<T>& gradient =
        node.parameter ? node.parameter->grad(options_.part) : node.gradient;
    if (const Index at = first_non_finite(gradient.values()); at >= 0)
      throw NonFiniteError(concatenate_text(
          "backward of operation '", operation, "': expected finite gradients, got ",
          gradient.data()[at], " at ", gradient.shape().position(at), " of ", gradient.shape(),
          ", the gradient of '", node.operation, "'"));
  }
}

template class Tape<float>;
template class Tape<double>;

}  // namespace weft
