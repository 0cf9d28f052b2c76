// Configuration: the hyperparameters of a language model and its training. Checkpoints store the
// configuration, so that training can resume.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/layers/models/gpt.hpp>
#include <weft/train/weights/state.hpp>
#include "examples/common/optimization.hpp"

namespace weft::gpt {

// The defaults are those of nanoGPT's recipe for CPUs (train_shakespeare_char).
class Configuration final : public Stateful<float>, public examples::Optimization {
 public:
  Configuration()
      : Optimization{.final_lr = 1e-4, .warmup = 100, .beta2 = 0.99, .weight_decay = 0.1} {}

  // The names of the presets.
  static const std::vector<std::string> presets;
  // Returns the preset of this name. Throws ValueError for an unknown name.
  static Configuration preset(const std::string& name);

  // Model.
  std::int64_t width = 128;
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 0;
  std::int64_t ffn = 0;
  std::int64_t context = 64;
  bool modern = false;
  bool rms_norm = false;
  bool rotary = false;
  bool qk_norm = false;
  bool squared_relu = false;
  bool zero_init = false;
  bool untied = false;
  bool bias = false;
  double dropout = 0.0;
  // The number of tokens to learn from the text: bytes and byte pairs.
  std::int64_t vocabulary = 4096;
  // Training.
  std::int64_t steps = 2000;
  std::int64_t batch = 12;
  std::int64_t accumulation = 1;
  std::int64_t parts = 0;
  double label_smoothing = 0.0;
  double clip_norm = 1.0;
  double average = 0.0;
  std::int64_t validate_every = 250;
  std::int64_t validation_batches = 20;
  std::int64_t patience = 0;
  std::int64_t seed = 1;
  // How rotary positions pair channels (RotaryPairs) in the trained weights.
  std::string rotary_pairs = "halves";

  // Returns the options of a model with a vocabulary of this size.
  GptOptions model_options(Index vocabulary_size) const;

  // Throws UsageError, naming the option, if an option has no effect because of the settings.
  // Resets settings that a preset sets but that have no effect.
  void reset_unused(const examples::CommandLine& line);

  // Throws ValueError, naming the setting, if a setting is out of range.
  void check_state() const override;
  void state(State<float>& state) override;
  bool is_new_since_0_2(const std::string& name) const override {
    return examples::is_new_setting(*this, name);
  }
  // Accepts checkpoints of weft 0.2, which store the tokens in the configuration (see
  // tokenizer_of).
  bool was_only_in_0_2(const std::string& name) const override {
    return name == "characters" || name == "byte_pairs" || name == "merges";
  }

  // See examples/common/settings.hpp.
  template <class Self, class Visit>
  static void for_each_setting(Self& self, const Visit& visit) {
    using examples::NewSetting;
    constexpr std::int64_t max_count = 1'000'000'000;
    visit("width", "embedding size of the model", self.width, 1, 8192);
    visit("layers", "number of transformer blocks", self.layers, 1, 256);
    visit("heads", "number of attention heads; must divide the width", self.heads, 1, 1024);
    visit("kv-heads",
          "number of key and value heads; must divide --heads; 0: equal to --heads, or half of it "
          "with --modern",
          self.kv_heads, 0, 1024);
    visit("ffn",
          "hidden size of the feed-forward networks; 0: 4 × width, or with --modern, a size that "
          "keeps the number of parameters per block about the same",
          self.ffn, 0, 65536);
    visit("context", "context length: maximum number of tokens that the model sees", self.context,
          1, 65536);
    visit("modern",
          "use RMSNorm, rotary positions, SwiGLU and grouped-query attention; replaces --rms-norm, "
          "--rotary and --squared-relu",
          self.modern);
    visit(NewSetting{"rms-norm"}, "use RMSNorm, not LayerNorm", self.rms_norm);
    visit(NewSetting{"rotary"}, "use rotary positions, not learned positions", self.rotary);
    visit(NewSetting{"qk-norm"}, "normalize the queries and keys of each head", self.qk_norm);
    visit(NewSetting{"squared-relu"}, "use squared ReLU, not GELU", self.squared_relu);
    visit(NewSetting{"zero-init"},
          "start with zeros in the last layer before each residual connection, and in the output "
          "layer with --untied",
          self.zero_init);
    visit(NewSetting{"untied"}, "use separate weights for the output layer and the embedding",
          self.untied);
    visit("bias", "use biases in linear layers and LayerNorms; excludes --modern", self.bias);
    visit("dropout", "dropout probability", self.dropout, 0.0, 0.999999);
    visit("vocabulary", "number of tokens to learn, with --tokenizer bytepairs", self.vocabulary,
          257, 1'000'000);
    visit("steps", "number of training steps", self.steps, 1, max_count);
    visit("batch", "number of sequences per batch, each as long as the context", self.batch, 1,
          1'000'000);
    visit("accumulation", "number of batches per step, whose gradients are accumulated",
          self.accumulation, 1, 1'000'000);
    visit("parts",
          "number of parts of a batch to compute in parallel; 1: parallelize only the operations; "
          "0: choose by the sizes of the batch and the model",
          self.parts, 0, 1024);
    Optimization::for_each_setting(self, visit);
    visit("label-smoothing", "label smoothing: target probability spread evenly over all tokens",
          self.label_smoothing, 0.0, 0.999999);
    visit("clip-norm", "maximum gradient norm, for clipping", self.clip_norm, 1e-6, 1e9);
    visit("average",
          "use a moving average of the weights as the model, with this decay rate; 0 disables",
          self.average, 0.0, 0.999999);
    visit("validate-every", "steps between validations", self.validate_every, 1, max_count);
    visit("validation-batches",
          "number of batches per validation, evenly spaced in the validation text; 0: all of it",
          self.validation_batches, 0, max_count);
    visit("patience", "stop after this many validations without improvement; 0 disables",
          self.patience, 0, max_count);
    visit("seed", "random seed", self.seed, 0, max_count);
  }
};

}  // namespace weft::gpt
