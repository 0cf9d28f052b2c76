#include "weft/train/optim/optimizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "weft/autograd/error.hpp"
#include "weft/train/optim/clip.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
Optimizer<T>::Optimizer(
    std::string type, std::string options, NamedParameters<T> parameters, double learning_rate,
    double weight_decay, const ParameterGroups& groups,
    const std::function<bool(const std::string& name, const Shape& shape)>& decays,
    const std::function<bool(const std::string& name, const Shape& shape)>& is_undivided)
    : type_(std::move(type)),
      loaded_type_(type_),
      options_text_(std::move(options)),
      elements_(std::move(parameters), is_undivided),
      settings_(elements_.parameters().size()),
      slices_{elements_.sequence()},
      initial_learning_rate_(learning_rate),
      weight_decay_(weight_decay),
      missed_steps_({static_cast<Index>(settings_.size())}) {
  if (settings_.empty())
    fail<ValueError>(type_, "at least one parameter",
                     "none (does the model's `members` name them?)");
  check_finite_non_negative<T>("learning rate", learning_rate);
  check_finite_non_negative<T>(type_ + ": weight_decay", weight_decay);
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    const bool decays_this = !decays || decays(this->parameters()[i].name, elements_.shape(i));
    settings_[i].weight_decay = decays_this ? weight_decay : 0.0;
  }
  for (std::size_t group = 1; group <= groups.size(); ++group) {
    const auto& [selects, lr_factor, own_decay] = groups[group - 1];
    const std::string what = str_cat(type_, ": group ", group);
    check_function(what + ": parameters", selects);
    check_finite_non_negative<T>(what + ": lr_factor", lr_factor);
    check_finite_non_negative<T>(what + ": weight_decay", own_decay.value_or(0.0));
    bool selects_any = false;
    for (std::size_t i = 0; i < settings_.size(); ++i) {
      if (!selects(this->parameters()[i].name)) continue;
      selects_any = true;
      Settings& settings = settings_[i];
      if (settings.group == 0)
        settings = {group, lr_factor, own_decay.value_or(settings.weight_decay)};
    }
    if (!selects_any) fail<ValueError>(what, "at least one selected parameter", "none");
  }
}

template <class T>
void Optimizer<T>::step(double gradient_scale) {
  if (!std::isfinite(gradient_scale))
    fail<NonFiniteError>("gradient scale", "a finite number ≥ 0", gradient_scale);
  check_finite_non_negative<T>("gradient scale", gradient_scale);
  elements_.prepare(type_);
  prepare_state();
  schedule_learning_rate(learning_rate());
  ++steps_;
  count_missed_steps();
  const auto scale = static_cast<T>(gradient_scale);
  const Index size = slices_.sequence.size();
  parallel_for(size, std::max<Index>(grain_of(4), size / 256),
               [&](Index first, Index last) { update_elements(first, last, scale); });
  update_all_undivided(scale);
  zero_grad();
}

template <class T>
void Optimizer<T>::count_missed_steps() {
  std::int32_t* const missed = missed_steps_.data();
  for (std::size_t i = 0; i < parameters().size(); ++i)
    if (!parameters()[i].parameter->has_grad() &&
        missed[i] < std::numeric_limits<std::int32_t>::max())
      ++missed[i];
}

template <class T>
void Optimizer<T>::update_elements(Index first, Index last, T scale) {
  slices_.sequence.for_each_part(first, last, [&](std::size_t i, Index begin, Index end) {
    const ElementSlice& slice = slices_.sequence.slices()[i];
    Parameter<T>& parameter = *parameters()[slice.parameter].parameter;
    const GradientAccumulator<T>& gradient = parameter.gradient_sum();
    if (gradient.empty() || elements_.is_undivided(slice.parameter)) return;
    update(slice.parameter, end - begin, parameter.values().data() + begin,
           gradient.values().data() + begin, state_of(i, begin - slice.begin).data(), scale);
  });
}

