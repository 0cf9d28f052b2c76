#include <weft/layers.hpp>
#include <weft/layers/summary.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

struct Block : Module<> {
  Block(bool first, Random& random, bool with_norm = false)
      : norm_first(first), dense({.in_features = 4, .out_features = 4, .bias = !first}, random) {
    if (with_norm) norm.emplace(LayerNormOptions{.num_hiddens = 4});
  }
  void members(Members<>& members) const override {
    members.type("Block", norm_first ? "norm_first=True" : "norm_first=False");
    members("dense", dense);
    members("norm", norm);
  }
  bool norm_first;
  Linear<> dense;
  std::optional<LayerNorm<>> norm;
};

struct Empty : Module<> {
  void members(Members<>& members) const override { members.type("Empty"); }
};

struct Model : Module<> {
  explicit Model(Random& random)
      : embedding({.num_embeddings = 10, .embedding_dim = 4}, random),
        dropout(0.1),
        output({.in_features = 4, .out_features = 10}, random) {
    for (const auto& [first, norm] : {std::pair(false, false),
                                      {false, false},
                                      {true, true},
                                      {false, false},
                                      {true, false},
                                      {true, false}})
      blocks.emplace_back(first, random, norm);
  }
  void members(Members<>& members) const override {
    members.type("Model");
    members("embedding", embedding);
    members("dropout", dropout);
    members("blocks", blocks);
    members("none", none);
    members("empty", empty);
    members("output", output);
  }
  Embedding<> embedding;
  Dropout<> dropout;
  std::vector<Block> blocks, none;
  Empty empty;
  Linear<> output;
};

template <class T>
std::string text(const Module<T>& module) {
  return str_cat(module);
}

}  // namespace

// The text that Python prints for the same modules of torch.nn.
TEST_CASE("summary: a model is printed in PyTorch's format", "[layers]") {
  Random random(1);
  const Model model(random);
  CHECK(text(model) == R"(Model(
  (embedding): Embedding(10, 4)
  (dropout): Dropout(p=0.1, inplace=False)
  (blocks): ModuleList(
    (0-1): 2 x Block(
      norm_first=False
      (dense): Linear(in_features=4, out_features=4, bias=True)
    )
    (2): Block(
      norm_first=True
      (dense): Linear(in_features=4, out_features=4, bias=False)
      (norm): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)
    )
    (3): Block(
      norm_first=False
      (dense): Linear(in_features=4, out_features=4, bias=True)
    )
    (4-5): 2 x Block(
      norm_first=True
      (dense): Linear(in_features=4, out_features=4, bias=False)
    )
  )
  (none): ModuleList()
  (empty): Empty()
  (output): Linear(in_features=4, out_features=10, bias=True)
))");
}

TEST_CASE("summary: identical blocks of an encoder are printed once", "[layers]") {
  Random random(1);
  const TransformerEncoder encoder(
      {.num_blocks = 3, .num_hiddens = 4, .ffn_num_hiddens = 8, .num_heads = 2, .norm_first = true},
      random);
  CHECK(text(encoder) == R"(TransformerEncoder(
  (0-2): 3 x TransformerEncoderBlock(
    norm_first=True
    (attention): MultiHeadAttention(
      (attention): AttentionPooling(
        scoring=scaled_dot_product, num_heads=2
        (dropout): Dropout(p=0.0, inplace=False)
      )
      (W_q): Linear(in_features=4, out_features=4, bias=False)
      (W_k): Linear(in_features=4, out_features=4, bias=False)
      (W_v): Linear(in_features=4, out_features=4, bias=False)
      (W_o): Linear(in_features=4, out_features=4, bias=False)
    )
    (norm1): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)
    (ffn): PositionWiseFeedForward(
      activation=relu
      (dense1): Linear(in_features=4, out_features=8, bias=True)
      (dropout): Dropout(p=0.0, inplace=False)
      (dense2): Linear(in_features=8, out_features=4, bias=True)
    )
    (norm2): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)
    (dropout): Dropout(p=0.0, inplace=False)
  )
  (norm): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)
))");
}

TEST_CASE("summary: numbers are formatted as in Python", "[layers]") {
  CHECK(text(Dropout<>(0.25)) == "Dropout(p=0.25, inplace=False)");
  CHECK(text(Dropout<>(1.0)) == "Dropout(p=1.0, inplace=False)");
  CHECK(text(Dropout<>(0.0001)) == "Dropout(p=0.0001, inplace=False)");
  CHECK(text(LayerNorm<double>({.num_hiddens = 2, .eps = 1.5e-12})) ==
        "LayerNorm((2,), eps=1.5e-12, elementwise_affine=True, bias=True)");
}

TEST_CASE("summary: the table counts elements and bytes", "[layers]") {
  Random random(1);
  const Model model(random);
  CHECK(count_parameters(model) == 40 + 3 * 20 + 3 * 16 + 8 + 50);
  const PositionWiseFeedForward ffn({.num_hiddens = 3, .ffn_num_hiddens = 50}, random);
  CHECK(parameter_table(ffn) ==
        "parameter      shape    count  bytes\n"
        "dense1.weight  [50, 3]    150    600\n"
        "dense1.bias    [50]        50    200\n"
        "dense2.weight  [3, 50]    150    600\n"
        "dense2.bias    [3]          3     12\n"
        "total of 4                353   1412\n");
  const Linear<double> linear({.in_features = 3, .out_features = 2, .bias = false}, random);
  CHECK(parameter_table(linear) ==
        "parameter   shape   count  bytes\n"
        "weight      [2, 3]      6     48\n"
        "total of 1              6     48\n");
}
