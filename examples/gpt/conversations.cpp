#include "examples/gpt/conversations.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include <weft/autograd/error.hpp>
#include <weft/train/data/characters.hpp>
#include "examples/gpt/texts.hpp"

namespace weft::gpt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The text of an entry; nothing when there is none.
std::optional<std::string> text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (!found->is_string()) fail<ValueError>(name, "a text", found->type_name());
  return found->get<std::string>();
}

std::string required_text(const json& object, const char* name) {
  std::optional<std::string> text = object.is_object() ? text_of(object, name) : std::nullopt;
  if (!text) fail<ValueError>(name, "a text", "none");
  return *std::move(text);
}

class TextReader {
 public:
  explicit TextReader(const TextForm& form) : form_(form) {}

  LearnedText read(const json& object) const {
    if (!object.is_object()) fail<ValueError>("line", "an object", object.type_name());
    if (const auto found = object.find("messages"); found != object.end())
      return conversation(messages_of(*found));
    const std::optional<std::string> prompt = text_of(object, "prompt");
    if (!prompt) return with_end(form_.tokenizer.encode_beginning(required_text(object, "text")));
    std::optional<std::string> answer;
    for (const char* const name : {"answer", "completion", "response"})
      if (!answer) answer = text_of(object, name);
    if (!answer) fail<ValueError>("line", "an answer to the prompt", "none");
    if (form_.chat) return conversation({{"user", *prompt}, {"assistant", *answer}});
    LearnedText text;
    append(text, form_.tokenizer.encode_beginning(*prompt), false);
    append(text, form_.tokenizer.encode(*answer), true);
    append_end(text);
    return text;
  }

 private:
  static std::vector<ChatMessage> messages_of(const json& list) {
    if (!list.is_array()) fail<ValueError>("messages", "a list", list.type_name());
    std::vector<ChatMessage> messages;
    for (const json& message : list)
      messages.push_back({required_text(message, "role"), required_text(message, "content")});
    return messages;
  }

  LearnedText conversation(const std::vector<ChatMessage>& messages) const {
    if (!form_.chat) fail<ValueError>("messages", "a model with a chat template", "one without");
    LearnedText text;
    for (const auto& [part, is_answer] : form_.chat->parts(messages))
      append(text, form_.tokenizer.encode(part), is_answer);
    return text;
  }

  static void append(LearnedText& text, const Sequence& tokens, bool learned) {
    text.tokens.insert(text.tokens.end(), tokens.begin(), tokens.end());
    text.learned.resize(text.tokens.size(), learned);
  }
  void append_end(LearnedText& text) const {
    if (!form_.ends.empty()) append(text, {form_.ends.front()}, true);
  }
  LearnedText with_end(const Sequence& tokens) const {
    LearnedText text;
    append(text, tokens, true);
    append_end(text);
    return text;
  }

  const TextForm& form_;
};

}  // namespace

TextForm::TextForm(const SavedModel& saved, Index most_tokens)
    : tokenizer(saved.tokenizer), ends(saved.ends()), length(most_tokens) {
  if (length > saved.context)
    fail<ValueError>("--length",
                     concatenate_text("at most the model's context of ", saved.context, " tokens"),
                     length);
  if (!saved.description) return;
  try {
    chat = ChatTemplate::load(saved.folder);
  } catch (const FileError&) {
    if (fs::exists(saved.folder / "chat_template.jinja")) throw;
  }
}

std::vector<LearnedText> read_learned_texts(const fs::path& path, const TextForm& form) {
  std::vector<LearnedText> texts;
  const std::string all = read_texts(path);
  const auto length = static_cast<std::size_t>(form.length);
  if (path.extension() != ".jsonl") {
    const Sequence tokens = form.tokenizer.encode_beginning(all);
    for (std::size_t begin = 0; begin + 1 < tokens.size(); begin += length) {
      const std::size_t end = std::min(begin + length + 1, tokens.size());
      const auto at = [&](std::size_t index) {
        return tokens.begin() + static_cast<std::ptrdiff_t>(index);
      };
      texts.push_back({Sequence(at(begin), at(end)), std::vector<bool>(end - begin, true)});
    }
    return texts;
  }
  const TextReader reader(form);
  std::size_t number = 0;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end + 1) {
    end = std::min(all.find('\n', begin), all.size());
    const std::string_view line = std::string_view(all).substr(begin, end - begin);
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const std::string what = concatenate_text("'", path.string(), "', line ", number);
    try {
      const json object = json::parse(line, nullptr, false);
      if (object.is_discarded()) fail<ValueError>("line", "a JSON object", "other text");
      LearnedText text = reader.read(object);
      if (std::ssize(text.tokens) > form.length + 1)
        fail<ValueError>("line", concatenate_text("at most ", form.length, " tokens (--length)"),
                         text.tokens.size() - 1);
      if (std::find(text.learned.begin(), text.learned.end(), true) == text.learned.end() ||
          text.tokens.size() < 2)
        fail<ValueError>("line", "something to learn", "nothing");
      texts.push_back(std::move(text));
    } catch (const ValueError& error) {
      throw FileError(concatenate_text(what, ": ", error.what()));
    }
  }
  if (texts.empty()) fail<FileError>(concatenate_text("'", path.string(), '\''), "texts", "none");
  return texts;
}

}  // namespace weft::gpt
