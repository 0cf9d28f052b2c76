#include "train/internal/update.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "weft/autograd/error.hpp"
#include "weft/train/optim/clip.hpp"

namespace weft {
namespace {

ProcessGroup* several(ProcessGroup* processes) {
  return processes && processes->size() > 1 ? processes : nullptr;
}

PartRange parts_of(ProcessGroup* processes, Index parts) {
  if (!several(processes)) return {0, parts};
  if (parts < processes->size())
    fail<ValueError>("trainer: parts",
                     concatenate_text("at least one for each of ", processes->size(), " processes"),
                     parts);
  return parts_of_process(parts, processes->rank(), processes->size());
}

}  // namespace

template <class T>
Update<T>::Update(Module<T>& model, Optimizer<T>& optimizer, const BatchLosses<T>& losses,
                  const TrainerOptions& options, TrainingProgress<T>& progress,
                  MovingAverage<T>* average)
    : optimizer_(optimizer),
      losses_(losses),
      options_(options),
      progress_(progress),
      average_(average),
      processes_(several(options.processes)),
      parameters_(named_parameters(model)),
      pass_(optimizer.parameters(), options.parts, tape_options(), own_parts().first,
            own_parts().last) {
  check_parameters();
}

template <class T>
TapeOptions Update<T>::tape_options() const {
  return {.training = true, .seed = options_.seed, .precision = options_.precision};
}

template <class T>
PartRange Update<T>::own_parts() const {
  return parts_of(options_.processes, options_.parts);
}

// The optimizer must have the parameters of the model that get gradients, and no others.
template <class T>
void Update<T>::check_parameters() const {
  std::unordered_set<const Parameter<T>*> of_model, of_optimizer;
  for (const auto& [name, parameter] : parameters_) of_model.insert(parameter);
  for (const auto& [name, parameter] : optimizer_.parameters()) {
    of_optimizer.insert(parameter);
    if (!of_model.contains(parameter))
      fail<ValueError>("trainer: optimizer", "parameters of the model that is trained",
                       name + " of another one");
  }
  for (const auto& [name, parameter] : parameters_)
    if (parameter->requires_grad() && !of_optimizer.contains(parameter))
      fail<ValueError>("trainer: optimizer",
                       "all parameters of the model, except those that `freeze` was called on",
                       "none for " + name);
}

template <class T>
void Update<T>::divide() {
  if (!processes_) return;
  exchange_.emplace(*processes_, pass_);
  divided_.emplace(*processes_, optimizer_, exchange_->owned());
  has_gradient_.resize(optimizer_.parameters().size());
  for (int process = 0; process < processes_->size(); ++process)
    report_sizes_.push_back(
        static_cast<int>(parts_of_process(options_.parts, process, processes_->size()).size() +
                         std::ssize(has_gradient_)));
  reports_.resize(
      static_cast<std::size_t>(std::accumulate(report_sizes_.begin(), report_sizes_.end(), 0)));
}

template <class T>
void Update<T>::run() {
  if (processes_)
    add_up_with_others();
  else
    add_up_alone();
  if (!std::isfinite(loss_)) fail_non_finite("loss");
  grad_norm_ = exchange_ ? exchange_->norm() : optimizer_.grad_norm();
  if (!std::isfinite(grad_norm_)) fail_non_finite("gradient norm");
  if (options_.schedule)
    optimizer_.set_learning_rate(progress_.plateau_factor *
                                 (*options_.schedule)(progress_.step + 1));
  optimizer_.step(clip_factor(grad_norm_, options_.clip_norm));
  if (exchange_) exchange_->begin_weights();
  if (average_) {
    finish();
    average_->update();
  }

  const auto batches = static_cast<std::int64_t>(batches_.size());
  ++progress_.step;
  progress_.micro_step += batches;
  progress_.batch += batches;
  if (progress_.batch == num_batches_) {
    ++progress_.epoch;
    progress_.batch = 0;
  }
  progress_.loss_sum += loss_ * static_cast<double>(labels_);
  progress_.label_sum += labels_;
}

template <class T>
void Update<T>::finish() {
  if (exchange_) exchange_->finish_weights();
}

template <class T>
void Update<T>::with_whole_optimizer(const std::function<void()>& work) {
  divided_ ? divided_->while_whole(work) : work();
}

template <class T>
void Update<T>::unite() {
  if (divided_) divided_->unite();
}

// Reads the batches of the next update and returns their number of labels.
template <class T>
Index Update<T>::read_batches() {
  num_batches_ = losses_.num_batches();
  const auto position = static_cast<Index>(progress_.batch);
  if (num_batches_ <= position)
    fail<ValueError>("batch source: num_batches", concatenate_text("a number > ", position),
                     num_batches_);
  const Index count = std::min(options_.accumulation, num_batches_ - position);
  Index labels = 0;
  batches_.clear();
  for (Index i = 0; i < count; ++i) {
    batches_.push_back(losses_.load(progress_.epoch, position + i, options_.parts));
    labels += batches_.back().labels;
  }
  return labels;
}

// Runs forward and backward for the batches. Stops at a loss that is not finite. When it `sends`,
// the last batch sends gradients to other processes.
template <class T>
void Update<T>::add_batches(ParallelPass<T>& pass, bool sends) {
  const auto is_finite = [&] {
    return std::all_of(pass.losses().begin(), pass.losses().end(),
                       [](double loss) { return std::isfinite(loss); });
  };
  for (std::size_t i = 0; i < batches_.size() && is_finite(); ++i) {
    if (sends && i + 1 == batches_.size()) exchange_->begin_last_batch();
    pass.add_batch(static_cast<std::uint32_t>(progress_.micro_step + static_cast<std::int64_t>(i)),
                   batches_[i].parts, [&](Tape<T>& tape, Index part) {
                     return batches_[i].loss(tape, part, std::max<Index>(labels_, 1));
                   });
  }
}

template <class T>
void Update<T>::add_up_alone() {
  labels_ = read_batches();
  zero_grad();
  pass_.begin();
  add_batches(pass_, false);
  loss_ = pass_.sum_gradients();
}

template <class T>
void Update<T>::add_up_with_others() {
  labels_ = read_batches();
  exchange_->finish_weights();
  zero_grad();
  pass_.begin();
  exchange_->begin();
  add_batches(pass_, true);
  exchange_->send_rest(has_gradient_);

  const auto start_of = [&](int process) {
    return reports_.begin() +
           std::accumulate(report_sizes_.begin(), report_sizes_.begin() + process, 0);
  };
  const auto report = start_of(processes_->rank());
  std::copy(has_gradient_.begin(), has_gradient_.end(),
            std::copy(pass_.losses().begin(), pass_.losses().end(), report));
  processes_->gather(reports_, report_sizes_);

  loss_ = 0.0;
  std::fill(has_gradient_.begin(), has_gradient_.end(), 0.0);
  for (int process = 0; process < processes_->size(); ++process) {
    const auto flags = start_of(process + 1) - std::ssize(has_gradient_);
    loss_ = std::accumulate(start_of(process), flags, loss_);
    std::transform(flags, flags + std::ssize(has_gradient_), has_gradient_.begin(),
                   has_gradient_.begin(), [](double a, double b) { return std::max(a, b); });
  }
  exchange_->add_up(has_gradient_);
}

// Also of parameters that only the model or only the optimizer has, which nothing else would
// clear.
template <class T>
void Update<T>::zero_grad() {
  optimizer_.zero_grad();
  for (const auto& [name, parameter] : parameters_) parameter->zero_grad();
}

// Runs the parts of this process again with anomaly detection, and returns the message that names
// the operation or the gradient that is not finite; empty when all are finite.
template <class T>
std::string Update<T>::non_finite_operation() {
  TapeOptions checking = tape_options();
  checking.detect_anomaly = true;
  ParallelPass<T> pass(optimizer_.parameters(), options_.parts, checking, own_parts().first,
                       own_parts().last);
  try {
    zero_grad();
    pass.begin();
    add_batches(pass, false);
    pass.sum_gradients();
    check_gradients_finite("", optimizer_.parameters());
  } catch (const NonFiniteError& error) {
    return error.what();
  }
  return "";
}

template <class T>
void Update<T>::fail_non_finite(const char* what) {
  const std::string step = concatenate_text("step ", progress_.step + 1);
  std::vector<std::string> messages{non_finite_operation()};
  zero_grad();
  if (processes_) messages = processes_->gather(messages.front());
  for (const std::string& message : messages)
    if (!message.empty())
      throw NonFiniteError(step + (message.starts_with(':') ? "" : ": ") + message);
  fail<NonFiniteError>(step, concatenate_text("a finite ", what), loss_);
}

template class Update<float>;
template class Update<double>;

}  // namespace weft
