#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <weft/autograd/operation.hpp>
#include <weft/autograd/ops/activation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/comparison.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/linear.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {
namespace {

std::vector<float> values(const Tensor<float>& tensor) { return {tensor.begin(), tensor.end()}; }

Parameter<float> parameter_of(std::initializer_list<float> numbers) {
  return Parameter<float>(Tensor<float>({static_cast<Index>(numbers.size())}, numbers));
}

// x unchanged, with the given backward.
template <class Backward>
Var<float> identity(const Var<float>& x, const char* name, Backward backward) {
  return x.tape().record(name, x.value().clone(), {x.node()}, backward);
}

}  // namespace

TEST_CASE("variable: is printed with the operation that computed it", "[autograd]") {
  Tape tape;
  const Parameter<float> weight = parameter_of({1, 2});
  const Var x = tape.constant(Tensor<float>({2}, {3, -0.5}));
  const Var w = tape.parameter(weight);
  CHECK(str_cat(x) == "tensor([ 3.0000, -0.5000])");
  CHECK(str_cat(w) == "tensor([1., 2.], op=parameter)");
  CHECK(str_cat(tape.variable(Tensor<float>({1}))) == "tensor([0.], op=variable)");
  CHECK(str_cat(w * x) == "tensor([ 3., -1.], op=multiply)");
  CHECK(str_cat(x * x) == "tensor([9.0000, 0.2500])");
  const Var total = sum(w * x);
  tape.backward(total);
  CHECK(str_cat(total) == "tensor(2., op=sum)");  // also after the pass
  CHECK(str_cat(weight) == "tensor([1., 2.])");
  Tape<double> wide;
  CHECK(str_cat(wide.variable(Tensor<double>({1}))) == "tensor([0.], dtype=float64, op=variable)");
}

TEST_CASE("variable: tensors convert to constants", "[autograd]") {
  const Tensor<float> x({2, 2}, {1, 2, 3, 6});
  const Var constant = x;
  CHECK(same(constant.value(), x));
  CHECK(constant.node() == no_node);
  CHECK(!constant.tape().recording());
  CHECK(!constant.tape().training());
  CHECK(mean(Var(x)).item() == 3);
  CHECK(same(matmul(Var(x), Var(x)).value(), Tensor<float>({2, 2}, {7, 14, 21, 42})));
  CHECK(mean(Var(Tensor<double>({2}, {1, 2}))).item() == 1.5);
  CHECK(constant.tape().memory().bytes_in_use == 0);
  // With variables of another tape, it would be unclear which parameters get a gradient.
  Tape tape;
  CHECK_THROWS_WITH(tape.constant(x) + Var(x),
                    "add: expected inputs on one tape, got inputs on different tapes (write "
                    "tape.constant(x) for a tensor x)");
  CHECK_THROWS_AS(tape.backward(sum(Var(x))), Error);
}

TEST_CASE("variable: threads compute with constants of their own", "[autograd]") {
  const Tensor<float> x({2}, {1, 2});
  const Tape<float>* other = nullptr;
  std::thread([&] {
    const Var constant = x;
    other = &constant.tape();
    CHECK(sum(constant).item() == 3);
  }).join();
  CHECK(other != &Var(x).tape());
}

TEST_CASE("tape: a loss of x² + 3x has the gradient 2x + 3", "[autograd]") {
  const auto p = parameter_of({1, -2});
  Tape<float> tape;
  const Var x = tape.parameter(p);
  tape.backward(sum(x * x + scale(x, 3.0)));
  CHECK(values(p.grad()) == std::vector<float>{5, -1});
}

TEST_CASE("tape: gradients accumulate over passes until they are zeroed", "[autograd]") {
  auto p = parameter_of({1, 2});
  Tape<float> tape;
  for (int pass = 0; pass < 3; ++pass) tape.backward(sum(scale(tape.parameter(p), 2.0)));
  CHECK(values(p.grad()) == std::vector<float>{6, 6});
  p.zero_grad();
  tape.backward(sum(scale(tape.parameter(p), 2.0)));
  CHECK(values(p.grad()) == std::vector<float>{2, 2});
}