// Updates undivided parameters on a thread each if there are enough of them, and otherwise one
// after another, each on all threads.
template <class T>
void Optimizer<T>::update_all_undivided(T scale) {
  const std::vector<ElementSlice>& slices = slices_.sequence.slices();
  std::vector<std::size_t>& undivided = undivided_slices_;
  undivided.clear();
  for (std::size_t i = 0; i < slices.size(); ++i)
    if (elements_.is_undivided(slices[i].parameter) &&
        parameters()[slices[i].parameter].parameter->has_grad())
      undivided.push_back(i);
  const Index count = std::ssize(undivided);
  parallel_for(count, count < thread_count() ? count : 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const std::size_t slice = undivided[static_cast<std::size_t>(i)];
      Parameter<T>& parameter = *parameters()[slices[slice].parameter].parameter;
      update_undivided(slices[slice].parameter, parameter.values().data(),
                       parameter.gradient_sum().values().data(), state_of(slice, 0).data(), scale);
    }
  });
}

// Returns pointers to the state of a slice, starting with element `begin` of the slice.
template <class T>
std::array<T*, Optimizer<T>::most_tensors> Optimizer<T>::state_of(std::size_t slice, Index begin) {
  std::array<T*, most_tensors> state{};
  for (std::size_t number = 0; number < tensors(); ++number)
    if (has_state(number, slices_.sequence.slices()[slice].parameter))
      state[number] = slices_.state[number][slice].data() + begin;
  return state;
}

template <class T>
void Optimizer<T>::set_slices(OptimizerSlices<T> slices) {
  for (const ElementSlice& slice : slices.sequence.slices()) {
    if (slice.parameter >= parameters().size() || slice.begin < 0 || slice.size() < 0 ||
        slice.end > elements_.shape(slice.parameter).elements())
      fail<ValueError>(type_ + ": slices", "slices within the parameters",
                       "a slice outside of them");
    if (elements_.is_undivided(slice.parameter) &&
        slice.size() != elements_.shape(slice.parameter).elements())
      fail<ValueError>(str_cat(type_, ": slice of ", parameters()[slice.parameter].name),
                       "the whole parameter", str_cat(slice.size(), " elements"));
  }
  slices_ = std::move(slices);
  add_missing_state();
}

template <class T>
Shape Optimizer<T>::state_shape(std::size_t number, const ElementSlice& slice) const {
  if (!has_state(number, slice.parameter)) return {0};
  const Shape& whole = elements_.shape(slice.parameter);
  return slice.size() == whole.elements() ? whole : Shape{slice.size()};
}

template <class T>
void Optimizer<T>::add_missing_state() {
  const std::vector<ElementSlice>& slices = slices_.sequence.slices();
  slices_.state.resize(tensors());
  for (std::size_t number = 0; number < tensors(); ++number)
    for (std::vector<Tensor<T>>& state = slices_.state[number]; state.size() < slices.size();)
      state.emplace_back(state_shape(number, slices[state.size()]));
}

// Called before threads write: checks the shapes, and copies tensors that share memory.
template <class T>
void Optimizer<T>::prepare_state() {
  add_missing_state();
  for (std::size_t number = 0; number < tensors(); ++number)
    for (std::size_t i = 0; i < slices_.state[number].size(); ++i) {
      const ElementSlice& slice = slices_.sequence.slices()[i];
      Tensor<T>& tensor = slices_.state[number][i];
      const Shape shape = state_shape(number, slice);
      if (tensor.shape() != shape)
        fail<ShapeError>(
            str_cat(type_, ": ", states_[number].name, " of ", parameters()[slice.parameter].name),
            shape, tensor.shape());
      tensor.data();
    }
}

template <class T>
void Optimizer<T>::zero_grad() {
  elements_.check_exist(type_);
  for (const auto& [name, parameter] : parameters()) parameter->zero_grad();
}

template <class T>
double Optimizer<T>::grad_norm() const {
  return weft::grad_norm(elements_);
}

template <class T>
double Optimizer<T>::learning_rate() const {
  if (base_learning_rate_ == initial_learning_rate_) return learning_rate_;
  return base_learning_rate_ > 0.0 ? learning_rate_ / base_learning_rate_ * initial_learning_rate_
                                   : initial_learning_rate_;
}

template <class T>
void Optimizer<T>::set_learning_rate(double learning_rate) {
  schedule_learning_rate(learning_rate);
  if (steps_ == 0) initial_learning_rate_ = base_learning_rate_ = learning_rate;
}

