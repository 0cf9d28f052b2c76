#include <weft/autograd/error.hpp>
#include <weft/layers/copy_parameters.hpp>
#include <weft/layers/transformer_encoder.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

template <class T>
struct Encoder : TransformerEncoder<T> {
  explicit Encoder(std::uint64_t seed, Index num_blocks = 1, Index width = 4)
      : Encoder(Random(seed), num_blocks, width) {}

 private:
  Encoder(Random random, Index num_blocks, Index width)
      : TransformerEncoder<T>(
            {.num_blocks = num_blocks, .num_hiddens = width, .ffn_num_hiddens = 8, .num_heads = 2},
            random) {}
};

// The largest difference of parameters of the same names.
template <class A, class B>
double distance(Encoder<A>& a, Encoder<B>& b) {
  const auto as = named_parameters(a);
  const auto bs = named_parameters(b);
  double largest = 0.0;
  for (std::size_t i = 0; i < as.size(); ++i)
    for (Index j = 0; j < as[i].parameter->size(); ++j)
      largest =
          std::max(largest, std::abs(static_cast<double>(as[i].parameter->value().data()[j]) -
                                     static_cast<double>(bs[i].parameter->value().data()[j])));
  return largest;
}

}  // namespace

TEST_CASE("copy_parameters: the models have equal values and are independent", "[layers]") {
  Encoder<float> a(1), b(2);
  REQUIRE(distance(a, b) > 0.01);
  CHECK(copy_parameters(a, b) == static_cast<Index>(named_parameters(a).size()));
  CHECK(distance(a, b) == 0.0);
  b.blocks[0].attention.W_q.weight(0, 0) = 7.0f;
  CHECK(a.blocks[0].attention.W_q.weight.value()(0, 0) != 7.0f);
}

TEST_CASE("copy_parameters: between float and double", "[layers]") {
  Encoder<float> single(1);
  Encoder<double> twice(2);
  copy_parameters(single, twice);
  CHECK(distance(single, twice) == 0.0);
  Encoder<float> back(3);
  copy_parameters(twice, back);
  CHECK(distance(single, back) == 0.0);
}

TEST_CASE("copy_parameters: with a filter, only what it selects", "[layers]") {
  Encoder<float> small(1, 1), large(2, 2);
  const std::string names = message_of<ValueError>([&] { copy_parameters(small, large); });
  CHECK(
      names.starts_with("copy_parameters: expected no parameters that are only in the target "
                        "model, got 1.attention.W_k"));
  const Tensor<float> second = large.blocks[1].attention.W_q.weight.value();
  copy_parameters(small, large, below("0"));
  CHECK(large.blocks[0].attention.W_q.weight.value()(0, 0) ==
        small.blocks[0].attention.W_q.weight.value()(0, 0));
  CHECK(large.blocks[1].attention.W_q.weight.value()(0, 0) == second(0, 0));
  CHECK(
      message_of<ValueError>([&] {
        copy_parameters(large, small);
      }).starts_with("copy_parameters: expected no parameters that are only in the source model"));
  CHECK_THROWS_AS(copy_parameters(small, large, below("2")), ValueError);
}

TEST_CASE("copy_parameters: other shapes are refused, and nothing is changed", "[layers]") {
  Encoder<float> narrow(1, 1, 4), wide(2, 1, 8), copy = wide;
  CHECK_THROWS_AS(copy_parameters(narrow, wide), ShapeError);
  CHECK(distance(wide, copy) == 0.0);
}