TEST_CASE("tape: a parameter may be used several times in a pass", "[autograd]") {
  const auto p = parameter_of({3});
  Tape<float> tape;
  tape.backward(tape.parameter(p) * tape.parameter(p));
  CHECK(values(p.grad()) == std::vector<float>{6});
}

TEST_CASE("tape: a parameter that the loss does not depend on gets no gradient", "[autograd]") {
  const auto used = parameter_of({1}), unused = parameter_of({1});
  Tape<float> tape;
  const Var y = scale(tape.parameter(unused), 2.0);
  tape.backward(scale(tape.parameter(used), 2.0));
  CHECK(used.has_grad());
  CHECK_FALSE(unused.has_grad());
}

TEST_CASE("tape: backward starts from a given upstream gradient and does not change it",
          "[autograd]") {
  const auto p = parameter_of({1, 2});
  const Tensor<float> upstream({2}, {10, 100});
  Tape<float> tape;
  const Var x = tape.parameter(p);
  tape.backward(x + x, upstream);
  CHECK(values(p.grad()) == std::vector<float>{20, 200});
  CHECK(values(upstream) == std::vector<float>{10, 100});
}

TEST_CASE("tape: the gradient of a parameter with respect to itself is 1", "[autograd]") {
  const auto p = parameter_of({5});
  Tape<float> tape;
  tape.backward(tape.parameter(p));
  CHECK(values(p.grad()) == std::vector<float>{1});
}

TEST_CASE("tape: backward of a variable without a gradient throws and says why", "[autograd]") {
  const auto p = parameter_of({1, 2});
  Tape<float> tape, other;
  const Var x = tape.parameter(p);
  CHECK_THROWS_WITH(tape.backward(x),
                    "backward: expected a loss of one element (or an upstream gradient), got [2]");
  CHECK_THROWS_AS(tape.backward(x), ShapeError);
  CHECK_THROWS_WITH(tape.backward(x, Tensor<float>({3})),
                    "backward: expected an upstream gradient of shape [2], got [3]");
  CHECK_THROWS_AS(tape.backward(x, Tensor<float>({2, 1})), ShapeError);
  CHECK_THROWS_WITH(other.backward(sum(x)),
                    "backward: expected a variable of this tape, got a variable of another tape");
  CHECK_THROWS_WITH(tape.backward(sum(tape.constant(Tensor<float>({2})))),
                    Catch::Contains("got a constant"));
  Tape inference = Tape<float>::inference();
  CHECK_THROWS_WITH(inference.backward(sum(inference.parameter(p))),
                    "backward: expected a recording tape, got an inference tape");
  // None of these ended the pass.
  tape.backward(sum(x));
  CHECK(values(p.grad()) == std::vector<float>{1, 1});
}

TEST_CASE("tape: a variable of an ended pass cannot be used, but its value can be read",
          "[autograd]") {
  const auto p = parameter_of({2});
  std::optional<Var<float>> survivor;
  {
    Tape<float> tape;
    const Var x = tape.parameter(p);
    const Var loss = x * x;
    tape.backward(loss);
    const auto message = Catch::Contains("got a variable of a pass that has ended");
    CHECK_THROWS_WITH(tape.backward(loss), message);
    CHECK_THROWS_WITH(x + x, message);
    survivor = loss;
  }
  CHECK(survivor->value().item() == 4.0F);
}

TEST_CASE("tape: constants outlive the pass", "[autograd]") {
  Tape<float> tape;
  const Var c = tape.constant(Tensor<float>({1}, {2}));
  tape.clear();
  const auto p = parameter_of({3});
  tape.backward(c * tape.parameter(p));
  CHECK(values(p.grad()) == std::vector<float>{2});
}

