// Configuration: the hyperparameters of a language model and its training. It is stored in
// checkpoints, so that a training can be resumed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/layers/models/gpt.hpp>
#include <weft/train/weights/state.hpp>

namespace weft::gpt {

// The defaults are those of nanoGPT's recipe for a CPU (train_shakespeare_char).
class Configuration final : public Stateful<float> {
 public:
  // The names of the presets.
  static const std::vector<std::string> presets;
  // Throws ValueError for other names.
  static Configuration preset(const std::string& name);

  // Model.
  std::int64_t width = 128;
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 0;
  std::int64_t ffn = 0;
  std::int64_t context = 64;
  bool modern = false;
  bool bias = false;
  double dropout = 0.0;
  // The number of byte pairs and bytes that are learned.
  std::int64_t vocabulary = 4096;
  // Training.
  std::int64_t steps = 2000;
  std::int64_t batch = 12;
  std::int64_t accumulation = 1;
  std::int64_t parts = 4;
  double lr = 1e-3;
  double final_lr = 1e-4;
  std::int64_t warmup = 100;
  double beta2 = 0.99;
  double weight_decay = 0.1;
  double label_smoothing = 0.0;
  double clip_norm = 1.0;
  double average = 0.0;
  std::int64_t validate_every = 250;
  std::int64_t validation_batches = 20;
  std::int64_t patience = 0;
  std::int64_t seed = 1;
  // How rotary positions pair channels (RotaryPairs), by which the weights were trained.
  std::string rotary_pairs = "halves";

  // The options of a model with so many tokens.
  GptOptions model_options(Index vocabulary_size) const;

  // Throws ValueError, naming the setting, for the first one that is out of range.
  void check_state() const override;
  void state(State<float>& state) override;
  // Accepts the tokens, which are now the checkpoint's "tokenizer" (see tokenizer_of).
  bool was_only_in_0_2(const std::string& name) const override {
    return name == "characters" || name == "byte_pairs" || name == "merges";
  }

  // See examples/common/settings.hpp.
  template <class Self, class Visit>
  static void for_each_setting(Self& self, const Visit& visit) {
    constexpr std::int64_t max_count = 1'000'000'000;
    visit("width", "embedding size of the model", self.width, 1, 8192);
    visit("layers", "number of blocks", self.layers, 1, 256);
    visit("heads", "number of attention heads, a divisor of the width", self.heads, 1, 1024);
    visit("kv-heads",
          "number of heads of keys and values, a divisor of the heads; 0: all, with --modern half",
          self.kv_heads, 0, 1024);
    visit("ffn",
          "hidden size of the feed-forward networks; 0: 4 × width, with --modern as many "
          "parameters in a block",
          self.ffn, 0, 65536);
    visit("context", "number of tokens that the next one is predicted from, at most", self.context,
          1, 65536);
    visit("modern", "RMSNorm, rotary positions, SwiGLU and grouped-query attention", self.modern);
    visit("bias", "linear layers and norms with biases; without --modern only", self.bias);
    visit("dropout", "dropout probability", self.dropout, 0.0, 0.999999);
    visit("vocabulary", "number of tokens to learn, with --tokenizer bytepairs", self.vocabulary,
          257, 1'000'000);
    visit("steps", "number of training steps", self.steps, 1, max_count);
    visit("batch", "batch size, in windows of the context's length", self.batch, 1, 1'000'000);
    visit("accumulation", "batches per step", self.accumulation, 1, 1'000'000);
    visit("parts",
          "number of parts of a batch that are computed in parallel; 1: each operation is, for "
          "large models",
          self.parts, 1, 1024);
    visit("lr", "peak learning rate", self.lr, 1e-9, 10.0);
    visit("final-lr", "learning rate at the end of the cosine", self.final_lr, 0.0, 10.0);
    visit("warmup", "number of warmup steps of the learning rate", self.warmup, 0, max_count);
    visit("beta2", "decay rate of AdamW's second moment", self.beta2, 0.0, 0.999999);
    visit("weight-decay", "weight decay of AdamW on weight matrices", self.weight_decay, 0.0, 10.0);
    visit("label-smoothing", "probability mass of the target spread over all tokens",
          self.label_smoothing, 0.0, 0.999999);
    visit("clip-norm", "maximum gradient norm, for clipping", self.clip_norm, 1e-6, 1e9);
    visit("average", "decay rate of a moving average of the weights, which is the model; 0: none",
          self.average, 0.0, 0.999999);
    visit("validate-every", "steps between validations", self.validate_every, 1, max_count);
    visit("validation-batches",
          "batches of the validation, evenly spaced in its text; 0: all of the text",
          self.validation_batches, 0, max_count);
    visit("patience", "validations without improvement that end the training; 0 disables",
          self.patience, 0, max_count);
    visit("seed", "random seed", self.seed, 0, max_count);
  }
};

}  // namespace weft::gpt
