#include <algorithm>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/layers/lora.hpp>
#include <weft/layers/models/gpt.hpp>
#include "tests/catch.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

template <class T = float>
Gpt<T> small_gpt() {
  Random random(1);
  return Gpt<T>(
      {.vocabulary_size = 11, .max_len = 8, .num_hiddens = 8, .num_heads = 2, .num_blocks = 2},
      random);
}

const Tokens tokens({2, 3}, {1, 5, 2, 7, 3, 10});

template <class T>
std::vector<T> logits_of(const Gpt<T>& model) {
  Tape<T> tape = Tape<T>::inference();
  const Tensor<T> logits = model(tape, tokens).value();
  return {logits.begin(), logits.end()};
}

bool is_query_or_value(const std::string& name) {
  return name.ends_with("W_q") || name.ends_with("W_v");
}

// Adapters that change something: B is not zeros.
template <class T>
Index add_changing(Gpt<T>& model, Index rank = 2) {
  Random random(2);
  const Index count = add_lora<T>(model, {.rank = rank, .alpha = 3.0}, is_query_or_value, random);
  for (const auto& [name, linear] : named_linear_layers<T>(model))
    if (auto* lora = dynamic_cast<Lora<T>*>(linear->map.get()))
      lora->b.set_value(random.uniform_tensor<T>(lora->b.shape(), -1.0, 1.0));
  return count;
}

// Doubles its input's first half: a layer of a user.
struct Doubled : Module<float> {
  explicit Doubled(Random& random) : inner({.in_features = 8, .out_features = 8}, random) {}
  Var<float> operator()(const Var<float>& x) const { return 2 * inner(x); }
  void members(Members<float>& members) const override {
    members.type("Doubled");
    members("inner", inner);
  }
  Linear<float> inner;
};

// Computes a Linear's result by its weight and three times the bias.
struct TripleBias final : LinearAdapter<float> {
  Var<float> operator()(const Linear<float>& linear, const Var<float>& x) const override {
    return linear.own(x) + 2 * x.tape().parameter(*linear.bias);
  }
  std::unique_ptr<LinearAdapter<float>> clone() const override {
    return std::make_unique<TripleBias>(*this);
  }
  void members(Members<float>&) const override {}
};

}  // namespace

TEST_CASE("lora: adapters change nothing at first, and only they are trained", "[layers]") {
  auto model = small_gpt();
  const auto before = logits_of(model);
  Random random(2);
  CHECK(add_lora<float>(model, {.rank = 2}, is_query_or_value, random) == 4);
  CHECK(logits_of(model) == before);
  Tape tape({.training = true});
  const Var<float> logits = model(tape, tokens);
  tape.backward(logits, Tensor<float>::uninitialized(logits.shape()));
  for (const auto& [name, parameter] : named_parameters(model)) {
    CAPTURE(name);
    const bool is_adapter = name.find("lora_") != name.npos;
    CHECK(parameter->requires_grad() == is_adapter);
    CHECK(parameter->has_grad() == is_adapter);
  }
}

TEST_CASE("lora: computes W x + alpha / rank B A x", "[layers]") {
  Random random(3);
  Linear<double> linear({.in_features = 2, .out_features = 2, .bias = false}, random);
  linear.weight.set_value(Tensor<double>({2, 2}, {1, 2, 3, 4}));
  auto lora = std::make_unique<Lora<double>>(linear, LoraOptions{.rank = 1, .alpha = 0.5}, random);
  lora->a.set_value(Tensor<double>({1, 2}, {1, -1}));
  lora->b.set_value(Tensor<double>({2, 1}, {2, 10}));
  linear.map = std::move(lora);
  Tape<double> tape;
  // A x = -2, times 0.5 = -1; B gives (-2, -10).
  const Tensor<double> y = linear(tape.constant(Tensor<double>({1, 2}, {3, 5}))).value();
  CHECK(y(0, 0) == 13.0 - 2.0);
  CHECK(y(0, 1) == 29.0 - 10.0);
}

TEST_CASE("gradients: low-rank adapters", "[layers][gradients][Lora]") {
  Random random(3);
  Linear<double> linear({.in_features = 5, .out_features = 4}, random);
  auto lora = std::make_unique<Lora<double>>(linear, LoraOptions{.rank = 3}, random);
  lora->b.set_value(random.uniform_tensor<double>({4, 3}, -1.0, 1.0));
  linear.map = std::move(lora);
  check_gradients(linear, {Shape{3, 5}},
                  [&](Tape<double>&, const Vars& x) { return linear(x[0]); });
}

TEST_CASE("lora: merged, the model is the same without adapters, and removed, it is as before",
          "[layers]") {
  auto model = small_gpt<double>();
  const auto before = logits_of(model);
  CHECK(add_changing(model) == 4);
  const auto adapted = logits_of(model);
  CHECK(adapted != before);
  auto copy = model;  // with adapters of its own
  CHECK(logits_of(copy) == adapted);
  CHECK(merge_lora(copy) == 4);
  CHECK(merge_lora(copy) == 0);
  const auto merged = logits_of(copy);
  for (std::size_t i = 0; i < merged.size(); ++i)
    CHECK(merged[i] == Approx(adapted[i]).margin(1e-12));
  CHECK(logits_of(model) == adapted);
  CHECK(remove_lora(model) == 4);
  CHECK(logits_of(model) == before);
}

