// Update: one step of training, from reading its batches to the new weights.
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
  // Throws ValueError unless the optimizer has all parameters of the model that are not frozen,
  // some at least, and none of another model, and when there are more processes than parts.
  Update(Module<T>& model, Optimizer<T>& optimizer, const BatchLosses<T>& losses,
         const TrainerOptions& options, TrainingProgress<T>& progress,
         ExponentialMovingAverage<T>* average, ParameterWatch<T>& watch, Profile* profile);

  // With several processes: from here on, each updates the elements that it owns. Collective.
  void divide();

  // Throws as Trainer::run does.
  void run();
  // Waits for the weights that other processes have updated.
  void finish();
  // Calls `work` while the first process has the whole state of the optimizer. Collective.
  void with_whole_optimizer(const std::function<void()>& work);
  // All processes get the whole state. Collective.
  void allgather_state();

  // Of the last step.
  double loss() const { return loss_; }
  double grad_norm() const { return grad_norm_; }
  Index labels() const { return labels_; }               // see labels_of
  double data_seconds() const { return data_seconds_; }  // spent waiting for data
  Index num_batches() const { return num_batches_; }     // per epoch

 private:
  void check_parameters() const;
  // For the parts of this process.
  ParallelPass<T> new_pass(bool detect_anomaly) const;
  void read_batches();
  void add_batches(ParallelPass<T>& pass, bool sends);
  // Whether the update consists of a single loss, whose weight does not matter.
  bool has_one_loss() const { return batches_.size() == 1 && batches_.front().parts == 1; }
  // The number that the weights of all parts should add up to.
  double expected_weight() const { return static_cast<double>(std::max<Index>(labels_, 1)); }
  double& weight_of(std::size_t batch, Index part);
  void zero_grad();
  std::string non_finite_operation();
  [[noreturn]] void fail_non_finite(const char* what);

  Optimizer<T>& optimizer_;
  const BatchLosses<T>& losses_;
  const TrainerOptions& options_;
  TrainingProgress<T>& progress_;
  ExponentialMovingAverage<T>* average_;
  ParameterWatch<T>& watch_;
  Profile* profile_;  // may be null
  ProcessGroup& processes_;
  const NamedParameters<T> parameters_;  // of the model
  ParallelPass<T> pass_;
  std::optional<GradientExchange<T>> exchange_;
  std::optional<DividedOptimizer<T>> divided_;
  std::vector<LoadedBatch<T>> batches_;  // of the current step
  std::vector<double> weights_;  // of the parts of each batch; 0 for those not computed here
  Index num_batches_ = 0;
  Index labels_ = 0;
  double loss_ = 0.0;
  double grad_norm_ = 0.0;
  double data_seconds_ = 0.0;
};

extern template class Update<float>;
extern template class Update<double>;

}  // namespace weft
