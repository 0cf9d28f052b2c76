// Files of other programs that do not fit the model. The files are
// those of tests/golden/other_programs_test.cpp, or have their names.
#include <limits>
#include <map>

#include <weft/layers/conv1d.hpp>
#include <weft/layers/models/bert.hpp>
#include <weft/layers/models/encoder_decoder.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/layers/recurrent.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/weights/loading_error.hpp"
#include "tests/train/weights/weight_file.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;

std::string data(const std::string& name) { return WEFT_TEST_DATA "/" + name; }

GptOptions gpt_options() {
  return {.vocabulary_size = 29, .max_len = 16, .num_hiddens = 12, .num_heads = 3, .num_blocks = 2};
}

Gpt<float> gpt(const GptOptions& options = gpt_options()) {
  Random random(1);
  return Gpt<float>(options, random);
}

Bert<float> bert(Index num_blocks = 2, Index num_hiddens = 12) {
  Random random(1);
  return Bert<float>({.vocabulary_size = 29,
                      .max_len = 16,
                      .num_hiddens = num_hiddens,
                      .num_heads = 3,
                      .num_blocks = num_blocks,
                      .ffn_num_hiddens = 20},
                     random);
}

// A GPT of one block, [width, 3 · width] where `is_wide`; `edit` receives all datasets by name.
template <class Edit>
void write_gpt(const std::filesystem::path& path, Index width, bool is_wide, const Edit& edit) {
  std::map<std::string, Tensor<float>> datasets;
  const auto linear = [&](const std::string& name, Index rows, Index columns) {
    datasets["transformer.h.0." + name + ".weight"] =
        Tensor<float>(is_wide ? Shape{columns, rows} : Shape{rows, columns});
    datasets["transformer.h.0." + name + ".bias"] = Tensor<float>({rows});
  };
  linear("attn.c_attn", 3 * width, width);
  linear("attn.c_proj", width, width);
  linear("mlp.c_fc", 4 * width, width);
  linear("mlp.c_proj", width, 4 * width);
  for (const std::string norm : {"h.0.ln_1", "h.0.ln_2", "ln_f"})
    for (const std::string kind : {".weight", ".bias"})
      datasets["transformer." + norm + kind] = Tensor<float>({width});
  datasets["transformer.wte.weight"] = Tensor<float>({3, width});
  datasets["transformer.wpe.weight"] = Tensor<float>({2, width});
  edit(datasets);
  Hdf5Writer writer(path);
  for (const auto& [name, tensor] : datasets) writer.tensor('/' + name, tensor);
  writer.save();
}

Gpt<float> gpt_of_one_block(Index width) {
  return gpt(
      {.vocabulary_size = 3, .max_len = 2, .num_hiddens = width, .num_heads = 2, .num_blocks = 1});
}

}  // namespace

TEST_CASE("layouts: missing and unexpected parameters are listed by their names in the model",
          "[train]") {
  const auto [file, layout, dataset] = GENERATE(table<std::string, std::string, std::string>({
      {"gpt_nano.h5", "nanoGPT", "transformer.h.1.ln_1.weight"},
      {"gpt_huggingface.h5", "GPT-2", "transformer.h.1.ln_1.weight"},
      {"gpt_tensorflow.h5", "GPT-2 of TensorFlow",
       "transformer.tfgpt2lm_head_model.transformer.h_._1.ln_1.gamma:0"},
      {"bert_huggingface.h5", "BERT", "encoder.layer.1.attention.output.LayerNorm.weight"},
      {"bert_tensorflow.h5", "BERT of TensorFlow",
       "bert.tf_bert_for_pre_training.bert.encoder.layer_._1.attention.output.LayerNorm.gamma:0"},
  }));
  INFO(file);
  const bool is_bert = layout.starts_with("BERT");
  const auto message_with = [is_bert, path = data(file)](Index num_blocks,
                                                         const LoadWeightsOptions& options = {}) {
    if (is_bert) {
      Bert<float> model = bert(num_blocks);
      return error_of(path, model, options);
    }
    GptOptions sizes = gpt_options();
    sizes.num_blocks = num_blocks;
    Gpt<float> model = gpt(sizes);
    return error_of(path, model, options);
  };
  const std::string more = message_with(3);
  CHECK_THAT(more, Catch::Contains("different contents, layout " + layout +
                                   "; missing (16): "
                                   "blocks.2.attention.W_q.weight [12, 12], "));
  CHECK_THAT(more, Catch::EndsWith(", and 13 more"));
  const std::string fewer = message_with(1);
  CHECK_THAT(fewer, Catch::Contains(is_bert ? "unexpected (16)" : "unexpected (12)"));
  CHECK_THAT(message_with(1, {.ignore_unexpected = {".*\\.attention\\.W_.*", ".*\\.ffn\\..*"}}),
             Catch::Contains("blocks.1.norm1.weight (" + dataset + ")"));
}