TEST_CASE("tape: adding to one of two operands that share a gradient does not change the other",
          "[autograd]") {
  const auto p = parameter_of({1}), q = parameter_of({1});
  Tape<float> tape;
  const Var a = scale(tape.parameter(p), 1.0);
  const Var b = scale(tape.parameter(q), 1.0);
  const Var early = scale(a, 10.0);  // its backward adds to a's gradient after a + b shared it
  const Var shared = a + b;
  const Var late = scale(b, 100.0);  // its backward adds to b's gradient before
  tape.backward(early + shared + late);
  CHECK(values(p.grad()) == std::vector<float>{11});
  CHECK(values(q.grad()) == std::vector<float>{101});
}

TEST_CASE("tape: nodes that the result does not depend on are destroyed without being run",
          "[autograd]") {
  const auto p = parameter_of({1});
  const auto alive = std::make_shared<int>();
  bool ran = false;
  Tape<float> tape;
  const Var x = tape.parameter(p);
  identity(x, "unused", [alive, &ran](Tape<float>&, const Tensor<float>&) { ran = true; });
  CHECK(alive.use_count() == 2);
  tape.backward(x);
  CHECK_FALSE(ran);
  CHECK(alive.use_count() == 1);
}

TEST_CASE("tape: what a backward function keeps is freed as soon as it has run", "[autograd]") {
  const auto p = parameter_of({1});
  const auto kept = std::make_shared<int>();
  long uses = 0;
  Tape<float> tape;
  const Var first = identity(tape.parameter(p), "first",
                             [&](Tape<float>&, const Tensor<float>&) { uses = kept.use_count(); });
  const Var second = identity(
      first, "second", [kept, x = first.node()](Tape<float>& backward, const Tensor<float>& dy) {
        backward.add_gradient(x, dy);
      });
  tape.backward(second);
  CHECK(uses == 1);
}

TEST_CASE("tape: an exception in a backward function ends the pass and leaves the tape usable",
          "[autograd]") {
  const auto p = parameter_of({1});
  const auto alive = std::make_shared<int>();
  Tape<float> tape;
  const Var x = scale(tape.parameter(p), 2.0);
  const Var y = identity(x, "before", [alive](Tape<float>&, const Tensor<float>&) {});
  const Var z = identity(y, "failing", [alive](Tape<float>&, const Tensor<float>&) {
    throw std::runtime_error("failing backward");
  });
  CHECK_THROWS_WITH(tape.backward(z), "failing backward");
  CHECK(alive.use_count() == 1);
  CHECK_THROWS_AS(tape.backward(x), Error);
  tape.backward(scale(tape.parameter(p), 3.0));
  CHECK(values(p.grad()) == std::vector<float>{3});
}

TEST_CASE("tape: clear ends a pass without gradients", "[autograd]") {
  const auto p = parameter_of({1});
  const auto alive = std::make_shared<int>();
  Tape<float> tape;
  identity(tape.parameter(p), "kept", [alive](Tape<float>&, const Tensor<float>&) {});
  tape.clear();
  CHECK(alive.use_count() == 1);
  CHECK_FALSE(p.has_grad());
}

TEST_CASE("tape: a backward function may record, or end the pass", "[autograd]") {
  const auto p = parameter_of({1});
  Tape<float> tape({.detect_anomaly = true});
  const auto backward = [&](const auto& function) {
    tape.backward(identity(scale(tape.parameter(p), 2.0), "changing", function));
  };
  backward([&](Tape<float>& changed, const Tensor<float>&) {
    for (int i = 0; i < 100; ++i) identity(changed.variable({}), "more", [](auto&, auto&) {});
  });
  backward([](Tape<float>& ended, const Tensor<float>&) { ended.clear(); });
  CHECK_FALSE(p.has_grad());
}

