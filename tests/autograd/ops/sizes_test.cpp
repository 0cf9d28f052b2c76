// Sizes at their limits, for all operations: none, and more than a shape can have.
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include <weft/autograd.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

constexpr Index huge = Index{1} << 40;
constexpr Index enormous = Index{1} << 62;
constexpr Index largest = std::numeric_limits<Index>::max();

using Operation = std::function<Var<double>(const Var<double>&)>;

Var<double> zeros(const Var<double>& x, const Shape& shape) {
  return x.tape().constant(Tensor<double>(shape));
}

// Operations of one input of three axes, for any sizes that they do not refuse.
const std::map<std::string, Operation> operations = {
    {"gelu", [](const Var<double>& x) { return gelu(x); }},
    {"exp", [](const Var<double>& x) { return exp(x); }},
    {"clamp", [](const Var<double>& x) { return clamp(x, -1.0, 1.0); }},
    {"dropout", [](const Var<double>& x) { return dropout(x, 0.5); }},
    {"add",
     [](const Var<double>& x) {
       return x + zeros(x, {1, x.shape()[-1]});
     }},
    {"multiply",
     [](const Var<double>& x) {
       return zeros(x, {x.shape()[0], 1, 1}) * x * x;
     }},
    {"divide", [](const Var<double>& x) { return zeros(x, Shape{}) / x; }},
    {"softmax", [](const Var<double>& x) { return softmax(x); }},
    {"log_softmax", [](const Var<double>& x) { return log_softmax(x); }},
    {"masked_softmax", [](const Var<double>& x) { return masked_softmax(x, {.causal = true}); }},
    {"normalize", [](const Var<double>& x) { return normalize(x); }},
    {"layer_norm",
     [](const Var<double>& x) {
       return layer_norm(x, zeros(x, {x.shape()[-1]}), zeros(x, {x.shape()[-1]}));
     }},
    {"rms_norm", [](const Var<double>& x) { return rms_norm(x, zeros(x, {x.shape()[-1]})); }},
    {"sum", [](const Var<double>& x) { return sum(x); }},
    {"sum of an axis", [](const Var<double>& x) { return sum(x, {1}); }},
    {"sum of two axes",
     [](const Var<double>& x) {
       return sum(x, {0, 2}, true);
     }},
    {"mean", [](const Var<double>& x) { return mean(x, {1}); }},
    {"max", [](const Var<double>& x) { return max(x, {2}); }},
    {"variance", [](const Var<double>& x) { return variance(x, {0}, 0); }},
    {"permute",
     [](const Var<double>& x) {
       return permute(x, {2, 0, 1});
     }},
    {"transpose", [](const Var<double>& x) { return transpose(x); }},
    {"reshape", [](const Var<double>& x) { return reshape(x, {0}); }},
    {"slice", [](const Var<double>& x) { return slice(x, 1, 0, x.shape()[1]); }},
    {"concatenate",
     [](const Var<double>& x) {
       return concatenate(std::vector<Var<double>>{x, x}, 0);
     }},
    {"stack",
     [](const Var<double>& x) {
       return stack(std::vector<Var<double>>{x, x}, 3);
     }},
    {"repeat", [](const Var<double>& x) { return repeat(x, 1, 3); }},
    {"repeat 0 times", [](const Var<double>& x) { return repeat(x, 2, 0); }},
    {"unfold",
     [](const Var<double>& x) { return unfold(x, {.size = 2, .before = 1, .after = 1}); }},
    {"max_pool",
     [](const Var<double>& x) { return max_pool(x, {.size = 2, .before = 1, .after = 1}); }},
    {"average_pool",
     [](const Var<double>& x) { return average_pool(x, {.size = 2, .before = 1, .after = 1}); }},
    {"pack_steps",
     [](const Var<double>& x) {
       return pack_steps(x, Tensor<bool>::full({x.shape()[0], x.shape()[1]}, true));
     }},
    {"unpack_steps",
     [](const Var<double>& x) {
       return unpack_steps(x, Tensor<bool>({x.shape()[0], 9}));
     }},
    {"linear",
     [](const Var<double>& x) {
       return linear(x, zeros(x, {2, x.shape()[-1]}), zeros(x, {2}), Activation::gelu);
     }},
    {"linear to no outputs",
     [](const Var<double>& x) {
       return linear(x, zeros(x, {0, x.shape()[-1]}));
     }},
    {"matmul", [](const Var<double>& x) { return matmul(x, x, {.transpose_b = true}); }},
    {"matmul, a transposed",
     [](const Var<double>& x) { return matmul(x, x, {.transpose_a = true}); }},
    {"attention", [](const Var<double>& x) { return scaled_dot_product_attention(x, x, x); }},
    {"attention with heads",
     [](const Var<double>& x) {
       return scaled_dot_product_attention(
           x, x, x, {.num_heads = 2, .mask = {.causal = true}, .dropout = 0.5});
     }},
    {"rotary_embedding", [](const Var<double>& x) { return rotary_embedding(x, 2); }},
    {"tanh_recurrence",
     [](const Var<double>& x) {
       const Index size = x.shape()[2];
       return tanh_recurrence(x, zeros(x, {size, size}), zeros(x, {size}),
                              zeros(x, {x.shape()[0], size}));
     }},
    {"gru_recurrence",
     [](const Var<double>& x) {
       const Index size = x.shape()[2] / 3;
       return gru_recurrence(x, zeros(x, {3 * size, size}), zeros(x, {3 * size}),
                             zeros(x, {x.shape()[0], size}));
     }},
    {"last_states",
     [](const Var<double>& x) {
       return last_states(x, zeros(x, {x.shape()[0], x.shape()[2]}));
     }},
    {"cross_entropy",
     [](const Var<double>& x) {
       return cross_entropy(x, Tokens(x.shape().without(-1)), {.ignore_index = 0});
     }},
};

