#include "weft/autograd/pass.hpp"

#include <algorithm>

#include "weft/autograd/finite.hpp"
#include "autograd/memory/arena.hpp"
#include "autograd/memory/pool.hpp"

namespace weft {

template <class T>
Pass<T>::Pass(Tape<T>& tape, const TapeOptions& options)
    : tape_(tape), options_(options), pool_(Pool::create()), arena_(std::make_unique<Arena>()) {}

template <class T>
Pass<T>::~Pass() {
  end();
  pool_->abandon();
}

template <class T>
Tensor<T> Pass<T>::zeros(const Shape& shape) const {
  Tensor<T> tensor = uninitialized(shape);
  tensor.fill(T{0});
  return tensor;
}

template <class T>
Var<T> Pass<T>::parameter(const Parameter<T>& parameter) {
  if (!options_.recording || !parameter.requires_grad()) return constant(parameter.value());
  GradientSum<T>& sum = target_ ? target_->use(parameter) : parameter.gradient_sum();
  return push({.operation = "parameter", .parameter = &parameter, .parameter_sum = &sum},
              parameter.value());
}

template <class T>
Var<T> Pass<T>::variable(Tensor<T> value) {
  if (!options_.recording) return constant(std::move(value));
  return push({.operation = "variable"}, std::move(value));
}

template <class T>
bool Pass<T>::needs_gradient(std::span<const NodeId> inputs) const {
  return options_.recording &&
         std::any_of(inputs.begin(), inputs.end(), [](NodeId input) { return input != no_node; });
}

template <class T>
Var<T> Pass<T>::result(const char* operation, Tensor<T> value) {
  if (options_.detect_anomaly) check_value(operation, value);
  return constant(std::move(value));
}

template <class T>
void* Pass<T>::allocate_closure(std::size_t bytes) {
  return arena_->allocate(bytes);
}

template <class T>
Var<T> Pass<T>::push(Node node, Tensor<T> value) {
  node.shape = value.shape();
  nodes_.push_back(std::move(node));
  return Var<T>(tape_, std::move(value), static_cast<NodeId>(nodes_.size()) - 1, number_);
}

template <class T>
void Pass<T>::check_backward(const Var<T>& y, const Tensor<T>& upstream) const {
  if (&y.tape() != &tape_)
    throw Error("backward: expected a variable of this tape, got one of another");
  if (!options_.recording)
    throw Error("backward: expected a tape that records, got one for inference");
  if (y.node() == no_node)
    throw Error(
        "backward: expected a result of parameters or Tape::variable, got a constant "
        "(or a variable of a pass that has ended)");
  if (upstream.shape() != y.shape())
    fail<ShapeError>("backward", concatenate_text("an upstream gradient of shape ", y.shape()),
                     upstream.shape());
}

template <class T>
void Pass<T>::backward(const Var<T>& y, const Tensor<T>& upstream, const BackwardOptions& options) {
  check_backward(y, upstream);
  const Finish at_exit{this, options};
  run_backward(y, upstream, options);
}

template <class T>
std::vector<Tensor<T>> Pass<T>::gradients(const Var<T>& y, const Tensor<T>& upstream,
                                          const std::vector<Var<T>>& inputs,
                                          const BackwardOptions& options) {
  check_backward(y, upstream);
  for (const Var<T>& x : inputs) {
    if (&x.tape() != &tape_)
      throw Error("gradients: expected inputs of this tape, got one of another");
    if (x.node() == no_node)
      throw Error(
          "gradients: expected inputs that are a Tape::variable, a parameter or computed from "
          "them, got a constant");
  }
  const Finish at_exit{this, options};
  to_parameters_ = false;
  for (const Var<T>& x : inputs) node_of(x).is_returned = true;
  run_backward(y, upstream, options);
  std::vector<Tensor<T>> results;
  for (const Var<T>& x : inputs)
    results.push_back(node_of(x).has_gradient() ? node_of(x).gradient : zeros(x.shape()));
  return results;
}

// Calls the backward functions of the records that y depends on, last record first.
template <class T>
void Pass<T>::run_backward(const Var<T>& y, const Tensor<T>& upstream,
                           const BackwardOptions& options) {
  add_gradient(y.node(), upstream);
  for (std::size_t id = nodes_.size(); id-- > 0;) {
    Node& node = nodes_[id];
    if (!node.closure) {
      if (target_ && sum_of(node) && !options.keep_pass) target_->passed(*node.parameter);
      continue;
    }
    void* closure = options.keep_pass ? node.closure : std::exchange(node.closure, nullptr);
    // The result does not depend on a record that got no gradient.
    if (!node.has_gradient()) {
      if (!options.keep_pass) node.invoke(closure, *this, nullptr, Action::destroy);
      continue;
    }
    const Tensor<T> dy =
        node.is_returned ? node.gradient : std::exchange(node.gradient, Tensor<T>());
    touched_.clear();
    node.invoke(closure, *this, &dy, options.keep_pass ? Action::run : Action::run_and_destroy);
    if (options_.detect_anomaly) check_gradients(node.operation);
  }
}

template <class T>
Pass<T>::Finish::~Finish() {
  pass->to_parameters_ = true;
  if (!options.keep_pass) pass->end();
  for (Node& node : pass->nodes_) {
    node.gradient = Tensor<T>();
    node.is_returned = false;
  }
}

template <class T>
void Pass<T>::end() {
  for (Node& node : nodes_)
    if (node.closure) node.invoke(node.closure, *this, nullptr, Action::destroy);
  nodes_.clear();
  arena_->reset();
  streams_ = 0;
  ++number_;
  ++step_;
}

template <class T>
Tape<T>& Pass<T>::replay(std::uint32_t streams) {
  if (!replay_) replay_ = std::make_unique<Tape<T>>(options_);
  Pass& again = replay_->pass();
  again.end();
  again.step_ = step_;
  again.streams_ = streams;
  again.target_ = target_;
  again.to_parameters_ = to_parameters_;
  return *replay_;
}

template <class T>
Gradient<T> Pass<T>::gradient(NodeId id) {
  if (id == no_node) return {};
  touched_.push_back(id);
  Node& node = nodes_[static_cast<std::size_t>(id)];
  if (GradientSum<T>* sum = sum_of(node)) return sum->gradient(node.shape);
  const bool fresh = !node.has_gradient();
  if (fresh) node.gradient = uninitialized(node.shape);
  return {node.gradient.values(), true, fresh};
}

template <class T>
void Pass<T>::add_gradient(NodeId id, const Tensor<T>& dy) {
  if (id == no_node) return;
  Node& node = nodes_[static_cast<std::size_t>(id)];
  if (!sum_of(node) && !node.has_gradient()) {
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
void Pass<T>::check_value(const char* operation, const Tensor<T>& value) const {
  if (const Index at = first_non_finite(value.values()); at >= 0)
    fail<NonFiniteError>(
        concatenate_text("operation '", operation, "' (record ", nodes_.size(), " of the pass)"),
        "finite values",
        concatenate_text(value.data()[at], " at ", value.shape().position(at), " of ",
                         value.shape()));
}

template <class T>
void Pass<T>::check_gradients(const char* operation) {
  for (NodeId id : touched_) {
    const Node& node = nodes_[static_cast<std::size_t>(id)];
    const GradientSum<T>* const sum = sum_of(node);
    const Tensor<T>& gradient = sum ? sum->values() : node.gradient;
    if (const Index at = first_non_finite(gradient.values()); at >= 0)
      fail<NonFiniteError>(
          concatenate_text("backward of operation '", operation, "'"), "finite gradients",
          concatenate_text(gradient.data()[at], " at ", gradient.shape().position(at), " of ",
                           gradient.shape(), ", the gradient of '", node.operation, "'"));
  }
}

template class Pass<float>;
template class Pass<double>;

}  // namespace weft
