#include "weft/layers/models/bert.hpp"

#include <cmath>
#include <limits>

#include <weft/autograd/ops/normalization.hpp>
#include <weft/layers/sequence_pooling.hpp>
#include <weft/layers/summary.hpp>
#include "tests/catch.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

const Tokens tokens({2, 4}, {3, 1, 6, 2, 5, 5, 0, 4});
const Tokens segments({2, 4}, {0, 0, 1, 1, 0, 1, 1, 1});

BertOptions small_options() {
  return {.vocabulary_size = 7,
          .max_len = 5,
          .num_hiddens = 8,
          .num_heads = 2,
          .num_blocks = 2,
          .ffn_num_hiddens = 12};
}

}  // namespace

TEST_CASE("gradients: BERT, its states and the pooled ones", "[layers][gradients][Bert]") {
  Random random(1);
  BertOptions options = small_options();
  options.dropout = 0.2;
  options.num_blocks = 1;
  const bool is_pooled = GENERATE(false, true);
  options.pooler = is_pooled;
  Bert<double> model(options, random);
  // Weights that are not as small as those of the initialization.
  for (const auto& [name, parameter] : named_parameters(model))
    parameter->set_value(random.normal_tensor<double>(parameter->shape(), 0.0, 0.5));
  check_gradients(model, {}, [&](Tape<double>& tape, const Vars&) {
    const Var<double> states = model(tape, tokens, segments, ValidLens{4, 2});
    return is_pooled ? model.pooled(states) : states;
  });
}

TEST_CASE("BERT: neither padding nor the batch changes the states of a sequence", "[layers]") {
  Random random(1);
  const Bert<double> model(small_options(), random);
  Tape<double> tape({.recording = false, .keep_attention_weights = true});
  const Tensor<double> states = model(tape, tokens, ValidLens{4, 2}).value();
  REQUIRE(states.shape() == Shape{2, 4, 8});
  CHECK(tape.take_attention_weights().size() == 2);
  const Tensor<double> alone = model(tape, Tokens({1, 2}, {5, 5})).value();
  for (Index t = 0; t < 2; ++t)
    for (Index c = 0; c < 8; ++c) CHECK(std::abs(alone(0, t, c) - states(1, t, c)) < 1e-12);
  // A state depends on the tokens after it, too.
  Tokens changed = tokens;
  changed(0, 3) = 0;
  CHECK(model(tape, changed, ValidLens{4, 2}).value()(0, 0, 0) != states(0, 0, 0));
}

TEST_CASE("BERT: tokens without segments are of segment 0", "[layers]") {
  Random random(1);
  const Bert<double> model(small_options(), random);
  Tape<double> tape = Tape<double>::inference();
  const Tensor<double> without = model(tape, tokens).value();
  const Tensor<double> zeros = model(tape, tokens, Tokens({2, 4})).value();
  const Tensor<double> with = model(tape, tokens, segments).value();
  CHECK(std::equal(without.begin(), without.end(), zeros.begin()));
  CHECK_FALSE(std::equal(without.begin(), without.end(), with.begin()));
}

TEST_CASE("BERT: sentence vectors of length 1 do not depend on padding", "[layers]") {
  Random random(1);
  const Bert<double> model(small_options(), random);
  const SequencePooling<double> mean(Pooling::mean);
  Tape<double> tape = Tape<double>::inference();
  const auto vectors = [&](const Tokens& input, const ValidLens& lengths) {
    return normalize(mean(model(tape, input, lengths), lengths)).value();
  };
  const Tensor<double> batch = vectors(tokens, {4, 2}),
                       alone = vectors(Tokens({1, 2}, {5, 5}), {2});
  double squares = 0.0;
  for (Index c = 0; c < 8; ++c) {
    CHECK(std::abs(alone(0, c) - batch(1, c)) < 1e-12);
    squares += batch(0, c) * batch(0, c);
  }
  CHECK(std::abs(squares - 1.0) < 1e-12);
}