// Runs forward and backward; true when the operation accepts the shape.
bool runs(const Operation& operation, const Shape& shape) {
  Parameter<double> x{Tensor<double>(shape)};
  Tape<double> tape({.training = true});
  try {
    const Var<double> y = operation(tape.parameter(x));
    tape.backward(y, Tensor<double>(y.shape()));
  } catch (const ShapeError&) {
    return false;
  } catch (const ValueError&) {
    return false;
  }
  CHECK(x.grad().shape() == shape);
  return true;
}

}  // namespace

TEST_CASE(
    "sizes: every operation runs or refuses a tensor without elements, whichever axes are "
    "empty",
    "[autograd]") {
  for (const auto& [name, operation] : operations) {
    Index accepted = 0;
    for (const Shape& shape :
         {Shape{0, 4, 12}, {2, 0, 12}, {2, 4, 0}, {0, 0, 12}, {0, 4, 0}, {2, 0, 0}, {0, 0, 0}}) {
      INFO(name << " of " << shape);
      accepted += runs(operation, shape);
    }
    INFO(name);
    CHECK(accepted > 0);
  }
}

TEST_CASE("sizes: a tensor without elements costs nothing, however long its other axes are",
          "[autograd]") {
  for (const char* name :
       {"gelu", "dropout", "softmax", "log_softmax", "masked_softmax", "sum", "permute",
        "transpose", "slice", "concatenate", "repeat", "matmul", "attention"}) {
    INFO(name);
    for (const Shape& shape : {Shape{0, huge, 8}, Shape{0, 8, huge}}) {
      const bool has_result = runs(operations.at(name), shape);
      // Of matmul, it would have the shape [0, huge, huge].
      CHECK((has_result || std::string(name) == "matmul"));
    }
  }
  for (const char* name : {"softmax", "log_softmax", "masked_softmax", "permute", "sum"}) {
    INFO(name);
    CHECK(runs(operations.at(name), {1, huge, 0}));
  }
}

