// Options of load_weights that make files of other programs fit a model. The files are those of
// tests/golden/other_programs_test.cpp, or have their names.
#include <map>

#include <weft/layers/models/gpt.hpp>
#include <weft/layers/recurrent.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/weights/loading_error.hpp"
#include "tests/train/weights/weight_file.hpp"
#include "train/weights/internal/name_pattern.hpp"

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

}  // namespace

TEST_CASE("load_weights: names are changed by regular expressions, one after the other",
          "[train]") {
  Random random(1);
  struct Stack : Module<float> {
    std::vector<Linear<float>> blocks;
    void members(Members<float>& members) const override {
      members.type("Stack");
      members("blocks", blocks);
    }
  };
  Stack stack;
  for (int i = 0; i < 12; ++i) stack.blocks.emplace_back(LinearOptions{1, 1, false}, random);
  WeightFile file(stack, [](Hdf5Writer& writer) {
    for (int i = 0; i < 12; ++i)
      writer.tensor("/encoder.layer." + std::to_string(i) + ".dense.weight",
                    Tensor<float>::full({1, 1}, static_cast<float>(i)));
  });
  CHECK_THAT(file.error(), Catch::Contains("missing (12)") &&
                               Catch::Contains("blocks.2.weight [1, 1] (same shape: "
                                               "encoder.layer.2.dense.weight, encoder.layer."));
  const LoadWeightsReport report = load_weights(
      file.path, file.model, {.rename = {{"encoder.layer.(\\d+)", "blocks.$1"}, {"\\.dense", ""}}});
  CHECK(report.loaded.size() == 12);
  CHECK(report.renamed[1] == "blocks.1.weight from encoder.layer.1.dense.weight");
  for (int i = 0; i < 12; ++i)
    CHECK(file.model.blocks[static_cast<std::size_t>(i)].weight.value().item() ==
          static_cast<float>(i));

  CHECK_THAT(file.error({.rename = {{"encoder.layer.\\d+.dense", "blocks.0"}}}),
             Catch::Contains("in several datasets (1): blocks.0.weight: "));
  CHECK_THAT(file.error<ValueError>({.rename = {{"layer.(", ""}}}),
             Catch::StartsWith("rename: expected a regular expression, got 'layer.('"));
  CHECK_THAT(
      file.error<ValueError>({.rename = {{"^", std::string(2000, 'x')}, {"(x|x)*\\.$", ""}}}),
      Catch::StartsWith("rename: expected an expression that matches in reasonable time"));
}

TEST_CASE("load_weights: replacements have ECMAScript's format", "[train]") {
  const auto replaced = [](const char* pattern, const char* name, const char* replacement) {
    return NamePattern("rename", pattern).replaced(name, replacement);
  };
  CHECK(replaced("(\\w)(\\d)", "a1.b2", "$2$1") == "1a.2b");
  CHECK(replaced("b", "abc", "[$&]") == "a[b]c");
  CHECK(replaced("b", "abc", "[$`|$']") == "a[a|c]c");
  CHECK(replaced("b", "abc", "$$1 $0 $2 $x $") == "a$1 $0 $2 $x $c");
  CHECK(replaced("(b)", "abc", "$01 $10") == "ab b0c");
  CHECK(replaced("(x)?b", "abc", "<$1>") == "a<>c");
  CHECK(replaced("(?<name>b)", "abc", "<$1>") == "a<b>c");
  CHECK(replaced("x*", "abc", "-") == "-a-b-c-");
}

TEST_CASE("load_weights: only some parameters, and all but some", "[train]") {
  const LoadWeightsOptions options = GENERATE(
      LoadWeightsOptions{.only = {"blocks\\.1\\..*", "tokens\\..*"}},
      LoadWeightsOptions{.except = {"positions\\..*", "blocks\\.0\\..*", "blocks\\.norm\\..*"}});
  Gpt<float> model = gpt();
  for (const auto& [name, parameter] : named_parameters<float>(model))
    std::ranges::fill(parameter->values(), 5.0f);
  const LoadWeightsReport report = load_weights(data("gpt_huggingface.h5"), model, options);
  CHECK(report.loaded.size() == 17);
  CHECK(report.unused.size() == 19);
  CHECK_THAT(str_cat(report), Catch::Contains("19 unused: positions.weight, blocks.0."));
  for (const auto& [name, parameter] : named_parameters<float>(model)) {
    const bool is_loaded = name.starts_with("blocks.1.") || name == "tokens.weight";
    INFO(name);
    CHECK((parameter->value().data()[0] != 5.0f) == is_loaded);
  }
  // What is excluded may be missing, or of any shape.
  GptOptions other = gpt_options();
  other.max_len = 3;
  other.num_blocks = 3;
  Gpt<float> larger = gpt(other);
  CHECK(load_weights(data("gpt_huggingface.h5"), larger,
                     {.except = {"positions\\..*", "blocks\\.2\\..*"}})
            .loaded.size() == 35);
  CHECK_THAT(error_of(data("gpt_huggingface.h5"), model, {.only = {"none"}}),
             Catch::EndsWith("got no matching datasets, layout GPT-2"));
}

