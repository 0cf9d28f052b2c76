#include "train/weights/internal/layouts.hpp"

#include <algorithm>
#include <array>

#include "weft/autograd/error.hpp"
#include "weft/train/weights/convert_weights.hpp"
#include "weft/train/weights/load_weights.hpp"

namespace weft {
namespace {

constexpr NameRow gpt_names[] = {
    {"wte", "tokens"},
    {"wpe", "positions"},
    {"h.#.ln_1", "blocks.#.norm1"},
    {"h.#.attn.c_attn", "blocks.#.attention.W_q", 0, 3},
    {"h.#.attn.c_attn", "blocks.#.attention.W_k", 1, 3},
    {"h.#.attn.c_attn", "blocks.#.attention.W_v", 2, 3},
    {"h.#.attn.c_proj", "blocks.#.attention.W_o"},
    {"h.#.ln_2", "blocks.#.norm2"},
    {"h.#.mlp.c_fc", "blocks.#.ffn.dense1"},
    {"h.#.mlp.c_proj", "blocks.#.ffn.dense2"},
    {"ln_f", "blocks.norm"},
    {"lm_head", "output"},
};

constexpr NameRow llama_names[] = {
    {"embed_tokens", "tokens"},
    {"layers.#.input_layernorm", "blocks.#.norm1"},
    {"layers.#.self_attn.q_proj", "blocks.#.attention.W_q"},
    {"layers.#.self_attn.k_proj", "blocks.#.attention.W_k"},
    {"layers.#.self_attn.v_proj", "blocks.#.attention.W_v"},
    {"layers.#.self_attn.o_proj", "blocks.#.attention.W_o"},
    {"layers.#.self_attn.q_norm", "blocks.#.attention.q_norm"},
    {"layers.#.self_attn.k_norm", "blocks.#.attention.k_norm"},
    {"layers.#.post_attention_layernorm", "blocks.#.norm2"},
    {"layers.#.mlp.gate_proj", "blocks.#.ffn.w1"},
    {"layers.#.mlp.down_proj", "blocks.#.ffn.w2"},
    {"layers.#.mlp.up_proj", "blocks.#.ffn.w3"},
    {"norm", "blocks.norm"},
    {"lm_head", "output"},
};

constexpr NameRow gpt_neox_names[] = {
    {"embed_in", "tokens"},
    {"layers.#.input_layernorm", "blocks.#.norm1"},
    {"layers.#.attention.query_key_value", "blocks.#.attention.W_q", 0, 3},
    {"layers.#.attention.query_key_value", "blocks.#.attention.W_k", 1, 3},
    {"layers.#.attention.query_key_value", "blocks.#.attention.W_v", 2, 3},
    {"layers.#.attention.dense", "blocks.#.attention.W_o"},
    {"layers.#.post_attention_layernorm", "blocks.#.norm2"},
    {"layers.#.mlp.dense_h_to_4h", "blocks.#.ffn.dense1"},
    {"layers.#.mlp.dense_4h_to_h", "blocks.#.ffn.dense2"},
    {"final_layer_norm", "blocks.norm"},
    {"embed_out", "output"},
    {"lm_head", "output"},  // in transformers 5
};

constexpr NameRow bloom_names[] = {
    {"word_embeddings", "tokens"},
    {"word_embeddings_layernorm", "norm"},
    {"h.#.input_layernorm", "blocks.#.norm1"},
    {"h.#.self_attention.query_key_value", "blocks.#.attention.W_q", 0, 3},
    {"h.#.self_attention.query_key_value", "blocks.#.attention.W_k", 1, 3},
    {"h.#.self_attention.query_key_value", "blocks.#.attention.W_v", 2, 3},
    {"h.#.self_attention.dense", "blocks.#.attention.W_o"},
    {"h.#.post_attention_layernorm", "blocks.#.norm2"},
    {"h.#.mlp.dense_h_to_4h", "blocks.#.ffn.dense1"},
    {"h.#.mlp.dense_4h_to_h", "blocks.#.ffn.dense2"},
    {"ln_f", "blocks.norm"},
    {"lm_head", "output"},
};

// Returns the names of T5. Its feed-forward network is gated in later versions, and `wo` is weft's
// name of its last layer when reading. The two rows after `wo` are used for writing.
constexpr std::array<NameRow, 27> t5_names(std::string_view wo) {
  return {{
      {"shared", "source_embedding"},
      {"decoder.embed_tokens", "target_embedding"},
      {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias", "encoder.position_bias"},
      {"encoder.block.#.layer.0.SelfAttention", "encoder.#.attention"},
      {"encoder.block.#.layer.0.layer_norm", "encoder.#.norm1"},
      {"encoder.block.#.layer.1.DenseReluDense", "encoder.#.ffn"},
      {"encoder.block.#.layer.1.layer_norm", "encoder.#.norm2"},
      {"encoder.final_layer_norm", "encoder.norm"},
      {"decoder.block.0.layer.0.SelfAttention.relative_attention_bias", "decoder.position_bias"},
      {"decoder.block.#.layer.0.SelfAttention", "decoder.#.self_attention"},
      {"decoder.block.#.layer.0.layer_norm", "decoder.#.norm1"},
      {"decoder.block.#.layer.1.EncDecAttention", "decoder.#.cross_attention"},
      {"decoder.block.#.layer.1.layer_norm", "decoder.#.norm2"},
      {"decoder.block.#.layer.2.DenseReluDense", "decoder.#.ffn"},
      {"decoder.block.#.layer.2.layer_norm", "decoder.#.norm3"},
      {"decoder.final_layer_norm", "decoder.norm"},
      {"q", "W_q"},
      {"k", "W_k"},
      {"v", "W_v"},
      {"o", "W_o"},
      {"wi", "dense1"},
      {"wi_0", "w1"},
      {"wi_1", "w3"},
      {"wo", wo},
      {"wo", "dense2"},
      {"wo", "w2"},
      {"lm_head", "output"},
  }};
}
constexpr auto t5_plain_names = t5_names("dense2"), t5_gated_names = t5_names("w2");

constexpr NameRow bert_names[] = {
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

// Attention of Keras 2; recurrent layers and BatchNormalization; other layers of Keras 3.
constexpr NameRow keras_names[] = {
    {"query", "W_q"},
    {"key", "W_k"},
    {"value", "W_v"},
    {"attention_output", "W_o"},
    {"forward_layer", ""},
    {"backward_layer.cell.vars.0", "weight_ih_l0_reverse"},
    {"backward_layer.cell.vars.1", "weight_hh_l0_reverse"},
    {"backward_layer.cell.vars.2", "bias_ih_l0_reverse", 0, 2},
    {"backward_layer.cell.vars.2", "bias_hh_l0_reverse", 1, 2},
    {"cell.vars.0", "weight_ih_l0"},
    {"cell.vars.1", "weight_hh_l0"},
    {"cell.vars.2", "bias_ih_l0", 0, 2},
    {"cell.vars.2", "bias_hh_l0", 1, 2},
    {"moving_mean", "running_mean"},
    {"moving_variance", "running_var"},
    {"vars.2", "running_mean"},
    {"vars.3", "running_var"},
    {"layers", ""},
    {"query_dense", "W_q"},
    {"key_dense", "W_k"},
    {"value_dense", "W_v"},
    {"output_dense", "W_o"},
    {"_query_dense", "W_q"},
    {"_key_dense", "W_k"},
    {"_value_dense", "W_v"},
    {"_output_dense", "W_o"},
    {"vars.0", "weight"},
    {"vars.1", "bias"},
};
constexpr std::span<const NameRow> keras_2_names(keras_names, 15),
    keras_3_names(keras_names + 4, std::size(keras_names) - 4);

// A common form of the names of torch.nn's modules, of the blocks of d2l.ai and of weft's blocks.
constexpr NameRow module_names[] = {
    // torch.nn.MultiheadAttention
    {"in_proj_weight", "W_q.weight", 0, 3},
    {"in_proj_weight", "W_k.weight", 1, 3},
    {"in_proj_weight", "W_v.weight", 2, 3},
    {"in_proj_bias", "W_q.bias", 0, 3},
    {"in_proj_bias", "W_k.bias", 1, 3},
    {"in_proj_bias", "W_v.bias", 2, 3},
    {"q_proj_weight", "W_q.weight"},
    {"k_proj_weight", "W_k.weight"},
    {"v_proj_weight", "W_v.weight"},
    {"out_proj", "W_o"},
    // torch.nn.TransformerEncoder and TransformerDecoder, and their layers
    {"layers.#", "#"},
    {"linear1", "ffn.dense1"},
    {"linear2", "ffn.dense2"},
    // TransformerEncoderBlock of d2l.ai
    {"block#", "#"},
    {"addnorm#.ln", "norm#"},
    {"addnorm#", "norm#"},
    // The attention of torch.nn's blocks, of weft's TransformerEncoderBlock, and of d2l.ai's
    {"self_attn", "self_attention"},
    {"multihead_attn", "cross_attention"},
    {"attention", "self_attention"},
    {"attention1", "self_attention"},
    {"attention2", "cross_attention"},
};
// All rows except for the names of attention, for models that contain several of these names.
constexpr std::span<const NameRow> distinct_module_names(module_names, std::size(module_names) - 5);

// A match of a NameRow in a name: its end, and the number that matched '#'.
struct Found {
  std::size_t end;
  std::string_view number;
};

std::optional<Found> find_at(std::string_view name, std::size_t begin, std::string_view parts) {
  Found found{begin, ""};
  for (const char c : parts)
    if (c == '#') {
      const std::size_t end = name.find_first_not_of("0123456789", found.end);
      found.number = name.substr(found.end, end - found.end);
      if (found.number.empty()) return std::nullopt;
      found.end += found.number.size();
    } else if (found.end == name.size() || name[found.end++] != c) {
      return std::nullopt;
    }
  const bool is_whole = found.end == name.size() || name[found.end] == '.';
  return is_whole ? std::optional(found) : std::nullopt;
}

std::string with_number(std::string_view parts, std::string_view number) {
  std::string text(parts);
  if (const std::size_t place = text.find('#'); place != text.npos) text.replace(place, 1, number);
  return text;
}

// Translates a name from left to right. At each part, the first row that matches is applied; parts
// without a match are copied.
std::vector<WeightPart> in_weft(std::string_view name, std::span<const NameRow> names) {
  std::vector<WeightPart> weights{{}};
  for (std::size_t at = 0, end; at <= name.size(); at = end + 1) {
    std::optional<Found> found;
    auto row = names.begin();
    while (row != names.end() && !(found = find_at(name, at, row->theirs))) ++row;
    end = found ? found->end : std::min(name.find('.', at), name.size());
    const bool is_packed = found && row->parts > 1;
    if (is_packed) weights.assign(static_cast<std::size_t>(row->parts), weights.front());
    for (WeightPart& weight : weights) {
      weight.name += found ? with_number(row->ours, found->number) : name.substr(at, end - at);
      if (end < name.size() && !(found && row->ours.empty())) weight.name += '.';
      if (!is_packed) continue;
      weight.part = row->part;
      weight.parts = row->parts;
      ++row;
    }
  }
  return weights;
}

// Returns the dataset of a weight (the inverse of in_weft). Its name is empty unless the rows cover
// the whole name of the weight's layer.
WeightPart in_file(std::string_view name, std::span<const NameRow> names) {
  const std::size_t variable = name.rfind('.') + 1;
  WeightPart dataset;
  for (std::size_t at = 0; at < variable;) {
    std::optional<Found> found;
    auto row = names.begin();
    while (row != names.end() && !(found = find_at(name, at, row->ours))) ++row;
    if (!found || found->end >= variable) return {};
    dataset.name += with_number(row->theirs, found->number) + '.';
    dataset.part = row->part;
    dataset.parts = row->parts;
    at = found->end + 1;
  }
  if (!dataset.name.empty()) dataset.name += name.substr(variable);
  return dataset;
}

std::string without_end(std::string name, std::string_view end) {
  if (name.ends_with(end)) name.resize(name.size() - end.size());
  return name;
}

// Replaces TensorFlow's names of variables by PyTorch's. PyTorch files from before 2019 also
// contain TensorFlow's names.
std::string with_pytorch_variable(std::string name) {
  const std::string variable = name.substr(name.rfind('.') + 1);
  name.resize(name.size() - variable.size());
  if (variable == "kernel" || variable == "embeddings" || variable == "gamma")
    return name + "weight";
  return name + (variable == "beta" ? "bias" : variable);
}

// Translates a name of transformers' TensorFlow models to PyTorch's: "h_._0/ln_1/gamma:0".
std::string without_tensorflow(std::string name) {
  name = without_end(std::move(name), ":0");
  for (std::size_t at = 0; (at = name.find("_._", at)) != name.npos; ++at)
    name.erase(at + 2, 1).erase(at, 1);
  return with_pytorch_variable(std::move(name));
}

// Removes the group "transformer", which files of a GPT without a head do not have.
std::string without_transformer(std::string name) {
  const std::string group = "transformer.";
  if (const std::size_t at = name.rfind(group); at != name.npos && (at == 0 || name[at - 1] == '.'))
    name.erase(at, group.size());
  return name;
}

std::string without_start(std::string name, std::string_view start) {
  if (name.starts_with(start)) name.erase(0, start.size());
  return name;
}

// Removes the groups of Keras 2: the weights of each layer are below a group with the layer's name;
// the weights of a whole model are below /model_weights.
std::string without_keras_2_groups(std::string name) {
  const std::string model = "model_weights.";
  if (name.starts_with(model)) name.erase(0, model.size());
  name.erase(0, name.find('.') + 1);
  return with_pytorch_variable(without_end(std::move(name), ":0"));
}

// Returns whether `name`, with '/' added at both ends, contains one of `texts`.
bool has_any(const std::vector<std::string_view>& texts, const std::string& name) {
  return std::ranges::any_of(texts, [slashed = '/' + name + '/'](std::string_view text) {
    return slashed.find(text) != slashed.npos;
  });
}

bool is_tall(const Shape& shape) { return shape.rank() == 2 && shape[0] > shape[1]; }
bool is_wide(const Shape& shape) { return shape.rank() == 2 && shape[0] < shape[1]; }

std::vector<WeightLayout> make_layouts() {
  const std::vector<std::pair<std::string, std::string>> copies_of_t5{
      {"shared.weight", "encoder.embed_tokens.weight"}};
  // Copies of the embedding, and a bias in the first published files of T5.
  const std::vector<std::string_view> unused_of_t5{"/encoder.embed_tokens.",
                                                   "/decoder.embed_tokens.",
                                                   ".EncDecAttention.relative_attention_bias."};
  // A counter of torch.nn.BatchNorm1d.
  const std::vector<std::string_view> unused_of_torch{"num_batches_tracked/"};
  return {
      // Files written by save_weights, and state_dicts of models with the same names.
      {.name = "state_dict", .optional = unused_of_torch},
      {.name = "nanoGPT",
       .written_as = Layout::nanogpt,
       .marks = {"h.0.attn.c_attn.weight"},
       .may_have = is_tall,
       .rows = gpt_names,
       .has_all_names = true,
       .group = "transformer.",
       .spelling = without_transformer,
       .optional = {".attn.bias/", ".attn.masked_bias/"}},
      {.name = "GPT-2",
       .written_as = Layout::gpt2,
       .marks = {"h.0.attn.c_attn.weight"},
       .may_have = is_wide,
       .rows = gpt_names,
       .has_all_names = true,
       .group = "transformer.",
       .spelling = without_transformer,
       .optional = {".attn.bias/", ".attn.masked_bias/"},
       .transposed = {".attn.c_", ".mlp.c_"},
       .has_all_biases = true},
      {.name = "Llama",
       .written_as = Layout::llama,
       .marks = {"layers.0.self_attn.q_proj.weight"},
       .rows = llama_names,
       .has_all_names = true,
       .group = "model.",
       .spelling = [](std::string name) { return without_start(std::move(name), "model."); },
       .optional = {".rotary_emb.inv_freq/"},
       .has_rotary_halves = true},
      {.name = "GPT-NeoX",
       .written_as = Layout::gpt_neox,
       .marks = {"layers.0.attention.query_key_value.weight"},
       .rows = gpt_neox_names,
       .has_all_names = true,
       .group = "gpt_neox.",
       .spelling = [](std::string name) { return without_start(std::move(name), "gpt_neox."); },
       .optional = {".attention.bias/", ".attention.masked_bias/", ".rotary_emb.inv_freq/"},
       .has_rotary_halves = true,
       .packs_by_head = true},
      {.name = "BLOOM",
       .written_as = Layout::bloom,
       .marks = {"h.0.self_attention.query_key_value.weight"},
       .rows = bloom_names,
       .has_all_names = true,
       .group = "transformer.",
       .spelling = without_transformer,
       .packs_by_head = true},
      {.name = "T5",
       .written_as = Layout::t5,
       .marks = {".DenseReluDense.wi.weight"},
       .rows = t5_plain_names,
       .has_all_names = true,
       .copies = copies_of_t5,
       .optional = unused_of_t5},
      {.name = "T5 with gates",
       .marks = {".DenseReluDense.wi_0.weight"},
       .rows = t5_gated_names,
       .has_all_names = true,
       .copies = copies_of_t5,
       .optional = unused_of_t5},
      {.name = "BERT",
       .written_as = Layout::bert,
       .marks = {"embeddings.word_embeddings.weight"},
       .rows = bert_names,
       .has_all_names = true,
       .spelling = with_pytorch_variable,
       .optional = {"embeddings.position_ids/", "pooler.dense."},
       .anchor = token_embedding},
      {.name = "Keras 3",
       .marks = {".vars.0"},
       .rows = keras_3_names,
       .optional = {"/optimizer.", "seed_generator.vars."},
       .transposed = {""},
       .splits_axes = true,
       .has_keras_cells = true},
      {.name = "GPT-2 of TensorFlow",
       .marks = {"h_._0.attn.c_attn.weight:0"},
       .rows = gpt_names,
       .has_all_names = true,
       .spelling =
           [](std::string name) {
             return without_transformer(without_tensorflow(std::move(name)));
           },
       .transposed = {".attn.c_", ".mlp.c_"},
       .anchor = token_embedding,
       .splits_axes = true},
      {.name = "BERT of TensorFlow",
       .marks = {"embeddings.word_embeddings.weight:0"},
       .rows = bert_names,
       .has_all_names = true,
       .spelling = without_tensorflow,
       .optional = {"embeddings.position_ids/", "pooler.dense."},
       .transposed = {".kernel:0/"},
       .anchor = token_embedding,
       .splits_axes = true},
      {.name = "Keras 2",
       .marks = {".kernel:0", ".embeddings:0", ".gamma:0", ".kernel", ".embeddings", ".gamma"},
       .foreign = ".weight",
       .rows = keras_2_names,
       .spelling = without_keras_2_groups,
       .optional = {"/optimizer_weights.", "top_level_model_weights."},
       .transposed = {""},
       .splits_axes = true,
       .has_keras_cells = true},
      {.name = "PyTorch modules",
       .rows = distinct_module_names,
       .optional = unused_of_torch,
       .rewrites_model = true,
       .has_all_biases = true},
      {.name = "PyTorch modules",
       .rows = module_names,
       .optional = unused_of_torch,
       .rewrites_model = true,
       .has_all_biases = true},
  };
}

}  // namespace

std::vector<WeightPart> WeightLayout::weights_in(const std::string& dataset) const {
  std::vector<WeightPart> weights = in_weft(spelling ? spelling(dataset) : dataset, rows);
  for (WeightPart& weight : weights) {
    weight.is_transposed = has_any(transposed, dataset);
    weight.is_optional = has_any(optional, dataset);
  }
  return weights;
}

WeightPart WeightLayout::dataset_of(const std::string& weight) const {
  if (!has_all_names) return {weight};
  WeightPart dataset = in_file(weight, rows);
  if (dataset.name.empty()) return dataset;
  if (!weight.starts_with("output.")) dataset.name.insert(0, group);
  dataset.is_transposed = has_any(transposed, dataset.name);
  return dataset;
}

std::vector<std::string> loadable_layouts() {
  std::vector<std::string> names;
  for (const WeightLayout& layout : weight_layouts())
    if (names.empty() || names.back() != layout.name) names.push_back(layout.name);
  return names;
}

std::vector<std::string> convertible_layouts() {
  std::vector<std::string> names = loadable_layouts();
  std::erase_if(names,
                [](const std::string& name) { return !weight_layout(name).is_convertible(); });
  names.insert(names.begin(), "weft");
  return names;
}

const std::vector<WeightLayout>& weight_layouts() {
  static const std::vector<WeightLayout> layouts = make_layouts();
  return layouts;
}

const WeightLayout& weight_layout(std::string_view name) {
  const std::vector<WeightLayout>& all = weight_layouts();
  const auto layout = std::find_if(all.rbegin(), all.rend(), [&](const WeightLayout& candidate) {
    return candidate.name == name;
  });
  if (layout == all.rend())
    fail<ValueError>("layout", "the name of a layout", str_cat('\'', name, '\''));
  return *layout;
}

const WeightLayout& weight_layout(Layout written) {
  const auto layout =
      std::ranges::find(weight_layouts(), std::optional(written), &WeightLayout::written_as);
  return layout == weight_layouts().end() ? weight_layout("state_dict") : *layout;
}

}  // namespace weft
