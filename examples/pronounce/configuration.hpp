// Configuration: the hyperparameters and vocabularies of a pronunciation model. Checkpoints store
// the configuration, so that a model can be loaded from its file alone.
#pragma once

#include <cstdint>
#include <string>

#include <weft/layers/transformer.hpp>
#include <weft/train/weights/state.hpp>
#include "examples/common/optimization.hpp"

namespace weft::pronounce {

class Configuration final : public Stateful<float>, public examples::Optimization {
 public:
  // Trains in a few minutes.
  static Configuration quick();
  // Trains in half an hour, with fewer errors.
  static Configuration full();

  // Model.
  std::int64_t width = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  double rotary_base = 0.0;
  bool rms_norm = false;
  bool qk_norm = false;
  bool squared_relu = false;
  double dropout = 0.0;
  // Training.
  std::int64_t epochs = 0;
  std::int64_t batch = 0;
  std::int64_t parts = 0;
  double label_smoothing = 0.0;
  double clip_norm = 0.0;
  std::int64_t seed = 1;
  // The vocabularies, serialized by `Vocabulary::to_text`.
  std::string letters;
  std::string phones;
  // How rotary positions pair channels (RotaryPairs) in the trained weights.
  std::string rotary_pairs = "halves";

  // Returns the options of the encoder and the decoder.
  TransformerOptions transformer_options() const;

  bool is_new_since_0_2(const std::string& name) const override {
    return examples::is_new_setting(*this, name);
  }
  // Throws ValueError, naming the setting, if a setting is out of range.
  void check_state() const override;
  void state(State<float>& state) override;

  // See examples/common/settings.hpp.
  template <class Self, class Visit>
  static void for_each_setting(Self& self, const Visit& visit) {
    using examples::NewSetting;
    constexpr std::int64_t max_count = 1'000'000'000;
    visit("width", "embedding size of the model", self.width, 1, 4096);
    visit("layers", "number of encoder blocks, and of decoder blocks", self.layers, 1, 64);
    visit("heads", "number of attention heads; width / heads must be an even integer", self.heads,
          1, 4096);
    visit("rotary-base", "base of the rotary position embedding (rope_theta)", self.rotary_base,
          1e-6, 1e9);
    visit(NewSetting{"rms-norm"}, "use RMSNorm, not LayerNorm", self.rms_norm);
    visit(NewSetting{"qk-norm"}, "normalize the queries and keys of each head in self-attention",
          self.qk_norm);
    visit(NewSetting{"squared-relu"}, "use squared ReLU, not ReLU", self.squared_relu);
    visit("dropout", "dropout probability", self.dropout, 0.0, 0.999999);
    visit("epochs", "number of training epochs", self.epochs, 1, max_count);
    visit("batch", "number of pronunciations per batch", self.batch, 1, max_count);
    visit("parts",
          "number of parts of a batch to compute in parallel; 0: choose by the sizes of the batch "
          "and the model",
          self.parts, 0, 1024);
    Optimization::for_each_setting(self, visit);
    visit("label-smoothing", "label smoothing: target probability spread evenly over all phones",
          self.label_smoothing, 0.0, 0.999999);
    visit("clip-norm", "maximum gradient norm, for clipping", self.clip_norm, 1e-6, 1e9);
    visit("seed", "random seed", self.seed, 0, max_count);
  }
};

}  // namespace weft::pronounce
