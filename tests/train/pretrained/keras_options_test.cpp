// Layers of Keras whose files leave options out, or use older names of options, and layers that
// drop values while training. Files of recent versions state all options, so the golden models do
// not.
#include <cmath>
#include <set>

#include <weft/autograd/ops/reductions.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
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
  // The first query sees the first key, also if there are more keys than queries.
  const Var<float> first = tape.constant(column({0}));
  CHECK(model.run({first, tape.constant(column({3, 5, 10}))}).outputs[0].value()(0, 0, 0) == 3);
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

TEST_CASE("Keras: masks that a file does not state") {
  const json mean = layer("GlobalAveragePooling1D", "mean", json::object());
  const json masking = layer("Masking", "masking", json::object());
  // Embedding has no mask.
  CHECK(same(
      output_of_layers(
          {layer("Embedding", "embedding", {{"input_dim", 2}, {"output_dim", 1}}), mean},
          Tensor<float>({1, 2}, {0, 1}), {{"embedding", {{"e", Tensor<float>({2, 1}, {3, 5})}}}}),
      Tensor<float>({1, 1}, {4})));
  // Masking hides the steps that consist of zeros: here, the second one.
  CHECK(same(
      output_of_layers({series(2), masking, mean}, Tensor<float>({1, 3, 2}, {0, 2, 0, 0, 1, 1})),
      Tensor<float>({1, 2}, {0.5f, 1.5f})));
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

TEST_CASE("Keras: a frozen BatchNormalization uses its averages while training") {
  Weights weights = norm_weights;
  weights.emplace_back("mean", Tensor<float>({1}, {1}));
  weights.emplace_back("variance", Tensor<float>({1}, {4}));
  const KerasModel model =
      model_of("BatchNormalization", {{"trainable", false}, {"epsilon", 0}}, 1, weights);
  CHECK(distance(trained_output(model, column({1, 5})), column({0, 2})) < 1e-6);
  CHECK(named_buffers(model)[0].buffer->data()[0] == 1);
}

TEST_CASE("Keras: masked steps count in the batches of Keras 2 only") {
  Weights weights = norm_weights;
  weights.emplace_back("mean", Tensor<float>({1}));
  weights.emplace_back("variance", Tensor<float>({1}));
  for (const auto& [version, average] : {std::pair("2.11.0", 0.5), {"3.9.0", 1.0}}) {
    const TemporaryFolder folder;
    const KerasModel model = load_keras(
        write_model(folder / "m.h5",
                    sequential({series(1), layer("Masking", "masking", json::object()),
                                layer("BatchNormalization", "norm", {{"momentum", 0.5}})}),
                    {{"norm", weights}}, version));
    trained_output(model, column({0, 2}));
    CHECK(named_buffers(model)[0].buffer->data()[0] == Approx(average));
  }
}

TEST_CASE("Keras: options that change what a layer computes are refused") {
  const auto refused = [](const std::string& class_name, const json& options) {
    return message_of<FileError>([&] { model_of(class_name, options, 2); });
  };
  CHECK(contains(refused("BatchNormalization", {{"renorm", true}}), "renorm: expected false"));
  CHECK(contains(refused("Dropout", {{"rate", 0.5}, {"noise_shape", {1, 2}}}),
                 "noise_shape: expected null"));
  CHECK(contains(refused("TextVectorization", {{"output_mode", "multi_hot"}}),
                 "output_mode: expected \"int\", got 'multi_hot'"));
  CHECK(contains(refused("Flatten", {{"data_format", "channels_first"}}),
                 "data_format: expected \"channels_last\""));
  CHECK(contains(refused("InputLayer", {{"sparse", true}}), "sparse: expected false"));
  CHECK(contains(
      refused("MultiHeadAttention", {{"num_heads", 1}, {"key_dim", 1}, {"attention_axes", {2}}}),
      "attention_axes: expected [1]"));
  CHECK(contains(refused("UpSampling1D", {{"size", {2, 3}}}), "size: expected one integer"));
  CHECK(contains(refused("Dense", {{"units", std::int64_t{1} << 31}}),
                 "units: expected an integer between 1 and 2147483647, got 2147483648"));
}

TEST_CASE("Keras: layers with random noise are not trained") {
  for (const char* const name : {"GaussianNoise", "GaussianDropout", "AlphaDropout"}) {
    const KerasModel model = model_of(name, {{"rate", 0.5}}, 1);
    CHECK(same(output_of(model, column({1, 2})), column({1, 2})));
    CHECK(contains(message_of<ValueError>([&] {
                     trained_output(model, column({1, 2}));
                   }),
                   "expected a layer whose training weft supports, got random noise"));
  }
}

TEST_CASE("Keras: penalties of regularizers with one factor, and of outputs") {
  const auto penalty_of = [](const KerasModel<float>& model) {
    Tape<float> tape;
    return model.run({tape.constant(column({1, -2}))}).penalty->value().data()[0];
  };
  const json l1 = {{"class_name", "L1L2"}, {"config", {{"l1", 0.5}}}};
  CHECK(
      penalty_of(model_of("Dense", {{"units", 1}, {"use_bias", false}, {"kernel_regularizer", l1}},
                          1, {{"kernel", Tensor<float>({1, 1}, {-4})}})) == Approx(2));
  // 0.5 (1 + 2) + 2 (1 + 4), which Keras 2 divides by the size of the batch.
  const json both = {{"l1", 0.5}, {"l2", 2.0}};
  const TemporaryFolder folder;
  for (const auto& [version, penalty] : {std::pair("2.11.0", 5.75), {"3.9.0", 11.5}}) {
    const KerasModel model = load_keras(write_model(
        folder / "m.h5", sequential({series(1), layer("ActivityRegularization", "layer", both)}),
        {}, version));
    Tape<float> tape;
    const Var<float> x = tape.constant(Tensor<float>({2, 1, 1}, {1, -2}));
    CHECK(model.run({x}).penalty->value().data()[0] == Approx(penalty));
  }
}

TEST_CASE("Keras: Permute of three axes") {
  const KerasModel model = model_of("Permute", {{"dims", {2, 3, 1}}}, 4);
  Tensor<float> x({1, 2, 3, 4});
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  const Tensor<float> y = output_of(model, x);
  CHECK(y.shape() == Shape{1, 3, 4, 2});
  CHECK(y.data()[1] == 12);  // x(0, 1, 0, 0)
}

TEST_CASE("Keras: attention uses the mask of the values, and the keys if there are any") {
  const TemporaryFolder folder;
  const KerasModel model = load_keras(write_model(
      folder / "m.h5",
      functional({{series(1, "q"), {}},
                  {series(1, "v"), {}},
                  {series(1, "k"), {}},
                  {layer("Masking", "masking", json::object()), {"v"}},
                  {layer("Attention", "attention", json::object()), {"q", "masking", "k"}}},
                 "attention"),
      {}));
  Tape<float> tape = Tape<float>::inference();
  const auto y = [&](float query) {
    return model
        .run({tape.constant(column({query})), tape.constant(column({0, 4, 6})),
              tape.constant(column({9, 0, 100}))})
        .outputs[0]
        .value()
        .data()[0];
  };
  CHECK(y(0) == Approx(5));  // equal weights on the values that the mask does not hide
  CHECK(y(1) == Approx(6));  // the weight of key 100 only
}

// The output of a functional model for these inputs.
Tensor<float> output_of_graph(const json& config, const std::vector<Tensor<float>>& inputs,
                              const std::string& version = "2.11.0",
                              const std::vector<std::pair<std::string, Weights>>& weights = {}) {
  const TemporaryFolder folder;
  const KerasModel model = load_keras(write_model(folder / "m.h5", config, weights, version));
  Tape<float> tape = Tape<float>::inference();
  std::vector<Var<float>> x;
  for (const Tensor<float>& input : inputs) x.push_back(tape.constant(input));
  return model.run(x).outputs[0].value();
}

const json no_options = json::object();

// The mean over time of two sequences that are merged; the second one has a mask if `both`.
json mean_of_merged(const std::string& class_name, json options, bool both) {
  options["trainable"] = true;  // otherwise, Keras 3 reads an operation
  return functional({{series(1, "a"), {}},
                     {series(1, "b"), {}},
                     {layer("Masking", "mask_a", no_options), {"a"}},
                     {layer("Masking", "mask_b", no_options), {"b"}},
                     {layer(class_name, "merged", options), {"mask_a", both ? "mask_b" : "b"}},
                     {layer("GlobalAveragePooling1D", "mean", no_options), {"merged"}}},
                    "mean");
}

TEST_CASE("Keras: masks of merged inputs in each version") {
  const std::vector<Tensor<float>> x{column({0, 2}), column({0, 4})};
  for (const auto& [version, is_masked] :
       {std::pair("2.11.0", true), {"3.3.0", false}, {"3.4.0", true}, {"3.10.0", true}}) {
    CAPTURE(version);
    const float factor = is_masked ? 1.0f : 0.5f;
    CHECK(same(output_of_graph(mean_of_merged("Add", no_options, true), x, version),
               Tensor<float>({1, 1}, {6 * factor})));
    CHECK(same(output_of_graph(mean_of_merged("Concatenate", no_options, true), x, version),
               Tensor<float>({1, 2}, {2 * factor, 4 * factor})));
  }
  // A missing mask is true everywhere.
  CHECK(same(output_of_graph(mean_of_merged("Concatenate", no_options, false), x, "3.4.0"),
             Tensor<float>({1, 2}, {1, 2})));
  for (const char* const version : {"2.11.0", "3.4.0"})
    CHECK(same(output_of_graph(mean_of_merged("Concatenate", {{"axis", 1}}, false),
                               {column({0, 2}), column({1, 6})}, version),
               Tensor<float>({1, 1}, {3})));
}

TEST_CASE("Keras: padding does not change products since Keras 3.4") {
  const json config = functional({{series(1, "a"), {}},
                                  {series(1, "b"), {}},
                                  {layer("Masking", "masking", no_options), {"a"}},
                                  {layer("Multiply", "product", no_options), {"masking", "b"}}},
                                 "product");
  const std::vector<Tensor<float>> x{column({0, 2}), column({5, 7})};
  CHECK(same(output_of_graph(config, x, "3.3.0"), column({0, 14})));
  CHECK(same(output_of_graph(config, x, "3.4.0"), column({5, 14})));
}

TEST_CASE("Keras: a vector is added to each step of a sequence") {
  const json config = functional(
      {{series(2, "a"), {}}, {input("b", 2), {}}, {layer("Add", "sum", no_options), {"a", "b"}}},
      "sum");
  CHECK(same(output_of_graph(
                 config, {Tensor<float>({1, 2, 2}, {1, 2, 3, 4}), Tensor<float>({1, 2}, {10, 20})}),
             Tensor<float>({1, 2, 2}, {11, 22, 13, 24})));
}

TEST_CASE("Keras: attention with concatenated scores and a scale, and without an option") {
  const auto attention = [](const std::string& class_name, const json& options,
                            const Weights& weights) {
    return output_of_graph(functional({{series(1, "q"), {}},
                                       {series(1, "v"), {}},
                                       {layer(class_name, "attention", options), {"q", "v"}}},
                                      "attention"),
                           {column({0}), column({1, 3})}, "2.11.0",
                           {{"attention", weights}})(0, 0, 0);
  };
  const auto scalar = [](float value) { return Tensor<float>::full({}, value); };
  // The scores 100 tanh(v / 2) leave a weight of the second key only.
  CHECK(attention("Attention", {{"score_mode", "concat"}, {"use_scale", true}},
                  {{"scale", scalar(0.5f)}, {"weight", scalar(100)}}) == Approx(3));
  CHECK(attention("AdditiveAttention", no_options, {{"scale", Tensor<float>({1})}}) == Approx(2));
}

TEST_CASE("Keras: MultiHeadAttention with a mask of the keys") {
  const Tensor<float> one({1, 1, 1}, {1});
  const json config = functional({{series(1, "q"), {}},
                                  {series(1, "v"), {}},
                                  {series(1, "k"), {}},
                                  {layer("Masking", "masking", no_options), {"k"}},
                                  {layer("MultiHeadAttention", "attention",
                                         {{"num_heads", 1}, {"key_dim", 1}, {"use_bias", false}}),
                                   {"q", "v", "masking"}}},
                                 "attention");
  const Weights weights{{"query", one}, {"key", one}, {"value", one}, {"output", one}};
  // Equal weights on the keys that the mask does not hide.
  CHECK(output_of_graph(config, {column({0}), column({2, 4, 6}), column({0, 1, 2})}, "2.11.0",
                        {{"attention", weights}})(0, 0, 0) == Approx(5));
}

TEST_CASE("Keras: names of attention weights in files before Keras 3.3") {
  const Tensor<float> one({1, 1, 1}, {1});
  const TemporaryFolder folder;
  for (const auto& [version, name] :
       {std::pair("3.2.0", "_query_dense"), {"3.3.0", "query_dense"}}) {
    const KerasModel model = load_keras(write_model(
        folder / "m.h5",
        sequential({series(1), layer("MultiHeadAttention", "layer",
                                     {{"num_heads", 1}, {"key_dim", 1}, {"use_bias", false}})}),
        {{"layer", {{"query", one}, {"key", one}, {"value", one}, {"output", one}}}}, version));
    save_keras(folder / "m.weights.h5", model);
    CHECK(Hdf5File(folder / "m.weights.h5")
              .has_group(str_cat("/layers/multi_head_attention/", name)));
  }
}

TEST_CASE("Keras: Softmax along an axis, and with a mask") {
  CHECK(distance(output_of(model_of("Softmax", {{"axis", 1}}, 1), column({0, 0})),
                 column({0.5f, 0.5f})) < 1e-6);
  json config = functional({{input("x", 2), {}},
                            {input("mask", 2), {}},
                            {layer("Softmax", "softmax", no_options), {"x"}}},
                           "softmax");
  config["config"]["layers"][2]["inbound_nodes"][0][0][3] = {{"mask", {"mask", 0, 0}}};
  const Tensor<float> x({2, 2}, {1, 2, 1, 2}), mask({2, 2}, {1, 0, 0, 0});
  // In Keras 2, the elements of a row are equal if all are masked.
  CHECK(distance(output_of_graph(config, {x, mask}), Tensor<float>({2, 2}, {1, 0, 0.5f, 0.5f})) <
        1e-6);
  CHECK(distance(output_of_graph(config, {x, mask}, "3.9.0"), Tensor<float>({2, 2}, {1, 0, 0, 0})) <
        1e-6);
}

TEST_CASE("Keras: a mask in a call replaces the mask of the input") {
  json config = functional({{series(1, "x"), {}},
                            {input("mask", 3), {}},
                            {layer("GlobalAveragePooling1D", "mean", no_options), {"x"}}},
                           "mean");
  config["config"]["layers"][2]["inbound_nodes"][0][0][3] = {{"mask", {"mask", 0, 0}}};
  CHECK(same(output_of_graph(config, {column({2, 4, 6}), Tensor<float>({1, 3}, {0, 1, 1})}),
             Tensor<float>({1, 1}, {5})));
}

TEST_CASE("Keras: Any keeps its axis if it should") {
  for (const bool keepdims : {true, false})
    CHECK(output_of_graph(
              functional({{input("x", 3), {}},
                          {layer("Any", "any", {{"axis", {1}}, {"keepdims", keepdims}}), {"x"}}},
                         "any"),
              {Tensor<float>({2, 3})}, "3.9.0")
              .shape() == (keepdims ? Shape{2, 1} : Shape{2}));
}

TEST_CASE("Keras: windows of padding `same`") {
  CHECK(same(output_of(model_of("MaxPooling1D",
                                {{"pool_size", 1}, {"strides", 4}, {"padding", "same"}}, 1),
                       column({1, 2, 3, 4, 5, 6, 7, 8})),
             column({1, 5})));
  CHECK(same(output_of(model_of("MaxPooling1D",
                                {{"pool_size", 3},
                                 {"strides", 2},
                                 {"padding", "same"},
                                 {"data_format", "channels_first"}},
                                4),
                       Tensor<float>({1, 1, 4}, {1, 2, 5, 0})),
             Tensor<float>({1, 1, 2}, {5, 5})));
}

}  // namespace
}  // namespace weft
