// Layers of Keras whose files leave options out, or use older names of options, and layers that
// drop values while training. Files of recent versions state all options, so the golden models do
// not.
#include <cmath>
#include <set>

#include <weft/autograd/ops/reductions.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/train/pretrained/keras_files.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {
namespace {

using namespace keras_test;

json series(Index size, const std::string& name = "in") {
  return layer("InputLayer", name, {{"batch_input_shape", {nullptr, nullptr, size}}});
}

// A model of one layer, applied to sequences of `size` channels.
KerasModel<float> model_of(const std::string& class_name, json options, Index size,
                           const Weights& weights = {}, const std::string& version = "2.11.0") {
  const TemporaryFolder folder;
  return load_keras(write_model(folder / "m.h5",
                                sequential({series(size), layer(class_name, "layer", options)}),
                                {{"layer", weights}}, version));
}

Tensor<float> column(std::vector<float> values) {
  const Index count = std::ssize(values);
  return Tensor<float>({1, count, 1}, std::span<const float>(values));
}

// The output of a model while training.
Tensor<float> trained_output(const KerasModel<float>& model, const Tensor<float>& x) {
  Tape<float> tape({.training = true, .seed = 5});
  return model(tape.constant(x)).value();
}

const Weights norm_weights{{"gamma", Tensor<float>({1}, {1})}, {"beta", Tensor<float>({1})}};

TEST_CASE("Keras: normalizations without epsilon and momentum have 0.001 and 0.99") {
  Weights weights = norm_weights;
  weights.emplace_back("mean", Tensor<float>({1}));
  weights.emplace_back("variance", Tensor<float>({1}));
  const KerasModel batch = model_of("BatchNormalization", json::object(), 1, weights);
  CHECK(output_of(batch, column({1}))(0, 0, 0) == Approx(std::sqrt(1000.0)));
  trained_output(batch, column({1, 3}));  // mean 2, variance 1
  CHECK(named_buffers(batch)[0].buffer->data()[0] == Approx(0.02));
  CHECK(named_buffers(batch)[1].buffer->data()[0] == Approx(0.01));

  const float unit = std::sqrt(1e-3f);
  const KerasModel norm =
      model_of("LayerNormalization", json::object(), 2,
               {{"gamma", Tensor<float>({2}, {1, 1})}, {"beta", Tensor<float>({2})}});
  // The variance is 0.001, so that the values are divided by √0.002.
  CHECK(output_of(norm, Tensor<float>({1, 1, 2}, {-unit, unit}))(0, 0, 1) ==
        Approx(std::sqrt(0.5)));
}

TEST_CASE("Keras: slopes and sizes that a file does not state") {
  CHECK(output_of(model_of("LeakyReLU", json::object(), 1), column({-2, 2}))(0, 0, 0) ==
        Approx(-0.6));
  CHECK(output_of(model_of("ELU", json::object(), 1), column({-2}))(0, 0, 0) ==
        Approx(std::exp(-2.0) - 1.0));
  CHECK(same(output_of(model_of("UpSampling1D", json::object(), 1), column({1, 2})),
             column({1, 1, 2, 2})));
  CHECK(same(output_of(model_of("MaxPooling1D", json::object(), 1), column({1, 2, 4, 3})),
             column({2, 4})));
  CHECK(same(output_of(model_of("AveragePooling1D", json::object(), 1), column({1, 2, 4, 3})),
             column({1.5f, 3.5f})));
}

TEST_CASE("Keras: a GRU of a version without reset_after has one bias for each gate") {
  const KerasModel gru = model_of(
      "GRU", {{"units", 1}, {"activation", "linear"}, {"recurrent_activation", "sigmoid"}}, 1,
      {{"kernel", Tensor<float>({1, 3}, {0, 0, 1})},
       {"recurrent", Tensor<float>({1, 3}, {0, 0, 2})},
       {"bias", Tensor<float>({3}, {0, 0, 1})}});
  // Both gates are σ(0) = 1/2: n = x + 1 + (r h) 2 and h' = (h + n) / 2 are 2 and 1, then 3 and 2.
  CHECK(output_of(gru, column({1, 1}))(0, 0) == Approx(2.0));
}

TEST_CASE("Keras: causal attention in the older spelling") {
  const TemporaryFolder folder;
  const KerasModel model = load_keras(
      write_model(folder / "m.h5",
                  functional({{series(1, "q"), {}},
                              {series(1, "v"), {}},
                              {layer("Attention", "attention", {{"causal", true}}), {"q", "v"}}},
                             "attention"),
                  {}));
  Tape<float> tape = Tape<float>::inference();
  const Var<float> zeros = tape.constant(column({0, 0, 0}));
  // Queries of 0 have equal weights on all keys up to their own.
  const Tensor<float> y = model.run({zeros, tape.constant(column({3, 5, 10}))}).outputs[0].value();
  CHECK(distance(y, column({3, 4, 6})) < 1e-6);
}

// The different values of an output while training, of 64 sequences of three ones.
std::set<float> values_while_training(json options) {
  options["units"] = 2;
  options["activation"] = "linear";
  options["use_bias"] = false;
  const KerasModel rnn = model_of("SimpleRNN", options, 1,
                                  {{"kernel", Tensor<float>({1, 2}, {1, 1})},
                                   {"recurrent", Tensor<float>({2, 2}, {1, 0, 0, 1})}});
  const Tensor<float> ones = Tensor<float>::full({64, 3, 1}, 1);
  CHECK(same(output_of(rnn, ones), Tensor<float>::full({64, 2}, 3)));
  const Tensor<float> y = trained_output(rnn, ones);
  return {y.begin(), y.end()};
}

TEST_CASE("Keras: dropout of recurrent layers drops the same numbers in each step") {
  CHECK(values_while_training(json::object()) == std::set<float>{3});
  // h' = x + m h with m = 0 or 2: 1, 1, 1 or 1, 3, 7.
  CHECK(values_while_training({{"recurrent_dropout", 0.5}}) == std::set<float>{1, 7});
  // h' = m x + h.
  CHECK(values_while_training({{"dropout", 0.5}}) == std::set<float>{0, 6});
  // The same of a loop of steps, which activations other than tanh and σ take.
  CHECK(values_while_training({{"dropout", 0.5}, {"recurrent_dropout", 0.5}}) ==
        std::set<float>{0, 2, 14});
}

TEST_CASE("Keras: SpatialDropout1D drops whole channels") {
  const KerasModel model = model_of("SpatialDropout1D", {{"rate", 0.5}}, 8);
  const Tensor<float> ones = Tensor<float>::full({4, 3, 8}, 1);
  CHECK(same(output_of(model, ones), ones));
  const Tensor<float> y = trained_output(model, ones);
  std::set<float> values;
  for (Index b = 0; b < 4; ++b)
    for (Index c = 0; c < 8; ++c) {
      values.insert(y(b, 0, c));
      for (Index t = 1; t < 3; ++t) CHECK(y(b, t, c) == y(b, 0, c));
    }
  CHECK(values == std::set<float>{0, 2});
}

// The output of a model of these layers for sequences.
Tensor<float> output_of_layers(const json& layers, const Tensor<float>& x,
                               const std::vector<std::pair<std::string, Weights>>& weights = {}) {
  const TemporaryFolder folder;
  return output_of(load_keras(write_model(folder / "m.h5", sequential(layers), weights)), x);
}

TEST_CASE("Keras: a mean over the last axis leaves out what the mask hides there") {
  const json mean = layer("GlobalAveragePooling1D", "mean", {{"data_format", "channels_first"}});
  const json masking = layer("Masking", "masking", json::object());
  // The mask hides the second element of each row.
  CHECK(same(output_of_layers({series(2), masking, mean}, Tensor<float>({1, 2, 2}, {1, 3, 0, 0})),
             Tensor<float>({1, 2}, {1, 0})));
  CHECK_THROWS_AS(output_of_layers({series(3), masking, mean}, Tensor<float>({1, 2, 3})),
                  ShapeError);
}

}  // namespace
}  // namespace weft
