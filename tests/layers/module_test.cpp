#include <algorithm>

#include <weft/layers.hpp>
#include <weft/layers/module.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

struct Block : Module<> {
  explicit Block(Random& random, bool with_norm = false)
      : dense({.in_features = 2, .out_features = 2}, random) {
    if (with_norm) norm.emplace(LayerNormOptions{.num_hiddens = 2});
  }
  void members(Members<>& members) const override {
    members.type("Block");
    members("dense", dense);
    members("norm", norm);
  }
  Linear<> dense;
  std::optional<LayerNorm<>> norm;
};

struct Model : Module<> {
  explicit Model(Random& random) : blocks{Block(random), Block(random, true)} {}
  void members(Members<>& members) const override {
    members("scale", scale);
    members("blocks", blocks);
  }
  Parameter<> scale{Tensor<float>({3})};
  std::vector<Block> blocks;
};

// A model whose output layer uses the embedding's weight: one parameter under two names.
struct Tied : Module<> {
  explicit Tied(Random& random) : embedding({.num_embeddings = 5, .embedding_dim = 3}, random) {}
  void members(Members<>& members) const override {
    members.type("Tied");
    members("embedding", embedding);
    members("output", embedding);
    members("output_weight", embedding.weight);
    members("bias", bias);
  }
  Embedding<> embedding;
  Parameter<> bias{Tensor<float>({5})};
};

std::vector<std::string> names(Module<>& module) {
  std::vector<std::string> names;
  for (const auto& [name, parameter] : named_parameters(module)) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("module: parameters are named by their path, in order of registration", "[layers]") {
  Random random(1);
  Model model(random);
  CHECK(names(model) == std::vector<std::string>{"scale", "blocks.0.dense.weight",
                                                 "blocks.0.dense.bias", "blocks.1.dense.weight",
                                                 "blocks.1.dense.bias", "blocks.1.norm.weight",
                                                 "blocks.1.norm.bias"});
  CHECK(named_parameters(model)[1].parameter == &model.blocks[0].dense.weight);
}

TEST_CASE("module: a parameter with several names is listed and counted once, under the first",
          "[layers]") {
  Random random(1);
  Tied model(random);
  CHECK(names(model) == std::vector<std::string>{"embedding.weight", "bias"});
  CHECK(count_parameters(model) == 20);
  CHECK(parameter_table(model).find("total of 2") != std::string::npos);
}

TEST_CASE("module: two parameters of one name throw", "[layers]") {
  struct Twice : Module<> {
    void members(Members<>& members) const override {
      members("weight", first);
      members("weight", second);
    }
    Parameter<> first, second;
  } module;
  CHECK_THROWS_WITH(
      named_parameters(module),
      "module: expected a unique name for each parameter, got two parameters named weight");
}

TEST_CASE("module: a buffer with the name of a parameter or of another buffer throws", "[layers]") {
  struct Twice : Module<> {
    void members(Members<>& members) const override {
      members("weight", parameter);
      members.buffer("table", first);
      members.running_buffer(name, second);
    }
    Parameter<> parameter;
    Tensor<> first, second;
    std::string name;
  } module;
  for (const std::string name : {"weight", "table"}) {
    module.name = name;
    CHECK_THROWS_WITH(named_buffers(module),
                      "module: expected a unique name for each parameter and buffer, got two "
                      "members named " +
                          name);
  }
  module.name = "mean";
  CHECK(named_buffers(module).size() == 2);
}

TEST_CASE("module: zero_grad clears the gradient of every parameter", "[layers]") {
  Random random(1);
  Model model(random);
  for (const auto& [name, parameter] : named_parameters(model))
    parameter->set_grad(Tensor<float>(parameter->shape()));
  zero_grad(model);
  for (const auto& [name, parameter] : named_parameters(model)) CHECK_FALSE(parameter->has_grad());
}

TEST_CASE("module: an encoder's blocks are named by their positions", "[layers]") {
  Random random(1);
  struct Holder : Module<> {
    explicit Holder(Random& random)
        : encoder({.num_blocks = 2, .num_hiddens = 4, .ffn_num_hiddens = 8, .norm_first = true},
                  random) {}
    void members(Members<>& members) const override { members("encoder", encoder); }
    TransformerEncoder<> encoder;
  } holder(random);
  const std::vector<std::string> found = names(holder);
  CHECK(found.front() == "encoder.0.attention.W_q.weight");
  CHECK(found.back() == "encoder.norm.bias");
  CHECK(std::count(found.begin(), found.end(), "encoder.1.ffn.dense2.bias") == 1);
}

TEST_CASE("module: a copy is independent of the original", "[layers]") {
  Random random(1);
  Model model(random);
  const float before = model.blocks[0].dense.weight.value()(0, 0);
  Model copy = model;
  CHECK(copy.blocks[0].dense.weight.value()(0, 0) == before);
  std::ranges::fill(copy.blocks[0].dense.weight.values(), 7.0f);
  copy.blocks[1].norm->weight.set_grad(
      Tensor<float>::full(copy.blocks[1].norm->weight.shape(), 7.0f));
  CHECK(model.blocks[0].dense.weight.value()(0, 0) == before);
  CHECK_FALSE(model.blocks[1].norm->weight.has_grad());

  const Model moved = std::move(copy);
  CHECK(moved.blocks[0].dense.weight.value()(0, 0) == 7.0f);
}
