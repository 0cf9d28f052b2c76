// Models in bf16: their gradients against those in single precision.
#include <cmath>
#include <functional>
#include <numeric>

#include <weft/autograd.hpp>
#include <weft/layers/models/encoder_decoder.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/layers/recurrent.hpp>
#include "autograd/internal/bf16_emulation.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

using namespace weft;

namespace {

using Loss = std::function<Var<float>(Tape<float>&)>;

std::vector<Tensor<float>> gradients_of(Module<float>& model, const Loss& loss,
                                        Precision precision) {
  Tape<float> tape({.training = true, .seed = 3, .precision = precision});
  zero_grad(model);
  tape.backward(loss(tape));
  std::vector<Tensor<float>> gradients;
  for (const auto& [name, parameter] : named_parameters(model))
    gradients.push_back(parameter->grad().clone());
  return gradients;
}

double dot(const Tensor<float>& a, const Tensor<float>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<double>(),
                            [](double x, double y) { return x * y; });
}

// The derivatives of the loss along the full gradient and along the gradient of each parameter, and
// the whole difference, relative to the full gradient.
void check_gradients(Module<float>& model, const Loss& loss) {
  const EmulateBf16 emulation;
  const auto full = gradients_of(model, loss, Precision::full);
  const auto half = gradients_of(model, loss, Precision::bf16);
  const NamedParameters<float> parameters = named_parameters(model);
  double all_products = 0.0, all_squares = 0.0, all_differences = 0.0;
  for (const Tensor<float>& gradient : full) all_squares += dot(gradient, gradient);
  for (std::size_t i = 0; i < full.size(); ++i) {
    const double product = dot(half[i], full[i]), square = dot(full[i], full[i]);
    INFO(parameters[i].name);
    // The gradients of the keys' biases are 0 but for rounding.
    if (square > 1e-8 * all_squares) CHECK(std::abs(product / square - 1.0) < 0.02);
    all_products += product;
    all_differences += dot(half[i], half[i]) - 2.0 * product + square;
  }
  CHECK(std::abs(all_products / all_squares - 1.0) < 0.005);
  CHECK(std::sqrt(all_differences / all_squares) < 0.02);
  CHECK(all_differences > 0.0);
  check_same_bits([&] { return gradients_of(model, loss, Precision::bf16); });
}

Tokens tokens(const Shape& shape, Index vocabulary) {
  Random random(9);
  Tokens result(shape);
  for (TokenId& token : result) token = static_cast<TokenId>(random.below(vocabulary));
  return result;
}

}  // namespace

TEST_CASE("precision: gradients of a language model in bf16", "[layers][bf16]") {
  for (const bool modern : {false, true}) {
    Random random(1);
    GptOptions options{.vocabulary_size = 31,
                       .max_len = 40,
                       .num_hiddens = 48,
                       .num_heads = 4,
                       .num_blocks = 2,
                       .dropout = 0.1};
    if (modern) {
      options.num_kv_heads = 2;
      options.dropout = 0.0;
    }
    Gpt<float> model(options, random);
    const Tokens inputs = tokens({9, 40}, 31), targets = tokens({9, 40}, 31);
    check_gradients(model,
                    [&](Tape<float>& tape) { return cross_entropy(model(tape, inputs), targets); });
  }
}

TEST_CASE("precision: gradients of an encoder-decoder in bf16", "[layers][bf16]") {
  Random random(2);
  EncoderDecoder<float> model(
      {.source_vocabulary_size = 29,
       .target_vocabulary_size = 23,
       .max_len = 20,
       .transformer = {.num_blocks = 2, .num_hiddens = 32, .ffn_num_hiddens = 64, .num_heads = 4}},
      random);
  const Tokens source = tokens({6, 17}, 29), inputs = tokens({6, 11}, 23),
               targets = tokens({6, 11}, 23);
  const ValidLens lengths{17, 3, 9, 17, 1, 12};
  check_gradients(model, [&](Tape<float>& tape) {
    return cross_entropy(model(tape, source, lengths, inputs), targets);
  });
}

TEST_CASE("precision: gradients of a recurrent layer in bf16", "[layers][bf16]") {
  Random random(3);
  LSTM<float> model({.input_size = 20, .num_hiddens = 24}, random);
  const auto inputs = random.normal_tensor<float>({7, 12, 20});
  check_gradients(model, [&](Tape<float>& tape) {
    return sum(power(model(tape.constant(inputs)).states, 2.0));
  });
}
