#include "train/weights/internal/layouts.hpp"

#include <algorithm>

#include "weft/autograd/error.hpp"
#include "train/weights/internal/name_pattern.hpp"

namespace weft {
namespace {

using enum LayoutMark::Shape;

const NameRules gpt_names{
    {"transformer?.wte", "tokens"},
    {"transformer?.wpe", "positions"},
    {"transformer?.h.#.ln_1", "blocks.#.norm1"},
    {"transformer?.h.#.attn.c_attn", "blocks.#.attention.W_q|W_k|W_v"},
    {"transformer?.h.#.attn.c_proj", "blocks.#.attention.W_o"},
    {"transformer?.h.#.ln_2", "blocks.#.norm2"},
    {"transformer?.h.#.mlp.c_fc", "blocks.#.ffn.dense1"},
    {"transformer?.h.#.mlp.c_proj", "blocks.#.ffn.dense2"},
    {"transformer?.ln_f", "blocks.norm"},
    {"lm_head", "output"},
};

const NameRules bert_names{
    {"embeddings.word_embeddings", "tokens"},
    {"embeddings.position_embeddings", "positions"},
    {"embeddings.token_type_embeddings", "segments"},
    {"embeddings.LayerNorm", "norm"},
    {"encoder.layer.#.attention.self.query", "blocks.#.attention.W_q"},
    {"encoder.layer.#.attention.self.key", "blocks.#.attention.W_k"},
    {"encoder.layer.#.attention.self.value", "blocks.#.attention.W_v"},
    {"encoder.layer.#.attention.output.dense", "blocks.#.attention.W_o"},
    {"encoder.layer.#.attention.output.LayerNorm", "blocks.#.norm1"},
    {"encoder.layer.#.intermediate.dense", "blocks.#.ffn.dense1"},
    {"encoder.layer.#.output.dense", "blocks.#.ffn.dense2"},
    {"encoder.layer.#.output.LayerNorm", "blocks.#.norm2"},
    {"pooler.dense", "pooler"},
};

// TensorFlow's, and PyTorch's in files of before 2019.
const NameRules variable_names{
    {"kernel$", "weight"},
    {"embeddings$", "weight"},
    {"gamma$", "weight"},
    {"beta$", "bias"},
};

const NameRules keras_3_names{
    {"layers", ""},
    {"query_dense", "W_q"},
    {"key_dense", "W_k"},
    {"value_dense", "W_v"},
    {"output_dense", "W_o"},
    // Keras 3.0.
    {"_query_dense", "W_q"},
    {"_key_dense", "W_k"},
    {"_value_dense", "W_v"},
    {"_output_dense", "W_o"},
    // GRU, LSTM and SimpleRNN.
    {"cell.vars.0$", "weight_ih_l0"},
    {"cell.vars.1$", "weight_hh_l0"},
    {"cell.vars.2$", "bias_ih_l0|bias_hh_l0"},
    {"vars.0$", "weight"},
    {"vars.1$", "bias"},
};

const NameRules keras_2_names{
    {"query", "W_q"},
    {"key", "W_k"},
    {"value", "W_v"},
    {"attention_output", "W_o"},
};

// The modules of torch.nn, the blocks of the d2l.ai book and those of weft have other names for the
// same. This is their common form.
const NameRules module_names{
    // torch.nn.MultiheadAttention
    {"in_proj_weight$", "W_q|W_k|W_v.weight"},
    {"in_proj_bias$", "W_q|W_k|W_v.bias"},
    {"q_proj_weight", "W_q.weight"},
    {"k_proj_weight", "W_k.weight"},
    {"v_proj_weight", "W_v.weight"},
    {"out_proj", "W_o"},
    // torch.nn.TransformerEncoder and TransformerDecoder, and their layers
    {"layers.#", "#"},
    {"self_attn", "self_attention"},
    {"multihead_attn", "cross_attention"},
    {"linear1", "ffn.dense1"},
    {"linear2", "ffn.dense2"},
    // TransformerEncoderBlock of weft and of d2l.ai, and d2l.ai's TransformerDecoderBlock
    {"block#", "#"},
    {"attention", "self_attention"},
    {"attention1", "self_attention"},
    {"attention2", "cross_attention"},
    {"addnorm#.ln", "norm#"},
    {"addnorm#", "norm#"},
};

// Names of TensorFlow's variables, and of the layers in transformers' models.
const std::vector<TextRule> tensorflow_texts{{":0", ""}, {"_._", "."}};

const std::vector<WeightLayout> layouts{
    // What save_weights writes, and state_dicts of models with the same names.
    {.name = "state_dict"},
    {.name = "nanoGPT",
     .marks = {{"*h.0.attn.c_attn.weight", tall}},
     .rules = gpt_names,
     // Causal masks.
     .extras = {"*.attn.bias", "*.attn.masked_bias"}},
    {.name = "GPT-2",
     .marks = {{"*h.0.attn.c_attn.weight", wide}},
     .rules = gpt_names,
     .extras = {"*.attn.bias", "*.attn.masked_bias"},
     .transposes_linear = true,
     .not_transposed = {"*lm_head.weight"},
     .has_all_biases = true},
    {.name = "BERT",
     .marks = {{"*embeddings.word_embeddings.weight"}},
     .rules = bert_names.also_reading(variable_names),
     .anchor = "tokens.weight",
     .extras = {"*embeddings.position_ids", "*pooler.dense.*"}},
    {.name = "Keras 3",
     .marks = {{"*.vars.0"}},
     .rules = keras_3_names,
     .extras = {"optimizer.*", "*seed_generator.vars.*"},
     .transposes_linear = true,
     .splits_axes = true,
     // Keras has z before r.
     .gate_orders = {{"GRU", {1, 0, 2}}},
     .layers_with_one_bias = {"LSTM", "RNN"}},
    {.name = "GPT-2 of TensorFlow",
     .marks = {{"*h_._0.attn.c_attn.weight:0"}},
     .texts = tensorflow_texts,
     .rules = gpt_names.also_reading(variable_names),
     .anchor = "tokens.weight",
     .transposes_linear = true,
     .splits_axes = true},
    {.name = "BERT of TensorFlow",
     .marks = {{"*embeddings.word_embeddings.weight:0"}},
     .texts = tensorflow_texts,
     .rules = bert_names.also_reading(variable_names),
     .anchor = "tokens.weight",
     .extras = {"*pooler.dense.*"},
     .transposes_linear = true,
     .splits_axes = true},
    {.name = "Keras 2",
     .marks = {{"*.kernel:0"},
               {"*.embeddings:0"},
               {"*.gamma:0"},
               {"*.kernel"},
               {"*.embeddings"},
               {"*.gamma"}},
     .texts = {{":0", ""}},
     .drops_first_group = true,
     .rules = keras_2_names.also_reading(variable_names),
     .extras = {"optimizer_weights.*", "*top_level_model_weights.*"},
     .transposes_linear = true,
     .splits_axes = true},
    {.name = "PyTorch modules", .rules = module_names, .rewrites_model = true},
};

// Keras 2 writes the weights of each layer below a group of its name, and those of a whole model
// below /model_weights.
void drop_first_group(std::string& name) {
  const std::string model = "model_weights.";
  if (name.starts_with(model)) name.erase(0, model.size());
  name.erase(0, name.find('.') + 1);
}

void replace_all(std::string& name, const TextRule& rule) {
  for (std::size_t at = 0; (at = name.find(rule.text, at)) != std::string::npos;
       at += rule.replacement.size())
    name.replace(at, rule.text.size(), rule.replacement);
}

}  // namespace

const std::vector<WeightLayout>& weight_layouts() { return layouts; }

const WeightLayout& weight_layout(const std::string& name) {
  const auto layout = std::ranges::find(layouts, name, &WeightLayout::name);
  if (layout == layouts.end()) fail<ValueError>("layout", "one that is known", name);
  return *layout;
}

std::vector<WeightPart> weights_in(const WeightLayout& layout, std::string name) {
  if (layout.drops_first_group) drop_first_group(name);
  for (const TextRule& rule : layout.texts) replace_all(name, rule);
  return layout.rules.ours(name);
}

bool is_extra(const WeightLayout& layout, const std::string& name) {
  return is_one_of(layout.extras, name);
}

}  // namespace weft
