// Weight files of other programs, by the scripts write_keras_weights.py,
// keras_models/write_recurrent_weights.py and write_transformer_weights.py: a model that loads one
// has the outputs of the model that wrote it. The scripts say which files their program did not
// write itself. Prints a table of the differences.
#include <iomanip>
#include <iostream>

#include <weft/layers/batch_norm.hpp>
#include <weft/layers/conv1d.hpp>
#include <weft/layers/models/bert.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/layers/multi_head_attention.hpp>
#include <weft/layers/recurrent.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;

std::string data(const std::string& name) { return WEFT_TEST_DATA "/" + name; }

// Checks the outputs of a model, and prints a row of the table.
void check_outputs(const std::string& file, const LoadWeightsReport& report,
                   const Tensor<float>& outputs, const Tensor<float>& expected) {
  static const bool header = [] {
    std::cout << "difference  layout               prefix                               file\n";
    return true;
  }();
  (void)header;
  const double difference = distance(outputs, expected, 1.0);
  std::cout << std::setw(10) << std::setprecision(2) << difference << "  " << std::left
            << std::setw(19) << report.layout << "  " << std::setw(35) << report.prefix << "  "
            << file << std::right << '\n';
  CHECK(difference < 1e-5);
}

Gpt<float> gpt(Activation activation) {
  Random random(1);
  return Gpt<float>({.vocabulary_size = 29,
                     .max_len = 16,
                     .num_hiddens = 12,
                     .num_heads = 3,
                     .num_blocks = 2,
                     .activation = activation},
                    random);
}

// The model of write_keras_weights.py.
struct KerasForm : Module<float> {
  explicit KerasForm(Random& random)
      : embedding({.num_embeddings = 13, .embedding_dim = 8}, random),
        attention({.query_size = 8,
                   .key_size = 8,
                   .value_size = 8,
                   .num_hiddens = 8,
                   .num_heads = 2,
                   .bias = true},
                  random),
        norm({.num_hiddens = 8}),
        dense1({8, 16}, random),
        dense2({16, 5}, random) {}

  Var<float> operator()(Tape<float>& tape, const Tokens& tokens) const {
    const Var x = embedding(tape, tokens);
    return dense2(dense1(norm(x + attention(x, x, x)), Activation::relu));
  }

  void members(Members<float>& members) const override {
    members.type("KerasForm");
    members("embedding", embedding);
    members("multi_head_attention", attention);
    members("layer_normalization", norm);
    members("dense", dense1);
    members("dense_1", dense2);
  }

  Embedding<float> embedding;
  MultiHeadAttention<float> attention;
  LayerNorm<float> norm;
  Linear<float> dense1, dense2;
};

// A recurrent layer and a dense one.
template <class Recurrent>
struct RecurrentForm : Module<float> {
  RecurrentForm(std::string type, Random& random)
      : layer({.input_size = 3, .num_hiddens = 4}, random),
        dense({4, 2}, random),
        name(std::move(type)) {}

  void members(Members<float>& members) const override {
    members.type("RecurrentForm");
    members(name, layer);
    members("dense", dense);
  }

  Recurrent layer;
  Linear<float> dense;
  std::string name;
};

template <class Recurrent>
void check_recurrent(const std::string& type, const std::string& member) {
  Random random(1);
  RecurrentForm<Recurrent> network(member, random);
  const std::string file = "keras_" + type + ".weights.h5";
  const LoadWeightsReport report = load_weights(data(file), network);
  CHECK(report.loaded.size() == 6);
  const Hdf5File values(data("keras_values.h5"));
  Tape<float> tape = Tape<float>::inference();
  const Var x = tape.constant(values.tensor<float>(type + "/x"));
  check_outputs(file, report, network.dense(network.layer(x).states).value(),
                values.tensor<float>(type + "/y"));
}

}  // namespace

TEST_CASE("weights of other programs: recurrent layers of Keras", "[weights]") {
  check_recurrent<GRU<float>>("gru", "gru");
  check_recurrent<LSTM<float>>("lstm", "lstm");
  check_recurrent<RNN<float>>("rnn", "simple_rnn");
}

