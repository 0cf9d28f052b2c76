#include "weft/train/tokenizers/pretrained_tokenizer.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/data/characters.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/tokenizers/internal/json_entries.hpp"
#include "train/tokenizers/internal/token_pipeline.hpp"

namespace weft {

struct PretrainedTokenizer::State {
  State(std::string file_text, const nlohmann::json& file)
      : text(std::move(file_text)), pipeline("PretrainedTokenizer", file) {}

  std::string text;
  TokenPipeline pipeline;
};

PretrainedTokenizer::PretrainedTokenizer(std::shared_ptr<const State> state)
    : state_(std::move(state)) {}

PretrainedTokenizer PretrainedTokenizer::load(const std::filesystem::path& path) {
  return from_text(read_text(path, max_vocabulary_bytes), path);
}

PretrainedTokenizer PretrainedTokenizer::from_text(std::string text,
                                                   const std::filesystem::path& path) {
  const nlohmann::json file = parse_json(text, path);
  try {
    return PretrainedTokenizer(std::make_shared<const State>(std::move(text), file));
  } catch (const ValueError& error) {
    throw FileError(concatenate_text(quoted(path), ": ", error.what()));
  }
}

const std::string& PretrainedTokenizer::to_text() const { return state_->text; }

Index PretrainedTokenizer::size() const { return state_->pipeline.size(); }

std::optional<TokenId> PretrainedTokenizer::find(std::string_view name) const {
  return state_->pipeline.find(name);
}

bool PretrainedTokenizer::is_special(TokenId id) const { return state_->pipeline.is_special(id); }

const std::string& PretrainedTokenizer::token(TokenId id) const {
  return state_->pipeline.token(id);
}

Sequence PretrainedTokenizer::encode(std::string_view text) const {
  return state_->pipeline.encode(text);
}

Sequence PretrainedTokenizer::with_ends(Sequence ids) const {
  return state_->pipeline.with_ends(std::move(ids));
}

std::string PretrainedTokenizer::decode(std::span<const TokenId> ids) const {
  return state_->pipeline.decode(ids);
}

}  // namespace weft
