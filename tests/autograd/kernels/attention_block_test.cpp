#include "autograd/kernels/attention_block.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <weft/autograd/random.hpp>
#include <weft/autograd/tensor.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

// Rows that are longer than what a block reads of them.
template <class T>
Tensor<T> rows(Random& random, Index count, Index size) {
  return random.uniform_tensor<T>({count, size + 3}, -1.0, 1.0);
}

template <class T>
struct Inputs {
  Index queries, keys, size, value_size, width = AttentionBlock<T>::width_of(queries);
  bool use_dropout;
  Random random{static_cast<std::uint64_t>(queries * 1000 + keys)};
  Tensor<T> q = rows<T>(random, queries, size), k = rows<T>(random, keys, size),
            v = rows<T>(random, keys, value_size), dy = rows<T>(random, queries, value_size);
  Tensor<T> bias = random.uniform_tensor<T>({keys, width}, -1.0, 1.0),
            dropout = random.uniform_tensor<T>({keys, width}, 0.0, 2.0);
  T scale = T(0.3);

  AttentionBlock<T> block() const {
    return {.queries = queries,
            .keys = keys,
            .size = size,
            .value_size = value_size,
            .q = q.data(),
            .k = k.data(),
            .v = v.data(),
            .q_stride = size + 3,
            .k_stride = size + 3,
            .v_stride = value_size + 3,
            .y_stride = value_size + 3,
            .scale = scale,
            .bias = bias.data(),
            .dropout = use_dropout ? dropout.data() : nullptr};
  }
  // Zeros: lanes without a query must not hold denormals.
  std::vector<T> scratch() const {
    return std::vector<T>(
        static_cast<std::size_t>(AttentionBlock<T>::scratch_size(keys, size, value_size)));
  }
};

// The same by the definition, in double: Y = (P ∘ D) V, P = softmax(scale Q Kᵀ + bias).
struct Expected {
  Tensor<double> p, y, dq, dk, dv;
  Tensor<double> dbias;  // the gradients of scores by their distance k - i, from 1 - queries on

  template <class T>
  explicit Expected(const Inputs<T>& in)
      : p({in.keys, in.queries}),
        y({in.queries, in.value_size}),
        dq({in.queries, in.size}),
        dk({in.keys, in.size}),
        dv({in.keys, in.value_size}),
        dbias({1, in.queries + in.keys - 1}) {
    const auto d = [](T x) { return static_cast<double>(x); };
    const double scale = d(in.scale);
    for (Index i = 0; i < in.queries; ++i) {
      double sum = 0.0;
      for (Index key = 0; key < in.keys; ++key) {
        double score = d(in.bias(key, i));
        for (Index c = 0; c < in.size; ++c) score += scale * d(in.q(i, c)) * d(in.k(key, c));
        sum += p(key, i) = std::exp(score);
      }
      double dot = 0.0;
      std::vector<double> dp;
      for (Index key = 0; key < in.keys; ++key) {
        p(key, i) = sum == 0.0 ? 0.0 : p(key, i) / sum;
        const double factor = in.use_dropout ? d(in.dropout(key, i)) : 1.0;
        double of_key = 0.0;
        for (Index c = 0; c < in.value_size; ++c) {
          y(i, c) += p(key, i) * factor * d(in.v(key, c));
          dv(key, c) += p(key, i) * factor * d(in.dy(i, c));
          of_key += factor * d(in.dy(i, c)) * d(in.v(key, c));
        }
        dp.push_back(of_key);
        dot += p(key, i) * of_key;
      }
      for (Index key = 0; key < in.keys; ++key) {
        const double dscore = p(key, i) * (dp[static_cast<std::size_t>(key)] - dot);
        dbias(0, in.queries - 1 + key - i) += dscore;
        const double ds = scale * dscore;
        for (Index c = 0; c < in.size; ++c) {
          dq(i, c) += ds * d(in.k(key, c));
          dk(key, c) += ds * d(in.q(i, c));
        }
      }
    }
  }
};

// The largest difference of the first columns of `actual` from `start` + `expected`; infinity when
// a column beyond them is not `outside`.
template <class T>
double difference(const Tensor<T>& actual, double start, const Tensor<double>& expected,
                  double outside) {
  double worst = 0.0;
  for (Index i = 0; i < expected.shape()[0]; ++i)
    for (Index j = 0; j < actual.shape()[1]; ++j) {
      const auto value = static_cast<double>(actual(i, j));
      if (j < expected.shape()[1])
        worst = std::max(worst, std::abs(value - start - expected(i, j)));
      else if (value != outside)
        worst = std::numeric_limits<double>::infinity();
    }
  return worst;
}

