#include <weft/layers/models/gpt.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include <weft/train/weights/convert_weights.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

using Names = std::vector<std::string>;

const std::filesystem::path golden = WEFT_TEST_DATA;

// Checks that the files have the same datasets, but for dots, groups and a model's options, with
// equal values.
void check_same_datasets(const std::filesystem::path& a, const std::filesystem::path& b) {
  const Hdf5File actual(a), expected(b);
  const auto with_dots = [](std::string path) {
    std::ranges::replace(path, '/', '.');
    return path;
  };
  Names paths = actual.datasets(), others = expected.datasets();
  for (Names* const names : {&paths, &others})
    std::erase_if(*names, [](const auto& path) { return path.starts_with("/model_options/"); });
  REQUIRE(paths.size() == others.size());
  for (const std::string& path : paths) {
    INFO(path);
    const auto other = std::ranges::find(others, with_dots(path), with_dots);
    REQUIRE(other != others.end());
    const Tensor<float> x = actual.tensor<float>(path), y = expected.tensor<float>(*other);
    CHECK(x.shape() == y.shape());
    CHECK(std::ranges::equal(x.values(), y.values()));
  }
}

struct Converted {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "converted.h5", second = folder / "second.h5";
  ConvertWeightsReport report;

  Converted(const std::string& file, const SaveWeightsOptions& options)
      : report(convert_weights(golden / file, path, options)) {}
};

Gpt<float> gpt(std::uint64_t seed, bool tied) {
  Random random(seed);
  return Gpt<float>({.vocabulary_size = 29,
                     .max_len = 16,
                     .num_hiddens = 12,
                     .num_heads = 3,
                     .num_blocks = 2,
                     .tied = tied},
                    random);
}

}  // namespace

TEST_CASE("convert_weights: the output cannot be the input", "[train]") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const fs::path path = folder / "last.h5";
  Affine<float> model({2}, {1});
  save_checkpoint(path, model);
  const std::string bytes = bytes_of(path);
  fs::create_hard_link(path, folder / "hard.h5");
  fs::create_symlink(path, folder / "soft.h5");
  for (const char* name : {"last.h5", "hard.h5", "soft.h5"}) {
    CHECK_THAT(message_of<FileError>([&] { (void)convert_weights(path, folder / name, {}); }),
               Catch::Contains(
                   std::string(name) +
                   "\": expected an output file that is not the input file, got the input file"));
    CHECK(bytes_of(folder / name) == bytes);
  }
}

TEST_CASE("convert_weights: files of other programs are the same after two conversions",
          "[train]") {
  const auto [name, found, layout] = GENERATE(table<std::string, std::string, Layout>({
      {"gpt_huggingface.h5", "GPT-2", Layout::gpt2},
      {"gpt_nano.h5", "nanoGPT", Layout::nanogpt},
      {"bert_huggingface.h5", "BERT", Layout::bert},
  }));
  const Layout between =
      GENERATE(Layout::weft, Layout::pytorch, Layout::pytorch_nested, Layout::gpt2);
  const bool is_bert = layout == Layout::bert;
  INFO(name << " by way of " << to_string(between));
  const Converted converted(name, {.layout = is_bert ? Layout::weft : between});
  CHECK(converted.report.layout == found);
  CHECK(converted.report.unused.empty());
  const ConvertWeightsReport report =
      convert_weights(converted.path, converted.second, {.layout = layout});
  CHECK(report.unused.empty());
  check_same_datasets(converted.second, golden / name);
}

TEST_CASE("convert_weights: older names, compiled models and TensorFlow's files", "[train]") {
  // The last column: causal masks, and heads that a Bert does not have.
  const auto [name, found, layout, expected, left] =
      GENERATE(table<std::string, std::string, Layout, std::string, std::size_t>({
          {"gpt_huggingface_old.h5", "GPT-2", Layout::gpt2, "gpt_huggingface.h5", 4},
          {"gpt_tensorflow.h5", "GPT-2 of TensorFlow", Layout::gpt2, "gpt_huggingface.h5", 0},
          {"gpt_nano_compiled.h5", "nanoGPT", Layout::nanogpt, "gpt_nano.h5", 0},
          {"bert_tensorflow.h5", "BERT of TensorFlow", Layout::bert, "bert_huggingface.h5", 1},
          {"bert_masked.h5", "BERT", Layout::bert, "bert_masked.h5", 1},
      }));
  INFO(name);
  const Converted converted(name, {.layout = layout});
  CHECK(converted.report.layout == found);
  CHECK(weights_layout(Hdf5File(golden / name)) == found);
  if (name == expected)  // without the head that a Bert does not have, and the prefix "bert."
    CHECK(converted.report.unused == Names{"cls.predictions.bias"});
  else
    check_same_datasets(converted.path, golden / expected);
  CHECK(converted.report.unused.size() == left);
}