TEST_CASE("sizes: costs of tensors that are large in turn do not overflow", "[autograd]") {
  Tape<double> tape;
  const auto none = [&](const Shape& shape) { return tape.constant(Tensor<double>(shape)); };
  constexpr Index large = Index{1} << 27;
  CHECK(scaled_dot_product_attention(none({0, large, large}), none({0, large, large}),
                                     none({0, large, large}))
            .shape() == Shape{0, large, large});
  CHECK(matmul(none({0, large, large}), none({0, large, large})).shape() == Shape{0, large, large});
  // Neither [M, M] nor [K, N] is formed on the way to the result.
  CHECK(matmul(none({0, huge}), none({0, 0}), {.transpose_a = true}).shape() == Shape{huge, 0});
}

TEST_CASE("sizes: a result larger than a shape can be throws", "[autograd]") {
  Tape<float> tape;
  const Var<float> x = tape.constant(Tensor<float>({2, 3}));
  const Var<float> none = tape.constant(Tensor<float>({0, huge}));
  CHECK_THROWS_WITH(repeat(x, 1, enormous),
                    "repeat: expected at most 2^56 elements, got 3 · 4611686018427387904");
  CHECK_THROWS_AS(repeat(x, 0, largest), ShapeError);
  CHECK_THROWS_AS(repeat(none, 1, huge), ShapeError);
  CHECK(repeat(none, 0, largest).size() == 0);
  const Var<float> wide = tape.constant(Tensor<float>({Shape::max_elements, 0}));
  CHECK_THROWS_AS(concatenate(std::vector<Var<float>>(300, wide), 0), ShapeError);
  CHECK_THROWS_AS(stack(std::vector<Var<float>>{wide, wide}, 0), ShapeError);
}

TEST_CASE("sizes: windows and padding larger than a shape can be throw", "[autograd]") {
  Tape<float> tape;
  const Var<float> x = tape.constant(Tensor<float>({1, 4, 2}));
  for (const Index size : {enormous, largest, largest / 2}) {
    CHECK_THROWS_AS(unfold(x, {.size = 3, .dilation = size}), ShapeError);
    CHECK_THROWS_AS(unfold(x, {.size = size}), ShapeError);
    CHECK_THROWS_AS(unfold(x, {.before = size}), ShapeError);
    CHECK_THROWS_AS(unfold(x, {.before = size, .after = size}), ShapeError);
  }
  CHECK_THROWS_WITH(unfold(x, {.size = 3, .dilation = enormous}),
                    "unfold: expected at most 2^56 elements, got 4611686018427387904 · 2");
  CHECK(unfold(x, {.stride = largest}).shape() == Shape{1, 1, 2});
  const Var<float> wide = tape.constant(Tensor<float>({0, 1, huge}));
  CHECK_THROWS_AS(unfold(wide, {.size = huge, .after = huge}), ShapeError);
  for (const auto& pool : {max_pool<float>, average_pool<float>}) {
    CHECK_THROWS_AS(pool(x, {.size = 3, .dilation = enormous}), ShapeError);
    CHECK_THROWS_AS(pool(x, {.size = largest}), ShapeError);
    CHECK_THROWS_AS(pool(x, {.before = largest, .after = 1}), ShapeError);
    CHECK_THROWS_AS(pool(x, {.before = huge, .after = huge}), ValueError);
    CHECK(pool(x, {.dilation = largest, .stride = largest}).shape() == Shape{1, 1, 2});
    CHECK(pool(x, {.size = huge, .before = huge / 2, .after = huge / 2}).shape() == Shape{1, 5, 2});
  }
}

TEST_CASE("sizes: the last positions there are do not overflow", "[autograd]") {
  Tape<double> tape;
  const Var<double> x = tape.constant(Tensor<double>({1, 4, 2}, {1, 0, 1, 0, 1, 0, 1, 0}));
  for (const double v : rotary_embedding(x, 1, {.first_position = largest - 1}).value())
    CHECK(std::abs(v) <= 1.0);
}

}  // namespace weft
