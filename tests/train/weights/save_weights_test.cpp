// Weights saved for other programs. tests/golden/load_saved_weights.py loads such files in PyTorch.
#include <atomic>
#include <limits>
#include <thread>

#include <weft/layers/models/bert.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/layers/round_to_bf16.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/consumers/adapt_weights.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;

GptOptions gpt_options() {
  return {.vocabulary_size = 29, .max_len = 16, .num_hiddens = 12, .num_heads = 3, .num_blocks = 2};
}

template <class T>
Gpt<T> gpt(unsigned seed, const GptOptions& options = gpt_options()) {
  Random random(seed);
  Gpt<T> model(options, random);
  // Biases and scales become distinguishable.
  for (const auto& [name, parameter] : named_parameters(model))
    parameter->set_value(random.normal_tensor<T>(parameter->shape()));
  return model;
}

Bert<float> bert() {
  Random random(1);
  return Bert<float>({.vocabulary_size = 29,
                      .max_len = 16,
                      .num_hiddens = 12,
                      .num_heads = 3,
                      .num_blocks = 2,
                      .ffn_num_hiddens = 20,
                      .pooler = true},
                     random);
}

template <class T>
void check_same(Module<T>& actual, Module<T>& expected) {
  const NamedParameters<T> actual_parameters = named_parameters(actual),
                           expected_parameters = named_parameters(expected);
  REQUIRE(actual_parameters.size() == expected_parameters.size());
  for (std::size_t i = 0; i < actual_parameters.size(); ++i) {
    INFO(expected_parameters[i].name);
    CHECK(same(actual_parameters[i].parameter->value(), expected_parameters[i].parameter->value()));
  }
}

// Checks that a file has the datasets of another one, which may have groups for dots.
void check_same_datasets(const Hdf5File& actual, const Hdf5File& expected) {
  const auto name_of = [](std::string path) {
    std::ranges::replace(path, '/', '.');
    return path.substr(1);
  };
  Names names;
  for (const std::string& path : expected.datasets()) {
    INFO(path);
    names.push_back(name_of(path));
    CHECK(same(actual.tensor<float>(names.back()), expected.tensor<float>(path)));
  }
  CHECK(actual.datasets().size() == names.size());
}

}  // namespace

TEMPLATE_TEST_CASE("save_weights: every layout of a Gpt is read back", "[train]", float, double) {
  const auto [layout, name] = GENERATE(table<Layout, std::string>({
      {Layout::weft, "state_dict"},
      {Layout::pytorch, "PyTorch modules"},
      {Layout::pytorch_nested, "PyTorch modules"},
      {Layout::nanogpt, "nanoGPT"},
      {Layout::gpt2, "GPT-2"},
  }));
  const bool tied = GENERATE(true, false), bias = GENERATE(true, false);
  INFO(to_string(layout) << (tied ? " tied" : "") << (bias ? " bias" : ""));
  GptOptions options = gpt_options();
  options.tied = tied;
  options.bias = bias;
  const TemporaryFolder folder;
  Gpt<TestType> saved = gpt<TestType>(1, options), loaded = gpt<TestType>(2, options);
  save_weights(folder / "gpt.h5", saved, {.layout = layout});
  const LoadWeightsReport report = load_weights(folder / "gpt.h5", loaded);
  CHECK(report.layout == name);
  CHECK(report.tied.size() == (tied && layout != Layout::weft ? 1 : 0));
  // The zeros of GPT-2.
  CHECK(report.unused.empty() == (bias || layout != Layout::gpt2));
  CHECK(report.converted.empty());
  check_same(loaded, saved);
}

TEST_CASE("save_weights: files of other programs, loaded and saved, have the same datasets",
          "[train]") {
  const auto [name, layout] = GENERATE(table<std::string, Layout>({
      {"gpt_nano.h5", Layout::nanogpt},
      {"gpt_huggingface.h5", Layout::gpt2},
      {"bert_huggingface.h5", Layout::bert},
  }));
  INFO(name);
  const Hdf5File original(WEFT_TEST_DATA "/" + name);
  const TemporaryFolder folder;
  const auto load_and_save = [&, saved = layout](auto model) {
    (void)load_weights(original.path(), model);
    save_weights(folder / "weights.h5", model, {.layout = saved});
  };
  if (layout == Layout::bert)
    load_and_save(bert());
  else
    load_and_save(gpt<float>(1));
  check_same_datasets(Hdf5File(folder / "weights.h5"), original);
}

