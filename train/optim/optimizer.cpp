#include "weft/train/optim/optimizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "weft/autograd/error.hpp"
#include "weft/train/distributed/process_group.hpp"
#include "weft/train/optim/clip.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
Optimizer<T>::Optimizer(
    std::string type, NamedParameters<T> parameters, double learning_rate, double weight_decay,
    const ParameterGroups& groups,
    const std::function<bool(const std::string& name, const Shape& shape)>& decays)
    : type_(std::move(type)),
      loaded_type_(type_),
      elements_(std::move(parameters)),
      settings_(elements_.parameters().size()),
      learning_rate_(learning_rate),
      weight_decay_(weight_decay) {
  check_finite_non_negative<T>("learning rate", learning_rate);
  check_finite_non_negative<T>(type_ + ": weight_decay", weight_decay);
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    const auto& [name, parameter] = this->parameters()[i];
    settings_[i].weight_decay = !decays || decays(name, parameter->shape()) ? weight_decay : 0.0;
  }
  for (std::size_t group = 1; group <= groups.size(); ++group) {
    const auto& [selects, lr_factor, own_decay] = groups[group - 1];
    const std::string what = concatenate_text(type_, ": group ", group);
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
    if (!selects_any) fail<ValueError>(what, "parameters of the model", "none of these names");
  }
}

template <class T>
void Optimizer<T>::step(double gradient_scale) {
  if (!std::isfinite(gradient_scale))
    fail<NonFiniteError>("gradient scale", "a finite number ≥ 0", gradient_scale);
  check_finite_non_negative<T>("gradient scale", gradient_scale);
  elements_.prepare(type_);
  prepare_tensors();
  ++steps_;
  const auto scale = static_cast<T>(gradient_scale);
  parallel_for(elements_.num_ranges(), 1, [&](Index first, Index last) {
    for (Index range = first; range < last; ++range) update_range(range, scale);
  });
  zero_grad();
}

template <class T>
void Optimizer<T>::update_range(Index range, T scale) {
  const Index start = elements_.range_begin(range);
  const Index own = is_divided() ? offsets_[static_cast<std::size_t>(range)] : 0;
  if (own < 0) return;
  Index position = 0;  // in the range
  elements_.for_each_part(
      start, elements_.range_begin(range + 1), [&](std::size_t index, Index begin, Index end) {
        Parameter<T>& parameter = *parameters()[index].parameter;
        const GradientSum<T>& gradient = parameter.gradient_sum();
        std::array<T*, most_tensors> state;
        for (std::size_t i = 0; i < tensors_.size(); ++i)
          state[i] = is_divided() ? tensors_[i].own.data() + own + position
                                  : tensors_[i].of[index].data() + begin;
        position += end - begin;
        if (!gradient.empty())
          update(index,
                 parameter.values().subspan(static_cast<std::size_t>(begin),
                                            static_cast<std::size_t>(end - begin)),
                 gradient.values().data() + begin, state.data(), scale);
      });
}

template <class T>
void Optimizer<T>::add_missing_tensors() {
  for (auto& [name, of, own] : tensors_)
    while (of.size() < parameters().size())
      of.emplace_back(parameters()[of.size()].parameter->shape());
}

// Before threads write: the shapes are right, and the tensors have memory of their own.
template <class T>
void Optimizer<T>::prepare_tensors() {
  if (is_divided()) return;
  add_missing_tensors();
  for (auto& [name, tensors, own] : tensors_)
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto& [parameter_name, parameter] = parameters()[i];
      if (tensors[i].shape() != parameter->shape())
        fail<ShapeError>(concatenate_text(type_, ": ", name, " of ", parameter_name),
                         parameter->shape(), tensors[i].shape());
      tensors[i].data();
    }
}

template <class T>
void Optimizer<T>::zero_grad() {
  for (const auto& [name, parameter] : parameters()) parameter->zero_grad();
}

template <class T>
double Optimizer<T>::grad_norm() const {
  return weft::grad_norm(elements_);
}

template <class T>
void Optimizer<T>::set_learning_rate(double learning_rate) {
  check_finite_non_negative<T>("learning rate", learning_rate);
  learning_rate_ = learning_rate;
}

template <class T>
void Optimizer<T>::state(State<T>& state) {
  state.text("type", loaded_type_);
  state.integer("step", steps_);
  state.number("learning_rate", learning_rate_);
  if (!is_divided()) add_missing_tensors();
  for (auto& [name, tensors, own] : tensors_) {
    if (tensors.size() < parameters().size())
      fail<Error>(type_ + ": state", "the whole state", "that of one of several processes");
    for (std::size_t i = 0; i < tensors.size(); ++i)
      state.tensor(name + "." + parameters()[i].name, tensors[i]);
  }
}

template <class T>
void Optimizer<T>::check_state() const {
  if (loaded_type_ != type_)
    fail<ValueError>("optimizer", concatenate_text("the state of ", type_),
                     concatenate_text("that of ", loaded_type_));
  check_at_least(type_ + ": step", steps_, std::int64_t{0});
  check_finite_non_negative<T>("learning rate", learning_rate_);
}

template <class T>
void Optimizer<T>::add_tensors(std::string name) {
  if (tensors_.size() == most_tensors)
    fail<Error>(type_ + ": state", concatenate_text(most_tensors, " tensors"), "more");
  tensors_.push_back({std::move(name), {}, {}});
}