TEST_CASE("tape: inference records nothing", "[autograd]") {
  const auto p = parameter_of({1});
  const auto alive = std::make_shared<int>();
  Tape tape = Tape<float>::inference();
  const Var y = identity(tape.parameter(p), "kept", [alive](Tape<float>&, const Tensor<float>&) {});
  CHECK(y.node() == no_node);
  CHECK(alive.use_count() == 1);
  CHECK_FALSE(tape.training());
}

TEST_CASE("tape: random numbers depend on the step and on the operation's position in the pass",
          "[autograd]") {
  Tape<float> tape({.training = true, .seed = 3});
  const Var ones = tape.constant(Tensor<float>::full({64}, 1.0F));
  const auto draw = [&] { return values(dropout(ones, 0.5).value()); };
  const auto first = draw(), second = draw();
  CHECK(first != second);
  CHECK(tape.step() == 0);
  tape.clear();
  CHECK(tape.step() == 1);
  CHECK(draw() != first);
  tape.set_step(0);
  tape.clear();
  tape.set_step(0);
  CHECK(draw() == first);
  CHECK(draw() == second);
}

TEST_CASE(
    "tape: one made for each step has the same dropout mask each time, unless the step is set",
    "[autograd]") {
  const Tensor<float> ones = Tensor<float>::full({64}, 1.0f);
  const auto mask = [&](std::optional<std::uint32_t> step) {
    Tape<float> tape({.training = true, .seed = 7});
    if (step) tape.set_step(*step);
    return values(dropout(tape.constant(ones), 0.5).value());
  };
  CHECK(mask({}) == mask({}));
  CHECK(mask({}) == mask(0));
  CHECK(mask(0) != mask(1));
}

TEST_CASE("tape: memory is reused from the second pass on", "[autograd]") {
  Random random(4);
  Parameter<float> weight(random.normal_tensor<float>({64, 48}));
  const auto input = random.normal_tensor<float>({32, 48});
  const Tokens targets({32});
  Tape<float> tape({.training = true});
  std::uint64_t requests = 0;
  for (int pass = 0; pass < 6; ++pass) {
    const Var hidden = gelu(linear(tape.constant(input), tape.parameter(weight)));
    tape.backward(cross_entropy(dropout(hidden, 0.1), targets));
    if (pass == 0) requests = tape.memory().heap_requests;
  }
  CHECK(requests > 0);
  CHECK(tape.memory().heap_requests == requests);
}

TEST_CASE("tape: detect_anomaly names the operation where a NaN first appears", "[autograd]") {
  Tape<float> tape({.detect_anomaly = true});
  const auto p = parameter_of({1, 0, -1});
  const Var x = tape.parameter(p);
  CHECK_THROWS_AS(log(x), NonFiniteError);
  CHECK_THROWS_WITH(exp(log(x)),
                    Catch::StartsWith("operation 'log' (record 1 of the pass): expected finite "
                                      "values, got ") &&
                        Catch::EndsWith("nan at [2] of [3]"));
  const auto q = parameter_of({0, 1});
  const Var lowest = log(tape.parameter(q));
  CHECK_THROWS_WITH(
      scale(lowest, 1.0) - lowest,
      Catch::StartsWith("operation 'subtract' (record 4 of the pass): expected finite "
                        "values, got ") &&
          Catch::EndsWith("nan at [0] of [2], from an infinity of 'log'"));
  // The product of a slope of infinity and a gradient of 0.
  const auto r = parameter_of({4, 0});
  const Var root = where(Tensor<bool>({2}, {true, false}), sqrt(scale(tape.parameter(r), 1.0)), 0);
  CHECK_THROWS_WITH(tape.backward(sum(root)),
                    Catch::StartsWith("backward of operation 'sqrt': expected finite gradients, "
                                      "got ") &&
                        Catch::EndsWith("nan at [1] of [2], the gradient of 'scale'"));
  tape.backward(sum(exp(tape.parameter(p))));
}