TEST_CASE("layouts: other shapes are listed as they are in the file", "[train]") {
  GptOptions options = gpt_options();
  options.num_hiddens = 6;
  Gpt<float> model = gpt(options);
  const auto error_of_weight = [&](const char* file, auto& into, const char* name) {
    return error_of(data(file), into, {.only = {name}});
  };
  const char* const key = "blocks.0.attention.W_k.weight";
  CHECK_THAT(error_of(data("gpt_nano.h5"), model), Catch::Contains("different shape (37)"));
  CHECK_THAT(error_of_weight("gpt_nano.h5", model, key),
             Catch::Contains("blocks.0.attention.W_k.weight (transformer.h.0.attn.c_attn."
                             "weight, part 2 of 3): expected [18, 6], got [36, 12]"));
  CHECK_THAT(error_of_weight("gpt_huggingface.h5", model, key),
             Catch::Contains("part 2 of 3): expected [6, 18], got [12, 36]"));
  CHECK_THAT(error_of_weight("gpt_huggingface.h5", model, "tokens.weight"),
             Catch::Contains("tokens.weight (lm_head.weight): expected [29, 6], got [29, 12]"));
  Bert<float> other = bert(2, 6);
  CHECK_THAT(error_of_weight("bert_tensorflow.h5", other, "blocks.0.ffn.dense1.weight"),
             Catch::Contains("intermediate.dense.kernel:0): expected [6, 20], got [12, 20]"));
}

TEST_CASE("layouts: a layout of which nothing is in the model", "[train]") {
  Gpt<float> model = gpt();
  const std::string message = error_of(data("keras_functional.weights.h5"), model);
  CHECK_THAT(message,
             Catch::Contains("expected the parameters of the model, got no matching datasets, "
                             "layout Keras 3; missing (36): tokens.weight [29, 12]"));
  CHECK_THAT(message, Catch::Contains("unexpected (15): ") &&
                          Catch::Contains("dense.weight (layers.dense.vars.0)"));
}

TEST_CASE("layouts: of two models in a file, a prefix says which is loaded", "[train]") {
  const TemporaryFolder folder;
  const Hdf5File original(data("bert_huggingface.h5"));
  Hdf5Writer writer(folder / "both.h5");
  for (const std::string& path : original.datasets())
    for (const std::string model : {"/student.", "/teacher."})
      writer.tensor(model + path.substr(1), original.tensor<float>(path));
  writer.save();
  Bert<float> model = bert();
  CHECK_THAT(error_of(folder / "both.h5", model),
             Catch::Contains("no matching datasets, layout BERT"));
  const LoadWeightsReport report = load_weights(folder / "both.h5", model, {.prefix = "teacher."});
  CHECK(report.loaded.size() == 37);
  CHECK(report.unused.size() == 41);
}

TEST_CASE("layouts: a NaN beyond the first block of rows is named with its place", "[train]") {
  const bool is_wide = GENERATE(true, false);
  const TemporaryFolder folder;
  write_gpt(folder / "gpt.h5", 700, is_wide, [&](auto& datasets) {
    Tensor<float>& weight = datasets.at("transformer.h.0.attn.c_attn.weight");
    (is_wide ? weight(690, 1000) : weight(2000, 300)) = std::numeric_limits<float>::quiet_NaN();
  });
  Gpt<float> model = gpt_of_one_block(700);
  CHECK_THAT(
      error_of<NonFiniteError>(folder / "gpt.h5", model),
      Catch::EndsWith(std::string("/transformer.h.0.attn.c_attn.weight: expected finite "
                                  "numbers, got nan at ") +
                      (is_wide ? "[690, 1000] of [700, 2100]" : "[2000, 300] of [2100, 700]")));
}

