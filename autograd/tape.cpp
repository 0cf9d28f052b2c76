#include "weft/autograd/tape.hpp"

#include <type_traits>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/pass.hpp"
#include "autograd/internal/bf16_emulation.hpp"
#include "autograd/memory/pool.hpp"

namespace weft {

template <class T>
Pass<T>& Var<T>::pass() const {
  return tape_->pass();
}

template <class T>
NodeId Var<T>::node() const {
  if (node_ != no_node && pass_number_ != pass().number_)
    throw Error(
        "variable: expected one of the tape's current pass, got one of a pass that has ended");
  return node_;
}

namespace {

template <class T>
const TapeOptions& checked(const TapeOptions& options) {
  if (options.precision == Precision::full) return options;
  if constexpr (!std::is_same_v<T, float>)
    fail<ValueError>("tape: precision", "full for a tape of double", "bf16");
  if (!is_supported(options.precision) && !EmulateBf16::is_on())
    fail<Error>("tape: precision bf16", "a processor with AVX512-BF16 instructions",
                "one without; use precision full");
  return options;
}

}  // namespace

template <class T>
Tape<T>::Tape(const TapeOptions& options)
    : pass_(std::make_unique<Pass<T>>(*this, checked<T>(options))) {}

template <class T>
Tape<T>::~Tape() = default;

template <class T>
const TapeOptions& Tape<T>::options() const {
  return pass_->options_;
}

template <class T>
std::uint32_t Tape<T>::step() const {
  return pass_->step_;
}

template <class T>
void Tape<T>::set_step(std::uint32_t step) {
  pass_->step_ = step;
}

template <class T>
Var<T> Tape<T>::constant(Tensor<T> value) {
  return pass_->constant(std::move(value));
}

template <class T>
Var<T> Tape<T>::parameter(const Parameter<T>& parameter) {
  return pass_->parameter(parameter);
}

template <class T>
Var<T> Tape<T>::variable(Tensor<T> value) {
  return pass_->variable(std::move(value));
}

// The gradient of a loss with respect to itself.
template <class T>
Tensor<T> Tape<T>::upstream_of(const Var<T>& loss) const {
  if (loss.size() != 1)
    fail<ShapeError>("backward", "a loss of one element (or an upstream gradient)", loss.shape());
  Tensor<T> one = pass_->uninitialized(loss.shape());
  one.fill(T{1});
  return one;
}

template <class T>
void Tape<T>::backward(const Var<T>& loss, const BackwardOptions& options) {
  backward(loss, upstream_of(loss), options);
}

template <class T>
void Tape<T>::backward(const Var<T>& y, const Tensor<T>& upstream, const BackwardOptions& options) {
  pass_->backward(y, upstream, options);
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
  return pass_->gradients(y, upstream, inputs, options);
}

template <class T>
void Tape<T>::clear() {
  pass_->end();
}

template <class T>
std::vector<Tensor<T>> Tape<T>::take_intermediates() {
  return std::exchange(pass_->intermediates_, {});
}

template <class T>
MemoryStatistics Tape<T>::memory() const {
  return pass_->pool_->statistics();
}

template class Var<float>;
template class Var<double>;
template class Tape<float>;
template class Tape<double>;

}  // namespace weft
