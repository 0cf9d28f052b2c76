#include "weft/train/tokenizers/chat_template.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/data/characters.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/tokenizers/internal/jinja.hpp"
#include "train/tokenizers/internal/json_entries.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The text of a token in tokenizer_config.json: "</s>", or an object with its "content".
std::string token_text(const json& token) {
  if (token.is_object()) return entry_or<std::string>(token, "content", "");
  return token.is_string() ? token.get<std::string>() : "";
}

// A template, or the one named "default" of several.
std::string template_text(const json& value) {
  if (value.is_array())
    for (const json& one : value)
      if (entry_or<std::string>(one, "name", "") == "default")
        return entry_or<std::string>(one, "template", "");
  return value.is_string() ? value.get<std::string>() : "";
}

}  // namespace

struct ChatTemplate::State {
  jinja::Template text;
  Tokens tokens;
};

ChatTemplate::ChatTemplate(const std::string& text, Tokens tokens)
    : state_(std::make_shared<const State>(State{jinja::Template(text), std::move(tokens)})) {}

ChatTemplate ChatTemplate::load(const fs::path& folder) {
  const fs::path config = folder / "tokenizer_config.json", own = folder / "chat_template.jinja";
  fs::path source = config;
  try {
    std::string text;
    Tokens tokens;
    if (fs::exists(config)) {
      const json entries = parse_json(read_text(config, max_vocabulary_bytes), config);
      text = template_text(entry(entries, "chat_template"));
      tokens = {token_text(entry(entries, "bos_token")), token_text(entry(entries, "eos_token"))};
    }
    if (fs::exists(own)) {
      text = read_text(own, max_vocabulary_bytes);
      source = own;
    }
    if (text.empty()) fail_on_file(folder, "a chat template", "none");
    return ChatTemplate(text, std::move(tokens));
  } catch (const ValueError& error) {
    throw FileError(concatenate_text(quoted(source), ": ", error.what()));
  }
}

std::string ChatTemplate::apply(std::span<const ChatMessage> messages,
                                bool is_answered_next) const {
  nlohmann::ordered_json list = json::array();
  for (const ChatMessage& message : messages) {
    check_utf8(message.content, "chat message");
    list.push_back({{"role", message.role}, {"content", message.content}});
  }
  return state_->text.render({{"messages", std::move(list)},
                              {"add_generation_prompt", is_answered_next},
                              {"bos_token", state_->tokens.bos},
                              {"eos_token", state_->tokens.eos},
                              {"strftime_now", true}});
}

std::vector<ChatTemplate::Part> ChatTemplate::parts(std::span<const ChatMessage> messages) const {
  std::vector<Part> parts;
  std::string before;
  const auto add = [&](std::string text, bool is_answer) {
    if (!text.starts_with(before))
      fail<ValueError>("chat template", "messages written in the same way when others follow",
                       "other text");
    parts.push_back({text.substr(before.size()), is_answer});
    before = std::move(text);
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != "assistant") continue;
    add(apply(messages.first(i), true), false);
    add(apply(messages.first(i + 1), false), true);
  }
  if (std::string text = apply(messages, false); text != before) add(std::move(text), false);
  return parts;
}

}  // namespace weft
