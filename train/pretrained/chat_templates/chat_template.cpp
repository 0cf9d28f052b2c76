#include "weft/train/pretrained/chat_templates/chat_template.hpp"

#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/pretrained/chat_templates/internal/jinja.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Returns the string of a token in tokenizer_config.json, which is either a string, "</s>", or an
// object with an entry "content".
std::string token_text(const json& token) {
  if (token.is_object()) return entry_or<std::string>(token, "content", "");
  return token.is_string() ? token.get<std::string>() : "";
}

// Returns the template. A list contains named templates; "default" is used.
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
  std::optional<std::chrono::local_seconds> date;

  // Renders a conversation.
  jinja::Rendering render(std::span<const ChatMessage> messages, bool is_answered_next,
                          std::chrono::local_seconds now, jinja::Budget& budget) const {
    nlohmann::ordered_json list = json::array();
    for (const ChatMessage& message : messages)
      list.push_back({{"role", message.role}, {"content", message.content}});
    nlohmann::ordered_json variables = {{"messages", std::move(list)},
                                        {"tools", nullptr},
                                        {"documents", nullptr},
                                        {"add_generation_prompt", is_answered_next}};
    for (const auto& [name, token] : tokens.others) variables[name] = token;
    if (!tokens.bos.empty()) variables["bos_token"] = tokens.bos;
    if (!tokens.eos.empty()) variables["eos_token"] = tokens.eos;
    return text.render(variables, now, budget);
  }
};

namespace {

// Returns the budget for rendering a conversation.
jinja::Budget budget_for(std::span<const ChatMessage> messages) {
  jinja::Budget budget;
  constexpr std::size_t per_byte = 32;
  for (const ChatMessage& message : messages)
    budget.left += per_byte * (message.role.size() + message.content.size());
  return budget;
}

}  // namespace

ChatTemplate::ChatTemplate(const std::string& text, Tokens tokens)
    : state_(std::make_shared<const State>(State{jinja::Template(text), std::move(tokens), {}})) {}

ChatTemplate ChatTemplate::with_date(std::chrono::local_seconds date) const {
  ChatTemplate copy = *this;
  copy.state_ = std::make_shared<const State>(State{state_->text, state_->tokens, date});
  return copy;
}

bool ChatTemplate::uses_date() const { return state_->text.uses_date(); }

std::chrono::local_seconds ChatTemplate::current_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return std::chrono::local_seconds(std::chrono::seconds(timegm(&parts)));
}

ChatTemplate ChatTemplate::load(const fs::path& folder) {
  const fs::path config = folder / "tokenizer_config.json", own = folder / "chat_template.jinja";
  fs::path source = config;
  try {
    std::string text;
    Tokens tokens;
    if (fs::exists(config)) {
      const json entries = parse_json(read_text(config, max_vocabulary_bytes), config);
      text = template_text(entry(entries, "chat_template"));
      tokens = {
          token_text(entry(entries, "bos_token")), token_text(entry(entries, "eos_token")), {}};
      for (const char* name : {"unk_token", "sep_token", "pad_token", "cls_token", "mask_token"})
        if (std::string token = token_text(entry(entries, name)); !token.empty())
          tokens.others.emplace(name, std::move(token));
    }
    if (fs::exists(own)) {
      text = read_text(own, max_vocabulary_bytes);
      source = own;
    }
    if (text.empty()) fail_on_file(folder, "a chat template", "none");
    return ChatTemplate(text, std::move(tokens));
  } catch (const ValueError& error) {
    throw FileError(str_cat(quoted(source), ": ", error.what()));
  }
}

std::string ChatTemplate::apply(std::span<const ChatMessage> messages,
                                bool is_answered_next) const {
  jinja::Budget budget = budget_for(messages);
  return state_->render(messages, is_answered_next, state_->date.value_or(current_date()), budget)
      .text;
}

std::vector<ChatTemplate::Part> ChatTemplate::parts(std::span<const ChatMessage> messages) const {
  const std::chrono::local_seconds now = state_->date.value_or(current_date());
  jinja::Budget budget = budget_for(messages);
  budget.is_for_all = true;
  std::vector<Part> parts;
  const auto add = [&](std::string text, bool is_answer) {
    if (!text.empty()) parts.push_back({std::move(text), is_answer});
  };
  if (state_->text.marks_answers()) {
    const auto [text, generated] = state_->render(messages, false, now, budget);
    if (!generated)
      fail<ValueError>("chat template", "{% generation %} outside of macros and set blocks",
                       "a block inside one of them");
    std::size_t before = 0;
    for (const auto& [begin, end] : *generated) {
      if (begin < before)
        fail<ValueError>("chat template", "{% generation %} blocks that are not nested",
                         "nested blocks");
      add(text.substr(before, begin - before), false);
      add(text.substr(begin, end - begin), true);
      before = end;
    }
    add(text.substr(before), false);
    return parts;
  }
  // Renders the conversation up to each answer, without and with the answer. The work of all these
  // renderings together is limited.
  constexpr std::size_t times = 16;
  budget.left *= times;
  const std::string all = state_->render(messages, false, now, budget).text;
  std::size_t before = 0;
  const auto add_up_to = [&](const std::string& text, bool is_answer) {
    if (text.size() < before || !all.starts_with(text))
      fail<ValueError>("chat template", "the same text for a message when further messages follow",
                       "different text");
    add(all.substr(before, text.size() - before), is_answer);
    before = text.size();
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != "assistant") continue;
    add_up_to(state_->render(messages.first(i), true, now, budget).text, false);
    const bool is_last = i + 1 == messages.size();
    add_up_to(is_last ? all : state_->render(messages.first(i + 1), false, now, budget).text, true);
  }
  add_up_to(all, false);
  return parts;
}

}  // namespace weft
