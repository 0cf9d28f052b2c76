// Gradients of values that are no parameters, and several gradients of one pass.
#include <memory>
#include <stdexcept>
#include <vector>

#include <weft/autograd/operation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/ops/recompute.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

namespace weft {
namespace {

using Catch::Contains;

std::vector<float> values(const Tensor<float>& tensor) { return {tensor.begin(), tensor.end()}; }

Tensor<float> numbers(std::initializer_list<float> values) {
  return Tensor<float>({static_cast<Index>(values.size())}, values);
}

}  // namespace

TEST_CASE("gradients: of inputs that are no parameters", "[autograd]") {
  Tape<float> tape;
  const Var x = tape.variable(numbers({1, -2})), w = tape.variable(numbers({3, 5}));
  const auto gradients = tape.gradients(sum(x * x * w), {x, w});
  REQUIRE(gradients.size() == 2);
  CHECK(values(gradients[0]) == std::vector<float>{6, -20});
  CHECK(values(gradients[1]) == std::vector<float>{1, 4});
  CHECK_THROWS_WITH(tape.gradients(sum(x), {x}),
                    Contains("got a variable of a pass that has ended"));
}

TEST_CASE("gradients: of intermediate results, of the result itself, and of one twice",
          "[autograd]") {
  const Parameter<float> p(numbers({2}));
  Tape<float> tape;
  const Var x = tape.parameter(p);
  const Var hidden = x * x;
  const Var y = hidden * hidden * x;
  const auto gradients = tape.gradients(y, {hidden, y, x, hidden});
  CHECK(gradients[0].item() == 16.0F);
  CHECK(gradients[1].item() == 1.0F);
  CHECK(gradients[2].item() == 80.0F);
  CHECK(gradients[3].item() == 16.0F);
}

TEST_CASE("gradients: change no parameter's gradient, also in recomputed parts", "[autograd]") {
  Parameter<float> p(numbers({2})), unused(numbers({7}));
  p.set_grad(numbers({100}));
  Tape<float> tape;
  const Var x = tape.variable(numbers({3}));
  const auto part = [&](const Var<float>& v) { return v * v.tape().parameter(p); };
  const auto gradients = tape.gradients(recompute(part, part(x)), {x});
  CHECK(values(gradients[0]) == std::vector<float>{4});
  CHECK(values(p.grad()) == std::vector<float>{100});
  tape.backward(recompute(part, part(tape.variable(numbers({3})))));
  CHECK(values(p.grad()) == std::vector<float>{112});
}

TEST_CASE("gradients: zeros for an input that the result does not depend on", "[autograd]") {
  Tape<float> tape;
  const Var x = tape.variable(numbers({1, 2})), other = tape.variable(Tensor<float>({2, 3}));
  const Var later = scale(x, 2.0);
  const auto gradients = tape.gradients(sum(x), {other, later, x});
  CHECK(gradients[0].shape() == Shape{2, 3});
  CHECK(values(gradients[0]) == std::vector<float>(6, 0.0F));
  CHECK(values(gradients[1]) == std::vector<float>{0, 0});
  CHECK(values(gradients[2]) == std::vector<float>{1, 1});
}

TEST_CASE("gradients: for an upstream gradient of a result of any shape", "[autograd]") {
  Tape<float> tape;
  const Var x = tape.variable(numbers({1, 2}));
  const auto gradients = tape.gradients(x * x, numbers({10, 100}), {x});
  CHECK(values(gradients[0]) == std::vector<float>{20, 400});
}

TEST_CASE("gradients: say which input has none", "[autograd]") {
  Tape<float> tape, other;
  const Var x = tape.variable(numbers({1, 2})), c = tape.constant(numbers({1, 2}));
  const Var y = sum(x * c);
  CHECK_THROWS_WITH(tape.gradients(y, {x, c}),
                    "gradients: expected inputs that are a Tape::variable, a parameter or a value "
                    "computed from them, got a constant");
  CHECK_THROWS_WITH(tape.gradients(y, {other.variable(numbers({1}))}),
                    "gradients: expected inputs of this tape, got an input of another tape");
  CHECK_THROWS_WITH(tape.gradients(x, {x}),
                    "backward: expected a loss of one element (or an upstream gradient), got [2]");
  CHECK_THROWS_WITH(tape.gradients(sum(c), {x}), Contains("got a constant"));
  auto inference = Tape<float>::inference();
  const Var v = inference.variable(numbers({1}));
  CHECK(v.node() == no_node);
  CHECK_THROWS_WITH(inference.gradients(v, {v}), Contains("got an inference tape"));
  // None of these ended the pass.
  CHECK(values(tape.gradients(y, {x})[0]) == std::vector<float>{1, 2});
}

TEST_CASE("gradients: stay readable when the tape and later passes are gone", "[autograd]") {
  std::vector<Tensor<float>> gradients;
  {
    Tape<float> tape;
    const Var x = tape.variable(numbers({1, 2}));
    gradients = tape.gradients(sum(x * x), {x});
    for (int pass = 0; pass < 3; ++pass)
      tape.gradients(sum(x.tape().variable(numbers({5, 6}))), {});
  }
  CHECK(values(gradients[0]) == std::vector<float>{2, 4});
}

TEST_CASE("backward: leaves a parameter its gradient, and a variable none", "[autograd]") {
  const Parameter<float> p(numbers({3}));
  Tape<float> tape;
  const Var x = tape.variable(numbers({2}));
  tape.backward(x * tape.parameter(p));
  CHECK(values(p.grad()) == std::vector<float>{2});
}

TEST_CASE("retain_graph: gradients of two losses of one pass", "[autograd]") {
  const Parameter<float> p(numbers({2}));
  Tape<float> tape({.training = true, .seed = 3});
  const std::uint32_t step = tape.step();
  const Var hidden = tape.parameter(p) * tape.parameter(p);
  const Var first = scale(hidden, 3.0), second = hidden * hidden;
  tape.backward(first, {.retain_graph = true});
  CHECK(values(p.grad()) == std::vector<float>{12});
  CHECK(values(tape.gradients(second, {hidden}, {.retain_graph = true})[0]) ==
        std::vector<float>{8});
  CHECK(values(p.grad()) == std::vector<float>{12});
  CHECK(tape.step() == step);
  // An operation after a backward is a part of the same pass.
  tape.backward(second + first);
  CHECK(values(p.grad()) == std::vector<float>{12 + 32 + 12});
  CHECK(tape.step() == step + 1);
  CHECK_THROWS_AS(tape.backward(second), Error);
}

TEST_CASE("retain_graph: the same gradient again, bit for bit", "[autograd]") {
  Random random(4);
  Parameter<float> p(random.normal_tensor<float>({70, 90}));
  check_same_bits([&] {
    Tape<float> tape({.training = true, .seed = 5});
    const Var x = tape.variable(Tensor<float>::full({40, 70}, 0.5F));
    const Var y = softmax(dropout(matmul(x, tape.parameter(p)), 0.3));
    const Var loss = mean(y * y);
    std::vector<Tensor<float>> results;
    for (const bool keep : {true, true, false}) {
      p.zero_grad();
      results.push_back(tape.gradients(loss, {x, y}, {.retain_graph = true})[0]);
      tape.backward(loss, {.retain_graph = keep});
      results.push_back(p.grad().clone());
    }
    for (std::size_t i = 2; i < results.size(); ++i)
      CHECK(values(results[i]) == values(results[i - 2]));
    return results;
  });
}

TEST_CASE("retain_graph: an exception in a backward function leaves the pass as it was",
          "[autograd]") {
  const auto alive = std::make_shared<int>();
  bool fails = true;
  Tape<float> tape;
  const Var x = tape.variable(numbers({1}));
  const Var y = x.tape().record(
      "sometimes", x.value(), {x.node()},
      [alive, &fails, node = x.node()](Tape<float>& backward, const Tensor<float>& dy) {
        if (fails) throw std::runtime_error("failing backward");
        backward.add_gradient(node, dy);
      });
  const Var z = y + y;
  CHECK_THROWS_WITH(tape.gradients(z, {x}, {.retain_graph = true}), "failing backward");
  fails = false;
  CHECK(values(tape.gradients(z, {x}, {.retain_graph = true})[0]) == std::vector<float>{2});
  CHECK(alive.use_count() == 2);
  fails = true;
  CHECK_THROWS_WITH(tape.backward(z), "failing backward");
  CHECK(alive.use_count() == 1);
}

TEST_CASE("retain_graph: passes after the first allocate no memory", "[autograd]") {
  Parameter<float> p(Random(4).normal_tensor<float>({64, 48}));
  Tape<float> tape;
  std::uint64_t requests = 0;
  for (int pass = 0; pass < 5; ++pass) {
    const Var x = tape.parameter(p);
    const Var loss = sum(x * x);
    tape.backward(loss, {.retain_graph = true});
    tape.backward(loss);
    if (pass == 0) requests = tape.memory().heap_requests;
  }
  CHECK(tape.memory().heap_requests == requests);
}

TEST_CASE("detach: a constant with the same value", "[autograd]") {
  const Parameter<float> p(numbers({3}));
  Tape<float> tape;
  const Var x = tape.parameter(p);
  const Var constant = detach(x * x);
  CHECK(constant.node() == no_node);
  CHECK(constant.value().item() == 9.0F);
  tape.backward(constant * x);
  CHECK(values(p.grad()) == std::vector<float>{9});
}

}  // namespace weft