TEST_CASE("layouts: two datasets for one parameter are an error, whatever is ignored", "[train]") {
  const TemporaryFolder folder;
  write_gpt(folder / "gpt.h5", 4, false,
            [](auto& datasets) { datasets["wte.weight"] = datasets["transformer.wte.weight"]; });
  Gpt<float> model = gpt_of_one_block(4);
  CHECK_THAT(error_of(folder / "gpt.h5", model, {.ignore_unexpected = {".*"}}),
             Catch::EndsWith("in several datasets (1): tokens.weight: transformer.wte.weight "
                             "and wte.weight"));
}

TEST_CASE("layouts: tied weights with other values", "[train]") {
  const TemporaryFolder folder;
  for (const bool is_wide : {true, false}) {
    write_gpt(folder / "gpt.h5", 4, is_wide, [](auto& datasets) {
      Tensor<float> head = datasets["transformer.wte.weight"];
      head(2, 3) = 1.0f;
      datasets["lm_head.weight"] = head;
    });
    Gpt<float> model = gpt_of_one_block(4);
    CHECK_THAT(error_of(folder / "gpt.h5", model),
               Catch::EndsWith("expected equal values of the tied weights tokens.weight and "
                               "lm_head.weight, got different values"));
  }
}

TEST_CASE("layouts: T5 has its embedding under three names, with the same values", "[train]") {
  const TemporaryFolder folder;
  Random random(1);
  EncoderDecoder<float> model({.source_vocabulary_size = 5,
                               .target_vocabulary_size = 5,
                               .transformer = {.num_blocks = 1,
                                               .num_hiddens = 4,
                                               .ffn_num_hiddens = 6,
                                               .num_heads = 2,
                                               .norm_first = true,
                                               .scoring = Scoring::dot_product,
                                               .ffn_bias = false,
                                               .norm = Norm::rms_norm,
                                               .position_bias = RelativePositionBiasOptions{}},
                               .shared_embedding = true,
                               .tied = true,
                               .scales_output = true},
                              random);
  save_weights(folder / "t5.h5", model, {.layout = Layout::t5});
  CHECK(load_weights(folder / "t5.h5", model).tied.size() == 3);
  const Hdf5File file(folder / "t5.h5");
  for (const std::string other : {"encoder", "decoder"}) {
    Hdf5Writer writer(folder / "other.h5");
    for (const std::string& path : file.datasets()) {
      Tensor<float> value = file.tensor<float>(path);
      if (path.find(other + ".embed_tokens") != path.npos) *value.begin() += 1.0f;
      writer.tensor(path, value);
    }
    writer.save();
    CHECK(contains(message_of<FileError>([&] { (void)load_weights(folder / "other.h5", model); }),
                   "expected equal values of the tied weights source_embedding.weight and " +
                       other + ".embed_tokens.weight, got different values"));
  }
}

TEST_CASE("layouts: the form of linear layers is told by packed projections, which are not square",
          "[train]") {
  const TemporaryFolder folder;
  write_gpt(folder / "gpt.h5", 4, true,
            [](auto& datasets) { datasets["transformer.h.0.attn.c_proj.weight"](0, 3) = 7.0f; });
  Gpt<float> model = gpt_of_one_block(4);
  CHECK(load_weights(folder / "gpt.h5", model).layout == "GPT-2");
  CHECK(model.blocks.blocks[0].attention.W_o.weight.value()(3, 0) == 7.0f);
  // Neither form.
  write_gpt(folder / "gpt.h5", 4, true, [](auto& datasets) {
    datasets["transformer.h.0.attn.c_attn.weight"] = Tensor<float>({4, 4});
  });
  CHECK_THAT(error_of(folder / "gpt.h5", model), Catch::Contains("got no matching datasets"));
}

