#include "train/internal/update.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/train/optim/clip.hpp"

namespace weft {

template <class T>
Update<T>::Update(Module<T>& model, Optimizer<T>& optimizer, const BatchLosses<T>& losses,
                  const TrainerOptions& options, TrainingProgress<T>& progress,
                  ExponentialMovingAverage<T>* average, ParameterWatch<T>& watch, Profile* profile)
    : optimizer_(optimizer),
      losses_(losses),
      options_(options),
      progress_(progress),
      average_(average),
      watch_(watch),
      profile_(profile),
      processes_(ProcessGroup::or_self(options.processes)),
      parameters_(named_parameters(model)),
      limits_(part_limits(options.parts, model)),
      pass_(new_pass(false)) {
  check_parameters();
  // Parts would update them at the same time, in any order.
  if (const auto running = named_running_buffers(model); options.parts > 1 && !running.empty())
    fail<ValueError>("trainer: parts",
                     str_cat("1 for a model with running averages (", running.front().name, ')'),
                     options.parts);
}

template <class T>
ParallelPass<T> Update<T>::new_pass(bool detect_anomaly) const {
  const int size = processes_.size();
  if (limits_.most < size)
    fail<ValueError>("trainer: parts",
                     str_cat("at least one part for each of ", size, " processes"), limits_.most);
  const PartRange own = parts_of_process(limits_.most, processes_.rank(), size);
  return {optimizer_.parameters(),
          limits_.most,
          {.training = true,
           .seed = options_.seed,
           .detect_anomaly = detect_anomaly,
           .precision = options_.precision,
           .observer = profile_},
          own.first,
          own.last};
}

// Throws ValueError unless the optimizer has all parameters of the model that are not frozen, and
// no parameters of a different model.
template <class T>
void Update<T>::check_parameters() const {
  std::unordered_set<const Parameter<T>*> of_model, of_optimizer;
  for (const auto& [name, parameter] : parameters_) of_model.insert(parameter);
  for (const auto& [name, parameter] : optimizer_.parameters()) {
    of_optimizer.insert(parameter);
    if (!of_model.contains(parameter))
      fail<ValueError>("trainer: optimizer", "only parameters of the trained model",
                       name + " of a different model");
  }
  if (std::ranges::none_of(parameters_, [](const auto& p) { return p.parameter->requires_grad(); }))
    fail<ValueError>("trainer: model", "at least one parameter that is not frozen", "none");
  for (const auto& [name, parameter] : parameters_)
    if (parameter->requires_grad() && !of_optimizer.contains(parameter))
      fail<ValueError>("trainer: optimizer", "all parameters of the model that are not frozen",
                       "an optimizer without " + name);
}

template <class T>
void Update<T>::divide() {
  if (processes_.size() == 1) return;
  exchange_.emplace(processes_, pass_, optimizer_.elements());
  divided_.emplace(processes_, optimizer_, exchange_->owned());
}

template <class T>
void Update<T>::run() {
  const auto measured = [this](const char* phase, const auto& work) {
    const Profile::Phase measures(profile_, phase);
    return work();
  };
  const auto start = std::chrono::steady_clock::now();
  measured("data", [&] { read_batches(); });
  data_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  measured("weights of other processes", [&] { finish(); });
  measured("forward and backward", [&] {
    zero_grad();
    pass_.begin();
    if (exchange_) exchange_->begin();
    add_batches(pass_, exchange_.has_value());
  });
  std::vector<double> squared_norms;
  const double loss = measured("sum of gradients", [&] {
    if (measures_noise()) squared_norms = pass_.squared_grad_norms();
    return exchange_ ? exchange_->reduce_scatter(weights_) : pass_.sum_gradients();
  });
  const double weight = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  // Losses and gradients were divided by the expected number of labels.
  const double correction = has_one_loss() || weight == 0.0 ? 1.0 : expected_weight() / weight;
  if (weight > 0.0) loss_ = correction * loss;  // without labels, the previous loss is kept
  if (weight > 0.0 && !std::isfinite(loss_)) return skip("loss");
  const Profile::Phase optimizer_phase(profile_, "optimizer");
  grad_norm_ = correction * (exchange_ ? exchange_->norm() : optimizer_.grad_norm());
  if (!std::isfinite(grad_norm_)) return skip("gradient norm");
  progress_.consecutive_skips = 0;
  if (!squared_norms.empty()) add_noise(std::move(squared_norms), correction);
  if (options_.schedule)
    optimizer_.schedule_learning_rate(options_.plateau.value_or(Plateau()).reduced(
        (*options_.schedule)(progress_.step + 1), progress_.plateau_factor));
  // With several processes, no process has all gradients, so nothing is measured.
  if (!exchange_) watch_.before_update(progress_.step + 1, optimizer_.parameters(), correction);
  optimizer_.step(correction * clip_factor(grad_norm_, options_.clip_norm));
  if (!exchange_) watch_.after_update(optimizer_.parameters());
  if (exchange_) exchange_->begin_weights();
  if (average_) {
    finish();
    average_->update();
  }
  if (weight > 0.0) progress_.loss_sum += loss_ * weight;
  progress_.label_sum += weight;
  advance();
}

template <class T>
bool Update<T>::measures_noise() const {
  return options_.update_statistics && !exchange_ &&
         (progress_.step + 1) % options_.log_every_steps == 0;
}

template <class T>
void Update<T>::add_noise(std::vector<double> squared_norms, double correction) {
  for (double& square : squared_norms) square *= correction * correction;
  std::vector<double> weights(squared_norms.size(), 0.0);
  for (std::size_t i = 0; i < weights_.size(); ++i) weights[i % weights.size()] += weights_[i];
  watch_.noise.add(weights, squared_norms, grad_norm_);
}

template <class T>
void Update<T>::skip(const char* what) {
  if (progress_.consecutive_skips >= options_.max_consecutive_skips) fail_non_finite(what);
  zero_grad();
  ++progress_.consecutive_skips;
  ++progress_.skipped_steps;
  advance();
}

template <class T>
void Update<T>::advance() {
  const auto batches = static_cast<std::int64_t>(batches_.size());
  ++progress_.step;
  progress_.micro_step += batches;
  progress_.batch += batches;
  if (progress_.batch == num_batches_) {
    ++progress_.epoch;
    progress_.batch = 0;
  }
}

template <class T>
void Update<T>::finish() {
  if (exchange_) exchange_->finish_weights();
}

template <class T>
void Update<T>::with_whole_optimizer(const std::function<void()>& work) {
  divided_ ? divided_->with_whole_state(work) : work();
}

template <class T>
void Update<T>::allgather_state() {
  if (divided_) divided_->allgather_state();
}

// Loads the batches of the next update.
template <class T>
void Update<T>::read_batches() {
  num_batches_ = losses_.num_batches();
  const auto position = static_cast<Index>(progress_.batch);
  if (num_batches_ <= position)
    fail<ValueError>("data source: num_batches", str_cat("a number > ", position), num_batches_);
  const Index count = std::min(options_.gradient_accumulation_steps, num_batches_ - position);
  labels_ = 0;
  batches_.clear();
  for (Index i = 0; i < count; ++i) {
    batches_.push_back(losses_.load(progress_.epoch, position + i, limits_));
    labels_ += batches_.back().labels;
  }
  weights_.assign(static_cast<std::size_t>(count * limits_.most), 0.0);
}

template <class T>
double& Update<T>::weight_of(std::size_t batch, Index part) {
  return weights_[batch * static_cast<std::size_t>(limits_.most) + static_cast<std::size_t>(part)];
}

// Runs forward and backward for the batches, until a loss is not finite. If `sends`, gradients are
// sent to other processes during the last batch.
template <class T>
void Update<T>::add_batches(ParallelPass<T>& pass, bool sends) {
  const auto is_finite = [&] {
    return std::all_of(pass.losses().begin(), pass.losses().end(),
                       [](double loss) { return std::isfinite(loss); });
  };
  for (std::size_t i = 0; i < batches_.size() && is_finite(); ++i) {
    std::function<void(std::size_t)> on_complete;
    if (sends && i + 1 == batches_.size())
      on_complete = [this](std::size_t parameter) { exchange_->complete(parameter); };
    pass.add_batch(
        static_cast<std::uint32_t>(progress_.micro_step + static_cast<std::int64_t>(i)),
        batches_[i].parts,
        [&](Tape<T>& tape, Index part) -> std::optional<Var<T>> {
          double& weight = weight_of(i, part);
          // Without labels, a mean is often 0 / 0. This is not an anomaly.
          if (tape.options().detect_anomaly && weight == 0.0) return std::nullopt;
          const WeightedLoss<T> mean = batches_[i].loss(tape, part);
          weight = *mean.weight;
          if (weight == 0.0) return std::nullopt;
          const double share = has_one_loss() ? 1.0 : weight / expected_weight();
          return share == 1.0 ? Var<T>(mean) : scale(mean, share);
        },
        on_complete);
  }
}

// Clears the gradients of all parameters of the model and of the optimizer.
template <class T>
void Update<T>::zero_grad() {
  optimizer_.zero_grad();
  for (const auto& [name, parameter] : parameters_) parameter->zero_grad();
}

// Runs the parts of this process again with anomaly detection. Returns a message that names the
// operation or gradient that is not finite, or "" if all values are finite.
template <class T>
std::string Update<T>::non_finite_operation() {
  ParallelPass<T> pass = new_pass(true);
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
  const std::string step = str_cat("step ", progress_.step + 1);
  const std::string own_message = non_finite_operation();
  zero_grad();
  for (const std::string& message : processes_.all_gather(own_message))
    if (!message.empty())
      throw NonFiniteError(step + (message.starts_with(':') ? "" : ": ") + message);
  fail<NonFiniteError>(step, str_cat("a finite ", what), loss_);
}

template class Update<float>;
template class Update<double>;

}  // namespace weft
