#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <weft/autograd/gradcheck.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/recompute.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/parameter.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

using Pointer = ParameterPointer<Parameter<float>>;

Parameter<float> parameter_of(float value) { return Parameter<float>(Tensor<float>({1}, {value})); }

float value_of(const Pointer& pointer) { return pointer->value().item(); }

const char* const removed =
    "backward: expected the parameters used by the pass, got a removed or replaced parameter";

}  // namespace

TEST_CASE("parameter pointer: follows a parameter that moves", "[autograd]") {
  std::vector<Parameter<float>> list;
  std::vector<Pointer> pointers;
  for (int i = 0; i < 100; ++i)
    pointers.emplace_back(&list.emplace_back(parameter_of(static_cast<float>(i))));
  for (std::size_t i = 0; i < list.size(); ++i) {
    REQUIRE(pointers[i].get() == &list[i]);
    REQUIRE(value_of(pointers[i]) == static_cast<float>(i));
  }
  std::swap(list[3], list[7]);
  CHECK(pointers[3].get() == &list[7]);
  CHECK(pointers[7].get() == &list[3]);
  std::rotate(list.begin(), list.begin() + 1, list.end());
  list.insert(list.begin(), parameter_of(-1));
  for (std::size_t i = 8; i < 100; ++i) CHECK(value_of(pointers[i]) == static_cast<float>(i));
  const std::vector<Parameter<float>> elsewhere = std::move(list);
  CHECK(pointers[99].get() == &elsewhere[99]);
}

TEST_CASE("parameter pointer: throws after the end of its parameter", "[autograd]") {
  std::optional<Parameter<float>> parameter(parameter_of(1));
  const Pointer pointer(&*parameter), copy = pointer;
  CHECK((pointer && pointer.exists()));
  parameter.reset();
  CHECK_FALSE(pointer.exists());
  CHECK_THROWS_AS(*copy, Error);
  // The next parameter has the same memory.
  parameter.emplace(parameter_of(2));
  CHECK_FALSE(pointer.exists());
  CHECK_THROWS_WITH(pointer->value(),
                    "pointer to a parameter: expected an existing parameter, got a removed or "
                    "replaced parameter");
  CHECK(value_of(&*parameter) == 2.0f);
  const Pointer none(nullptr);
  CHECK((!none && !none.exists()));
  CHECK_THROWS_AS(none.get(), Error);
  // An element fewer: the last parameter ends, whatever values the others have got.
  std::vector<Parameter<float>> list(3);
  const Pointer first(&list[0]), last(&list[2]);
  list.erase(list.begin());
  CHECK(first.get() == &list[0]);
  CHECK_FALSE(last.exists());
}

TEST_CASE("parameter pointer: an assignment changes the values of the same parameter",
          "[autograd]") {
  Parameter<float> a = parameter_of(1), b = parameter_of(2);
  const Pointer to_a(&a), to_b(&b);
  a = b;
  CHECK((to_a.get() == &a && value_of(to_a) == 2.0f));
  a = parameter_of(3);
  CHECK((to_a.get() == &a && value_of(to_a) == 3.0f));
  CHECK(value_of(to_b) == 2.0f);
  Parameter<float> moved = std::move(b);
  CHECK(to_b.get() == &moved);
  b = parameter_of(5);  // a new one
  CHECK(value_of(&b) == 5.0f);
  CHECK(value_of(to_b) == 2.0f);
  const Parameter<float> copied = moved;
  CHECK(to_b.get() == &moved);
  CHECK(copied.value().item() == 2.0f);
}

TEST_CASE("parameter: a suspended gradient is resumed as it was set before", "[autograd]") {
  Parameter<float> trained = parameter_of(1), frozen = parameter_of(1);
  frozen.set_requires_grad(false);
  trained.set_grad(Tensor<float>({1}, {1}));
  for (Parameter<float>* parameter : {&trained, &frozen}) {
    parameter->suspend_grad();
    CHECK_FALSE(parameter->requires_grad());
    CHECK_FALSE(parameter->has_grad());
    const Parameter<float> copy = *parameter;
    CHECK_FALSE(copy.requires_grad());
    parameter->resume_grad();
    CHECK(parameter->requires_grad() == (parameter == &trained));
  }
  trained.suspend_grad();
  trained.set_requires_grad(true);
  CHECK(trained.requires_grad());
  trained.suspend_grad();
  trained.set_requires_grad(false);
  trained.resume_grad();
  CHECK_FALSE(trained.requires_grad());
}

TEST_CASE("tape: backward throws when a parameter was removed, and follows one that was moved",
          "[autograd]") {
  auto a = std::make_unique<Parameter<float>>(parameter_of(2));
  Parameter<float> b = parameter_of(3);
  Tape<float> tape;
  Var y = sum(tape.parameter(*a) * tape.parameter(b));
  const Parameter<float> moved = std::move(*a);
  tape.backward(y);
  CHECK(moved.grad().item() == 3.0f);

  a = std::make_unique<Parameter<float>>(parameter_of(2));
  b.zero_grad();
  y = sum(tape.parameter(b) * tape.parameter(*a));
  a.reset();
  CHECK_THROWS_WITH(tape.backward(y), removed);
  CHECK_FALSE(b.has_grad());
  // Gradients of values need no parameters.
  a = std::make_unique<Parameter<float>>(parameter_of(2));
  const Var x = tape.parameter(*a) * tape.variable(Tensor<float>({1}, {5}));
  y = sum(x * x);
  a.reset();
  CHECK(tape.gradients(y, {x})[0].item() == 20.0f);
}

TEST_CASE("recompute: backward throws when a parameter was moved or removed", "[autograd]") {
  struct Layer {
    Parameter<float> weight = parameter_of(2);
    Var<float> operator()(const Var<float>& x) const { return x * x.tape().parameter(weight); }
  };
  auto layer = std::make_unique<Layer>();
  Tape<float> tape;
  const auto pass = [&] {
    return sum(recompute([part = layer.get()](const auto& x) { return (*part)(x); },
                         tape.variable(Tensor<float>({1}, {3}))));
  };
  tape.backward(pass());
  CHECK(layer->weight.grad().item() == 3.0f);
  Var y = pass();
  auto moved = std::make_unique<Layer>(std::move(*layer));
  CHECK_THROWS_WITH(tape.backward(y),
                    "backward: expected the parameters used by the pass, got a moved parameter");
  layer = std::move(moved);
  y = pass();
  layer.reset();
  CHECK_THROWS_WITH(tape.backward(y), removed);
}

TEST_CASE("gradcheck: throws for a parameter that was removed", "[autograd]") {
  std::optional<Parameter<double>> w(Tensor<double>({1}, {1.0}));
  Parameter<double> other(Tensor<double>({1}, {1.0}));
  const NamedParameters<double> parameters{{"other", &other}, {"w", &*w}};
  w.reset();
  const auto loss = [&](Tape<double>& tape) { return sum(tape.parameter(other)); };
  CHECK_THROWS_WITH(gradcheck(loss, parameters),
                    "gradcheck: w: expected an existing parameter, got a removed or replaced "
                    "parameter");
}