TEST_CASE("layouts: truncated files", "[train]") {
  const std::string file =
      GENERATE("gpt_huggingface.h5", "gpt_tensorflow.h5", "bert_huggingface.h5",
               "keras_functional.weights.h5", "keras_legacy_model.h5");
  INFO(file);
  const TemporaryFolder folder;
  const std::string bytes = bytes_of(data(file));
  Gpt<float> gpt_model = gpt();
  Bert<float> bert_model = bert();
  for (std::size_t size = 0; size < bytes.size(); size += bytes.size() / 23) {
    write_bytes(folder / "weights.h5", bytes.substr(0, size));
    if (file.starts_with("bert"))
      error_of(folder / "weights.h5", bert_model);
    else
      error_of(folder / "weights.h5", gpt_model);
  }
}

TEST_CASE("layouts: axes of attention heads are merged, others not", "[train]") {
  Random random(1);
  const auto error_of_shape = [&](const Shape& shape) {
    WeightFile file(Linear<float>({8, 6, false}, random), [&](Hdf5Writer& writer) {
      writer.tensor("/layers/dense/vars/0", Tensor<float>(shape));
    });
    return file.error();
  };
  for (const Shape& shape : {Shape{8, 2, 4}, Shape{6, 8}, Shape{48}, Shape{3, 16}, Shape{8, 3}})
    CHECK_THAT(error_of_shape(shape),
               Catch::Contains(str_cat("weight (layers.dense.vars.0): expected [8, 6], "
                                       "got ",
                                       shape)));
  for (const Shape& shape : {Shape{8, 2, 3}, Shape{2, 4, 6}, Shape{8, 6}}) {
    WeightFile file(Linear<float>({8, 6, false}, random), [&](Hdf5Writer& writer) {
      Tensor<float> kernel({8, 6});
      kernel(5, 4) = 3.0f;
      writer.tensor("/layers/dense/vars/0", kernel.reshaped(shape));
    });
    const LoadWeightsReport report = load_weights(file.path, file.model);
    CHECK(report.reshaped == Names{str_cat("weight from ", shape)});
    CHECK(file.model.weight.value()(4, 5) == 3.0f);
  }
}

TEST_CASE("layouts: a GRU with another formula has another bias", "[train]") {
  Random random(1);
  const auto file_with = [&](auto layer, const Shape& bias) {
    const Index gates = layer.layers[0].weight_ih.shape()[0];
    return WeightFile(std::move(layer), [&](Hdf5Writer& writer) {
      writer.tensor("/layers/cell_layer/cell/vars/0", Tensor<float>({3, gates}));
      writer.tensor("/layers/cell_layer/cell/vars/1", Tensor<float>({4, gates}));
      writer.tensor("/layers/cell_layer/cell/vars/2", Tensor<float>::full(bias, 2.0f));
    });
  };
  const RecurrentOptions options{.input_size = 3, .num_hiddens = 4};
  // With reset_after=False.
  CHECK_THAT(file_with(GRU<float>(options, random), {12}).error(),
             Catch::EndsWith("different shape (2): "
                             "bias_ih_l0 (layers.cell_layer.cell.vars.2, part 1 of 2): "
                             "expected [24], got [12], "
                             "bias_hh_l0 (layers.cell_layer.cell.vars.2, part 2 of 2): "
                             "expected [24], got [12]"));
  CHECK_THAT(file_with(LSTM<float>(options, random), {12}).error(),
             Catch::Contains("expected [32], got [12]"));
  auto file = file_with(LSTM<float>(options, random), {16});
  CHECK(load_weights(file.path, file.model).loaded.size() == 4);
  CHECK(file.model.layers[0].bias_ih.value()(15) == 2.0f);
  for (const float value : file.model.layers[0].bias_hh.value()) CHECK(value == 0.0f);
}

