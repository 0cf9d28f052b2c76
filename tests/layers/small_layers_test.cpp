// Dropout, Embedding, LayerNorm and PositionWiseFeedForward.
#include <cmath>
#include <limits>

#include <weft/autograd/ops/activation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/layers/dropout.hpp>
#include <weft/layers/embedding.hpp>
#include <weft/layers/feed_forward.hpp>
#include <weft/layers/norm.hpp>
#include <weft/layers/summary.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("dropout layer: drops elements on training tapes only", "[layers]") {
  const Dropout layer(0.5);
  const auto ones = Tensor<float>::full({1000}, 1.0f);
  Tape evaluating;
  CHECK(same(layer(evaluating.constant(ones)).value(), ones));
  Tape training({.training = true, .seed = 3});
  const Tensor<float> y = layer(training.constant(ones)).value();
  const auto dropped = std::count(y.begin(), y.end(), 0.0f);
  CHECK(dropped + std::count(y.begin(), y.end(), 2.0f) == 1000);
  CHECK(std::abs(static_cast<double>(dropped) - 500) < 80);
}

TEST_CASE("dropout layer: p = 1 gives zeros", "[layers]") {
  Tape tape({.training = true});
  const auto ones = Tensor<float>::full({10}, 1.0f);
  CHECK(same(Dropout(1.0)(tape.constant(ones)).value(), Tensor<float>({10})));
}

TEST_CASE("dropout layer: p must be a probability", "[layers]") {
  CHECK(message_of<ValueError>([] { Dropout(1.5); }) ==
        "Dropout: p: expected a probability from 0 to 1, got 1.5");
  CHECK(contains(message_of<ValueError>([] { Dropout(-0.1); }), "got -0.1"));
  CHECK(contains(message_of<ValueError>([] { Dropout(std::nan("")); }), "got nan"));
}

TEST_CASE("embedding layer: a row for every token", "[layers]") {
  Random random(1);
  const Embedding layer({.num_embeddings = 3, .embedding_dim = 2}, random);
  const Tensor<float>& w = layer.weight.value();
  Tape tape;
  const Var y = layer(tape, Tokens({1, 3}, {2, 0, 2}));
  CHECK(same(y.value(),
             Tensor<float>({1, 3, 2}, {w(2, 0), w(2, 1), w(0, 0), w(0, 1), w(2, 0), w(2, 1)})));
}

TEST_CASE("embedding layer: initialized with the given standard deviation", "[layers]") {
  Random random(1);
  const auto deviation = [&](const Embedding<double>& layer) {
    double squares = 0.0;
    for (double w : layer.weight.value()) squares += w * w;
    return std::sqrt(squares / static_cast<double>(layer.weight.size()));
  };
  CHECK(std::abs(deviation(Embedding<double>({100, 50}, random)) - 1.0) < 0.03);
  CHECK(std::abs(deviation(Embedding<double>({100, 50, 0.02}, random)) - 0.02) < 0.0006);
}

TEST_CASE("embedding layer: the vector of the padding is zeros and is not trained", "[layers]") {
  Random random(1);
  Embedding layer({.num_embeddings = 3, .embedding_dim = 2, .padding_idx = 1}, random);
  Tape tape;
  const Var y = layer(tape, Tokens({3}, {0, 1, 2}));
  CHECK(y.value()(0, 0) != 0.0F);
  CHECK(y.value()(1, 0) == 0.0F);
  CHECK(y.value()(1, 1) == 0.0F);
  tape.backward(y, Tensor<float>::full({3, 2}, 1.0F));
  CHECK(same(layer.weight.grad(), Tensor<float>({3, 2}, {1, 1, 0, 0, 1, 1})));
  CHECK(contains(str_cat(layer), "Embedding(3, 2, padding_idx=1)"));
  CHECK(message_of<ValueError>([&] {
          Embedding({.num_embeddings = 3, .embedding_dim = 2, .padding_idx = 3}, random);
        }) == "Embedding: padding_idx: expected an id from 0 to 2, got 3");
}

TEST_CASE("embedding layer: invalid arguments throw", "[layers]") {
  Random random(1);
  CHECK(message_of<ValueError>([&] { Embedding({.embedding_dim = 2}, random); }) ==
        "Embedding: num_embeddings: expected a number > 0, got 0");
  CHECK(contains(message_of<ValueError>([&] {
                   Embedding({4, 2, std::nan("")}, random);
                 }),
                 "Embedding: standard_deviation"));
  const Embedding layer({.num_embeddings = 3, .embedding_dim = 2}, random);
  Tape tape;
  CHECK(contains(message_of<ValueError>([&] { layer(tape, Tokens({2}, {0, 3})); }), "3"));
  CHECK(contains(message_of<ValueError>([&] { layer(tape, Tokens({2}, {-1, 0})); }), "-1"));
}

TEST_CASE("layer norm layer: initially normalizes without scale and shift", "[layers]") {
  const LayerNorm<double> layer({.num_hiddens = 2, .eps = 0.0});
  Tape<double> tape;
  const Tensor<double> x({2, 2}, {3, 5, -1, -7});
  CHECK(same(layer(tape.constant(x)).value(), Tensor<double>({2, 2}, {-1, 1, 1, -1})));
}

TEST_CASE("layer norm layer: invalid arguments throw", "[layers]") {
  CHECK(message_of<ValueError>([] { LayerNorm({.num_hiddens = 0}); }) ==
        "LayerNorm: num_hiddens: expected a number > 0, got 0");
  CHECK(contains(message_of<ValueError>([] { LayerNorm({.num_hiddens = 2, .eps = -1.0}); }),
                 "LayerNorm: eps: expected a value ≥ 0, got -1"));
  const LayerNorm layer({.num_hiddens = 2});
  Tape tape;
  CHECK(contains(message_of<ShapeError>([&] {
                   layer(tape.constant(Tensor<float>({4, 3})));
                 }),
                 "[4, 3]"));
}

TEST_CASE("feed-forward: two linear layers with an activation between them", "[layers]") {
  Random random(1);
  const PositionWiseFeedForward<double> layer(
      {.num_hiddens = 3, .ffn_num_hiddens = 5, .activation = Activation::gelu}, random);
  Tape<double> tape;
  const Var x = tape.constant(random.normal_tensor<double>({2, 4, 3}));
  const Var y = layer(x);
  CHECK(y.shape() == Shape{2, 4, 3});
  CHECK(distance(y.value(), layer.dense2(gelu(layer.dense1(x))).value()) < 1e-14);
}

TEST_CASE("feed-forward: invalid arguments throw", "[layers]") {
  Random random(1);
  CHECK(message_of<ValueError>([&] { PositionWiseFeedForward({.num_hiddens = 3}, random); }) ==
        "PositionWiseFeedForward: ffn_num_hiddens: expected a number > 0, got 0");
}
