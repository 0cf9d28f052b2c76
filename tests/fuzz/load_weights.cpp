// A libFuzzer target: any bytes as a file of weights, listed, read and loaded into several models.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include <weft/layers/batch_norm.hpp>
#include <weft/layers/conv1d.hpp>
#include <weft/layers/models/bert.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/layers/multi_head_attention.hpp>
#include <weft/layers/recurrent.hpp>
#include <weft/train/data/hdf5_rows.hpp>
#include <weft/train/data/windows.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include <weft/train/weights/convert_weights.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/fuzz/input.hpp"

namespace {

using namespace weft;

void read_everything(const std::string& path) {
  const Hdf5File file(path);
  for (const char* attribute : {"layer_names", "format_version", "name"})
    attempt([&] { file.attribute<std::string>("/", attribute); });
  constexpr std::size_t max_datasets = 64;
  const std::vector<std::string> names = file.datasets();
  for (std::size_t i = 0; i < std::min(names.size(), max_datasets); ++i)
    attempt([&] {
      const StoredDataset dataset = file.dataset(names[i]);
      constexpr Index max_elements = 1 << 20;
      const Shape shape = dataset.shape();
      if (shape.elements() > max_elements) return;
      attempt([&] { dataset.tensor<float>(); });
      if (!dataset.type().starts_with("float")) {
        attempt([&] { dataset.tensor<std::int32_t>(); });
        attempt([&] { dataset.tensor<bool>(); });
        attempt([&] { dataset.value<std::string>(); });
      }
      if (shape.rank() > 0 && shape[0] > 1)
        attempt([&] { dataset.rows<float>(shape[0] / 2, shape[0]); });
      attempt([&] {
        const auto rows = std::make_shared<Hdf5Rows<float>>(path, names[i]);
        WindowBatches<float>(rows, {.length = 2, .batch_size = 3}).batch(0, 0);
      });
    });
}

template <class Model>
void load(const std::string& path, Model& model) {
  attempt([&] { (void)load_weights(path, model); });
  attempt([&] {
    (void)load_weights(path, model, {.ignore_missing = {".*"}, .ignore_unexpected = {".*"}});
  });
  attempt(
      [&] { (void)load_weights(path, model, {.ignore_unexpected = {".*"}, .in_order = true}); });
  attempt([&] { load_checkpoint(path, model); });
}

// The model of tests/golden/keras_2_recurrent.h5, whose layers have different names in the file.
struct Recurrent : Module<float> {
  explicit Recurrent(Random& random)
      : embedding({.num_embeddings = 13, .embedding_dim = 8}, random),
        conv({.in_channels = 8, .out_channels = 8, .kernel_size = 3}, random),
        lstm({.input_size = 8, .num_hiddens = 4, .bidirectional = true}, random),
        norm({.num_features = 8}),
        gru({.input_size = 8, .num_hiddens = 5}, random),
        rnn({.input_size = 5, .num_hiddens = 3}, random),
        dense({3, 2}, random) {}
  void members(Members<float>& members) const override {
    members.type("Recurrent");
    members("embedding", embedding);
    members("conv", conv);
    members("lstm", lstm);
    members("norm", norm);
    members("gru", gru);
    members("rnn", rnn);
    members("dense", dense);
  }
  Embedding<float> embedding;
  Conv1d<float> conv;
  LSTM<float> lstm;
  BatchNorm<float> norm;
  GRU<float> gru;
  RNN<float> rnn;
  Linear<float> dense;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path =
      write("weights.h5", {reinterpret_cast<const char*>(data), size}).string();
  attempt([&] { read_everything(path); });
  static Random random(1);
  static Linear<float> linear({.in_features = 4, .out_features = 3}, random);
  static MultiHeadAttention<double> attention({.query_size = 4,
                                               .key_size = 4,
                                               .value_size = 4,
                                               .num_hiddens = 4,
                                               .num_heads = 2,
                                               .bias = true},
                                              random);
  static Gpt<float> gpt(
      {.vocabulary_size = 7, .max_len = 5, .num_hiddens = 4, .num_heads = 2, .num_blocks = 2},
      random);
  static Bert<float> bert(
      {.vocabulary_size = 7, .max_len = 5, .num_hiddens = 4, .num_heads = 2, .num_blocks = 2},
      random);
  static Recurrent recurrent(random);
  load(path, linear);
  load(path, recurrent);
  load(path, attention);
  load(path, gpt);
  load(path, bert);
  for (const Layout layout : {Layout::pytorch_nested, Layout::gpt2})
    attempt([&] { (void)convert_weights(path, folder() / "converted.h5", {.layout = layout}); });
  return 0;
}