TEST_CASE("layouts: CuDNN layers of Keras 2 are refused, also when renamed", "[train]") {
  Random random(1);
  const std::string end = GENERATE("", ":0");
  const RecurrentOptions options{.input_size = 3, .num_hiddens = 4};
  const auto check = [&](auto layer) {
    const Index gates = layer.layers[0].weight_ih.shape()[0];
    WeightFile file(std::move(layer), [&](Hdf5Writer& writer) {
      const std::string name = "/model_weights/cu_dnn/cu_dnn_1/";
      writer.tensor(name + "kernel" + end, Tensor<float>({3, gates}));
      writer.tensor(name + "recurrent_kernel" + end, Tensor<float>({4, gates}));
      writer.tensor(name + "bias" + end, Tensor<float>({2 * gates}));
    });
    CHECK_THAT(file.error({.rename = {{".*\\.", ""}}}),
               Catch::Contains("layout Keras 2") &&
                   Catch::Contains("not readable from this layout (2): bias_ih_l0 (") &&
                   Catch::Contains("part 1 of 2): weights of a CuDNN layer"));
  };
  check(GRU<float>(options, random));
  check(LSTM<float>(options, random));
}

TEST_CASE("layouts: a GRU of Keras 2 without reset_after is refused", "[train]") {
  Random random(1);
  WeightFile file(GRU<float>({.input_size = 3, .num_hiddens = 4}, random), [&](Hdf5Writer& writer) {
    writer.tensor("/gru/gru/gru_cell/kernel:0", Tensor<float>({3, 12}));
    writer.tensor("/gru/gru/gru_cell/recurrent_kernel:0", Tensor<float>({4, 12}));
    writer.tensor("/gru/gru/gru_cell/bias:0", Tensor<float>({12}));
  });
  CHECK_THAT(file.error(),
             Catch::Contains("different shape (2): bias_ih_l0 (gru.gru.gru_cell.bias:0, "
                             "part 1 of 2): expected [24], got [12]"));
}

TEST_CASE("layouts: layers in order are compared by their number, names and shapes", "[train]") {
  struct Two : Module<float> {
    explicit Two(Random& random) : first({3, 4}, random), second({4, 2}, random) {}
    void members(Members<float>& members) const override {
      members.type("Two");
      members("first", first);
      members("second", second);
    }
    Linear<float> first, second;
  };
  Random random(1);
  using Lists = std::vector<std::pair<std::string, Shape>>;
  const auto file_of = [&](const Lists& layers) {
    return WeightFile(Two(random), [&](Hdf5Writer& writer) {
      Names names;
      for (const auto& [layer, kernel] : layers) {
        const std::string group = "/model_weights/" + layer;
        writer.tensor(group + "/kernel:0", Tensor<float>::full(kernel, 2.0f));
        writer.tensor(group + "/bias:0", Tensor<float>({kernel[1]}));
        writer.attribute(group, "weight_names", Names{"kernel:0", "bias:0"});
        names.push_back(layer);
      }
      writer.attribute("/model_weights", "layer_names", names);
    });
  };
  const LoadWeightsOptions options{.in_order = true};
  auto file = file_of({{"b", {3, 4}}, {"a", {4, 2}}});
  CHECK(load_weights(file.path, file.model, options).loaded.size() == 4);
  CHECK(file.model.second.weight.value()(1, 3) == 2.0f);
  CHECK_THAT(
      file_of({{"b", {3, 4}}}).error(options),
      Catch::EndsWith("expected as many layers with weights as in the model, 2 (first, second), "
                      "got 1 (b)"));
  CHECK_THAT(
      file_of({{"b", {4, 2}}, {"a", {3, 4}}}).error(options),
      Catch::Contains("first.weight (model_weights.b.kernel:0): expected [3, 4], got [4, 2]"));
}

TEST_CASE("layouts: what Keras has in another form is refused, also where sizes are equal",
          "[train]") {
  Random random(1);
  // The bias of a GRU with reset_after=False, which has another formula.
  WeightFile cell(GRU<float>({.input_size = 3, .num_hiddens = 4}, random), [](Hdf5Writer& writer) {
    for (const auto& [name, shape] :
         {std::pair("0", Shape{3, 12}), {"1", Shape{4, 12}}, {"2", Shape{12}}})
      writer.tensor(str_cat("/layers/rnn/cell/cells/gru_cell/vars/", name), Tensor<float>(shape));
  });
  CHECK_THAT(cell.error({.ignore_missing = {"bias_hh_l0"},
                         .rename = {{".*gru_cell\\.weight", "weight_ih_l0"},
                                    {".*gru_cell\\.bias", "weight_hh_l0"},
                                    {".*running_mean", "bias_ih_l0"}}}),
             Catch::Contains("not readable from this layout (1): bias_ih_l0 "
                             "(layers.rnn.cell.cells.gru_cell.vars.2): weights of a GRU"));
}