TEST_CASE("tape: detect_anomaly blames infinities only where they arrive", "[autograd]") {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  Tape<float> tape({.detect_anomaly = true});
  const auto p = parameter_of({1, 2, 3});
  // A mask of -infinity, as for a softmax.
  const Tensor<bool> shown({3}, {true, false, true});
  const auto masked = [&] { return where(shown, tape.parameter(p), -infinite); };
  tape.backward(sum(softmax(masked()) * tape.constant(Tensor<float>({3}, {1, 2, 3}))));
  CHECK(p.grad()(1) == 0.0f);
  CHECK(std::isfinite(p.grad()(0)));
  tape.backward(max(masked()));
  // Another operation's NaN is its own, beside the mask.
  CHECK_THROWS_WITH(softmax(masked()) * log(scale(tape.parameter(p), -1.0)),
                    Catch::StartsWith("operation 'log' ("));
  tape.clear();
  // An infinity in the loss is of the operation that made it.
  const auto large = [&] { return exp(scale(tape.parameter(p), 1000.0)); };
  CHECK_THROWS_WITH(
      tape.backward(sum(masked()) + sum(2 * large())),
      Catch::StartsWith("operation 'add' (") && Catch::EndsWith(", from an infinity of 'where'"));
  tape.clear();
  CHECK_THROWS_WITH(tape.backward(sum(2 * large())),
                    "operation 'exp': expected a finite loss, got inf");
  // And so is one in a gradient.
  const auto q = parameter_of({4, 0});
  CHECK_THROWS_WITH(tape.backward(sum(scale(sqrt(scale(tape.parameter(q), 1.0)), 2.0))),
                    "backward of operation 'sqrt': expected finite gradients, got inf at [1] of "
                    "[2], the gradient of 'parameter'");
  // One that stops on its way is no error.
  const auto r = parameter_of({4, 1, 9});
  tape.backward(sum(sqrt(where(shown, tape.parameter(r), 0))));
  CHECK(r.grad()(1) == 0.0f);
}

TEST_CASE("tape: operations throw for inputs of two tapes", "[autograd]") {
  Tape<float> tape, other;
  const auto p = parameter_of({1});
  CHECK_THROWS_WITH(tape.parameter(p) + other.parameter(p),
                    "add: expected inputs on one tape, got inputs on different tapes (write "
                    "tape.constant(x) for a tensor x)");
}

TEST_CASE("tape: two threads use two tapes concurrently", "[autograd]") {
  const auto weight = Random(5).normal_tensor<float>({80, 80});
  const auto train = [&weight] {
    Parameter<float> p(weight);
    for (int pass = 0; pass < 20; ++pass) {
      Tape<float> tape({.training = true, .seed = 1});
      const Var x = tape.parameter(p);
      tape.backward(sum(softmax(matmul(dropout(x, 0.2), x)) * x));
    }
    return values(p.grad());
  };
  std::vector<float> in_thread;
  std::thread other([&] { in_thread = train(); });
  const std::vector<float> here = train();
  other.join();
  CHECK(here == in_thread);
}

TEST_CASE("tape: a whole pass gives the same bits on any number of threads", "[autograd]") {
  Random random(6);
  Parameter<float> weight(random.normal_tensor<float>({300, 120}, 0.0, 0.1));
  Parameter<float> bias(random.normal_tensor<float>({300}));
  const auto input = random.normal_tensor<float>({500, 120});
  const Tokens targets({500});
  check_same_bits([&] {
    weight.zero_grad();
    bias.zero_grad();
    Tape<float> tape({.training = true, .seed = 9});
    const Var hidden = linear(dropout(tape.constant(input), 0.3), tape.parameter(weight),
                              tape.parameter(bias), Activation::gelu);
    const Var loss = cross_entropy(hidden, targets) + mean(hidden * hidden);
    tape.backward(loss);
    return std::vector{loss.value(), weight.grad().clone(), bias.grad().clone()};
  });
}

}  // namespace weft
