#include "weft/autograd/tape.hpp"

#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <type_traits>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "autograd/internal/bf16_emulation.hpp"
#include "autograd/internal/pool.hpp"
#include "autograd/internal/tensor_text.hpp"

namespace weft {

template <class T>
NodeId Var<T>::node() const {
  if (node_ != no_node && pass_number_ != tape_->number_)
    throw Error(
        "variable: expected a variable of the tape's current pass, got a variable of a pass that "
        "has ended");
  return node_;
}

namespace {

// Returns the position of the first NaN, or -1.
template <class T>
Index first_nan(const Tensor<T>& x) {
  const auto found = std::find_if(x.begin(), x.end(), [](T value) { return std::isnan(value); });
  return found == x.end() ? -1 : found - x.begin();
}

// "nan at [1, 2] of [3, 4]"
template <class T>
std::string at_position(const Tensor<T>& x, Index i) {
  const std::string value = std::isnan(x.data()[i]) ? "nan" : str_cat(x.data()[i]);
  return str_cat(value, " at ", x.shape().position(i), " of ", x.shape());
}

}  // namespace

template <class T>
Tape<T>::Tape(const TapeOptions& options) : Tape(options, Pool::create()) {
  // If this throws, the destructor runs, because the other constructor has finished.
  check_precision<T>("tape", options.precision);
}

template <class T>
Tape<T>::Tape(const TapeOptions& options, Pool* pool) : options_(options), pool_(pool) {}

template <class T>
Tape<T>& Tape<T>::of_thread() {
  static thread_local Tape tape({.recording = false}, nullptr);
  return tape;
}

template <class T>
Tape<T>::~Tape() {
  clear();
  if (pool_) pool_->abandon();
}

template <class T>
MemoryStatistics Tape<T>::memory() const {
  return pool_ ? pool_->statistics() : MemoryStatistics{};
}

template <class T>
bool Tape<T>::saves_bf16(const Shape& shape) const {
  constexpr Index large = Index{1} << 16;
  return precision() == Precision::bf16 && recording() && shape.elements() >= large &&
         is_supported(Precision::bf16);
}

template <class T>
Tensor<T> Tape<T>::zeros(const Shape& shape) const {
  Tensor<T> tensor = uninitialized(shape);
  tensor.fill(T{0});
  return tensor;
}

template <class T>
Var<T> Tape<T>::parameter(const Parameter<T>& parameter) {
  if (options_.observer)
    options_.observer->observe({.kind = TapeEvent::Kind::parameter,
                                .tape = this,
                                .parameter = &parameter,
                                .shape = parameter.shape(),
                                .elements = parameter.size(),
                                .element_size = sizeof(T)});
  if (!options_.recording || !parameter.requires_grad()) return constant(parameter.value());
  GradientAccumulator<T>* const sum = target_ ? &target_->use(parameter) : nullptr;
  return push({.operation = "parameter",
               .parameter = &parameter,
               .target_sum = sum == &parameter.gradient_sum() ? nullptr : sum},
              parameter.value());
}

template <class T>
Var<T> Tape<T>::variable(Tensor<T> value) {
  if (!options_.recording) return constant(std::move(value));
  return push({.operation = "variable"}, std::move(value));
}

template <class T>
bool Tape<T>::needs_gradient(std::span<const NodeId> inputs) const {
  return options_.recording &&
         std::any_of(inputs.begin(), inputs.end(), [](NodeId input) { return input != no_node; });
}

template <class T>
Var<T> Tape<T>::push(Node node, Tensor<T> value) {
  node.shape = value.shape();
  nodes_.push_back(std::move(node));
  return Var<T>(*this, std::move(value), static_cast<NodeId>(nodes_.size()) - 1, number_,
                nodes_.back().operation);
}

// The gradient of a loss with respect to itself.
template <class T>
Tensor<T> Tape<T>::upstream_of(const Var<T>& loss) const {
  if (loss.size() != 1)
    fail<ShapeError>("backward", "a loss of one element (or an upstream gradient)", loss.shape());
  if (options_.detect_anomaly) check_loss(loss);
  Tensor<T> one = uninitialized(loss.shape());
  one.fill(T{1});
  return one;
}

template <class T>
void Tape<T>::check_backward(const Var<T>& y, const Tensor<T>& upstream) const {
  if (&y.tape() != this)
    throw Error("backward: expected a variable of this tape, got a variable of another tape");
  if (!options_.recording)
    throw Error("backward: expected a recording tape, got an inference tape");
  if (y.node() == no_node)
    throw Error(
        "backward: expected a result of parameters or of a Tape::variable, got a constant "
        "(or a variable of a pass that has ended)");
  if (upstream.shape() != y.shape())
    fail<ShapeError>("backward", str_cat("an upstream gradient of shape ", y.shape()),
                     upstream.shape());
}

template <class T>
void Tape<T>::backward(const Var<T>& loss, const BackwardOptions& options) {
  backward(loss, upstream_of(loss), options);
}

template <class T>
void Tape<T>::backward(const Var<T>& y, const Tensor<T>& upstream, const BackwardOptions& options) {
  check_backward(y, upstream);
  const Finish at_exit{this, options};
  run_backward(y, upstream, options);
}

template <class T>
std::vector<Tensor<T>> Tape<T>::gradients(const Var<T>& loss, const std::vector<Var<T>>& inputs,
                                          const BackwardOptions& options) {
  return gradients(loss, upstream_of(loss), inputs, options);
}

template <class T>
std::vector<Tensor<T>> Tape<T>::gradients(const Var<T>& y, const Tensor<T>& upstream,
                                          const std::vector<Var<T>>& inputs,
                                          const BackwardOptions& options) {
  check_backward(y, upstream);
  for (const Var<T>& x : inputs) {
    if (&x.tape() != this)
      throw Error("gradients: expected inputs of this tape, got an input of another tape");
    if (x.node() == no_node)
      throw Error(
          "gradients: expected inputs that are a Tape::variable, a parameter or a value "
          "computed from them, got a constant");
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

template <class T>
void Tape<T>::check_parameters() const {
  const auto check = [](const ParameterPointer<const Parameter<T>>& parameter, bool is_there) {
    if (!is_there)
      fail<Error>("backward", "the parameters used by the pass",
                  parameter.exists() ? "a moved parameter" : "a removed or replaced parameter");
  };
  for (const auto& [parameter, at] : of_parts_)
    check(parameter, parameter.exists() && parameter.get() == at);
  for (const Node& node : nodes_)
    if (to_parameters_ && node.parameter) check(node.parameter, node.parameter.exists());
}

template <class T>
void Tape<T>::keep_parameters_of(const Tape& part) {
  for (const Node& node : part.nodes_)
    if (node.parameter) of_parts_.emplace_back(node.parameter, node.parameter.get());
  of_parts_.insert(of_parts_.end(), part.of_parts_.begin(), part.of_parts_.end());
}

// Calls the backward functions of the records that y depends on, last record first.
template <class T>
void Tape<T>::run_backward(const Var<T>& y, const Tensor<T>& upstream,
                           const BackwardOptions& options) {
  if (options_.observer)
    options_.observer->observe({.kind = TapeEvent::Kind::backward_begins, .tape = this});
  check_parameters();
  infinite_by_.clear();
  add_gradient(y.node(), upstream);
  // A backward function that records or clears changes the nodes.
  for (std::size_t id = nodes_.size(); id-- > 0 && id < nodes_.size();) {
    Node& node = nodes_[id];
    if (!node.function) {
      if (target_ && sum_of(node) && !options.retain_graph) target_->passed(*node.parameter);
      continue;
    }
    Function& function = *node.function;
    // Destroyed as soon as it has run, or if the result does not depend on the record, which then
    // has no gradient.
    decltype(node.function) once;
    if (!options.retain_graph) once = std::move(node.function);
    if (!node.has_gradient()) continue;
    const Tensor<T> dy =
        node.is_returned ? node.gradient : std::exchange(node.gradient, Tensor<T>());
    const char* const operation = node.operation;
    touched_.clear();
    function.run(*this, dy);
    if (options_.detect_anomaly) check_gradients(operation, static_cast<NodeId>(id));
    if (options_.observer)
      options_.observer->observe({.kind = TapeEvent::Kind::backward,
                                  .tape = this,
                                  .operation = operation,
                                  .record = static_cast<NodeId>(id),
                                  .memory = memory()});
  }
}

template <class T>
Tape<T>::Finish::~Finish() {
  tape->to_parameters_ = true;
  if (!options.retain_graph) tape->clear();
  for (Node& node : tape->nodes_) {
    node.gradient = Tensor<T>();
    node.is_returned = false;
  }
}

template <class T>
void Tape<T>::clear() {
  nodes_.clear();
  of_parts_.clear();
  infinite_by_.clear();
  touched_.clear();
  streams_ = 0;
  num_label_counts_ = 0;
  ++number_;
  ++step_;
}

template <class T>
void Tape<T>::count_labels(double labels) {
  if (std::ranges::count(label_counts(), labels) > 0) return;
  if (num_label_counts_ < label_counts_.size()) label_counts_[num_label_counts_++] = labels;
}

template <class T>
Tape<T>& Tape<T>::replay(std::uint32_t streams) {
  if (!replay_) replay_ = std::make_unique<Tape>(options_);
  Tape& again = *replay_;
  again.clear();
  again.step_ = step_;
  again.streams_ = streams;
  again.target_ = target_;
  again.to_parameters_ = to_parameters_;
  return again;
}

template <class T>
Gradient<T> Tape<T>::gradient(NodeId id) {
  if (id == no_node) return {};
  touched_.push_back(id);
  Node& node = nodes_[static_cast<std::size_t>(id)];
  if (GradientAccumulator<T>* sum = sum_of(node)) return sum->gradient(node.shape);
  const bool fresh = !node.has_gradient();
  if (fresh) node.gradient = uninitialized(node.shape);
  return {node.gradient.values(), true, fresh};
}

template <class T>
void Tape<T>::add_gradient(NodeId id, const Tensor<T>& dy) {
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
void Tape<T>::watch(const char* operation, const Tensor<T>& value, std::span<const NodeId> inputs,
                    bool is_recorded) {
  if (options_.detect_anomaly) check_value(operation, value, inputs, is_recorded);
  const double flops = std::exchange(flops_, 0.0);
  if (!options_.observer) return;
  Index elements = value.size();
  for (const NodeId input : inputs)
    if (input != no_node) elements += nodes_[static_cast<std::size_t>(input)].shape.elements();
  options_.observer->observe({.kind = TapeEvent::Kind::forward,
                              .tape = this,
                              .operation = operation,
                              .record = is_recorded ? static_cast<NodeId>(nodes_.size()) : no_node,
                              .shape = value.shape(),
                              .elements = elements,
                              .element_size = sizeof(T),
                              .flops = flops,
                              .memory = memory()});
}

template <class T>
void Tape<T>::check_value(const char* operation, const Tensor<T>& value,
                          std::span<const NodeId> inputs, bool is_recorded) {
  if (all_finite(value.data(), value.size())) return;
  const char* before = nullptr;
  for (const NodeId input : inputs)
    if (!before) before = infinite_by(input);
  if (const Index at = first_nan(value); at >= 0)
    fail<NonFiniteError>(
        str_cat("operation '", operation, "' (record ", nodes_.size(), " of the pass)"),
        "finite values",
        at_position(value, at) + (before ? str_cat(", from an infinity of '", before, "'") : ""));
  if (is_recorded) set_infinite_by(std::ssize(nodes_), before ? before : operation);
}

template <class T>
void Tape<T>::check_loss(const Var<T>& loss) const {
  if (std::isfinite(loss.item())) return;
  const NodeId id = loss.node();
  const char* by = infinite_by(id);
  if (!by && id != no_node) by = nodes_[static_cast<std::size_t>(id)].operation;
  fail<NonFiniteError>(by ? str_cat("operation '", by, "'") : "backward", "a finite loss",
                       loss.item());
}

// Checks the gradients of the nodes to which the backward function of node `id` has added.
template <class T>
void Tape<T>::check_gradients(const char* operation, NodeId id) {
  const char* const before = infinite_by(id);
  for (const NodeId input : touched_) {
    const Node& node = nodes_[static_cast<std::size_t>(input)];
    const GradientAccumulator<T>* const sum = sum_of(node);
    const Tensor<T>& gradient = sum ? sum->values() : node.gradient;
    const Index nan = first_nan(gradient);
    const Index at = nan >= 0 ? nan : first_non_finite(gradient.values());
    if (at < 0) continue;
    const char* const by = nan < 0 && before ? before : operation;
    const std::string origin =
        nan >= 0 && before ? str_cat(", from an infinity of '", before, "'") : "";
    // An infinity is an error only where it arrives: operations may drop it on the way.
    if (nan >= 0 || !node.function)
      fail<NonFiniteError>(
          str_cat("backward of operation '", by, "'"), "finite gradients",
          str_cat(at_position(gradient, at), ", the gradient of '", node.operation, "'", origin));
    set_infinite_by(input, by);
  }
}

template <class T>
const char* Tape<T>::infinite_by(NodeId id) const {
  return id < 0 || id >= std::ssize(infinite_by_) ? nullptr
                                                  : infinite_by_[static_cast<std::size_t>(id)];
}

template <class T>
void Tape<T>::set_infinite_by(Index id, const char* operation) {
  if (id >= std::ssize(infinite_by_)) infinite_by_.resize(static_cast<std::size_t>(id) + 1);
  infinite_by_[static_cast<std::size_t>(id)] = operation;
}

template <class T>
std::ostream& operator<<(std::ostream& out, const Var<T>& x) {
  return out << tensor_text(x.shape(), x.value().data(), x.operation_);
}

template class Var<float>;
template class Var<double>;
template class Tape<float>;
template class Tape<double>;
template std::ostream& operator<<(std::ostream&, const Var<float>&);
template std::ostream& operator<<(std::ostream&, const Var<double>&);

}  // namespace weft