TEST_CASE("save_weights: packed and transposed datasets larger than a block are read back",
          "[train]") {
  const Layout layout = GENERATE(Layout::nanogpt, Layout::gpt2);
  const GptOptions options{
      .vocabulary_size = 3, .max_len = 2, .num_hiddens = 700, .num_heads = 2, .num_blocks = 1};
  const TemporaryFolder folder;
  Gpt<float> saved = gpt<float>(1, options), loaded = gpt<float>(2, options);
  save_weights(folder / "gpt.h5", saved, {.layout = layout});
  CHECK(load_weights(folder / "gpt.h5", loaded).loaded.size() == 20);
  check_same(loaded, saved);
  const Hdf5File file(folder / "gpt.h5");
  const Tensor<float> c_attn = file.tensor<float>("transformer.h.0.attn.c_attn.weight");
  const Tensor<float> W_k = saved.blocks.blocks[0].attention.W_k.weight.value();
  const bool is_transposed = layout == Layout::gpt2;
  CHECK(c_attn.shape() == (is_transposed ? Shape{700, 2100} : Shape{2100, 700}));
  for (const auto& [row, column] : {std::pair(0, 0), {1, 699}, {699, 1}, {350, 600}})
    CHECK((is_transposed ? c_attn(column, 700 + row) : c_attn(700 + row, column)) ==
          W_k(row, column));
}

TEST_CASE("save_weights: a state_dict for PyTorch, flat and nested", "[train]") {
  const TemporaryFolder folder;
  Gpt<float> model = gpt<float>(1);
  save_weights(folder / "flat.h5", model, {.layout = Layout::pytorch});
  save_weights(folder / "nested.h5", model, {.layout = Layout::pytorch_nested});
  const Hdf5File flat(folder / "flat.h5"), nested(folder / "nested.h5");
  CHECK(same(flat.tensor<float>("blocks.layers.0.norm1.weight"),
             nested.tensor<float>("blocks/layers/0/norm1/weight")));
  CHECK(same(flat.tensor<float>("output.weight"), model.tokens.weight.value()));
  check_same_datasets(flat, nested);
}

TEST_CASE("load_weights: matrices of bf16 numbers stay in 16 bits", "[train][bf16]") {
  const TemporaryFolder folder;
  const Gpt<float> saved = gpt<float>(1);
  for (const char* const name : {"weights.safetensors", "weights.h5"}) {
    save_weights(folder / name, saved, {.storage = StorageType::bfloat16});
    Gpt<float> loaded = gpt<float>(2), expected = saved;
    (void)load_weights(folder / name, loaded);
    round_to_bf16(expected);
    const auto parameters = named_parameters(expected);
    for (std::size_t i = 0; const auto& [parameter_name, parameter] : named_parameters(loaded)) {
      INFO(parameter_name);
      const Tensor<float>& value = parameters[i++].parameter->value();
      CHECK((parameter->value().bf16() != nullptr) == (parameter->shape().rank() == 2));
      if (value.bf16()) CHECK(same(parameter->value(), value));
    }
    Gpt<double> wide = gpt<double>(2);
    (void)load_weights(folder / name, wide);
    CHECK(wide.tokens.weight.value()(2, 3) == double{expected.tokens.weight.value()(2, 3)});
  }

  // A number that is not finite is found in 16 bits, too.
  std::string header = R"({"weight":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},)"
                       R"("bias":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]}})";
  std::string bytes(1, static_cast<char>(header.size()));
  bytes += std::string(7, '\0') + header;
  for (const char* const number :
       {"\x80\x3f", "\x80\x3f", "\x80\x7f", "\x80\x3f", "\x80\x3f", "\x80\x3f"})
    bytes += number;
  write_bytes(folder / "broken.safetensors", bytes);
  Affine<float> affine({2, 2}, {2});
  CHECK_THROWS_WITH(load_weights(folder / "broken.safetensors", affine),
                    Catch::Contains("expected finite numbers, got inf at [1, 0]"));
}

TEST_CASE("save_weights: saving leaves the model as it is, also for another thread", "[train]") {
  Gpt<float> made = gpt<float>(3);
  round_to_bf16(made);
  const Gpt<float>& model = made;
  // Where the numbers of each parameter are, in both types.
  const auto places = [&] {
    std::vector<const void*> all;
    for (const auto& [name, parameter] : named_parameters(model)) {
      all.push_back(parameter->value().data());
      all.push_back(parameter->value().bf16());
    }
    return all;
  };
  const auto logits = [&] {
    Tape<float> tape = Tape<float>::inference();
    return model(tape, Tokens({1, 3}, {1, 2, 3})).value();
  };
  const auto before = places();
  const Tensor<float> expected = logits();
  const TemporaryFolder folder;
  std::atomic<bool> ends = false, differ = false;
  std::thread inference([&] {
    while (!ends)
      if (!same(logits(), expected)) differ = true;
  });
  save_checkpoint(folder / "checkpoint.h5", model);
  for (const Layout layout : {Layout::weft, Layout::pytorch, Layout::gpt2})
    save_weights(folder / "weights.h5", model, {.layout = layout});
  const Hdf5Writer writer = prepare_checkpoint(folder / "checkpoint.h5", model);
  ends = true;
  inference.join();
  CHECK_FALSE(differ);
  CHECK(places() == before);
}

