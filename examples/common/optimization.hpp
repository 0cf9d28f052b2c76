// Optimization: the hyperparameters of an optimizer and of its learning rate, which the
// configurations of several programs contain.
#pragma once

#include <cstdint>
#include <memory>

#include <weft/layers/module.hpp>
#include <weft/train/optim/optimizer.hpp>
#include <weft/train/optim/schedule.hpp>
#include "examples/common/command_line.hpp"
#include "examples/common/new_setting.hpp"

namespace weft::examples {

// A base class of configurations. The defaults are AdamW's.
struct Optimization {
  bool muon = false;
  double adamw_lr_factor = 0.1;
  double lr = 1e-3;
  double final_lr = 0.0;
  std::int64_t warmup = 0;
  double decay = 0.0;
  double beta2 = 0.999;
  double weight_decay = 0.01;

  // Returns a Muon or an AdamW optimizer of a model.
  std::unique_ptr<Optimizer<float>> make_optimizer(Module<float>& model) const;
  // Returns the number of warmup steps if training takes `steps` steps, at most half of them.
  std::int64_t warmup_steps(std::int64_t steps) const;
  // Returns the schedule of a training run of `steps` steps.
  Schedule make_schedule(std::int64_t steps) const;

  // Throws ValueError, naming the setting, if settings contradict each other.
  void check_optimization() const;
  // Throws UsageError, naming the option, if an option has no effect because of the settings.
  // Resets settings that a preset sets but that have no effect.
  void reset_unused(const CommandLine& line);

  // See examples/common/settings.hpp.
  template <class Self, class Visit>
  static void for_each_setting(Self& self, const Visit& visit) {
    constexpr std::int64_t max_count = 1'000'000'000;
    visit(NewSetting{"muon"}, "update the weight matrices of the blocks with Muon, not with AdamW",
          self.muon);
    visit(NewSetting{"adamw-lr-factor"},
          "with --muon, multiplies the learning rate of all other parameters, which AdamW updates",
          self.adamw_lr_factor, 0.0, 1000.0);
    visit("lr", "peak learning rate", self.lr, 1e-9, 10.0);
    visit(NewSetting{"final-lr"}, "learning rate at the end of training", self.final_lr, 0.0, 10.0);
    visit("warmup", "number of warmup steps of the learning rate, at most half of the steps",
          self.warmup, 0, max_count);
    visit(NewSetting{"decay"},
          "fraction of the steps, at the end and after the warmup, in which the learning rate "
          "falls linearly to --final-lr; 0: it falls along a cosine from the warmup on",
          self.decay, 0.0, 1.0);
    visit(NewSetting{"beta2"}, "decay rate of AdamW's second moment", self.beta2, 0.0, 0.999999);
    visit("weight-decay", "weight decay of AdamW or Muon, for weight matrices only",
          self.weight_decay, 0.0, 10.0);
  }
};

}  // namespace weft::examples
