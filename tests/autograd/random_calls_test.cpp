// Random operations on a tape, in random order.
#include "tests/random_calls.hpp"

#include <deque>
#include <functional>
#include <limits>

#include <weft/autograd/ops/activation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/attention.hpp>
#include <weft/autograd/ops/comparison.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/cumsum.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/einsum.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/embedding.hpp>
#include <weft/autograd/ops/indexing.hpp>
#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/ops/packed_steps.hpp>
#include <weft/autograd/ops/permute.hpp>
#include <weft/autograd/ops/pooling.hpp>
#include <weft/autograd/ops/recompute.hpp>
#include <weft/autograd/ops/recurrence.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/ops/rotary_embedding.hpp>
#include <weft/autograd/ops/shaping.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/autograd/ops/topk.hpp>
#include <weft/autograd/ops/unfold.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {
namespace {

using X = Var<double>;

// A tape with parameters and variables, on which random things are done.
class Session {
 public:
  explicit Session(Arguments& arguments)
      : arguments_(arguments),
        tape_({.training = arguments.flag(),
               .recording = !arguments.chance(0.1),
               .seed = arguments.random().next()}) {}

  void act() {
    switch (arguments_.below(13)) {
      case 0:
        return attempt([&] { tape_.backward(any(), {.retain_graph = arguments_.chance(0.3)}); });
      case 1:
        return attempt([&] {
          const X y = any();
          tape_.backward(y, normal(arguments_.chance(0.8) ? y.shape() : arguments_.shape()));
        });
      case 2:
        return change_a_parameter();
      case 3:
        if (arguments_.chance(0.2)) tape_.clear();
        return;
      case 4:
        return attempt([&] { take_gradients(); });
      case 5:
      case 6:
      case 7:
        return attempt([&] { keep(call_row()); });
      default:
        return attempt([&] { keep(call_with_random_arguments()); });
    }
  }

  // Gradients have the shapes of their parameters.
  void check() const {
    for (const Parameter<double>& parameter : parameters_)
      if (parameter.has_grad()) REQUIRE(parameter.grad().shape() == parameter.shape());
  }

 private:
  Tensor<double> normal(const Shape& shape) {
    Tensor<double> values = arguments_.random().normal_tensor<double>(shape);
    if (arguments_.chance(0.03) && !values.empty()) values.values()[0] = arguments_.number();
    return values;
  }

  X leaf(Tensor<double> value) {
    if (arguments_.chance(0.3)) return tape_.constant(std::move(value));
    if (arguments_.chance(0.2)) return tape_.variable(std::move(value));
    return tape_.parameter(parameters_.emplace_back(std::move(value)));
  }
  // A variable: an earlier one, also of a pass that has ended, or a new one.
  X any() {
    if (!variables_.empty() && arguments_.chance(0.8)) return arguments_.any(variables_);
    if (!parameters_.empty() && arguments_.chance(0.3))
      return tape_.parameter(arguments_.any(parameters_));
    return leaf(normal(arguments_.shape()));
  }
  X like(const Shape& shape) { return leaf(normal(arguments_.like(shape))); }