TEST_CASE("save_weights: numbers are rounded to the storage type", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model({2, 2}, {2});
  // 1 + 2^-11 and 1 + 3 · 2^-11 are halfway between two numbers of float16.
  model.weight.set_value(Tensor<float>({2, 2}, {1.00048828125f, 1.00146484375f, 65504.0f, -0.1f}));
  const auto [storage, type, expected] = GENERATE(table<StorageType, std::string, Tensor<float>>({
      {StorageType::float16, "float16",
       Tensor<float>({2, 2}, {1.0f, 1.001953125f, 65504.0f, -0.0999755859375f})},
      {StorageType::bfloat16, "bfloat16",
       Tensor<float>({2, 2}, {1.0f, 1.0f, 65536.0f, -0.10009765625f})},
      {StorageType::float64, "float64",
       Tensor<float>({2, 2}, {1.00048828125f, 1.00146484375f, 65504.0f, -0.1f})},
  }));
  const Layout layout = GENERATE(Layout::weft, Layout::pytorch);
  INFO(type);
  save_weights(folder / "weights.h5", model, {.layout = layout, .storage = storage});
  Affine<float> loaded({2, 2}, {2});
  const LoadWeightsReport report = load_weights(folder / "weights.h5", loaded);
  CHECK(report.converted == Names{"weight from " + type, "bias from " + type});
  CHECK(same(loaded.weight.value(), expected));
}

TEST_CASE("save_weights: weights of another program are converted for a third", "[train]") {
  const TemporaryFolder folder;
  Gpt<float> saved = gpt<float>(1), loaded = gpt<float>(2);
  Hdf5Writer writer(folder / "from.h5");
  for (const auto& [name, parameter] : named_parameters<float>(saved)) {
    const bool is_block =
        name.starts_with("blocks.") && name != "blocks.norm.weight" && name != "blocks.norm.bias";
    writer.tensor("/trunk." + (is_block ? "layer" + name.substr(7) : name), parameter->value());
  }
  writer.tensor("/head.weight", Tensor<float>({2}));
  writer.save();
  const LoadWeightsReport report = adapt_weights(folder / "from.h5", folder / "to.h5", loaded);
  CHECK(report.loaded.size() == 35);
  CHECK(report.unexpected == Names{"head.weight"});
  CHECK(report.unused == Names{"positions.weight"});
  CHECK(same(loaded.blocks.blocks[1].norm2.get_if<LayerNorm>()->weight.value(),
             saved.blocks.blocks[1].norm2.get_if<LayerNorm>()->weight.value()));
  CHECK(Hdf5File(folder / "to.h5").type("transformer.h.0.ln_1.weight") == "float16");
}

TEST_CASE("save_weights: what cannot be saved throws, and the old file stays", "[train]") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "weights.h5";
  Gpt<float> old = gpt<float>(1);
  save_weights(path, old);
  const std::string bytes = bytes_of(path);
  const auto error_of = [&](Module<float>& model, const SaveWeightsOptions& options) {
    return message_of<Error>([&] { save_weights(path, model, options); });
  };
  GptOptions options = gpt_options();
  options.swiglu = true;
  Gpt<float> swiglu = gpt<float>(1, options);
  CHECK_THAT(
      error_of(swiglu, {.layout = Layout::gpt2}),
      Catch::StartsWith("save_weights: expected only parameters with names in the layout gpt2, "
                        "got blocks.0.ffn.w1.weight"));
  // An attention of its own under the names of a Gpt.
  struct Named : Module<float> {
    Linear<float> linear = [] {
      Random random(1);
      return Linear<float>({4, 4}, random);
    }();
    void members(Members<float>& members) const override {
      members.type("Named");
      for (const std::string projection : {"W_q", "W_k", "W_v"})
        members("blocks.0.attention." + projection, linear);
    }
  } named;
  CHECK_THAT(error_of(named, {.layout = Layout::gpt_neox}),
             Catch::Equals("save_weights: parameter blocks.0.attention.W_q.weight: expected a "
                           "weight that the layout can store, got weights outside of attention, "
                           "without a number of heads"));
  options = gpt_options();
  options.num_kv_heads = 1;
  Gpt<float> grouped = gpt<float>(1, options);
  CHECK_THAT(error_of(grouped, {.layout = Layout::nanogpt}),
             Catch::Equals("save_weights: transformer.h.0.attn.c_attn.bias: expected packed "
                           "parameters of equal shapes, got [12] and [4]"));
  CHECK_THAT(error_of(old, {.layout = Layout::bert}),
             Catch::Contains("expected only parameters with names in the layout bert, got "
                             "blocks.norm.weight"));
  old.blocks.blocks[1].attention.W_k.bias.reset();
  CHECK_THAT(error_of(old, {.layout = Layout::nanogpt}),
             Catch::Equals("save_weights: transformer.h.1.attn.c_attn.bias: expected 3 packed "
                           "parameters, got 2"));
  Affine<float> affine({2, 2}, {2});
  affine.weight(1, 1) = 65520.0f;
  CHECK_THAT(error_of(affine, {.layout = Layout::pytorch, .storage = StorageType::float16}),
             Catch::Contains("weights.h5\" /weight: ") && Catch::Contains("65520"));
  affine.weight(1, 1) = std::numeric_limits<float>::infinity();
  for (const Layout layout : {Layout::weft, Layout::pytorch})
    CHECK_THAT(error_of(affine, {.layout = layout}), Catch::Contains("weight: expected finite"));
  CHECK(bytes_of(path) == bytes);
}

}  // namespace weft
