// Weights under the names of PyTorch's modules and the d2l.ai book. Their values are tested with
// golden files: tests/golden/layer_case.hpp loads all of its layers this way.
#include <limits>

#include <weft/layers/multi_head_attention.hpp>
#include "tests/catch.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/weights/weight_file.hpp"
#include "train/weights/internal/layouts.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;

std::vector<WeightPart> common_names(const std::string& name) {
  return weight_layout("PyTorch modules").weights_in(name);
}
std::string common_name(const std::string& name) { return common_names(name).at(0).name; }

MultiHeadAttention<float> attention(Index key_size = 4) {
  Random random(1);
  return MultiHeadAttention<float>({.query_size = 4,
                                    .key_size = key_size,
                                    .value_size = 4,
                                    .num_hiddens = 4,
                                    .num_heads = 2,
                                    .bias = true},
                                   random);
}

// The numbers first, first + 1, …
Tensor<float> counting(const Shape& shape, float first = 0.0f) {
  Tensor<float> tensor(shape);
  for (float& value : tensor) value = first++;
  return tensor;
}

void write_torch_attention(Hdf5Writer& writer, const std::string& prefix) {
  writer.tensor(prefix + "in_proj_weight", counting({12, 4}));
  writer.tensor(prefix + "in_proj_bias", counting({12}, 100.0f));
  writer.tensor(prefix + "out_proj.weight", counting({4, 4}, 200.0f));
  writer.tensor(prefix + "out_proj.bias", counting({4}, 300.0f));
}

}  // namespace

TEST_CASE("weight names: PyTorch's, d2l.ai's and weft's have a common form", "[train]") {
  const auto [theirs, ours] = GENERATE(table<std::string, std::string>({
      {"encoder.layers.11.self_attn.out_proj.bias", "encoder.11.attention.W_o.bias"},
      {"layers.0.self_attn.q_proj_weight", "0.self_attention.W_q.weight"},
      {"self_attn.v_proj_weight", "self_attention.W_v.weight"},
      {"layers.0.multihead_attn.k_proj_weight", "0.cross_attention.W_k.weight"},
      {"layers.2.linear1.weight", "2.ffn.dense1.weight"},
      {"linear2.bias", "ffn.dense2.bias"},
      {"encoder.norm.weight", "encoder.norm.weight"},
      {"blks.block0.attention.W_q.weight", "blks.0.attention.W_q.weight"},
      {"blks.block10.addnorm2.ln.weight", "blks.10.norm2.weight"},
      {"decoder.blks.block1.attention1.W_q.weight", "decoder.blks.1.self_attention.W_q.weight"},
      {"decoder.blks.block1.attention2.W_v.bias", "decoder.blks.1.cross_attention.W_v.bias"},
  }));
  CHECK(common_name(theirs) == common_name(ours));
}

TEST_CASE("weight names: other names are unchanged", "[train]") {
  for (const std::string name : {"embedding.weight", "layers.weight", "block.0.bias", "ln.weight",
                                 "blocks.1.norm1.bias", "in_proj_", "", ".", "a..b"})
    CHECK(common_name(name) == name);
  CHECK(common_names("h.in_proj_weights") == std::vector<WeightPart>{{"h.in_proj_weights"}});
  CHECK(common_names("h.in_proj_bias").at(2) == WeightPart{"h.W_v.bias", 2, 3});
}

TEST_CASE("weights: packed projections are split, and renamed parameters are reported", "[train]") {
  WeightFile file(attention(), [](Hdf5Writer& writer) { write_torch_attention(writer, "/"); });
  const LoadWeightsReport report = load_weights(file.path, file.model);
  CHECK(file.model.W_q.weight.value()(0, 0) == 0.0f);
  CHECK(file.model.W_k.weight.value()(0, 0) == 16.0f);
  CHECK(file.model.W_v.weight.value()(3, 3) == 47.0f);
  CHECK(file.model.W_k.bias->value()(1) == 105.0f);
  CHECK(file.model.W_o.weight.value()(1, 0) == 204.0f);
  CHECK(report.loaded.size() == 8);
  CHECK(report.renamed.size() == 8);
  CHECK(report.renamed[2] == "W_k.weight from in_proj_weight, part 2 of 3");
  CHECK(report.renamed[7] == "W_o.bias from out_proj.bias");
  std::ostringstream text;
  text << report;
  CHECK_THAT(text.str(), Catch::Contains("loaded 8 parameters, layout PyTorch modules\n8 renamed: "
                                         "W_q.weight from in_proj_weight, part 1 of 3, W_q.bias"));
}

