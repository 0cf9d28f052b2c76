// Names of weights in other programs and in weft.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <weft/train/weights/convert_weights.hpp>
#include <weft/train/weights/load_weights.hpp>
#include "tests/catch.hpp"
#include "train/weights/internal/differences.hpp"
#include "train/weights/internal/layouts.hpp"

namespace weft {
namespace {

using Parts = std::vector<WeightPart>;

Parts weights_in(const std::string& layout, const std::string& dataset) {
  return weight_layout(layout).weights_in(dataset);
}

std::string name_in(const std::string& layout, const std::string& dataset) {
  return weights_in(layout, dataset).at(0).name;
}

}  // namespace

TEST_CASE("layouts: names of datasets in files of other programs", "[train]") {
  const auto [layout, theirs, ours] = GENERATE(table<std::string, std::string, std::string>({
      {"nanoGPT", "_orig_mod.transformer.wpe.weight", "_orig_mod.positions.weight"},
      {"GPT-2", "h.11.mlp.c_proj.bias", "blocks.11.ffn.dense2.bias"},
      {"BERT", "0.auto_model.encoder.layer.5.attention.output.LayerNorm.weight",
       "0.auto_model.blocks.5.norm1.weight"},
      {"BERT", "bert.embeddings.LayerNorm.gamma", "bert.norm.weight"},
      {"Keras 3", "layers.multi_head_attention_1.query_dense.vars.0",
       "multi_head_attention_1.W_q.weight"},
      {"Keras 3", "encoder._output_dense.vars.1", "encoder.W_o.bias"},
      {"Keras 3", "layers.functional.layers.embedding.vars.0", "functional.embedding.weight"},
      {"Keras 2", "model_weights.dense_1.dense_1.kernel:0", "dense_1.weight"},
      {"Keras 2", "attention.my_model.attention.attention_output.bias:0",
       "my_model.attention.W_o.bias"},
      {"GPT-2 of TensorFlow", "transformer.model.transformer.h_._10.ln_2.gamma:0",
       "transformer.model.blocks.10.norm2.weight"},
      {"BERT of TensorFlow", "bert.model.bert.embeddings.position_embeddings.embeddings:0",
       "bert.model.bert.positions.weight"},
  }));
  CHECK(weights_in(layout, theirs).size() == 1);
  CHECK(name_in(layout, theirs) == ours);
}

TEST_CASE("layouts: the guide names all of them", "[train]") {
  std::ifstream file(WEFT_SOURCE "/examples/guide/weights.md");
  const std::string guide(std::istreambuf_iterator<char>(file), {});
  const auto loadable = loadable_layouts();
  REQUIRE(loadable.size() == 14);
  for (const std::string& name : loadable) CHECK_THAT(guide, Catch::Contains('`' + name + '`'));
  for (const auto& [layout, name] : layout_names)
    CHECK_THAT(guide, Catch::Contains('`' + std::string(name) + '`') ||
                          Catch::Contains("Layout::" + std::string(name)));
  for (const char* name : {"Keras 2", "Keras 3", "GPT-NeoX", "BLOOM"})
    CHECK(std::ranges::count(convertible_layouts(), name) == 0);
  CHECK(convertible_layouts().size() == loadable.size() + 1 - 4);
}

TEST_CASE("layouts: names that are not those of a layer stay, also in part", "[train]") {
  for (const char* name : {"h.x.ln_1", "h..ln_1", "h.0", "wtex", "h.0.ln_10", "xh.0.ln_1.weight",
                           "", ".", "a..b", "a.", "lm_heads.bias"})
    CHECK(name_in("nanoGPT", name) == name);
  for (const char* name : {"kernel.a", "embeddings.weight", "encoder.layer.a.output.dense.weight"})
    CHECK(name_in("BERT", name) == name);
  CHECK(name_in("Keras 2", "a.kernel.gamma.beta:0") == "kernel.gamma.bias");
  CHECK(name_in("Keras 3", "layers.vars.vars.1") == "vars.bias");
}

TEST_CASE("layouts: packed weights are the equal parts of a dataset", "[train]") {
  CHECK(weights_in("nanoGPT", "a.transformer.h.10.attn.c_attn.bias") ==
        Parts{{"a.blocks.10.attention.W_q.bias", 0, 3},
              {"a.blocks.10.attention.W_k.bias", 1, 3},
              {"a.blocks.10.attention.W_v.bias", 2, 3}});
  CHECK(weights_in("GPT-2", "h.0.attn.c_attn.weight").at(1) ==
        WeightPart{"blocks.0.attention.W_k.weight", 1, 3, true});
  CHECK(weights_in("Keras 3", "layers.gru.cell.vars.2").at(1) ==
        WeightPart{"gru.bias_hh_l0", 1, 2, true});
}

TEST_CASE("layouts: GPT-2 transposes its convolutions, TensorFlow its kernels", "[train]") {
  const auto is_transposed = [](const char* layout, const char* dataset) {
    return weights_in(layout, dataset).at(0).is_transposed;
  };
  CHECK(is_transposed("GPT-2", "h.0.mlp.c_fc.weight"));
  CHECK_FALSE(is_transposed("GPT-2", "wte.weight"));
  CHECK_FALSE(is_transposed("GPT-2", "lm_head.weight"));
  CHECK_FALSE(is_transposed("nanoGPT", "h.0.mlp.c_fc.weight"));
  CHECK(is_transposed("BERT of TensorFlow", "bert.encoder.layer_._0.output.dense.kernel:0"));
  CHECK_FALSE(is_transposed("BERT of TensorFlow", "embeddings.word_embeddings.weight:0"));
  CHECK_FALSE(is_transposed("BERT of TensorFlow", "embeddings.position_embeddings.embeddings:0"));
}

TEST_CASE("layouts: datasets without a weight of the model are optional", "[train]") {
  const auto is_optional = [](const char* layout, const char* dataset) {
    return weights_in(layout, dataset).at(0).is_optional;
  };
  CHECK(is_optional("nanoGPT", "transformer.h.0.attn.bias"));
  CHECK(is_optional("GPT-2", "h.0.attn.masked_bias"));
  CHECK_FALSE(is_optional("GPT-2", "h.0.attn.c_attn.bias"));
  CHECK(is_optional("BERT", "bert.pooler.dense.weight"));
  CHECK(is_optional("BERT of TensorFlow", "bert.pooler.dense.kernel:0"));
  CHECK(is_optional("BERT", "bert.embeddings.position_ids"));
  CHECK(is_optional("Keras 3", "optimizer.vars.0"));
  CHECK(is_optional("Keras 3", "layers.dropout.seed_generator.vars.0"));
  CHECK(is_optional("Keras 2", "optimizer_weights.Adam.iter:0"));
  CHECK(is_optional("Keras 2", "model_weights.top_level_model_weights.a:0"));
}

TEST_CASE("layouts: the names of the datasets that are written", "[train]") {
  const auto dataset_of = [](const char* layout, const char* weight) {
    return weight_layout(layout).dataset_of(weight);
  };
  CHECK(dataset_of("nanoGPT", "blocks.3.norm1.weight").name == "transformer.h.3.ln_1.weight");
  CHECK(dataset_of("GPT-2", "blocks.3.attention.W_k.bias") ==
        WeightPart{"transformer.h.3.attn.c_attn.bias", 1, 3, true});
  CHECK(dataset_of("nanoGPT", "blocks.12.ffn.dense2.weight") ==
        WeightPart{"transformer.h.12.mlp.c_proj.weight"});
  CHECK(dataset_of("GPT-2", "output.weight") == WeightPart{"lm_head.weight"});
  CHECK(dataset_of("BERT", "blocks.0.norm1.bias").name ==
        "encoder.layer.0.attention.output.LayerNorm.bias");
  CHECK(dataset_of("T5", "encoder.2.attention.W_q.weight").name ==
        "encoder.block.2.layer.0.SelfAttention.q.weight");
  CHECK(dataset_of("T5", "decoder.0.ffn.w2.weight").name ==
        "decoder.block.0.layer.2.DenseReluDense.wo.weight");
  CHECK(dataset_of("T5", "decoder.position_bias.weight").name ==
        "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight");
  CHECK(dataset_of("GPT-NeoX", "output.weight").name == "embed_out.weight");
  CHECK(dataset_of("GPT-NeoX", "blocks.1.attention.W_v.bias") ==
        WeightPart{"gpt_neox.layers.1.attention.query_key_value.bias", 2, 3});
  for (const char* unknown : {"encoder.0.attention.weight.a", "encoder.W_x.weight", "W_q"})
    CHECK(dataset_of("T5", unknown).name.empty());
  for (const char* unknown : {"blocks.3.W_x.weight", "norm.weight", "a.blocks.3.norm1.weight",
                              "blocks.3.norm1.a.weight", "tokens", "blocks.3.norm1", ""})
    CHECK(dataset_of("GPT-2", unknown).name.empty());
  // What is written is read as what it was.
  for (const char* layout : {"nanoGPT", "GPT-2", "BERT"})
    for (const char* weight : {"tokens.weight", "positions.weight", "blocks.11.norm2.bias",
                               "blocks.0.attention.W_o.weight", "blocks.7.ffn.dense1.bias"})
      CHECK(name_in(layout, dataset_of(layout, weight).name) == weight);
  for (const char* weight : {"source_embedding.weight", "encoder.norm.weight", "output.weight",
                             "encoder.1.ffn.w1.weight", "decoder.3.cross_attention.W_o.weight"})
    CHECK(name_in("T5 with gates", dataset_of("T5", weight).name) == weight);
}

TEST_CASE("nearness: few characters, or the same last parts", "[train]") {
  const auto of = [](const std::string& name, const std::string& other) {
    const Nearness result = nearness(name, other);
    return std::pair(result.is_similar, result.distance);
  };
  CHECK(of("encoder.0.weight", "encoder.1.weight") == std::pair(true, std::size_t{1}));
  CHECK(of("encoder.0.weight", "decoder.0.weight") == std::pair(true, std::size_t{2}));
  CHECK(of("embed.weight", "embeddings.weight") == std::pair(false, std::size_t{5}));
  CHECK(of("a.b.norm1.weight", "some.longer.names.norm1.weight").first);
  CHECK_FALSE(of("a.b.norm1.weight", "some.longer.names.xnorm1.weight").first);
  CHECK_FALSE(of("weight", "layers.7.weight").first);
  CHECK(of("abcd", "abcx") == std::pair(true, std::size_t{1}));
  CHECK(of("abc", "abx") == std::pair(false, std::size_t{1}));
  CHECK(of("a", "b") == std::pair(false, std::size_t{1}));
  CHECK(of("", "") == std::pair(true, std::size_t{0}));
  CHECK(of(std::string(100'000, 'a'), std::string(100'000, 'b')).second == 100);
}

}  // namespace weft