TEST_CASE("BERT: dropout applies to the embeddings, too", "[layers]") {
  Random random(1);
  BertOptions options = small_options();
  options.dropout = 1.0;
  const Bert<double> model(options, random);
  Tape<double> tape({.training = true});
  for (const double state : model(tape, tokens, segments).value()) CHECK(state == 0.0);
  for (const double state : model(tape, tokens).value()) CHECK(state == 0.0);
}

TEST_CASE("BERT: names of the parameters, and their number", "[layers]") {
  Random random(1);
  BertOptions options = small_options();
  options.pooler = true;
  Bert<float> model(options, random);
  const NamedParameters<float> all = named_parameters(model);
  CHECK(all[0].name == "tokens.weight");
  CHECK(all[1].name == "positions.weight");
  CHECK(all[2].name == "segments.weight");
  CHECK(all[3].name == "norm.weight");
  CHECK(all[4].name == "norm.bias");
  CHECK(all[5].name == "blocks.0.attention.W_q.weight");
  CHECK(all.back().name == "pooler.bias");
  const Index block = 4 * (64 + 8) + (8 * 12 + 12) + (12 * 8 + 8) + 4 * 8;
  CHECK(count_parameters(model) == (7 + 5 + 2) * 8 + 2 * 8 + 2 * block + 64 + 8);
}

TEST_CASE("BERT: initialized with the standard deviation 0.02", "[layers]") {
  Random random(1);
  BertOptions options = small_options();
  options.vocabulary_size = 200;
  options.max_len = options.num_segments = 50;
  options.num_hiddens = 64;
  options.ffn_num_hiddens = 64;
  options.pooler = true;
  Bert<float> model(options, random);
  for (const auto& [name, parameter] : named_parameters(model)) {
    INFO(name);
    double squares = 0.0;
    for (const float value : parameter->value()) squares += static_cast<double>(value) * value;
    const double expected = name.ends_with("bias")                   ? 0.0
                            : name.find("norm") != std::string::npos ? 1.0
                                                                     : 0.02;
    const double actual = std::sqrt(squares / static_cast<double>(parameter->value().size()));
    CHECK(std::abs(actual - expected) <= 0.05 * expected);
  }
}

TEST_CASE("BERT: invalid options and inputs throw", "[layers]") {
  Random random(1);
  const auto message_with = [&](auto member, Index value) {
    BertOptions options = small_options();
    options.*member = value;
    return message_of<ValueError>([&] { Bert<float>(options, random); });
  };
  CHECK(message_with(&BertOptions::vocabulary_size, 0) ==
        "Bert: vocabulary_size: expected a number > 0, got 0");
  CHECK(message_with(&BertOptions::max_len, -1) == "Bert: max_len: expected a number > 0, got -1");
  CHECK(message_with(&BertOptions::num_segments, 0) ==
        "Bert: num_segments: expected a number > 0, got 0");
  CHECK(message_with(&BertOptions::first_position, std::numeric_limits<Index>::max()) ==
        "Bert: first_position: expected a value from 0 to 9223372036854775802, got "
        "9223372036854775807");
  CHECK(message_with(&BertOptions::num_heads, 3) ==
        "MultiHeadAttention: expected num_hiddens > 0 divisible by num_heads > 0, got num_hiddens "
        "8 and num_heads 3");

  Tape tape;
  const Bert<float> model(small_options(), random);
  CHECK(message_of<ShapeError>([&] { model(tape, Tokens({3})); }) ==
        "Bert: tokens: expected shape [batch, time], got [3]");
  CHECK(message_of<ShapeError>([&] {
          model(tape, tokens, Tokens({2, 3}));
        }) == "Bert: segments: expected the shape of the tokens, [2, 4], got [2, 3]");
  CHECK_THROWS_AS(model(tape, tokens, Tokens({2, 4}, {0, 0, 0, 0, 0, 0, 0, 2})), ValueError);
  CHECK_THROWS_AS(model(tape, Tokens({1, 1}, {7})), ValueError);
  CHECK_THROWS_AS(model(tape, Tokens({1, 6})), ValueError);
  CHECK_THROWS_AS(model(tape, tokens, ValidLens{5, 1}), ValueError);
  CHECK(message_of<ValueError>([&] { model.pooled(model(tape, tokens)); }) ==
        "Bert: pooled: expected a model with a pooler, got a model without a pooler");
}