TEST_CASE("convert_weights: weft loads what is converted, and what it saves is converted",
          "[train]") {
  const bool tied = GENERATE(true, false);
  const Layout layout = GENERATE(Layout::nanogpt, Layout::gpt2);
  const TemporaryFolder folder;
  Gpt<float> saved = gpt(1, tied), loaded = gpt(2, tied);
  save_weights(folder / "weft.h5", saved);
  (void)convert_weights(folder / "weft.h5", folder / "other.h5", {.layout = layout});
  save_weights(folder / "expected.h5", saved, {.layout = layout});
  check_same_datasets(folder / "other.h5", folder / "expected.h5");

  (void)convert_weights(folder / "other.h5", folder / "again.h5");
  check_same_datasets(folder / "again.h5", folder / "weft.h5");
  CHECK(load_weights(folder / "again.h5", loaded).renamed.empty());
  CHECK(weights_layout(Hdf5File(folder / "again.h5")) == "weft");
}

TEST_CASE("convert_weights: GPT-2 has zeros for biases that a Gpt has not", "[train]") {
  const TemporaryFolder folder;
  const auto saved = folder / "saved.h5", weft = folder / "weft.h5", converted = folder / "gpt2.h5";
  GptOptions options{.vocabulary_size = 29,
                     .max_len = 16,
                     .num_hiddens = 12,
                     .num_heads = 3,
                     .num_blocks = 2,
                     .bias = false};
  Random random(1);
  Gpt<float> model(options, random), loaded(options, random);
  save_weights(saved, model, {.layout = Layout::gpt2});
  save_weights(weft, model);
  CHECK(convert_weights(weft, converted, {.layout = Layout::gpt2}).written == 29);
  check_same_datasets(converted, saved);
  const Hdf5File file(saved);
  for (const std::string name :
       {"transformer.h.1.ln_1", "transformer.h.0.attn.c_attn", "transformer.h.0.attn.c_proj",
        "transformer.h.1.ln_2", "transformer.h.1.mlp.c_fc", "transformer.h.0.mlp.c_proj",
        "transformer.ln_f"}) {
    INFO(name);
    const Tensor<float> bias = file.tensor<float>(name + ".bias");
    const Shape weight = file.shape(name + ".weight");
    CHECK(bias.shape() == Shape{weight[weight.rank() - 1]});
    CHECK(std::ranges::count(bias.values(), 0.0f) == bias.size());
  }

  CHECK(load_weights(saved, loaded).unused.size() == 13);
  save_weights(folder / "again.h5", loaded);
  check_same_datasets(folder / "again.h5", weft);
  options.bias = true;
  Gpt<float> with_biases(options, random);
  CHECK(load_weights(saved, with_biases).unused.empty());
  for (const auto& [name, parameter] : named_parameters(with_biases))
    if (name == "blocks.norm.bias") parameter->values()[3] = 1.0f;
  save_weights(saved, with_biases, {.layout = Layout::gpt2});
  CHECK(contains(message_of<FileError>([&] { (void)load_weights(saved, loaded); }),
                 "transformer.ln_f.bias"));
}

TEST_CASE("convert_weights: state_dicts of other models keep their names", "[train]") {
  const Converted nested("torch_flat.h5", {.layout = Layout::pytorch_nested});
  CHECK(nested.report.layout == "state_dict");
  CHECK(nested.report.written == 4);
  CHECK(Hdf5File(nested.path).datasets() == Hdf5File(golden / "torch_nested.h5").datasets());
  check_same_datasets(nested.path, golden / "torch_flat.h5");
  const Converted weft("torch_flat.h5", {});
  CHECK(Hdf5File(weft.path).has_group("/model/dense1"));
}