TEST_CASE("weights: PyTorch's names may be groups and have a prefix", "[train]") {
  const std::string prefix =
      GENERATE("/state_dict/_orig_mod.", "/encoder.layers.0.self_attn.", "/self_attn/", "/a/b/c/");
  INFO(prefix);
  WeightFile file(attention(), [&](Hdf5Writer& writer) { write_torch_attention(writer, prefix); });
  CHECK(load_weights(file.path, file.model).loaded.size() == 8);
  CHECK(file.model.W_v.bias->value()(3) == 111.0f);
}

TEST_CASE("weights: differences in PyTorch's names are listed by kind", "[train]") {
  WeightFile file(attention(), [](Hdf5Writer& writer) {
    writer.tensor("/in_proj_weight", counting({12, 4}));
    writer.tensor("/in_proj_bias", counting({8}));
    writer.tensor("/out_proj.weight", counting({4, 4}));
    writer.tensor("/bias_k", counting({1, 1, 4}));
  });
  const std::string message = file.error();
  CHECK_THAT(message, Catch::Contains("missing (1): W_o.bias [4]; "));
  CHECK_THAT(message, Catch::Contains("unexpected (1): bias_k; "));
  CHECK_THAT(message, Catch::Contains("different shape (3): W_q.bias (in_proj_bias, part 1 of 3): "
                                      "expected [12], got [8], W_k.bias"));
}

TEST_CASE("weights: packed projections of unequal sizes throw", "[train]") {
  WeightFile file(attention(7), [](Hdf5Writer& writer) { write_torch_attention(writer, "/"); });
  CHECK_THAT(file.error(),
             Catch::Contains("different shape (1): W_k.weight (in_proj_weight, part 2 "
                             "of 3): expected [12, 7], got [12, 4]"));
}

TEST_CASE("weights: unused parts of packed projections throw", "[train]") {
  Random random(1);
  WeightFile file(attention(), [](Hdf5Writer& writer) {
    write_torch_attention(writer, "/");
    writer.tensor("/W_q.weight", counting({4, 4}));
  });
  CHECK_THAT(file.error(), Catch::Contains("in several datasets (1): W_q.weight: "));

  MultiHeadAttentionOptions options{.query_size = 4, .key_size = 4, .value_size = 4};
  options.num_hiddens = 4;
  WeightFile biased(MultiHeadAttention<float>(options, random),
                    [](Hdf5Writer& writer) { write_torch_attention(writer, "/"); });
  CHECK_THAT(biased.error(), Catch::Contains("unexpected (2): in_proj_bias, out_proj.bias"));
  CHECK(load_weights(biased.path, biased.model, {.ignore_unexpected = {".*"}}).unexpected ==
        Names{"in_proj_bias", "out_proj.bias"});
}

TEST_CASE("weights: a NaN among packed projections is named with its dataset", "[train]") {
  WeightFile file(attention(), [](Hdf5Writer& writer) {
    Tensor<float> weight({12, 4});
    weight(5, 1) = std::numeric_limits<float>::quiet_NaN();
    writer.tensor("/in_proj_weight", weight);
    writer.tensor("/in_proj_bias", counting({12}));
    writer.tensor("/out_proj.weight", counting({4, 4}));
    writer.tensor("/out_proj.bias", counting({4}));
  });
  CHECK_THAT(file.error<NonFiniteError>(),
             Catch::Contains("/in_proj_weight: expected finite numbers, got nan at [5, 1] of "
                             "[12, 4]"));
}

TEST_CASE("weights: a model's own names take precedence over the common ones", "[train]") {
  // Both children have one name in the common form.
  struct Two : Module<float> {
    Affine<float> attention{{2}, {2}}, self_attn{{2}, {2}};
    void members(Members<float>& members) const override {
      members("attention", attention);
      members("self_attn", self_attn);
    }
  };
  WeightFile file(Two(), [](Hdf5Writer& writer) {
    for (const std::string name : {"attention", "self_attn"})
      for (const std::string member : {"weight", "bias"})
        writer.tensor("/" + name + "/" + member, counting({2}, name == "attention" ? 1.0f : 3.0f));
  });
  CHECK(load_weights(file.path, file.model).renamed.empty());
  CHECK(file.model.attention.bias.value()(0) == 1.0f);
  CHECK(file.model.self_attn.bias.value()(0) == 3.0f);

  // Ambiguous names are not loaded.
  WeightFile one(Two(), [](Hdf5Writer& writer) {
    for (const std::string name : {"attention1", "multihead_attn"})
      for (const std::string member : {"weight", "bias"})
        writer.tensor("/" + name + "/" + member, counting({2}));
  });
  CHECK_THAT(one.error(), Catch::Contains("missing (2): self_attn.weight [2]"));
}

}  // namespace weft