TEST_CASE("load_weights: exceptions from what is loaded, and names that are ignored after renaming",
          "[train]") {
  Gpt<float> model = gpt();
  for (const auto& [name, parameter] : named_parameters<float>(model))
    std::ranges::fill(parameter->values(), 5.0f);
  LoadWeightsReport report =
      load_weights(data("gpt_huggingface.h5"), model,
                   {.only = {"blocks\\.1\\..*", "tokens.*"}, .except = {".*norm.*", ".*bias"}});
  CHECK(report.loaded == Names{"tokens.weight", "blocks.1.attention.W_q.weight",
                               "blocks.1.attention.W_k.weight", "blocks.1.attention.W_v.weight",
                               "blocks.1.attention.W_o.weight", "blocks.1.ffn.dense1.weight",
                               "blocks.1.ffn.dense2.weight"});
  CHECK(report.unused.size() == 29);
  CHECK(model.blocks.blocks[1].norm1.get_if<LayerNorm>()->weight.value()(0) == 5.0f);
  CHECK(model.blocks.blocks[1].attention.W_q.bias->value()(0) == 5.0f);
  CHECK_FALSE(model.blocks.blocks[1].attention.W_q.weight.value()(0, 0) == 5.0f);

  WeightFile file(Affine<float>({2}, {1}), [](Hdf5Writer& writer) {
    writer.tensor("/scale", Tensor<float>::full({2}, 1.0f));
    writer.tensor("/offset", Tensor<float>::full({1}, 2.0f));
    writer.tensor("/extra", Tensor<float>::full({1}, 3.0f));
  });
  const std::vector<Rename> rename{{"scale", "weight"}, {"offset", "bias"}, {"extra", "more"}};
  // The name in the file, the name after renaming, and a name that neither has.
  for (const std::string name : {"extra", "more"}) {
    report = load_weights(file.path, file.model, {.ignore_unexpected = {name}, .rename = rename});
    CHECK(report.unexpected == Names{"extra"});
    CHECK(file.model.bias.value()(0) == 2.0f);
  }
  CHECK_THAT(file.error({.ignore_unexpected = {"scale", "offset", "weight"}, .rename = rename}),
             Catch::Contains("unexpected (1): more (extra)"));
  // A parameter that is excluded is not missing, and its dataset not unexpected.
  report = load_weights(file.path, file.model,
                        {.ignore_unexpected = {"more"}, .rename = rename, .except = {"weight"}});
  CHECK(report.loaded == Names{"bias"});
  CHECK(report.unused == Names{"weight"});
}

TEST_CASE("load_weights: a prefix of dotted names", "[train]") {
  WeightFile file(Affine<float>({2}, {1}), [](Hdf5Writer& writer) {
    for (const float model : {1.0f, 2.0f}) {
      const std::string name = model == 1.0f ? "/teacher" : "/student";
      writer.tensor(name + ".weight", Tensor<float>::full({2}, model));
      writer.tensor(name + "/bias", Tensor<float>::full({1}, model));
    }
  });
  CHECK_THAT(file.error(), Catch::Contains("missing (2)"));
  const LoadWeightsReport report = load_weights(file.path, file.model, {.prefix = "student."});
  CHECK(report.prefix == "student.");
  CHECK(report.unused == Names{"teacher.bias", "teacher.weight"});
  CHECK(report.renamed.empty());
  CHECK(file.model.weight.value()(1) == 2.0f);
  CHECK_THAT(file.error({.prefix = "pupil."}), Catch::Contains("got no matching datasets"));
}

}  // namespace weft
