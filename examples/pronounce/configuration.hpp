// Configuration: everything that makes one model of pronunciation differ from another. The
// checkpoint keeps it, so that a model can be made again from its file alone.
#pragma once

#include <cstdint>
#include <string>

#include <weft/layers/transformer.hpp>
#include <weft/train/weights/state.hpp>

namespace weft::pronounce {

class Configuration final : public Stateful<float> {
 public:
  // Takes some minutes to train.
  static Configuration quick();
  // Takes half an hour and makes fewer errors.
  static Configuration full();

  // The model.
  std::int64_t width = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  double rotary_base = 0.0;
  double dropout = 0.0;
  // The training.
  std::int64_t epochs = 0;
  std::int64_t batch = 0;
  std::int64_t parts = 0;
  double lr = 0.0;
  std::int64_t warmup = 0;
  double weight_decay = 0.0;
  double label_smoothing = 0.0;
  double clip_norm = 0.0;
  std::int64_t seed = 1;
  // The vocabularies, as `Vocabulary::to_text` writes them.
  std::string letters;
  std::string phones;

  // Calls visit(name, description, value, lowest, highest) for each number: the one list that the
  // checkpoint, the command line and the checks share.
  template <class Visit>
  void for_each_setting(const Visit& visit) {
    visit_settings(*this, visit);
  }
  template <class Visit>
  void for_each_setting(const Visit& visit) const {
    visit_settings(*this, visit);
  }

  // What the encoder and the decoder are made of.
  TransformerOptions transformer() const;

  // Throws ValueError, naming the setting, for the first one that is not as in `other`.
  void check_settings_of(const Configuration& other) const;
  // Throws ValueError, naming the setting, for the first one outside its range.
  void check_state() const override;
  void state(State<float>& state) override;

 private:
  template <class Self, class Visit>
  static void visit_settings(Self& self, const Visit& visit) {
    constexpr std::int64_t many = 1'000'000'000;
    visit("width", "length of the vectors inside the model", self.width, 1, 4096);
    visit("layers", "blocks of the encoder, and of the decoder", self.layers, 1, 64);
    visit("heads", "attention heads; they divide the width into even lengths", self.heads, 1, 4096);
    visit("rotary-base", "base of the wavelengths by which self-attention tells positions",
          self.rotary_base, 1e-6, 1e9);
    visit("dropout", "probability of dropping an element", self.dropout, 0.0, 1.0);
    visit("epochs", "times that training goes through all words", self.epochs, 1, many);
    visit("batch", "pronunciations in a batch", self.batch, 1, many);
    visit("parts", "of a batch, trained on at the same time", self.parts, 1, 1024);
    visit("lr", "highest learning rate", self.lr, 0.0, 10.0);
    visit("warmup", "steps until the learning rate is highest", self.warmup, 0, many);
    visit("weight-decay", "of AdamW", self.weight_decay, 0.0, 10.0);
    visit("label-smoothing", "share of the target spread over all phones", self.label_smoothing,
          0.0, 1.0);
    visit("clip-norm", "largest norm of a gradient", self.clip_norm, 1e-6, 1e9);
    visit("seed", "of all random numbers", self.seed, 0, many);
  }
};

}  // namespace weft::pronounce