template <class T>
void check(const Inputs<T>& in) {
  INFO("queries " << in.queries << " keys " << in.keys << " size " << in.size << " value size "
                  << in.value_size << " dropout " << in.use_dropout);
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-13;
  const Expected expected(in);
  const AttentionBlock<T> block = in.block();
  std::vector<T> scratch = in.scratch();
  Tensor<T> p({in.keys, in.width}), y = Tensor<T>::full({in.queries, in.value_size + 3}, T{7});
  block.forward(p.data(), y.data(), scratch.data());
  double worst = 0.0;
  for (Index key = 0; key < in.keys; ++key)
    for (Index i = 0; i < in.queries; ++i)
      worst = std::max(worst, std::abs(static_cast<double>(p(key, i)) - expected.p(key, i)));
  CHECK(worst < tolerance);
  CHECK(difference(y, 0.0, expected.y, 7.0) < tolerance);

  // Every subset of the gradients, added to what is there.
  for (int subset = 0; subset < 16; ++subset) {
    INFO("subset " << subset);
    auto dq = Tensor<T>::full({in.queries, in.size + 3}, T{1}),
         dk = Tensor<T>::full({in.keys, in.size + 3}, T{2}),
         dv = Tensor<T>::full({in.keys, in.value_size + 3}, T{3}),
         dbias = Tensor<T>::full({1, in.queries + in.keys - 1}, T{4});
    block.backward(p.data(), in.dy.data(), subset & 1 ? dq.data() : nullptr,
                   subset & 2 ? dk.data() : nullptr, subset & 4 ? dv.data() : nullptr,
                   subset & 8 ? dbias.data() + in.queries - 1 : nullptr, scratch.data());
    const auto expect = [&](const Tensor<T>& actual, double start, const Tensor<double>& gradient,
                            bool wanted) {
      const Tensor<double> none(gradient.shape());
      CHECK(difference(actual, start, wanted ? gradient : none, start) < tolerance);
    };
    expect(dq, 1.0, expected.dq, subset & 1);
    expect(dk, 2.0, expected.dk, subset & 2);
    expect(dv, 3.0, expected.dv, subset & 4);
    expect(dbias, 4.0, expected.dbias, subset & 8);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("attention block: agrees with the definition, forward and backward",
                   "[autograd]", float, double) {
  using T = TestType;
  for (Index queries = 1; queries <= AttentionBlock<T>::max_width; ++queries)
    for (const Index keys : {1, 2, 13, 64})
      // Sizes of no vector, of several, and of several and a rest.
      for (const auto& [size, value_size] :
           std::vector<std::pair<Index, Index>>{{1, 3}, {8, 32}, {64, 16}, {37, 45}})
        for (const bool use_dropout : {false, true})
          check(Inputs<T>{queries, keys, size, value_size, AttentionBlock<T>::width_of(queries),
                          use_dropout});
}

TEMPLATE_TEST_CASE("attention block: masked keys have no weight and no gradient", "[autograd]",
                   float, double) {
  using T = TestType;
  constexpr T masked = -std::numeric_limits<T>::infinity();
  Inputs<T> in{4, 9, 8, 8, AttentionBlock<T>::width_of(4), false};
  for (Index key = 0; key < in.keys; ++key) {
    if (key >= 4) in.bias(key, 1) = masked;
    in.bias(key, 3) = masked;  // a query without keys
  }
  check(in);
  Tensor<T> p({in.keys, in.width}), y({in.queries, in.value_size + 3});
  std::vector<T> scratch = in.scratch();
  in.block().forward(p.data(), y.data(), scratch.data());
  for (Index key = 0; key < in.keys; ++key) {
    CHECK((p(key, 1) == T{0}) == (key >= 4));
    CHECK(p(key, 3) == T{0});
  }
  CHECK(y(3, 0) == T{0});
}

TEST_CASE("attention block: the width is the fewest lanes that hold the queries", "[autograd]") {
  const Index most = AttentionBlock<float>::max_width;
  CHECK(AttentionBlock<float>::width_of(1) == 4);
  CHECK(AttentionBlock<float>::width_of(4) == 4);
  CHECK(AttentionBlock<float>::width_of(5) == std::min<Index>(8, most));
  CHECK(AttentionBlock<float>::width_of(most) == most);
}