  void keep(X y) {
    for (Index i = 0; i < y.size(); i += 97) sink_ = y.value().data()[i];
    // Larger ones would be broadcast to what takes all memory.
    if (y.size() > 10'000) return;
    variables_.push_back(std::move(y));
    if (variables_.size() > 8) variables_.erase(variables_.begin());
  }

  // Gradients have the shapes of what they are taken of.
  void take_gradients() {
    const X y = any();
    const std::vector<X> inputs{any(), any()};
    const auto gradients = tape_.gradients(y, normal(arguments_.like(y.shape())), inputs,
                                           {.retain_graph = arguments_.flag()});
    for (std::size_t i = 0; i < inputs.size(); ++i)
      REQUIRE(gradients[i].shape() == inputs[i].shape());
  }

  void change_a_parameter() {
    if (parameters_.empty()) return;
    Parameter<double>& p = arguments_.any(parameters_);
    switch (arguments_.below(6)) {
      case 0:
        return attempt([&] { p.set_value(normal(arguments_.like(p.shape()))); });
      case 1:
        return attempt([&] { p.set_grad(normal(arguments_.like(p.shape()))); });
      case 2:
        return static_cast<void>(p = Parameter<double>(normal(p.shape())));
      case 3:
        return static_cast<void>(p = arguments_.any(parameters_));
      case 4:
        return p.zero_grad();
      default:
        for (double& value : p.values()) value = arguments_.number();
    }
  }

  // A row of the gradient table, with its own inputs or others.
  X call_row() {
    const GradientCase& row = arguments_.any(gradient_table());
    Inputs inputs;
    for (const InputValues& input : arguments_.chance(0.02) ? row.large : row.small) {
      const Tensor<double> value = input.draw(arguments_.random());
      if (arguments_.chance(0.7))
        inputs.push_back(leaf(value));
      else
        inputs.push_back(arguments_.chance(0.3) ? any() : like(value.shape()));
    }
    if (inputs.empty()) return any();
    if (arguments_.chance(0.1))
      return recompute(
          [inputs, &row](const X& x) {
            Inputs again = inputs;
            again[0] = x;
            return row.function(again);
          },
          inputs[0]);
    return row.function(inputs);
  }

  Mask mask(Index batch, Index queries, Index keys) {
    Mask mask{.causal = arguments_.flag()};
    if (arguments_.flag())
      mask.valid_lens = ValidLens(arguments_.ids(
          arguments_.like(arguments_.flag() ? Shape{batch} : Shape{batch, queries}), keys + 1));
    if (arguments_.chance(0.3))
      mask.allowed = arguments_.booleans(arguments_.like({queries, keys}));
    return mask;
  }

  X call_with_random_arguments() {
    Arguments& a = arguments_;
    const X x = any();
    const Index rank = x.rank();
    const auto size = [&](Index axis) { return rank > 0 ? x.shape()[axis] : 1; };
    switch (a.below(34)) {
      case 0: {
        const Index times = a.integer();
        return times > 1000 && times < (Index{1} << 60) ? x : repeat(x, a.integer(), times);
      }
      case 1:
        return slice(x, a.integer(), a.integer(), a.integer());
      case 2:
        return reshape(x, {a.integer(), a.integer()});
      case 3: {
        std::vector<Index> axes(static_cast<std::size_t>(a.below(5)));
        for (Index& axis : axes) axis = a.integer();
        return permute(x, axes);
      }
      case 4:
        return transpose(x, a.integer(), a.integer());
      case 5: {
        const std::vector<X> list(static_cast<std::size_t>(a.below(3)), x);
        return a.flag() ? concatenate<double>(list, a.integer()) : stack<double>(list, a.integer());
      }
      case 6:
        return sum(x, {a.integer(), a.integer()}, a.flag());
      case 7:
        return variance(x, {a.integer()}, a.integer(), a.flag());
      case 8:
        return max(x, {a.integer()}, a.flag());
      case 9: {
        const UnfoldOptions windows{.size = a.integer(),
                                    .dilation = a.integer(),
                                    .stride = a.integer(),
                                    .before = a.integer(),
                                    .after = a.integer()};
        if (a.flag()) return a.flag() ? max_pool(x, windows) : average_pool(x, windows);
        return unfold(x, windows, a.chance(0.7) ? ValidLens() : ValidLens(a.ids({size(0)}, 5)));
      }
      case 10:
        return rotary_embedding(x, a.integer(),
                                {.base = a.number(), .first_position = a.integer()});
      case 11:
        return cross_entropy(x, a.ids(a.like(rank > 0 ? x.shape().without(-1) : Shape{}), 5),
                             {.label_smoothing = a.number()});
      case 12:
        return embedding(a.ids(a.shape(), 5), x);
      case 13:
        return where(a.booleans(a.like(rank > 0 ? x.shape().with(-1, 1) : Shape{})), x, 0.0);
      case 14:
        return matmul(x, a.flag() ? any() : like(x.shape()),
                      {.transpose_a = a.flag(), .transpose_b = a.flag()});
      case 15:
        return masked_softmax(x, mask(size(0), rank > 1 ? size(-2) : 1, size(-1)));
      case 16:
        return scaled_dot_product_attention(
            x, like(x.shape()), like(x.shape()),
            {.num_heads = a.integer(),
             .mask = mask(size(0), rank > 1 ? size(1) : 1, rank > 1 ? size(1) : 1),
             .dropout = a.number()});
      case 17:
        return dropout(x, a.number());
      case 18:
        return clamp(x, a.number(), a.number());
      case 19:
        return power(x, a.number());
      case 20:
        return last_states(x, like(rank == 3 ? Shape{size(0), size(2)} : Shape{}),
                           ValidLens(a.ids({size(0)}, 4)));
      case 21:
        return gather(x, a.integer(), a.ids(a.like(x.shape()), 4));
      case 22:
        return index_select(x, a.integer(),
                            a.ids(a.chance(0.9) ? Shape{a.below(7)} : x.shape(), 4));
      case 23:
        return select(x, a.integer(), a.integer());
      case 24:
        return topk(x, a.integer(), {.axis = a.integer(), .largest = a.flag()}).values;
      case 25: {
        const Tensor<bool> condition = a.flag() ? x > a.number() : a.booleans(a.like(x.shape()));
        return a.flag() ? where(condition, x, any()) : where(condition, a.number(), x);
      }
      case 26: {
        const auto positions = [&] { return a.chance(0.95) ? a.below(6) : -a.below(3); };
        const Index enormous = std::numeric_limits<Index>::max() / 2;
        return pad(x, a.integer(), positions(), a.chance(0.02) ? enormous : positions(),
                   a.number());
      }
      case 27: {
        const auto parts = a.flag() ? split(x, a.integer(), a.integer())
                                    : split(x, a.integer(), {a.integer(), a.integer()});
        return parts.back();
      }
      case 28:
        return cumsum(x, a.integer());
      case 29:
        return a.flag() ? squeeze(x, a.integer()) : unsqueeze(x, a.integer());
      case 30:
        return a.flag() ? min(x, {a.integer()}, a.flag()) : detach(x);
      case 31:
        return einsum(a.one_of<const char*>({"ij,kj->ik", "bij,bjk->kbi", "ij,jkl->i", "i,->i"}), x,
                      a.flag() ? any() : like(x.shape()));
      case 32: {
        const Tensor<bool> steps = a.booleans(a.like(rank > 2 ? x.shape().without(-1) : Shape{}));
        return a.flag() ? pack_steps(x, steps) : unpack_steps(x, steps);
      }
      default:
        return a.flag() ? add(x, any()) : multiply(x, like(x.shape()));
    }
  }

  Arguments& arguments_;
  std::deque<Parameter<double>> parameters_;
  Tape<double> tape_;
  std::vector<X> variables_;
  volatile double sink_ = 0.0;
};

}  // namespace

TEST_CASE("random calls: operations work or throw an Error", "[autograd][random]") {
  for_random_sequences([](Arguments& arguments) {
    Session session(arguments);
    for (Index i = 5 + arguments.below(25); i > 0; --i) session.act();
    session.check();
  });
}

}  // namespace weft
