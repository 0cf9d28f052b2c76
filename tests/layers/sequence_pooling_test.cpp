#include <limits>

#include <weft/autograd/ops/reductions.hpp>
#include <weft/layers/sequence_pooling.hpp>
#include <weft/layers/summary.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/golden/torch_row.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

constexpr double padding = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("gradients: sequence pooling", "[layers][gradients][SequencePooling]") {
  for (const auto& [pooling, name] : pooling_names) {
    INFO(name);
    SequencePooling<double> layer(pooling);
    check_gradients(layer, {{2, 4, 3}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
    check_gradients(layer, {{3, 4, 2}}, [&](Tape<double>&, const Vars& x) {
      return layer(x[0], ValidLens{3, 0, 4});
    });
  }
}

TEMPLATE_TEST_CASE("torch's reductions of padded sequences", "[golden][SequencePooling]", float,
                   double) {
  const auto pooled = [](Pooling pooling) {
    return [pooling](const auto& x) {
      return SequencePooling<TestType>(pooling)(x[0], ValidLens{3, 1, 4});
    };
  };
  SequencePooling<TestType> none(Pooling::mean);
  golden::compare_with_torch<TestType>(
      "Function(lambda x: torch.stack([s[:n].mean(0) for s, n in zip(x, (3, 1, 4))]))", {{3, 4, 5}},
      none, pooled(Pooling::mean));
  golden::compare_with_torch<TestType>(
      "Function(lambda x: torch.stack([s[:n].amax(0) for s, n in zip(x, (3, 1, 4))]))", {{3, 4, 5}},
      none, pooled(Pooling::max));
  golden::compare_with_torch<TestType>(
      "Function(lambda x: torch.stack([s[n - 1] for s, n in zip(x, (3, 1, 4))]))", {{3, 4, 5}},
      none, pooled(Pooling::last));
  golden::compare_with_torch<TestType>("Function(lambda x: x[:, 0])", {{3, 4, 5}}, none,
                                       pooled(Pooling::first));
}

TEST_CASE("sequence pooling: only positions before the end count, and empty sequences give zeros",
          "[layers]") {
  const Tensor<double> values({3, 3, 2}, {1, -2, 3, -4, padding, padding,                        //
                                          padding, padding, padding, padding, padding, padding,  //
                                          -1, -1, -5, -7, -3, -1});
  const auto check = [&](Pooling pooling, std::initializer_list<double> expected) {
    INFO(to_string(pooling));
    Parameter<double> x(values);
    Tape<double> tape;
    const Var<double> y = SequencePooling<double>(pooling)(tape.parameter(x), ValidLens{2, 0, 3});
    CHECK(same(y.value(), Tensor<double>({3, 2}, expected)));
    tape.backward(sum(y));
    for (const Index t : {0, 1, 2})
      for (const Index i : {0, 1}) CHECK(x.grad()(1, t, i) == 0.0);
    CHECK(x.grad()(0, 2, 0) == 0.0);
    CHECK(x.grad()(0, 2, 1) == 0.0);
  };
  check(Pooling::mean, {2, -3, 0, 0, -3, -3});
  check(Pooling::max, {3, -2, 0, 0, -1, -1});
  check(Pooling::first, {1, -2, 0, 0, -1, -1});
  check(Pooling::last, {3, -4, 0, 0, -3, -1});
}

TEST_CASE("sequence pooling: without positions, all sequences are empty", "[layers]") {
  Tape tape;
  for (const auto& [pooling, name] : pooling_names) {
    const SequencePooling<float> layer(pooling);
    const Var none = tape.constant(Tensor<float>({2, 0, 3}));
    CHECK(same(layer(none).value(), Tensor<float>({2, 3})));
    CHECK(layer(tape.constant(Tensor<float>({0, 2, 3}))).shape() == Shape{0, 3});
  }
}

TEST_CASE("sequence pooling: prints its kind, and rejects shapes and lengths", "[layers]") {
  const SequencePooling<float> layer(Pooling::max);
  CHECK(str_cat(layer) == "SequencePooling(max)");
  Tape tape;
  CHECK(message_of<ShapeError>([&] {
          layer(tape.constant(Tensor<float>({2, 3})));
        }) == "SequencePooling: expected shape [batch, time, size], got [2, 3]");
  CHECK(message_of<ValueError>([&] {
          layer(tape.constant(Tensor<float>({1, 2, 3})), ValidLens{3});
        }) == "SequencePooling: valid_lens: expected lengths from 0 to 2, got 3");
  CHECK(message_of<ValueError>([] { SequencePooling<float>(static_cast<Pooling>(9)); }) ==
        "pooling: expected a value of the enumeration, got 9");
}
