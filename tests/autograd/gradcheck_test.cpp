#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include <weft/autograd/gradcheck.hpp>
#include <weft/autograd/operation.hpp>
#include <weft/autograd/ops/activation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/autograd/random.hpp>
#include "tests/catch.hpp"
#include "tests/tight_bound.hpp"

namespace weft {
namespace {

using Operation = std::function<Var<double>(const Var<double>&)>;

// Checks an operation of one parameter of shape [2, 3].
GradCheckReport check(const Operation& operation, const GradCheckOptions& options = {}) {
  Parameter<double> x(Random(1).normal_tensor<double>({2, 3}));
  return gradcheck([&](Tape<double>& tape) { return operation(tape.parameter(x)); }, {{"x", &x}},
                   options);
}

// y = x² + x, with the given backward: `add(dx, dy, x)` adds to the gradient dx.
template <class Add>
Operation with_backward(Add add) {
  return [add](const Var<double>& x) {
    const Tensor<double> y = (x * x + x).value();
    return x.tape().record(
        "x^2 + x", y, {x.node()},
        [x = x.node(), v = x.value(), add](Tape<double>& backward, const Tensor<double>& dy) {
          Gradient<double> dx = backward.gradient(x);
          add(dx, dy, v);
        });
  };
}

// The same with a backward that multiplies by slope(x) element by element.
template <class Slope>
Operation with_slope(Slope slope) {
  return with_backward(
      [slope](Gradient<double>& dx, const Tensor<double>& dy, const Tensor<double>& x) {
        dx.zero_if_fresh();
        for (Index i = 0; i < dy.size(); ++i) dx.data()[i] += dy.data()[i] * slope(x.data()[i]);
      });
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const std::map<std::string, Operation> mistakes = {
    {"a dropped term", with_slope([](double x) { return 2 * x; })},
    {"a wrong sign", with_slope([](double x) { return -(2 * x + 1); })},
    {"a missing scale", with_slope([](double x) { return x + 1; })},
    {"a slightly wrong constant", with_slope([](double x) { return 2.01 * x + 1; })},
    {"NaN in one element", with_slope([](double x) { return x < 0 ? nan : 2 * x + 1; })},
    {"infinity", with_slope([](double) { return HUGE_VAL; })},
    {"a backward that does nothing", with_slope([](double) { return 0.0; })},
    {"assignment for accumulation",
     with_backward([](Gradient<double>& dx, const Tensor<double>& dy, const Tensor<double>& x) {
       for (Index i = 0; i < dy.size(); ++i) dx.data()[i] = dy.data()[i] * (2 * x.data()[i] + 1);
     })},
    {"accumulation for assignment",
     with_backward([](Gradient<double>& dx, const Tensor<double>& dy, const Tensor<double>& x) {
       for (Index i = 0; i < dy.size(); ++i) dx.data()[i] += dy.data()[i] * (2 * x.data()[i] + 1);
     })},
    {"a last element left out",
     with_backward([](Gradient<double>& dx, const Tensor<double>& dy, const Tensor<double>& x) {
       for (Index i = 0; i + 1 < dy.size(); ++i)
         dx.data()[i] = dx.beta() * dx.data()[i] + dy.data()[i] * (2 * x.data()[i] + 1);
     })},
    {"two elements swapped",
     with_backward([](Gradient<double>& dx, const Tensor<double>& dy, const Tensor<double>& x) {
       dx.zero_if_fresh();
       for (Index i = 0; i < dy.size(); ++i)
         dx.data()[i ^ 1] += dy.data()[i] * (2 * x.data()[i] + 1);
     })},
    {"a backward of softmax that does nothing",
     [](const Var<double>& x) {
       return x.tape().record("softmax", softmax(x).value(), {x.node()},
                              [x = x.node()](Tape<double>& backward, const Tensor<double>&) {
                                backward.gradient(x).zero_if_fresh();
                              });
     }},
    {"a backward of softmax that passes dy through", [](const Var<double>& x) {
       return x.tape().record("softmax", softmax(x).value(), {x.node()},
                              [x = x.node()](Tape<double>& backward, const Tensor<double>& dy) {
                                backward.add_gradient(x, dy);
                              });
     }}};

}  // namespace

TEST_CASE("gradcheck: every seeded mistake is caught, element by element and along directions",
          "[autograd]") {
  for (const auto& [mistake, operation] : mistakes)
    for (const Index directions : {0, 1, 3}) {
      INFO(mistake << ", " << directions << " directions");
      CHECK_FALSE(check(operation, {.directions = directions}).passed());
    }
}

TEST_CASE("gradcheck: correct gradients pass the tight bound", "[autograd]") {
  const GradCheckReport report = check(with_slope([](double x) { return 2 * x + 1; }), tight_bound);
  CHECK(report.passed());
  CHECK(report.checked() == 6);
  CHECK(report.worst().absolute_error < 1e-8);
  CHECK(report.worst().near_kinks == 0);

  GradCheckOptions along = tight_bound;
  along.directions = 4;
  const GradCheckReport directions = check([](const Var<double>& x) { return softmax(x); }, along);
  CHECK(directions.passed());
  CHECK(directions.checked() == 4);
}

TEST_CASE("gradcheck: names the worst element, both gradients and both errors", "[autograd]") {
  Parameter<double> right(Tensor<double>({2}, {1, 2}));
  Parameter<double> wrong(Tensor<double>({2, 3}, {1, 2, 3, 4, 5, 6}));
  const GradCheckReport report = gradcheck(
      [&](Tape<double>& tape) {
        const Var x = tape.parameter(wrong);
        const Var y =
            x.tape().record("identity", x.value().clone(), {x.node()},
                            [x = x.node()](Tape<double>& backward, const Tensor<double>& dy) {
                              Gradient<double> dx = backward.gradient(x).zero_if_fresh();
                              for (Index i = 0; i < dy.size(); ++i) dx.data()[i] += dy.data()[i];
                              dx.data()[5] += 0.5 * dy.data()[5];
                              dx.data()[1] += 0.1 * dy.data()[1];
                            });
        return sum(y) + sum(tape.parameter(right));
      },
      {{"right", &right}, {"layer.wrong", &wrong}});

  CHECK_FALSE(report.passed());
  REQUIRE(report.entries.size() == 2);
  CHECK(report.entries[0].failed == 0);
  const GradCheckEntry& worst = report.worst();
  CHECK(worst.name == "layer.wrong");
  CHECK(worst.shape == Shape{2, 3});
  CHECK(worst.checked == 6);
  CHECK(worst.failed == 2);
  CHECK(worst.index == 5);
  CHECK(worst.position() == "[1, 2]");
  CHECK(worst.analytic == Approx(1.5 * worst.numeric));
  CHECK(worst.absolute_error == Approx(0.5 * std::abs(worst.numeric)));
  CHECK(worst.relative_error == Approx(1.0 / 3.0));

  std::ostringstream text;
  text << report;
  CHECK_THAT(text.str(), Catch::Contains("layer.wrong  [2, 3]"));
  CHECK_THAT(text.str(), Catch::Contains("8 gradients compared, 2 failed; the worst is "
                                         "layer.wrong at [1, 2]"));
}

TEST_CASE("gradcheck: mistakes in gradients below the absolute tolerance are caught",
          "[autograd]") {
  for (const double factor : {1e-6, 1e-8, 1e-10}) {
    for (const char* name : {"a wrong sign", "a dropped term", "a missing scale",
                             "a backward that does nothing", "two elements swapped"})
      for (const Index directions : {0, 3}) {
        INFO(name << " times " << factor << ", " << directions << " directions");
        const Operation& mistake = mistakes.at(name);
        CHECK_FALSE(check([&](const Var<double>& x) { return scale(mistake(x), factor); },
                          {.directions = directions})
                        .passed());
      }
    const auto right = with_slope([](double x) { return 2 * x + 1; });
    const GradCheckReport report =
        check([&](const Var<double>& x) { return scale(right(x), factor); });
    CHECK(report.passed());
    CHECK(report.entries[0].unresolved == 0);
  }
}

TEST_CASE("gradcheck: gradients that differences cannot resolve pass by atol, and are counted",
          "[autograd]") {
  // Softmax does not change when a number is added: the gradient of the number is 0, and its
  // difference the rounding of the result.
  Parameter<double> x(Random(1).normal_tensor<double>({2, 3})), number(Tensor<double>({1}, {0.3}));
  const GradCheckReport report = gradcheck(
      [&](Tape<double>& tape) { return softmax(tape.parameter(x) + tape.parameter(number)); },
      {{"x", &x}, {"number", &number}}, {.atol = 1e-7, .rtol = 1e-6});
  CHECK(report.passed());
  CHECK(report.entries[0].unresolved == 0);
  CHECK(report.entries[1].unresolved == 1);
  std::ostringstream text;
  text << report;
  CHECK_THAT(text.str(), Catch::Contains("warning: 1 too small to be compared, passed only "
                                         "because of atol"));
  // A gradient of 1e-9 beside 1e6: also with a wrong sign.
  const auto tiny = [&](double sign) {
    return gradcheck(
        [&, sign](Tape<double>& tape) {
          const Var<double> v = tape.parameter(number);
          return v.tape().record(
              "tiny", (scale(v, 1e-9) + 1e6).value(), {v.node()},
              [v = v.node(), sign](Tape<double>& backward, const Tensor<double>& dy) {
                backward.gradient(v).add([sign](double d) { return sign * 1e-9 * d; }, dy);
              });
        },
        {{"number", &number}});
  };
  for (const double sign : {1.0, -1.0}) {
    CHECK(tiny(sign).passed());
    CHECK(tiny(sign).entries[0].unresolved == 1);
  }
}

TEST_CASE("gradcheck: steps are relative to large parameters", "[autograd]") {
  for (const double size : {1.0, 1e4, 1e8, 1e12})
    for (const Index directions : {0, 3}) {
      INFO("parameters of " << size << ", " << directions << " directions");
      Parameter<double> x(Tensor<double>({4}, {size, -0.7 * size, 1.5, 0.0}));
      const auto square = [&](Tape<double>& tape) {
        const Var<double> v = tape.parameter(x);
        return scale(v * v, 1.0 / size);
      };
      CHECK(gradcheck(square, {{"x", &x}}, {.directions = directions}).passed());
      const auto wrong = [&](Tape<double>& tape) {
        const Var<double> v = tape.parameter(x);
        return v.tape().record("square", (scale(v * v, 1.0 / size)).value(), {v.node()},
                               [v = v.node(), value = v.value(), size](Tape<double>& backward,
                                                                       const Tensor<double>& dy) {
                                 Gradient<double> dx = backward.gradient(v).zero_if_fresh();
                                 for (Index i = 0; i < dy.size(); ++i)
                                   dx.data()[i] -= 2.0 * value.data()[i] / size * dy.data()[i];
                               });
      };
      CHECK_FALSE(gradcheck(wrong, {{"x", &x}}, {.directions = directions}).passed());
    }
}

TEST_CASE("gradcheck: a scalar parameter's element is at []", "[autograd]") {
  Parameter<double> x(Tensor<double>(Shape{}, {2.0}));
  const auto report =
      gradcheck([&](Tape<double>& tape) { return exp(tape.parameter(x)); }, {{"x", &x}});
  CHECK(report.passed());
  CHECK(report.worst().position() == "[]");
}

TEST_CASE("gradcheck: warns about a kink", "[autograd]") {
  Parameter<double> x(Tensor<double>({3}, {-1.0, 1e-8, 1.0}));
  const auto report =
      gradcheck([&](Tape<double>& tape) { return relu(tape.parameter(x)); }, {{"x", &x}});
  CHECK(report.entries[0].near_kinks == 1);
  CHECK_FALSE(report.passed());
  CHECK(report.worst().index == 1);
  std::ostringstream text;
  text << report;
  CHECK_THAT(text.str(), Catch::Contains("warning: 1 near a kink"));
}

TEST_CASE("gradcheck: dropout masks are fixed, and off without training", "[autograd]") {
  const Operation operation = [](const Var<double>& x) {
    return dropout(x * x, 0.5) + dropout(x, 0.5);
  };
  CHECK(check(operation, tight_bound).passed());
  GradCheckOptions evaluation = tight_bound;
  evaluation.training = false;
  CHECK(check(operation, evaluation).passed());
  // The gradient of a dropped element is 0 only while training.
  const Operation all_dropped = [](const Var<double>& x) { return dropout(x, 1.0); };
  CHECK(check(all_dropped).worst().numeric == 0.0);
  CHECK(check(all_dropped, evaluation).worst().numeric != 0.0);
}

TEST_CASE("gradcheck: restores the parameters and clears their gradients", "[autograd]") {
  const Tensor<double> start = Random(2).normal_tensor<double>({4});
  Parameter<double> x(start);
  for (const Index directions : {0, 2}) {
    x.set_grad(Tensor<double>::full(x.shape(), 7.0));
    gradcheck([&](Tape<double>& tape) { return exp(tape.parameter(x)); }, {{"x", &x}},
              {.directions = directions});
    CHECK(std::equal(start.begin(), start.end(), x.value().begin()));
    CHECK_FALSE(x.has_grad());
  }
}

TEST_CASE("gradcheck: restores the parameters after an exception", "[autograd]") {
  const Tensor<double> start = Random(2).normal_tensor<double>({4});
  Parameter<double> x(start);
  for (const Index directions : {0, 2})
    for (int good_calls = 0; good_calls < 8; ++good_calls) {
      int calls = 0;
      const auto function = [&](Tape<double>& tape) {
        if (calls++ == good_calls) throw std::runtime_error("call failed");
        return exp(tape.parameter(x));
      };
      CHECK_THROWS_WITH(gradcheck(function, {{"x", &x}}, {.directions = directions}),
                        "call failed");
      CHECK(std::equal(start.begin(), start.end(), x.value().begin()));
      CHECK_FALSE(x.has_grad());
    }
}

TEST_CASE("gradcheck: throws for functions and options that it cannot check", "[autograd]") {
  CHECK_THROWS_WITH(check([](const Var<double>& x) { return x; }, {.eps = 0.0}),
                    "gradcheck: eps: expected a finite step > 0, got 0");
  CHECK_THROWS_AS(check([](const Var<double>& x) { return x; }, {.eps = nan}), ValueError);
  CHECK_THROWS_WITH(check([](const Var<double>& x) { return log(scale(x * x, -1.0)); }),
                    Catch::Contains("gradcheck: result: expected finite numbers, got "));
  CHECK_THROWS_WITH(gradcheck({}, {}), "gradcheck: function: expected a function, got none");
  int calls = 0;
  CHECK_THROWS_WITH(check([&](const Var<double>& x) { return scale(x, ++calls); }),
                    Catch::Contains("the same result each time"));
  CHECK_THROWS_AS(
      check([](const Var<double>& x) { return x.tape().constant(Tensor<double>({1})); }), Error);
}

TEST_CASE("gradcheck: an empty parameter passes beside others", "[autograd]") {
  Parameter<double> empty(Tensor<double>({0, 3}));
  Parameter<double> x(Tensor<double>({1, 3}, {1, 2, 3}));
  const auto report =
      gradcheck([&](Tape<double>& tape) { return sum(tape.parameter(empty)) + tape.parameter(x); },
                {{"empty", &empty}, {"x", &x}}, tight_bound);
  CHECK(report.passed());
  CHECK(report.entries[0].checked == 0);
  CHECK(report.checked() == 3);
}

TEST_CASE("gradcheck: a check that compares nothing fails", "[autograd]") {
  Parameter<double> empty(Tensor<double>({0, 3}));
  Parameter<double> x(Tensor<double>({1, 3}, {1, 2, 3}));
  const auto function = [&](Tape<double>& tape) {
    return sum(tape.parameter(empty)) + tape.parameter(x);
  };
  CHECK_FALSE(gradcheck(function, {}).passed());
  CHECK_FALSE(gradcheck(function, {{"empty", &empty}}).passed());
  CHECK_FALSE(GradCheckReport{}.passed());
}

TEST_CASE("gradcheck: a parameter that never reaches the result fails, and is named",
          "[autograd]") {
  Parameter<double> unused(Tensor<double>({2}, {1, 2}));
  Parameter<double> x(Tensor<double>({1, 3}, {1, 2, 3}));
  for (const Index directions : {0, 2}) {
    const auto report = gradcheck([&](Tape<double>& tape) { return exp(tape.parameter(x)); },
                                  {{"unused", &unused}, {"x", &x}}, {.directions = directions});
    CHECK_FALSE(report.passed());
    CHECK(report.entries[0].failed == 0);
    CHECK_FALSE(report.entries[0].reached);
    CHECK(report.entries[1].reached);
    std::ostringstream text;
    text << report;
    CHECK_THAT(text.str(), Catch::Contains("the result does not depend on unused"));
  }
}

TEST_CASE("gradcheck: tolerances that would pass anything throw", "[autograd]") {
  const auto refused = [](const GradCheckOptions& options) {
    CHECK_THROWS_AS(check([](const Var<double>& x) { return x; }, options), ValueError);
  };
  for (const double bad : {-1.0, nan, HUGE_VAL}) {
    refused({.eps = bad});
    refused({.atol = bad});
    refused({.rtol = bad});
  }
  refused({.directions = -1});
  CHECK_THROWS_WITH(gradcheck({}, {}), "gradcheck: function: expected a function, got none");
  CHECK_THROWS_WITH(
      gradcheck([](Tape<double>& tape) { return tape.constant({}); }, {{"x", nullptr}}),
      "gradcheck: x: expected an existing parameter, got a null pointer");
}

TEST_CASE("gradcheck: a result whose shape changes from call to call throws", "[autograd]") {
  Index size = 4;
  CHECK_THROWS_WITH(check([&](const Var<double>& x) {
                      return x.tape().constant(Tensor<double>({size--})) + sum(x);
                    }),
                    "gradcheck: expected a result of the same shape each time, [4], got [3]");
}

}  // namespace weft
