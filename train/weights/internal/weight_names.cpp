#include "train/weights/internal/weight_names.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace weft {
namespace {

// Parts of names, between dots, and their common form.
const std::map<std::string_view, std::string_view> common_parts{
    // torch.nn.MultiheadAttention
    {"q_proj_weight", "W_q.weight"},
    {"k_proj_weight", "W_k.weight"},
    {"v_proj_weight", "W_v.weight"},
    {"out_proj", "W_o"},
    // torch.nn.TransformerEncoderLayer and TransformerDecoderLayer
    {"self_attn", "self_attention"},
    {"multihead_attn", "cross_attention"},
    {"linear1", "ffn.dense1"},
    {"linear2", "ffn.dense2"},
    // TransformerEncoderBlock of weft and of d2l.ai, and d2l.ai's TransformerDecoderBlock
    {"attention", "self_attention"},
    {"attention1", "self_attention"},
    {"attention2", "cross_attention"},
    {"addnorm1", "norm1"},
    {"addnorm2", "norm2"},
    {"addnorm3", "norm3"},
};

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::string common_name(const std::string& name) {
  const std::vector<std::string_view> parts = parts_of(name);
  std::string common;
  const char* separator = "";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    // "layers.0" in torch's stacks, "addnorm1.ln" in d2l.ai's blocks.
    if (part == "layers" && i + 1 < parts.size() && is_number(parts[i + 1])) continue;
    if (part == "ln" && i > 0 && parts[i - 1].starts_with("addnorm")) continue;
    // "block0" in d2l.ai's stacks.
    if (part.starts_with("block") && is_number(part.substr(5))) part.remove_prefix(5);
    if (const auto entry = common_parts.find(part); entry != common_parts.end())
      part = entry->second;
    common.append(separator).append(part);
    separator = ".";
  }
  return common;
}

std::vector<std::string> common_names(const std::string& name) {
  const std::size_t last = name.rfind('.') + 1;  // 0 where there is no dot
  for (const std::string kind : {"weight", "bias"}) {
    if (name.substr(last) != "in_proj_" + kind) continue;
    std::vector<std::string> names;
    for (const char* projection : {"W_q.", "W_k.", "W_v."})
      names.push_back(common_name(name.substr(0, last) + projection + kind));
    return names;
  }
  return {common_name(name)};
}

}  // namespace weft
