#include "train/weights/internal/layouts.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

// Some parts of a dotted name in another program and in weft, where # is the same number in both.
// One dataset with several equal parts has a row for each, one after the other.
struct Names {
  std::string_view theirs, ours;
  Index part = 0, parts = 1;
};

constexpr Names gpt_names[] = {
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

constexpr Names bert_names[] = {
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

constexpr Names keras_3_names[] = {
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
    {"cell.vars.0", "weight_ih_l0"},
    {"cell.vars.1", "weight_hh_l0"},
    {"cell.vars.2", "bias_ih_l0", 0, 2},
    {"cell.vars.2", "bias_hh_l0", 1, 2},
    {"vars.0", "weight"},
    {"vars.1", "bias"},
};

constexpr Names keras_2_names[] = {
    {"query", "W_q"},
    {"key", "W_k"},
    {"value", "W_v"},
    {"attention_output", "W_o"},
};

// The modules of torch.nn, the blocks of the d2l.ai book and those of weft have other names for the
// same. This is their common form.
constexpr Names module_names[] = {
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

// Where the parts of a row end in a name, and the number that is there for #.
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

// Reads a name from left to right: what is in a row is replaced, by the first such row, and other
// parts are copied.
std::vector<WeightPart> in_weft(std::string_view name, std::span<const Names> names) {
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

// The dataset of a weight that is directly in a layer of the rows.
WeightPart in_file(std::string_view name, std::span<const Names> names) {
  const std::size_t layer_size = name.rfind('.');
  for (const Names& row : names)
    if (const auto found = find_at(name, 0, row.ours); found && found->end == layer_size)
      return {with_number(row.theirs, found->number).append(name.substr(layer_size)), row.part,
              row.parts};
  return {};
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// With PyTorch's names of variables for TensorFlow's, which PyTorch's files of before 2019 have,
// too.
std::string with_pytorch_variable(std::string name) {
  const std::string variable(last_part(name));
  name.resize(name.size() - variable.size());
  if (variable == "kernel" || variable == "embeddings" || variable == "gamma")
    return name + "weight";
  return name + (variable == "beta" ? "bias" : variable);
}

std::string without_end(std::string name, std::string_view end) {
  if (name.ends_with(end)) name.resize(name.size() - end.size());
  return name;
}

// transformers' names in TensorFlow: "h_._0/ln_1/gamma:0".
std::string without_tensorflow_marks(std::string name) {
  name = without_end(std::move(name), ":0");
  for (std::size_t at = 0; (at = name.find("_._", at)) != name.npos; ++at)
    name.erase(at + 2, 1).erase(at, 1);
  return name;
}

// nanoGPT's and GPT-2's. Of a model without a head, the names are not below "transformer".
std::vector<WeightPart> gpt_weights(std::string name) {
  const bool is_causal_mask = name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
  const std::string group = "transformer.";
  if (const std::size_t at = name.rfind(group); at != name.npos && (at == 0 || name[at - 1] == '.'))
    name.erase(at, group.size());
  std::vector<WeightPart> weights = in_weft(name, gpt_names);
  for (WeightPart& weight : weights) weight.is_optional = is_causal_mask;
  return weights;
}

WeightPart gpt_dataset(const std::string& weight) {
  WeightPart dataset = in_file(weight, gpt_names);
  if (!dataset.name.empty() && !dataset.name.starts_with("lm_head."))
    dataset.name.insert(0, "transformer.");
  return dataset;
}

// Whether GPT-2 has a convolution for a linear layer, with a weight of [in_features, out_features].
bool is_convolution(const std::string& weight) {
  return weight.find(".attention.W_") != weight.npos || weight.find(".ffn.dense") != weight.npos;
}

std::vector<WeightPart> gpt_2_weights(std::string name) {
  std::vector<WeightPart> weights = gpt_weights(std::move(name));
  for (WeightPart& weight : weights) weight.is_transposed = is_convolution(weight.name);
  return weights;
}

WeightPart gpt_2_dataset(const std::string& weight) {
  WeightPart dataset = gpt_dataset(weight);
  dataset.is_transposed = is_convolution(weight);
  return dataset;
}

std::vector<WeightPart> tensorflow_gpt_weights(std::string name) {
  return gpt_2_weights(with_pytorch_variable(without_tensorflow_marks(std::move(name))));
}

std::vector<WeightPart> bert_weights(std::string name) {
  const bool is_optional =
      name.ends_with("embeddings.position_ids") || name.find("pooler.dense.") != name.npos;
  std::vector<WeightPart> weights = in_weft(with_pytorch_variable(std::move(name)), bert_names);
  weights.front().is_optional = is_optional;
  return weights;
}

WeightPart bert_dataset(const std::string& weight) { return in_file(weight, bert_names); }

std::vector<WeightPart> tensorflow_bert_weights(std::string name) {
  name = without_tensorflow_marks(std::move(name));
  std::vector<WeightPart> weights = bert_weights(name);
  weights.front().is_transposed = last_part(name) == "kernel";
  return weights;
}

// Keras: of which layer a weight is, and so whether it is transposed, only the model says.
std::vector<WeightPart> keras_weights(std::string_view name, std::span<const Names> names,
                                      bool is_optional) {
  std::vector<WeightPart> weights = in_weft(name, names);
  for (WeightPart& weight : weights) {
    weight.is_transposed = true;
    weight.is_optional = is_optional;
  }
  return weights;
}

std::vector<WeightPart> keras_3_weights(std::string name) {
  return keras_weights(
      name, keras_3_names,
      name.starts_with("optimizer.") || name.find("seed_generator.vars.") != name.npos);
}

// Keras 2 writes the weights of each layer below a group of its name, and those of a whole model
// below /model_weights.
std::vector<WeightPart> keras_2_weights(std::string name) {
  const bool is_optional =
      name.starts_with("optimizer_weights.") || name.find("top_level_model_weights.") != name.npos;
  const std::string model = "model_weights.";
  if (name.starts_with(model)) name.erase(0, model.size());
  name.erase(0, name.find('.') + 1);
  return keras_weights(with_pytorch_variable(without_end(std::move(name), ":0")), keras_2_names,
                       is_optional);
}

std::vector<WeightPart> module_weights(std::string name) { return in_weft(name, module_names); }

bool is_tall(const Shape& shape) { return shape.rank() == 2 && shape[0] > shape[1]; }
bool is_wide(const Shape& shape) { return shape.rank() == 2 && shape[0] < shape[1]; }

std::vector<WeightLayout> make_layouts() {
  return {
      // What save_weights writes, and state_dicts of models with the same names.
      {.name = "state_dict",
       .weights_in = [](std::string name) { return std::vector<WeightPart>{{std::move(name)}}; }},
      {.name = "nanoGPT",
       .marks = {"h.0.attn.c_attn.weight"},
       .may_have = is_tall,
       .weights_in = gpt_weights,
       .dataset_of = gpt_dataset},
      {.name = "GPT-2",
       .marks = {"h.0.attn.c_attn.weight"},
       .may_have = is_wide,
       .weights_in = gpt_2_weights,
       .dataset_of = gpt_2_dataset,
       .has_all_biases = true},
      {.name = "BERT",
       .marks = {"embeddings.word_embeddings.weight"},
       .weights_in = bert_weights,
       .dataset_of = bert_dataset,
       .anchor = token_embedding},
      {.name = "Keras 3",
       .marks = {".vars.0"},
       .weights_in = keras_3_weights,
       .splits_axes = true,
       .has_keras_cells = true},
      {.name = "GPT-2 of TensorFlow",
       .marks = {"h_._0.attn.c_attn.weight:0"},
       .weights_in = tensorflow_gpt_weights,
       .dataset_of = gpt_2_dataset,
       .anchor = token_embedding,
       .splits_axes = true},
      {.name = "BERT of TensorFlow",
       .marks = {"embeddings.word_embeddings.weight:0"},
       .weights_in = tensorflow_bert_weights,
       .dataset_of = bert_dataset,
       .anchor = token_embedding,
       .splits_axes = true},
      {.name = "Keras 2",
       .marks = {".kernel:0", ".embeddings:0", ".gamma:0", ".kernel", ".embeddings", ".gamma"},
       .weights_in = keras_2_weights,
       .splits_axes = true},
      {.name = "PyTorch modules", .weights_in = module_weights, .rewrites_model = true},
  };
}

}  // namespace

const std::vector<WeightLayout>& weight_layouts() {
  static const std::vector<WeightLayout> layouts = make_layouts();
  return layouts;
}

const WeightLayout& weight_layout(std::string_view name) {
  const auto layout = std::ranges::find(weight_layouts(), name, &WeightLayout::name);
  if (layout == weight_layouts().end()) fail<ValueError>("layout", "one that is known", name);
  return *layout;
}

}  // namespace weft