TEST_CASE("weights of other programs: renamed layers of Keras keep the order of their gates",
          "[weights]") {
  struct Network : Module<float> {
    explicit Network(Random& random)
        : gru({.input_size = 3, .num_hiddens = 4, .bidirectional = true}, random),
          lstm({.input_size = 8, .num_hiddens = 4, .bidirectional = true}, random),
          dense({8, 2}, random) {}
    void members(Members<float>& members) const override {
      members.type("Network");
      members("gru", gru);
      members("lstm", lstm);
      members("dense", dense);
    }
    GRU<float> gru;
    LSTM<float> lstm;
    Linear<float> dense;
  };
  Random random(1);
  Network network(random);
  const std::string file = "keras_bidirectional.weights.h5";
  const LoadWeightsReport report =
      load_weights(data(file), network,
                   {.rename = {{"^bidirectional\\.", "gru."}, {"^bidirectional_1\\.", "lstm."}}});
  CHECK(report.loaded.size() == 18);
  const Hdf5File values(data("keras_values.h5"));
  Tape<float> tape = Tape<float>::inference();
  const Var x = tape.constant(values.tensor<float>("bidirectional/x"));
  check_outputs(file, report, network.dense(network.lstm(network.gru(x).states).states).value(),
                values.tensor<float>("bidirectional/y"));
}

TEST_CASE("weights of other programs: recurrent layers of Keras 2, by name and in order",
          "[weights]") {
  // The model of keras_models/write_recurrent_weights.py.
  struct Network : Module<float> {
    Network(Names layer_names, Random& random)
        : names(std::move(layer_names)),
          embedding({.num_embeddings = 13, .embedding_dim = 8}, random),
          conv({.in_channels = 8, .out_channels = 8, .kernel_size = 3, .padding = Padding::causal},
               random),
          lstm({.input_size = 8, .num_hiddens = 4, .bidirectional = true}, random),
          norm({.num_features = 8, .eps = 1e-3}),
          gru({.input_size = 8, .num_hiddens = 5}, random),
          rnn({.input_size = 5, .num_hiddens = 3}, random),
          dense({3, 2}, random) {}
    Var<float> operator()(Tape<float>& tape, const Tokens& tokens) const {
      const Var x = norm(lstm(conv(embedding(tape, tokens))).states);
      return dense(rnn(gru(x).states).states);
    }
    void members(Members<float>& members) const override {
      members.type("Network");
      members(names[0], embedding);
      members(names[1], conv);
      members(names[2], lstm);
      members(names[3], norm);
      members(names[4], gru);
      members(names[5], rnn);
      members(names[6], dense);
    }
    Names names;
    Embedding<float> embedding;
    Conv1d<float> conv;
    LSTM<float> lstm;
    BatchNorm<float> norm;
    GRU<float> gru;
    RNN<float> rnn;
    Linear<float> dense;
  };
  const Names in_keras{"embedding", "conv1d",     "bidirectional", "batch_normalization",
                       "gru",       "simple_rnn", "dense"};
  const auto [file, in_order] =
      GENERATE(table<std::string, bool>({{"keras_2_recurrent.h5", false},
                                         {"keras_2_recurrent.h5", true},
                                         {"keras_2_recurrent_old.h5", true}}));
  INFO(file);
  Random random(1);
  Network network(
      in_order ? Names{"tokens", "window", "both", "norm", "third", "fourth", "head"} : in_keras,
      random);
  const LoadWeightsReport report = load_weights(data(file), network, {.in_order = in_order});
  CHECK(report.layout == "Keras 2");
  CHECK(report.loaded.size() == 25);
  CHECK(report.unused.empty());
  const Hdf5File values(data("keras_2_values.h5"));
  Tape<float> tape = Tape<float>::inference();
  check_outputs(file, report, network(tape, values.tensor<TokenId>("x")).value(),
                values.tensor<float>("y"));
}

TEST_CASE("weights of other programs: GPTs", "[weights]") {
  const auto [file, layout, prefix, model] =
      GENERATE(table<std::string, std::string, std::string, std::string>({
          {"gpt_nano.h5", "nanoGPT", "", "gpt_nano"},
          {"gpt_nano_compiled.h5", "nanoGPT", "_orig_mod.", "gpt_nano"},
          {"gpt_huggingface.h5", "GPT-2", "", "gpt_huggingface"},
          {"gpt_huggingface_old.h5", "GPT-2", "", "gpt_huggingface"},
          {"gpt_tensorflow.h5", "GPT-2 of TensorFlow", "transformer.tfgpt2lm_head_model.",
           "gpt_huggingface"},
      }));
  INFO(file);
  Gpt<float> network = gpt(model == "gpt_nano" ? Activation::gelu : Activation::gelu_tanh);
  const LoadWeightsReport report = load_weights(data(file), network);
  CHECK(report.layout == layout);
  CHECK(report.prefix == prefix);
  CHECK(report.loaded.size() == named_parameters(network).size());
  CHECK(report.unexpected.empty());
  CHECK(report.unused.size() == (file == "gpt_huggingface_old.h5" ? 4 : 0));
  const bool has_head = file.starts_with("gpt_nano") || file == "gpt_huggingface.h5";
  CHECK(report.tied.size() == (has_head ? 1 : 0));
  const Hdf5File values(data("transformer_values.h5"));
  Tape<float> tape = Tape<float>::inference();
  check_outputs(file, report, network(tape, values.tensor<TokenId>("tokens")).value(),
                values.tensor<float>(model));
}

