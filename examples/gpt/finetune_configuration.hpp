// FinetuneConfiguration: what the result of a fine-tuning depends on. Checkpoints store it, so that
// a training is resumed as it began.
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
  std::int64_t length = 512;
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
  // The sum of the weights that are not trained, by which the model is recognized.
  double frozen_sum = 0.0;
  // The date in conversations, in seconds of local time since 1970, if the chat template has one:
  // a training that is resumed continues with the same texts.
  std::int64_t chat_date = 0;

  // The layers that get adapters. Throws ValueError unless `layers` is a regular expression.
  NameFilter adapted_layers() const;

  // Throws ValueError, naming the setting, for the first one that is out of range.
  void check_state() const override;
  void state(State<float>& state) override;

  // See examples/common/settings.hpp.
  template <class Self, class Visit>
  static void for_each_setting(Self& self, const Visit& visit) {
    constexpr std::int64_t max_count = 1'000'000'000;
    visit("lora", "rank of the adapters; 0: train all weights", self.lora, 0, 4096);
    visit("alpha", "with --lora, what results of adapters are multiplied by, times the rank",
          self.alpha, 1e-6, 1e6);
    visit("lora-dropout", "with --lora, probability of dropping an input of an adapter",
          self.lora_dropout, 0.0, 0.999);
    visit("layers", "with --lora, a regular expression for the names of layers", self.layers);
    visit("length", "tokens of a row of a batch, and of a text at most", self.length, 2, 1 << 20);
    visit("batch", "rows of a batch; each has as many texts as fit", self.batch, 1, 4096);
    visit("accumulation", "batches per step", self.accumulation, 1, 4096);
    visit("parts", "parts of a batch that are computed in parallel", self.parts, 1, 1024);
    visit("recompute", "compute activations again in backward, for less memory", self.recompute);
    visit("epochs", "passes over the data", self.epochs, 1, 1'000'000);
    visit("steps", "number of steps at most; 0: no limit", self.steps, 0, max_count);
    visit("lr", "peak learning rate, of a cosine with a short warmup", self.lr, 1e-9, 1.0);
    visit("weight-decay", "weight decay of AdamW", self.weight_decay, 0.0, 10.0);
    visit("clip-norm", "maximum gradient norm", self.clip_norm, 1e-6, 1e9);
    visit("validate-every", "steps between validations; 0: at the end of each epoch",
          self.validate_every, 0, max_count);
    visit("seed", "random seed", self.seed, 0, max_count);
  }
};

}  // namespace weft::gpt
