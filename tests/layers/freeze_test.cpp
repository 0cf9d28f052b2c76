#include <variant>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/layers/transformer_encoder.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

struct Fixture {
  Random random{1};
  TransformerEncoder<float> model{
      {.num_blocks = 2, .num_hiddens = 4, .ffn_num_hiddens = 8, .num_heads = 2}, random};

  // Names of the parameters with a gradient after a backward.
  std::vector<std::string> with_gradient() {
    zero_grad(model);
    Tape<float> tape;
    tape.backward(sum(model(tape.constant(random.normal_tensor<float>({2, 3, 4}, 0.0, 1.0)))));
    std::vector<std::string> names;
    for (const auto& [name, parameter] : named_parameters(model))
      if (parameter->has_grad()) names.push_back(name);
    return names;
  }
};

}  // namespace

TEST_CASE("freeze: parameters below a name get no gradient, others do", "[layers]") {
  Fixture fixture;
  const std::size_t all = fixture.with_gradient().size();
  const Index frozen = freeze(fixture.model, "0");
  CHECK(frozen > 0);
  const std::vector<std::string> left = fixture.with_gradient();
  CHECK(left.size() == all - static_cast<std::size_t>(frozen));
  for (const std::string& name : left) CHECK(name.starts_with("1."));
  const TransformerEncoder<float> copy = fixture.model;
  CHECK_FALSE(copy.blocks[0].attention.W_q.weight.requires_grad());
  CHECK(copy.blocks[1].attention.W_q.weight.requires_grad());
  CHECK(unfreeze(fixture.model) == static_cast<Index>(all));
  CHECK(fixture.with_gradient().size() == all);
}

TEST_CASE("freeze: by a filter of names", "[layers]") {
  Fixture fixture;
  freeze(fixture.model);
  unfreeze(fixture.model, [](const std::string& name) { return name.ends_with("bias"); });
  for (const std::string& name : fixture.with_gradient()) CHECK(name.ends_with("bias"));
}

TEST_CASE("freeze: the trainable parameters are a module of their own", "[layers]") {
  Fixture fixture;
  freeze(fixture.model);
  unfreeze(fixture.model, "1.ffn.dense2");
  TrainableParameters<float> trainable(fixture.model);
  const auto parameters = named_parameters(trainable);
  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].name == "1.ffn.dense2.weight");
  CHECK(parameters[1].name == "1.ffn.dense2.bias");
  CHECK(parameters[1].parameter ==
        &*std::get<PositionWiseFeedForward<float>>(fixture.model.blocks[1].ffn.layer).dense2.bias);
  unfreeze(fixture.model);
  CHECK(named_parameters(trainable).size() == named_parameters(fixture.model).size());
  CHECK(&whole_model<float>(trainable) == &fixture.model);
  CHECK(&whole_model<float>(fixture.model) == &fixture.model);
}

TEST_CASE("freeze: a name that selects nothing throws", "[layers]") {
  Fixture fixture;
  CHECK(message_of<ValueError>([&] { freeze(fixture.model, "00"); }) ==
        "freeze 00: expected at least one selected parameter, got 0");
  CHECK_THROWS_AS(freeze(fixture.model, NameFilter{}), ValueError);
  CHECK_THROWS_AS(unfreeze(fixture.model, "0.norm"), ValueError);
}

TEST_CASE("freeze: a parameter with several names is selected by any of them", "[layers]") {
  Random random(1);
  Gpt<float> gpt({.vocabulary_size = 5, .max_len = 4, .num_hiddens = 4}, random);
  CHECK(with_tied_names(gpt, below("output"))("tokens.weight"));
  CHECK_FALSE(with_tied_names(gpt, below("output"))("positions.weight"));
  CHECK(freeze(gpt, "output") == 1);
  CHECK_FALSE(gpt.tokens.weight.requires_grad());
  CHECK(gpt.positions->weight.requires_grad());
  CHECK(unfreeze(gpt, "output.weight") == 1);
  CHECK(freeze(gpt, [](const std::string& name) { return name.ends_with("put.weight"); }) == 1);
  CHECK_THROWS_AS(freeze(gpt, "out"), ValueError);
  // The part that is trained keeps the names, too.
  freeze(gpt);
  unfreeze(gpt, "output");
  TrainableParameters<float> trained(gpt);
  CHECK(named_parameters(trained).size() == 1);
  CHECK(tied_names(trained).front().name == "output.weight");
  CHECK(freeze(trained, "output") == 1);
  CHECK(named_parameters(trained).empty());
}

TEST_CASE("freeze: clears the gradients, so that optimizers keep the values", "[layers]") {
  Fixture fixture;
  fixture.with_gradient();
  freeze(fixture.model, "0");
  for (const auto& [name, parameter] : named_parameters(fixture.model))
    CHECK(parameter->has_grad() == !name.starts_with("0."));
}