template <class T>
void Optimizer<T>::take_owned(const StateTensors& from, int owner, std::vector<T>& values) const {
  values.clear();
  for (std::size_t range = 0; range < owners_.size(); ++range)
    if (owners_[range] == owner)
      elements_.for_each_part(elements_.range_begin(static_cast<Index>(range)),
                              elements_.range_begin(static_cast<Index>(range) + 1),
                              [&](std::size_t index, Index begin, Index end) {
                                const T* whole = from.of[index].data();
                                values.insert(values.end(), whole + begin, whole + end);
                              });
}

template <class T>
void Optimizer<T>::put_owned(const std::vector<T>& values, int owner, StateTensors& to) const {
  const T* next = values.data();
  for (std::size_t range = 0; range < owners_.size(); ++range)
    if (owners_[range] == owner)
      elements_.for_each_part(elements_.range_begin(static_cast<Index>(range)),
                              elements_.range_begin(static_cast<Index>(range) + 1),
                              [&](std::size_t index, Index begin, Index end) {
                                std::copy(next, next + (end - begin), to.of[index].data() + begin);
                                next += end - begin;
                              });
}

template <class T>
void Optimizer<T>::divide(std::vector<int> owners, int rank) {
  if (is_divided()) fail<Error>(type_, "a state that is not divided yet", "one that is");
  if (std::ssize(owners) != elements_.num_ranges())
    fail<ValueError>(type_ + ": owners of ranges", elements_.num_ranges(), owners.size());
  owners_ = std::move(owners);
  Index size = 0;
  offsets_.assign(owners_.size(), -1);
  for (std::size_t range = 0; range < owners_.size(); ++range) {
    if (owners_[range] != rank) continue;
    offsets_[range] = size;
    size += elements_.range_begin(static_cast<Index>(range) + 1) -
            elements_.range_begin(static_cast<Index>(range));
  }
  for (StateTensors& tensors : tensors_) {
    tensors.own.reserve(static_cast<std::size_t>(size));
    if (tensors.of.empty())
      tensors.own.resize(static_cast<std::size_t>(size));
    else
      take_owned(tensors, rank, tensors.own);
  }
  release();
}

template <class T>
void Optimizer<T>::collect(ProcessGroup& processes) {
  for (StateTensors& tensors : tensors_) {
    if (!processes.is_first()) {
      processes.send(std::as_bytes(std::span(tensors.own)), 0);
      continue;
    }
    for (const auto& [name, parameter] : parameters())
      tensors.of.push_back(Tensor<T>::uninitialized(parameter->shape()));
    put_owned(tensors.own, 0, tensors);
    std::vector<T> values;
    for (int owner = 1; owner < processes.size(); ++owner) {
      Index size = 0;
      for (std::size_t range = 0; range < owners_.size(); ++range)
        if (owners_[range] == owner)
          size += elements_.range_begin(static_cast<Index>(range) + 1) -
                  elements_.range_begin(static_cast<Index>(range));
      values.resize(static_cast<std::size_t>(size));
      processes.receive(std::as_writable_bytes(std::span(values)), owner);
      put_owned(values, owner, tensors);
    }
  }
}

template <class T>
void Optimizer<T>::release() {
  for (StateTensors& tensors : tensors_) tensors.of = {};
}

template <class T>
void Optimizer<T>::unite(ProcessGroup& processes) {
  collect(processes);
  for (StateTensors& tensors : tensors_) tensors.own = {};
  owners_.clear();
  offsets_.clear();
  add_missing_tensors();
  for (StateTensors& tensors : tensors_)
    for (Tensor<T>& tensor : tensors.of)
      processes.broadcast(std::as_writable_bytes(tensor.values()));
}

template <class T>
std::string Optimizer<T>::settings_description() const {
  // "9216 parameters in 3 tensors": those that have the settings.
  const auto count = [&](const auto& have) {
    Index tensors = 0, numbers = 0;
    for (std::size_t i = 0; i < settings_.size(); ++i) {
      if (!have(settings_[i])) continue;
      ++tensors;
      numbers += parameters()[i].parameter->size();
    }
    return concatenate_text(numbers, " parameters in ", tensors,
                            tensors == 1 ? " tensor" : " tensors");
  };
  const auto decays = [](const Settings& settings) { return settings.weight_decay > 0.0; };
  std::string text = concatenate_text(
      "weight decay ", weight_decay_, " on ",
      count([&](const Settings& settings) { return settings.group == 0 && decays(settings); }),
      ", none on ",
      count([&](const Settings& settings) { return settings.group == 0 && !decays(settings); }));
  std::set<std::tuple<std::size_t, double, double>> groups;
  for (const auto& [group, lr_factor, decay] : settings_)
    if (group > 0) groups.insert({group, lr_factor, decay});
  for (const auto& [number, lr_factor, decay] : groups)
    text += concatenate_text("; lr × ", lr_factor, " and weight decay ", decay, " on ",
                             count([group = number, value = decay](const Settings& settings) {
                               return settings.group == group && settings.weight_decay == value;
                             }));
  return text;
}

template <class T>
void Optimizer<T>::check_not_negative(std::size_t number) const {
  const auto& [name, tensors, own] = tensors_[number];
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::span<const T> values = tensors[i].values();
    const auto bad =
        std::find_if(values.begin(), values.end(), [](T value) { return !(value >= T{0}); });
    if (bad != values.end())
      fail<ValueError>(
          concatenate_text(type_, ": ", name, " of ", parameters()[i].name), "values ≥ 0",
          concatenate_text(*bad, " at ", tensors[i].shape().position(bad - values.begin())));
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace weft