TEST_CASE("layouts: kernels of Keras's convolutions have their axes reversed", "[train]") {
  Random random(1);
  const bool is_new = GENERATE(true, false);
  const std::string path = is_new ? "/layers/conv1d/vars/" : "/conv1d/conv1d/";
  WeightFile file(Conv1d<float>({.in_channels = 2, .out_channels = 3, .kernel_size = 4}, random),
                  [&](Hdf5Writer& writer) {
                    Tensor<float> kernel({4, 2, 3});
                    for (Index i = 0; i < kernel.size(); ++i)
                      kernel.data()[i] = static_cast<float>(i);
                    writer.tensor(path + (is_new ? "0" : "kernel:0"), kernel);
                    writer.tensor(path + (is_new ? "1" : "bias:0"), Tensor<float>({3}));
                  });
  (void)load_weights(file.path, file.model);
  const Tensor<float>& weight = file.model.weight.value();  // [out, in, kernel]
  CHECK(weight(2, 1, 3) == 23);
  CHECK(weight(2, 0, 3) == 20);
  CHECK(weight(1, 0, 2) == 13);
  CHECK_THAT(
      (WeightFile(Conv1d<float>({.in_channels = 4, .out_channels = 3, .kernel_size = 2}, random),
                  [&](Hdf5Writer& writer) {
                    writer.tensor(path + (is_new ? "0" : "kernel:0"), Tensor<float>({3, 4, 2}));
                    writer.tensor(path + (is_new ? "1" : "bias:0"), Tensor<float>({3}));
                  })
           .error()),
      Catch::Contains("expected [2, 4, 3], got [3, 4, 2]"));
}

TEST_CASE("layouts: heads that are packed side by side need an attention", "[train]") {
  struct Own : Module<float> {
    explicit Own(Random& random) : q({4, 4, false}, random), k(q), v(q) {}
    void members(Members<float>& members) const override {
      members.type("Own");
      members("q", q);
      members("k", k);
      members("v", v);
    }
    Linear<float> q, k, v;
  };
  Random random(1);
  WeightFile file(Own(random), [](Hdf5Writer& writer) {
    writer.tensor("/gpt_neox.layers.0.attention.query_key_value.weight", Tensor<float>({12, 4}));
  });
  CHECK_THAT(
      file.error({.rename = {{".*attention\\.W_([qkv])", "$1"}}}),
      Catch::Contains("not readable from this layout (3): q.weight (gpt_neox.layers.0.attention."
                      "query_key_value.weight, part 1 of 3): weights outside of attention"));
}

TEST_CASE("layouts: PyTorch's files with gamma and beta are none of Keras", "[train]") {
  struct Normalized : Module<float> {
    explicit Normalized(Random& random) : fc({3, 3, false}, random), norm({.num_hiddens = 3}) {}
    void members(Members<float>& members) const override {
      members.type("Normalized");
      members("fc", fc);
      members("norm", norm);
    }
    Linear<float> fc;
    LayerNorm<float> norm;
  };
  Random random(1);
  WeightFile file(Normalized(random), [](Hdf5Writer& writer) {
    writer.tensor("/encoder.fc.weight", Tensor<float>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
    writer.tensor("/encoder.norm.gamma", Tensor<float>({3}));
    writer.tensor("/encoder.norm.beta", Tensor<float>({3}));
  });
  CHECK_THAT(file.error(), Catch::Contains("missing (2): norm.weight [3]"));
  (void)load_weights(file.path, file.model, {.rename = {{"gamma$", "weight"}, {"beta$", "bias"}}});
  CHECK(file.model.fc.weight.value()(0, 1) == 2.0f);
}

}  // namespace weft
