#include <weft/layers/activate.hpp>
#include <weft/layers/dropout.hpp>
#include <weft/layers/linear.hpp>
#include <weft/layers/norm.hpp>
#include <weft/layers/sequential.hpp>
#include <weft/layers/summary.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/golden/torch_row.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

template <class T>
Sequential<T> small_model(Random& random, double dropout = 0.0) {
  return Sequential<T>(Linear<T>({.in_features = 6, .out_features = 8}, random),
                       Activate<T>(Activation::gelu), Dropout<T>(dropout),
                       LayerNorm<T>({.num_hiddens = 8}),
                       Linear<T>({.in_features = 8, .out_features = 3}, random));
}

template <class T>
std::string text(const Module<T>& module) {
  return str_cat(module);
}

}  // namespace

TEST_CASE("gradients: sequential", "[layers][gradients][Sequential]") {
  Random random(1);
  Sequential<double> model = small_model<double>(random, 0.3);
  check_gradients(model, {{2, 3, 6}}, [&](Tape<double>&, const Vars& x) { return model(x[0]); });
}

TEST_CASE("gradients: activations as modules", "[layers][gradients][Activate]") {
  for (const auto& [activation, name] : activation_names) {
    Activate<double> layer(activation);
    check_gradients(layer, {{3, 4}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
  }
}

TEMPLATE_TEST_CASE("torch.nn.Sequential of layers of different types", "[golden][Sequential]",
                   float, double) {
  Random random(1);
  Sequential<TestType> model = small_model<TestType>(random);
  golden::compare_with_torch<TestType>(
      "torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU(), torch.nn.Dropout(0.0), "
      "torch.nn.LayerNorm(8), torch.nn.Linear(8, 3))",
      {{2, 3, 6}}, model, [&](const auto& x) { return model(x[0]); });
}

TEMPLATE_TEST_CASE("torch's activation modules", "[golden][Activate]", float, double) {
  Sequential<TestType> model{
      Activate<TestType>(Activation::silu),      Activate<TestType>(Activation::tanh),
      Activate<TestType>(Activation::gelu_tanh), Activate<TestType>(Activation::sigmoid),
      Activate<TestType>(Activation::none),      Activate<TestType>(Activation::relu)};
  golden::compare_with_torch<TestType>(
      "torch.nn.Sequential(torch.nn.SiLU(), torch.nn.Tanh(), torch.nn.GELU(approximate='tanh'), "
      "torch.nn.Sigmoid(), torch.nn.Identity(), torch.nn.ReLU())",
      {{4, 6}}, model, [&](const auto& x) { return model(x[0]); });
}

TEST_CASE("sequential: names, text and modules are those of torch.nn.Sequential", "[layers]") {
  Random random(1);
  Sequential model(Linear({.in_features = 2, .out_features = 3}, random),
                   Activate(Activation::relu), Activate(Activation::gelu_tanh));
  static_assert(std::is_same_v<decltype(model), Sequential<float>>);
  CHECK(text(model) == R"(Sequential(
  (0): Linear(in_features=2, out_features=3, bias=True)
  (1): ReLU()
  (2): GELU(approximate='tanh')
))");
  const auto parameters = named_parameters(model);
  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].name == "0.weight");
  CHECK(parameters[1].name == "0.bias");
  CHECK(model.size() == 3);
  CHECK(&model.at<Linear<float>>(0).weight == parameters[0].parameter);
  CHECK(text(Activate(Activation::none)) == "Identity()");
  CHECK(text(Activate(Activation::gelu)) == "GELU(approximate='none')");
  CHECK(text(Activate(Activation::silu)) == "SiLU()");
  CHECK(text(Activate(Activation::tanh)) == "Tanh()");
  CHECK(text(Activate(Activation::sigmoid)) == "Sigmoid()");
}

TEST_CASE("sequential: a copy has its own parameters", "[layers]") {
  Random random(1);
  Sequential<float> model = small_model<float>(random);
  Sequential<float> copy = model, assigned;
  assigned = model;
  model.at<Linear<float>>(0).weight(0, 0) = 7.0f;
  CHECK(copy.at<Linear<float>>(0).weight.value()(0, 0) != 7.0f);
  CHECK(assigned.at<Linear<float>>(0).weight.value()(0, 0) != 7.0f);
  const Sequential<float> moved = std::move(copy);
  CHECK(moved.size() == 5);
  // A sequence within a sequence, and one that grows.
  Sequential<float> outer(model, Activate(Activation::relu));
  outer.append(Linear({.in_features = 3, .out_features = 1}, random));
  CHECK(outer.size() == 3);
  CHECK(named_parameters(outer).front().name == "0.0.weight");
  Tape tape;
  CHECK(outer(tape.constant(Tensor<float>({2, 6}))).shape() == Shape{2, 1});
}

TEST_CASE("any layer: assignment replaces the module by a copy", "[layers]") {
  AnyLayer<float> layer{Activate(Activation::relu)};
  AnyLayer<float> other{Activate(Activation::tanh)};
  layer = other;
  other = AnyLayer<float>{Dropout(0.5)};
  CHECK(text(layer.module()) == "Tanh()");
  CHECK(text(other.module()) == "Dropout(p=0.5, inplace=False)");
}

TEST_CASE("sequential: without modules it returns its input", "[layers]") {
  Tape tape;
  const Var x = tape.constant(Tensor<float>({2}, {1, 2}));
  CHECK(same(Sequential<float>()(x).value(), x.value()));
}

TEST_CASE("sequential: positions and types that it does not have throw", "[layers]") {
  Sequential<float> model(Activate(Activation::relu), Dropout(0.5));
  CHECK(message_of<ValueError>([&] { model.at<Dropout<float>>(2); }) ==
        "Sequential: position: expected an index from 0 to 1, got 2");
  CHECK(message_of<ValueError>([&] { model.at<Dropout<float>>(-1); }) ==
        "Sequential: position: expected an index from 0 to 1, got -1");
  CHECK(message_of<ValueError>([] { Sequential<float>().at<Dropout<float>>(0); }) ==
        "Sequential: position: expected an index from an empty range, got 0");
  CHECK(message_of<Error>([&] { model.at<Dropout<float>>(0); }) ==
        "Sequential: module 0: expected the requested type, got a different type");
  CHECK(message_of<ValueError>([] { Activate<float>(static_cast<Activation>(99)); }) ==
        "activation: expected a value of the enumeration, got 99");
}