template <class T>
void Optimizer<T>::schedule_learning_rate(double learning_rate) {
  check_finite_non_negative<T>("learning rate", learning_rate);
  learning_rate_ = learning_rate;
  base_learning_rate_ = initial_learning_rate_;
}

template <class T>
void Optimizer<T>::state(State<T>& state) {
  state.text("type", loaded_type_);
  state.integer("step", steps_);
  state.list("missed_steps", missed_steps_);
  state.number("learning_rate", learning_rate_);
  state.number("initial_learning_rate", base_learning_rate_);
  if (!is_whole())
    fail<Error>(type_ + ": state", "all elements of the parameters", "only some (see set_slices)");
  elements_.check_exist(type_);
  add_missing_state();
  for (std::size_t number = 0; number < tensors(); ++number)
    for (std::size_t i = 0; i < parameters().size(); ++i)
      if (has_state(number, i))
        state.tensor(states_[number].name + "." + parameters()[i].name, slices_.state[number][i]);
}

template <class T>
void Optimizer<T>::check_state() const {
  if (loaded_type_ != type_)
    fail<ValueError>("optimizer", str_cat("the state of ", type_),
                     str_cat("the state of ", loaded_type_));
  check_at_least(type_ + ": step", steps_, std::int64_t{0});
  for (std::size_t i = 0; i < parameters().size(); ++i)
    if (const std::int32_t missed = missed_steps_.data()[i]; missed < 0 || missed > steps_)
      fail<ValueError>(type_ + ": missed_steps of " + parameters()[i].name,
                       str_cat("a value from 0 to ", steps_), missed);
  check_finite_non_negative<T>("learning rate", learning_rate_);
  check_finite_non_negative<T>("initial learning rate", base_learning_rate_);
  for (std::size_t number = 0; number < slices_.state.size(); ++number)
    for (std::size_t i = 0; states_[number].non_negative && i < slices_.state[number].size(); ++i) {
      const Tensor<T>& tensor = slices_.state[number][i];
      const auto bad = std::ranges::find_if(tensor, [](T value) { return !(value >= T{0}); });
      if (bad != tensor.end())
        fail<ValueError>(str_cat(type_, ": ", states_[number].name, " of ",
                                 parameters()[slices_.sequence.slices()[i].parameter].name),
                         "values ≥ 0",
                         str_cat(*bad, " at ", tensor.shape().position(bad - tensor.begin())));
    }
}

template <class T>
void Optimizer<T>::add_tensors(std::string name, bool non_negative, bool only_divided) {
  if (tensors() == most_tensors)
    fail<Error>(type_ + ": state", str_cat("at most ", most_tensors, " kinds of state"), "more");
  states_.push_back({std::move(name), non_negative, only_divided});
}

template <class T>
std::string Optimizer<T>::description() const {
  return str_cat(type_, ", lr ", initial_learning_rate_, ", ", options_text_, ", ",
                 settings_description());
}

template <class T>
std::string Optimizer<T>::settings_description() const {
  // Returns "9216 parameters in 3 tensors" for the parameters that have the settings.
  const auto count = [&](const auto& have) {
    Index tensors = 0, numbers = 0;
    for (std::size_t i = 0; i < settings_.size(); ++i) {
      if (!have(settings_[i])) continue;
      ++tensors;
      numbers += elements_.shape(i).elements();
    }
    return str_cat(numbers, " parameters in ", tensors, tensors == 1 ? " tensor" : " tensors");
  };
  const auto decays = [](const Settings& settings) { return settings.weight_decay > 0.0; };
  std::string text = str_cat(
      "weight decay ", weight_decay_, " on ",
      count([&](const Settings& settings) { return settings.group == 0 && decays(settings); }),
      ", none on ",
      count([&](const Settings& settings) { return settings.group == 0 && !decays(settings); }));
  std::set<std::tuple<std::size_t, double, double>> groups;
  for (const auto& [group, lr_factor, decay] : settings_)
    if (group > 0) groups.insert({group, lr_factor, decay});
  for (const auto& [number, lr_factor, decay] : groups)
    text += str_cat("; lr × ", lr_factor, " and weight decay ", decay, " on ",
                    count([group = number, value = decay](const Settings& settings) {
                      return settings.group == group && settings.weight_decay == value;
                    }));
  return text;
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace weft