TEST_CASE("convert_weights: numbers keep their type, unless another is given", "[train]") {
  const TemporaryFolder folder;
  Affine<double> model({2, 2}, {2});
  const auto [storage, expected] = GENERATE(table<StorageType, std::string>({
      {StorageType::same, "float64"},
      {StorageType::float32, "float32"},
      {StorageType::float16, "float16"},
      {StorageType::bfloat16, "bfloat16"},
  }));
  INFO(expected);
  save_weights(folder / "a.h5", model, {.layout = Layout::pytorch, .storage = storage});
  (void)convert_weights(folder / "a.h5", folder / "same.h5");
  CHECK(Hdf5File(folder / "same.h5").type("model/weight") == expected);
  save_weights(folder / "b.h5", model);
  (void)convert_weights(folder / "b.h5", folder / "other.h5", {.storage = storage});
  CHECK(Hdf5File(folder / "other.h5").type("model/weight") == expected);
}

TEST_CASE("convert_weights: other state of a checkpoint is left out", "[train]") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "a.h5");
  writer.tensor("model/a/weight", Tensor<float>({2}, {1, 2}));
  writer.tensor("optimizer/m", Tensor<float>({2}, {1, 2}));
  writer.value("progress/step", std::int64_t{3});
  writer.save();
  const ConvertWeightsReport report =
      convert_weights(folder / "a.h5", folder / "b.h5", {.layout = Layout::pytorch});
  CHECK(report.written == 1);
  CHECK(report.unused == Names{"optimizer/m", "progress/step"});
  CHECK(Hdf5File(folder / "b.h5").datasets() == Names{"/a.weight"});
}

TEST_CASE("convert_weights: what cannot be converted is refused, and the old file stays",
          "[train]") {
  const TemporaryFolder folder;
  const std::filesystem::path from = folder / "from.h5", to = folder / "to.h5";
  write_bytes(to, "old");
  const auto error_of = [&](const std::filesystem::path& file, const SaveWeightsOptions& options) {
    const std::string message =
        message_of<Error>([&] { (void)convert_weights(file, to, options); });
    CHECK(bytes_of(to) == "old");
    return message;
  };
  const auto error_with = [&](const std::string& name, const Tensor<float>& tensor,
                              const SaveWeightsOptions& options = {}) {
    Hdf5Writer writer(from);
    writer.tensor(name, tensor);
    writer.save();
    return error_of(from, options);
  };
  CHECK(contains(error_of(golden / "torch_flat.h5", {.layout = Layout::gpt2}),
                 "expected only weights with names in the layout gpt2, got dense1.bias"));
  CHECK(
      contains(error_of(golden / "keras_30.weights.h5", {}),
               "expected a layout that convert_weights reads (weft, state_dict, nanoGPT, GPT-2, "));
  CHECK(contains(error_of(golden / "keras_30.weights.h5", {}),
                 "got the layout Keras 3, which only load_weights can read"));
  CHECK(contains(error_of(golden / "gpt_nano.h5", {.layout = Layout::bloom}),
                 "expected a layout that does not depend on the number of heads, got bloom"));
  CHECK(contains(error_of(folder / "none.h5", {}), "none.h5"));
  CHECK(contains(error_of(to, {}), "to.h5"));
  CHECK(contains(error_with("h.0.attn.c_attn.weight", Tensor<float>({4, 2})),
                 "expected 3 equal parts of h.0.attn.c_attn.weight, got [4, 2]"));
  CHECK(contains(error_with("blocks.0.attention.W_q.weight", Tensor<float>({2, 2}),
                            {.layout = Layout::nanogpt}),
                 "transformer.h.0.attn.c_attn.weight: expected 3 packed parameters, got 1"));
  CHECK(contains(
      error_with("a.weight", Tensor<float>({1}, {1e30f}), {.storage = StorageType::float16}),
      "a/weight"));
  CHECK(contains(error_with("a.weight", Tensor<float>({1}, {std::nanf("")})),
                 "/a.weight: expected finite numbers, got nan at [0] of [1]"));
  Hdf5Writer writer(from);
  writer.value("steps", std::int64_t{3});
  writer.save();
  CHECK(contains(error_of(from, {}), "from.h5\": expected weights, got a file without weights"));
}
