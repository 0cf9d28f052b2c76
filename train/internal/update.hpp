// Update: one training step, from loading its batches to updating the parameters.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weft/train/parallel/parallel_pass.hpp"
#include "weft/train/report/profile.hpp"
#include "weft/train/trainer.hpp"
#include "train/parallel/internal/divided_optimizer.hpp"
#include "train/parallel/internal/gradient_exchange.hpp"
#include "train/report/internal/parameter_watch.hpp"

namespace weft {

template <class T>
class Update {
 public:
  // Throws ValueError if all parameters are frozen, if the optimizer lacks a parameter that is not
  // frozen or has a parameter of another model, if there are more processes than parts, and for
  // several parts if the model has running buffers.
  Update(Module<T>& model, Optimizer<T>& optimizer, const BatchLosses<T>& losses,
         const TrainerOptions& options, TrainingProgress<T>& progress,
         ExponentialMovingAverage<T>* average, ParameterWatch<T>& watch, Profile* profile);

  // Collective: from now on, each of several processes updates only the elements that it owns.
  void divide();

  // Runs a step. Throws the same exceptions as Trainer::run.
  void run();
  // Waits until weights updated by other processes have arrived.
  void finish();
  // Collective: calls `work` while the root process has the whole state of the optimizer.
  void with_whole_optimizer(const std::function<void()>& work);
  // Collective: sends the whole state to all processes.
  void allgather_state();

  // Results of the last step.
  double loss() const { return loss_; }
  double grad_norm() const { return grad_norm_; }
  bool is_skipped() const { return progress_.consecutive_skips > 0; }
  Index labels() const { return labels_; }               // see labels_of
  double data_seconds() const { return data_seconds_; }  // time spent waiting for data
  Index num_batches() const { return num_batches_; }     // number of batches per epoch

 private:
  void check_parameters() const;
  // Returns a pass for the parts of this process.
  ParallelPass<T> new_pass(bool detect_anomaly) const;
  void read_batches();
  void add_batches(ParallelPass<T>& pass, bool sends);
  // Whether the update consists of a single loss, whose weight does not matter.
  bool has_one_loss() const { return batches_.size() == 1 && batches_.front().parts == 1; }
  // Whether this step measures the gradient noise; see TrainerOptions::update_statistics.
  bool measures_noise() const;
  void add_noise(std::vector<double> squared_norms, double correction);
  // Returns the expected sum of the weights of all parts.
  double expected_weight() const { return static_cast<double>(std::max<Index>(labels_, 1)); }
  double& weight_of(std::size_t batch, Index part);
  void zero_grad();
  std::string non_finite_operation();
  [[noreturn]] void fail_non_finite(const char* what);
  // Throws NonFiniteError unless the options allow to skip the step.
  void skip(const char* what);
  // Moves on to the batches of the next step.
  void advance();

  Optimizer<T>& optimizer_;
  const BatchLosses<T>& losses_;
  const TrainerOptions& options_;
  TrainingProgress<T>& progress_;
  ExponentialMovingAverage<T>* average_;
  ParameterWatch<T>& watch_;
  Profile* profile_;  // may be null
  ProcessGroup& processes_;
  const NamedParameters<T> parameters_;  // parameters of the model
  const PartLimits limits_;
  ParallelPass<T> pass_;
  std::optional<GradientExchange<T>> exchange_;
  std::optional<DividedOptimizer<T>> divided_;
  std::vector<LoadedBatch<T>> batches_;  // batches of the current step
  std::vector<double> weights_;  // weights of each batch's parts; 0 for parts not computed here
  Index num_batches_ = 0;
  Index labels_ = 0;
  double loss_ = 0.0;
  double grad_norm_ = 0.0;
  double data_seconds_ = 0.0;
};

extern template class Update<float>;
extern template class Update<double>;

}  // namespace weft