TEST_CASE("lora: the output layer of a tied model is adapted alone, after it is untied",
          "[layers]") {
  auto model = small_gpt<double>();
  REQUIRE(model.options.tied);
  const auto before = logits_of(model);
  Random random(2);
  const auto is_output = [](const std::string& name) { return name == "output"; };
  CHECK_THROWS_AS(add_lora<double>(model, {.rank = 2}, is_output, random), ValueError);
  model.untie();
  model.untie();
  CHECK_FALSE(model.options.tied);
  CHECK(logits_of(model) == before);
  CHECK(add_lora<double>(model, {.rank = 2}, is_output, random) == 1);
  CHECK(logits_of(model) == before);
  const Tensor<double> embedding = model.tokens.weight.value().clone();
  auto& lora = dynamic_cast<Lora<double>&>(*model.output->map);
  lora.b.set_value(random.normal_tensor<double>(lora.b.shape()));
  const auto adapted = logits_of(model);
  CHECK(adapted != before);
  Tape<double> tape;
  CHECK(model.loss(tape, tokens, tokens).item() ==
        Approx(cross_entropy(model(tape, tokens), tokens).item()));
  CHECK(merge_lora(model) == 1);
  for (std::size_t i = 0; const double logit : logits_of(model))
    CHECK(logit == Approx(adapted[i++]).margin(1e-12));
  CHECK(std::ranges::equal(model.tokens.weight.value(), embedding));
}

TEST_CASE("lora: options and names that are wrong", "[layers]") {
  auto model = small_gpt();
  Random random(2);
  const auto error = [&](const LoraOptions& options, const NameFilter& filter = is_query_or_value) {
    return message_of<ValueError>([&] { add_lora<float>(model, options, filter, random); });
  };
  CHECK(error({.rank = 0}) == "Lora: rank: expected a number > 0, got 0");
  CHECK(error({.dropout = 1.0}) == "Lora: dropout: expected 0 ≤ dropout < 1, got 1");
  CHECK(error({.alpha = std::numeric_limits<double>::infinity()}) ==
        "Lora: alpha: expected a finite number, got inf");
  CHECK(error({}, [](const std::string&) { return false; }) ==
        "add_lora: expected at least one selected linear layer, got 0");
  CHECK(named_parameters(model).front().parameter->requires_grad());
  add_changing(model);
  CHECK(error({}) ==
        "add_lora: blocks.0.attention.W_q: expected a linear layer without an adapter, "
        "got a layer that has an adapter");
}

TEST_CASE("layers of a model are replaced by those of a user", "[layers]") {
  auto model = small_gpt();
  const auto before = logits_of(model);
  Random random(5);
  model.blocks.blocks[1].ffn = AnyLayer<float>(Doubled(random));
  CHECK(logits_of(model) != before);
  const auto copy = model;
  CHECK(logits_of(copy) == logits_of(model));
  bool has_name = false;
  for (const auto& [name, parameter] : named_parameters(model))
    has_name = has_name || name == "blocks.1.ffn.inner.weight";
  CHECK(has_name);

  Linear<float> linear({.in_features = 2, .out_features = 1}, random);
  linear.bias->set_value(Tensor<float>({1}, {1.0f}));
  Tape tape;
  const Var<float> x = tape.constant(Tensor<float>({1, 2}));
  CHECK(linear(x).item() == 1.0f);
  linear.map = std::make_unique<TripleBias>();
  CHECK(linear(x).item() == 3.0f);
  const Linear<float> other = linear;
  CHECK(other(x, Activation::relu).item() == 3.0f);
}

TEST_CASE("lora: removed or merged, the same parameters are trainable as before", "[layers]") {
  for (const bool merges : {false, true}) {
    auto model = small_gpt<float>();
    freeze(model, "tokens");
    freeze(model, "blocks.1.ffn");
    std::vector<bool> before;
    for (const auto& [name, parameter] : named_parameters(model))
      before.push_back(parameter->requires_grad());
    add_changing(model);
    auto copy = model;
    unfreeze(copy, "blocks.0.norm1");  // trained with the adapters, and afterwards
    for (const auto& [name, parameter] : named_parameters(copy))
      if (name.starts_with("blocks.0.norm1")) CHECK(parameter->requires_grad());
    for (Gpt<float>* each : {&model, &copy}) {
      CHECK((merges ? merge_lora(*each) : remove_lora(*each)) == 4);
      std::vector<bool> after;
      for (const auto& [name, parameter] : named_parameters(*each))
        after.push_back(parameter->requires_grad());
      CHECK(after == before);
    }
  }
}

TEST_CASE("lora: a layer with several names is selected by any of them, and adapted once",
          "[layers]") {
  struct Shared : Module<float> {
    explicit Shared(Random& random) : inner({.in_features = 2, .out_features = 2}, random) {}
    void members(Members<float>& members) const override {
      members.type("Shared");
      members("first", inner);
      members("second", inner);
    }
    Linear<float> inner;
  };
  Random random(1);
  Shared model(random);
  CHECK_THROWS_WITH(add_lora<float>(model, {}, below("third"), random),
                    "add_lora: expected at least one selected linear layer, got 0");
  CHECK_THROWS_WITH(add_lora<float>(model, {}, {}, random),
                    "add_lora: filter: expected a function, got none");
  CHECK(add_lora<float>(model, {}, below("second"), random) == 1);
  CHECK(named_linear_layers<float>(model).size() == 1);
  CHECK(model.inner.map);
}
