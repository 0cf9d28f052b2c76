#include <algorithm>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/linear.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/layers/round_to_bf16.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/text/generation/generate.hpp>
#include "autograd/internal/bf16_emulation.hpp"
#include "autograd/internal/bfloat16.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

using namespace weft;

namespace {

// Several ranges of columns in the output layer.
Gpt<float> make_model() {
  Random random(4);
  return Gpt<float>(
      {.vocabulary_size = 3000, .max_len = 64, .num_hiddens = 40, .num_heads = 4, .num_blocks = 2},
      random);
}

Tensor<float> rounded(const Tensor<float>& x) {
  Tensor<float> result(x.shape());
  std::transform(x.begin(), x.end(), result.begin(),
                 [](float value) { return float_of_bfloat16(bfloat16_of(value)); });
  return result;
}

}  // namespace

TEST_CASE("round_to_bf16: matrices are rounded, vectors are not", "[layers][bf16]") {
  Gpt<float> before = make_model(), model = make_model();
  const Index matrices = round_to_bf16(model);
  const NamedParameters<float> expected = named_parameters(before),
                               actual = named_parameters(model);
  Index kept = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    INFO(actual[i].name);
    const bool is_matrix = actual[i].parameter->shape().rank() == 2;
    const Tensor<float>& value = expected[i].parameter->value();
    CHECK(same(actual[i].parameter->value(), is_matrix ? rounded(value) : value));
    CHECK((actual[i].parameter->value().bf16() != nullptr) == is_matrix);
    kept += is_matrix;
  }
  CHECK(matrices == kept);
  CHECK(matrices > 10);
}

TEST_CASE("round_to_bf16: results are those of the rounded weights, bit for bit",
          "[layers][bf16]") {
  Gpt<float> model = make_model(), copy = make_model();
  round_to_bf16(model);
  for (const auto& [name, parameter] : named_parameters(copy))
    if (parameter->shape().rank() == 2) parameter->set_value(rounded(parameter->value()));
  const Tokens tokens({2, 3}, {5, 2999, 17, 1, 0, 1500});
  Tape<float> tape = Tape<float>::inference();
  const Tensor<float> expected = copy(tape, tokens).value();
  CHECK(same(model(tape, tokens).value(), expected));
  const TokenIds prompt = {7, 8, 9};
  CHECK(generate(model, prompt, {.max_tokens = 20}) == generate(copy, prompt, {.max_tokens = 20}));

  // A variable keeps what it was made of.
  Parameter<float> parameter(Tensor<float>({1, 2}, {1.0F, 2.0F}));
  const auto round = [&] { parameter.set_value(parameter.value().rounded_to_bf16()); };
  round();
  const Var<float> before = tape.parameter(parameter);
  parameter.values()[0] = 5.0F;
  round();
  const Var<float> x = tape.constant(Tensor<float>({1, 2}, {1.0F, 1.0F}));
  CHECK(linear(x, before).item() == 3.0F);
  CHECK(linear(x, tape.parameter(parameter)).item() == 7.0F);
}

TEST_CASE("round_to_bf16: bf16 products round the inputs of more than 16 rows", "[layers][bf16]") {
  const EmulateBf16 emulation;
  Random random(6);
  const Tensor<float> values = rounded(random.normal_tensor<float>({70, 30}));
  const auto product = [&](Precision precision, Index rows, const Tensor<float>& weight) {
    Tape<float> tape({.recording = false, .precision = precision});
    const Tensor<float> x = Random(7).normal_tensor<float>({rows, 30});
    return linear(tape.constant(x), tape.constant(weight)).value();
  };
  const Tensor<float> kept = values.rounded_to_bf16();
  REQUIRE(kept.bf16() != nullptr);
  CHECK(same(product(Precision::bf16, 16, kept), product(Precision::full, 16, values)));
  CHECK(same(product(Precision::bf16, 17, kept), product(Precision::bf16, 17, values)));
  CHECK(!same(product(Precision::bf16, 17, kept), product(Precision::full, 17, values)));

  Gpt<float> model = make_model();
  round_to_bf16(model);
  const TokenIds prompt(20, 7);
  CHECK(generate(model, prompt, {.max_tokens = 5, .precision = Precision::bf16}).size() == 5);
  const Gpt<double> wide({.vocabulary_size = 10, .num_hiddens = 4}, random);
  CHECK_THROWS_AS(generate(wide, prompt, {.precision = Precision::bf16}), ValueError);
}

TEST_CASE("round_to_bf16: training and full precision compute as with the rounded weights",
          "[layers][bf16]") {
  const Tokens tokens({4, 20}), targets = Tokens::full({4, 20}, 7);
  for (const bool freezes : {false, true}) {
    Gpt<float> model = make_model(), copy = make_model();
    round_to_bf16(model);
    for (const auto& [name, parameter] : named_parameters(copy))
      if (parameter->shape().rank() == 2) parameter->set_value(rounded(parameter->value()));
    std::vector<Tensor<float>> results;
    for (Gpt<float>* const trained : {&model, &copy}) {
      if (freezes) freeze(trained->blocks);
      AdamW<float> optimizer(*trained, {.lr = 0.1});
      Tape<float> tape({.training = true});
      for (int step = 0; step < 2; ++step) {
        tape.backward(cross_entropy((*trained)(tape, tokens), targets));
        optimizer.step();
        optimizer.zero_grad();
      }
      Tape<float> inference = Tape<float>::inference();
      results.push_back((*trained)(inference, tokens).value());
    }
    CHECK(same(results[0], results[1]));
    // Frozen weights stay in 16 bits.
    CHECK((model.blocks.blocks[0].attention.W_q.weight.value().bf16() != nullptr) == freezes);
  }
}

TEST_CASE("round_to_bf16: the 16 bits stay until the weights change", "[layers][bf16]") {
  Gpt<float> model = make_model();
  const Index matrices = round_to_bf16(model);
  const auto kept = [](const Gpt<float>& of) {
    return std::ranges::count_if(named_parameters(of), [](const auto& named) {
      return named.parameter->value().bf16() != nullptr;
    });
  };
  CHECK(kept(model) == matrices);
  Gpt<float> copy = model;
  CHECK(kept(copy) == matrices);
  model = std::move(copy);
  CHECK(kept(model) == matrices);

  // Otherwise the 16-bit numbers would be old.
  Parameter<float>& weight = model.blocks.blocks[0].attention.W_q.weight;
  const auto changed = [&](const auto& change) {
    round_to_bf16(model);
    change();
    return kept(model) == matrices - 1 && !weight.value().bf16();
  };
  CHECK(changed([&] { weight.values()[0] = 1.0F; }));
  CHECK(changed([&] { weight(0, 0) = 2.0F; }));
  CHECK(changed([&] { weight.set_value(Tensor<float>(weight.shape())); }));
}