TEST_CASE("weights of other programs: BERTs", "[weights]") {
  const auto [file, layout, prefix, has_pooler, left] =
      GENERATE(table<std::string, std::string, std::string, bool, Names>({
          {"bert_huggingface.h5", "BERT", "", true, {}},
          {"bert_huggingface.h5", "BERT", "", false, {"pooler.dense.bias", "pooler.dense.weight"}},
          {"bert_sentence_transformers.h5",
           "BERT",
           "0.auto_model.",
           true,
           {"0.auto_model.embeddings.position_ids"}},
          {"bert_masked.h5", "BERT", "bert.", true, {"cls.predictions.bias"}},
          {"bert_tensorflow.h5",
           "BERT of TensorFlow",
           "bert.tf_bert_for_pre_training.bert.",
           true,
           {"mlm___cls.tf_bert_for_pre_training.cls.predictions.bias:0"}},
      }));
  INFO(file);
  Random random(1);
  Bert<float> network({.vocabulary_size = 29,
                       .max_len = 16,
                       .num_hiddens = 12,
                       .num_heads = 3,
                       .num_blocks = 2,
                       .ffn_num_hiddens = 20,
                       .pooler = has_pooler},
                      random);
  const LoadWeightsReport report = load_weights(data(file), network);
  CHECK(report.layout == layout);
  CHECK(report.prefix == prefix);
  CHECK(report.unused == left);
  const Hdf5File values(data("transformer_values.h5"));
  Tape<float> tape = Tape<float>::inference();
  const Var states =
      network(tape, values.tensor<TokenId>("tokens"), values.tensor<TokenId>("segments"));
  check_outputs(file, report, states.value(), values.tensor<float>("bert"));
  if (has_pooler)
    CHECK(distance(network.pooled(states).value(), values.tensor<float>("bert_pooled"), 1.0) <
          1e-5);
}

TEST_CASE("weights of other programs: models of Keras", "[weights]") {
  const std::string file =
      GENERATE("keras_functional.weights.h5", "keras_30.weights.h5", "keras_legacy_model.h5",
               "keras_legacy_weights.h5", "keras_2_weights.h5", "keras_subclassed.weights.h5");
  INFO(file);
  const std::string model = file == "keras_subclassed.weights.h5" ? "subclassed" : "functional";
  LoadWeightsOptions options;
  if (model == "subclassed")
    options.rename = {{"^a_embedding", "embedding"},
                      {"^attention", "multi_head_attention"},
                      {"^dense2", "dense_1"},
                      {"^dense1", "dense"}};
  Random random(1);
  KerasForm network(random);
  const LoadWeightsReport report = load_weights(data(file), network, options);
  CHECK(report.layout == (file.find(".weights.h5") != std::string::npos ? "Keras 3" : "Keras 2"));
  CHECK(report.loaded.size() == 15);
  CHECK(report.unexpected.empty());
  const Hdf5File values(data("keras_values.h5"));
  Tape<float> tape = Tape<float>::inference();
  check_outputs(file, report, network(tape, values.tensor<TokenId>(model + "/x")).value(),
                values.tensor<float>(model + "/y"));
}

TEST_CASE("weights of other programs: a Sequential of Keras", "[weights]") {
  struct Network : Module<float> {
    explicit Network(Random& random)
        : dense1({4, 6}, random), norm({.num_hiddens = 6}), dense2({6, 2}, random) {}
    void members(Members<float>& members) const override {
      members.type("Network");
      members("dense", dense1);
      members("layer_normalization", norm);
      members("dense_1", dense2);
    }
    Linear<float> dense1;
    LayerNorm<float> norm;
    Linear<float> dense2;
  };
  Random random(1);
  Network network(random);
  const std::string file = "keras_sequential.weights.h5";
  const LoadWeightsReport report = load_weights(data(file), network);
  CHECK(report.reshaped == Names{"dense.weight from [4, 6]", "dense_1.weight from [6, 2]"});
  CHECK(
      str_cat(report).starts_with("loaded 6 parameters, layout Keras 3\n"
                                  "6 renamed: dense.weight from layers.dense.vars.0, "));
  const Hdf5File values(data("keras_values.h5"));
  Tape<float> tape = Tape<float>::inference();
  const Var x = tape.constant(values.tensor<float>("sequential/x"));
  check_outputs(file, report,
                network.dense2(network.norm(network.dense1(x, Activation::relu))).value(),
                values.tensor<float>("sequential/y"));
}

}  // namespace weft
