// FinetuneConfiguration: the hyperparameters of fine-tuning. Checkpoints store the configuration,
// so that a resumed run uses the same values.
#pragma once

#include <cstdint>
#include <string>

#include <weft/layers/name_filter.hpp>
#include <weft/train/weights/state.hpp>

namespace weft::gpt {

class FinetuneConfiguration final : public Stateful<float> {
 public:
  std::int64_t lora = 0;
  double alpha = 16.0;
  double lora_dropout = 0.0;
  std::string layers = ".*attention\\.W_[qv]";
  std::int64_t length = 0;
  std::int64_t batch = 4;
  std::int64_t accumulation = 1;
  std::int64_t parts = 1;
  bool recompute = false;
  std::int64_t epochs = 1;
  std::int64_t steps = 0;
  double lr = 2e-4;
  double weight_decay = 0.0;
  double clip_norm = 1.0;
  std::int64_t validate_every = 0;
  std::int64_t seed = 1;
  // The sum of the frozen weights, which identifies the base model when training resumes.
  double frozen_sum = 0.0;
  // The date in conversations if the chat template uses one, in seconds of local time since 1970.
  // A resumed run uses the same date and therefore the same examples.
  std::int64_t chat_date = 0;

  // Returns the filter of the layers that get adapters. Throws ValueError if `layers` is not a
  // regular expression.
  NameFilter adapted_layers() const;

  // Throws ValueError, naming the setting, if a setting is out of range.
  void check_state() const override;
  void state(State<float>& state) override;

  // See examples/common/settings.hpp.
  template <class Self, class Visit>
  static void for_each_setting(Self& self, const Visit& visit) {
    constexpr std::int64_t max_count = 1'000'000'000;
    visit("lora", "rank of the adapters; 0: train all weights", self.lora, 0, 4096);
    visit("alpha", "with --lora, scale the adapters by alpha / rank", self.alpha, 1e-6, 1e6);
    visit("lora-dropout", "with --lora, dropout probability of the adapters' inputs",
          self.lora_dropout, 0.0, 0.999);
    visit("layers", "with --lora, regular expression for the names of the layers to adapt",
          self.layers);
    visit("length",
          "length of the rows of a batch, and maximum length of an example, in tokens; 0: the "
          "model's context, but at most 512",
          self.length, 0, 1 << 20);
    visit("batch", "number of rows per batch; each row holds as many examples as fit", self.batch,
          1, 4096);
    visit("accumulation", "number of batches per step, whose gradients are accumulated",
          self.accumulation, 1, 4096);
    visit("parts", "number of parts of a batch to compute in parallel", self.parts, 1, 1024);
    visit("recompute", "recompute activations in the backward pass, to save memory",
          self.recompute);
    visit("epochs", "number of passes over the data", self.epochs, 1, 1'000'000);
    visit("steps", "maximum number of steps; 0: no limit", self.steps, 0, max_count);
    visit("lr", "peak learning rate of a cosine schedule with a short warmup", self.lr, 1e-9, 1.0);
    visit("weight-decay", "weight decay of AdamW", self.weight_decay, 0.0, 10.0);
    visit("clip-norm", "maximum gradient norm, for clipping", self.clip_norm, 1e-6, 1e9);
    visit("validate-every", "steps between validations; 0: at the end of each epoch",
          self.validate_every, 0, max_count);
    visit("seed", "random seed", self.seed, 0, max_count);
  }
};

}  // namespace weft::gpt
