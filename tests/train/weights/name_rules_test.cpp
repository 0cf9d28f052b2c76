// Names of weights in other programs and in weft.
#include "train/weights/internal/name_rules.hpp"

#include "tests/catch.hpp"
#include "train/weights/internal/layouts.hpp"
#include "train/weights/internal/nearest_names.hpp"

namespace weft {
namespace {

using Parts = std::vector<WeightPart>;

}  // namespace

TEST_CASE("name rules: parts are replaced, others copied", "[train]") {
  const NameRules rules{{"h.#.ln_1", "blocks.#.norm"},
                        {"h.#.c_attn", "blocks.#.W_q|W_k"},
                        {"top?.wte", "tokens"},
                        {"layers", ""},
                        {"block#", "#"},
                        {"kernel$", "weight"}};
  CHECK(rules.ours("h.12.ln_1.weight") == Parts{{"blocks.12.norm.weight"}});
  CHECK(rules.ours("a.h.0.ln_1") == Parts{{"a.blocks.0.norm"}});
  CHECK(rules.ours("h.0.c_attn.bias") ==
        Parts{{"blocks.0.W_q.bias", 0, 2}, {"blocks.0.W_k.bias", 1, 2}});
  CHECK(rules.ours("top.wte.weight") == Parts{{"tokens.weight"}});
  CHECK(rules.ours("wte.weight") == Parts{{"tokens.weight"}});
  CHECK(rules.ours("layers.dense.layers.kernel") == Parts{{"dense.weight"}});
  CHECK(rules.ours("block07.kernel.x") == Parts{{"07.kernel.x"}});
  for (const std::string name :
       {"h.x.ln_1", "h..ln_1", "h.0", "top", "block", "blockx", "", ".", "a..b", "kernel.", "wtex"})
    CHECK(rules.ours(name) == Parts{{name}});
}

TEST_CASE("name rules: the same rules give the names of datasets", "[train]") {
  const NameRules rules = NameRules{
      {"top?.h.#.ln_1", "blocks.#.norm"},
      {"top?.h.#.c_attn",
       "blocks.#.W_q|W_k"}}.also_reading({{"gamma$", "weight"}});
  CHECK(rules.theirs("blocks.3.norm.weight") == WeightPart{"top.h.3.ln_1.weight"});
  CHECK(rules.theirs("blocks.3.W_k.bias") == WeightPart{"top.h.3.c_attn.bias", 1, 2});
  CHECK(rules.ours("top.h.3.ln_1.gamma") == Parts{{"blocks.3.norm.weight"}});
  for (const char* unknown : {"blocks.3.W_o.weight", "norm.weight", "a.blocks.3.norm.weight"})
    CHECK(rules.theirs(unknown).name.empty());
}

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
  CHECK(weights_in(weight_layout(layout), theirs) == Parts{{ours}});
}

TEST_CASE("nearest names: those with the fewest different parts come first", "[train]") {
  const std::vector<std::string> names{"decoder.weight", "encoder.1.weight", "encoder.0.bias",
                                       "encoder.10.weight", ""};
  CHECK(nearest_names("encoder.0.weight", names) ==
        std::vector<std::string>{"encoder.1.weight", "encoder.10.weight", "encoder.0.bias"});
  CHECK(nearest_names("a", {"b"}) == std::vector<std::string>{"b"});
  CHECK(nearest_names("a", {}).empty());
  CHECK(nearest_names(std::string(100'000, 'a'), {std::string(100'000, 'b')}).size() == 1);
}

}  // namespace weft
