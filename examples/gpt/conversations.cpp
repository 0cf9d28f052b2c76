#include "examples/gpt/conversations.hpp"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include <weft/autograd/error.hpp>
#include <weft/train/files/json.hpp>
#include <weft/train/files/utf8.hpp>
#include "examples/gpt/texts.hpp"

namespace weft::gpt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Returns a string entry. Throws ValueError if it is missing or not a string.
std::string text_of(const json& object, const std::string& name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end() || found->is_null()) fail<ValueError>(name, "a string", "none");
  if (!found->is_string()) fail<ValueError>(name, "a string", found->type_name());
  return found->get<std::string>();
}

// Returns the name of the entry among `names` that an object has, or an empty string. Throws
// ValueError if the object has several, because only one could be learned.
std::string only_entry(const json& object, std::initializer_list<const char*> names) {
  std::string only;
  for (const char* const name : names) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) continue;
    if (!only.empty()) fail<ValueError>("line", "either " + only + " or " + name, "both");
    only = name;
  }
  return only;
}

// Entries that other programs include in the text, but weft does not.
constexpr const char* unsupported[] = {
    "tools",       "functions", "documents", "system",   "input",  "chat_template_kwargs",
    "instruction", "output",    "chosen",    "rejected", "context"};

class TextReader {
 public:
  explicit TextReader(const TextForm& form) : form_(form) {}

  LearnedText read(const json& object) const {
    if (!object.is_object()) fail<ValueError>("line", "an object", object.type_name());
    for (const char* const name : unsupported)
      if (const auto found = object.find(name); found != object.end() && !found->is_null())
        fail<ValueError>("line", "only messages, prompt and answer, or text",
                         str_cat("the unsupported entry ", name));
    const std::string form = only_entry(object, {"messages", "prompt", "text"});
    const std::string answer_name = only_entry(object, {"answer", "completion", "response"});
    if (form != "prompt" && !answer_name.empty())
      fail<ValueError>("line", "a prompt for the " + answer_name, form.empty() ? "none" : form);
    if (form == "messages") return conversation(messages_of(object.at(form)));
    if (form != "prompt")
      return with_end(form_.tokenizer.encode_with_ends(text_of(object, "text")));
    if (answer_name.empty())
      fail<ValueError>("line", "an answer (or completion, or response) to the prompt", "none");
    const std::string prompt = text_of(object, form), answer = text_of(object, answer_name);
    if (form_.chat) return conversation({{"user", prompt}, {"assistant", answer}});
    LearnedText text;
    append(text, form_.tokenizer.encode_with_ends(prompt), false);
    append(text, form_.tokenizer.encode(answer), true);
    append_end(text);
    return text;
  }

 private:
  static std::vector<ChatMessage> messages_of(const json& list) {
    if (!list.is_array()) fail<ValueError>("messages", "a list", list.type_name());
    std::vector<ChatMessage> messages;
    for (const json& message : list) {
      messages.push_back({text_of(message, "role"), text_of(message, "content")});
      for (const auto& [name, value] : message.items())
        if (name != "role" && name != "content" && !value.is_null())
          fail<ValueError>("messages", "objects with only role and content", name);
    }
    return messages;
  }

  LearnedText conversation(const std::vector<ChatMessage>& messages) const {
    if (!form_.chat)
      fail<ValueError>("messages", "a model with a chat template",
                       "a model without a chat template");
    LearnedText text;
    for (const auto& [part, is_answer] : form_.chat->parts(messages))
      append(text, form_.tokenizer.encode(part), is_answer);
    return text;
  }

  static void append(LearnedText& text, const TokenIds& tokens, bool learned) {
    text.tokens.insert(text.tokens.end(), tokens.begin(), tokens.end());
    text.learned.resize(text.tokens.size(), learned);
  }
  void append_end(LearnedText& text) const {
    if (!form_.ends.empty()) append(text, {form_.ends.front()}, true);
  }
  LearnedText with_end(const TokenIds& tokens) const {
    LearnedText text;
    append(text, tokens, true);
    append_end(text);
    return text;
  }

  const TextForm& form_;
};

}  // namespace

TextForm::TextForm(const SavedModel& saved, Index most_tokens)
    : tokenizer(saved.tokenizer), ends(saved.eos_token_ids), length(most_tokens) {
  if (length > saved.context())
    fail<ValueError>(
        "--length", str_cat("at most the model's context of ", saved.context(), " tokens"), length);
  if (saved.folder.empty()) return;
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
    const TokenIds tokens = form.tokenizer.encode_with_ends(all);
    for (std::size_t begin = 0; begin + 1 < tokens.size(); begin += length) {
      const std::size_t end = std::min(begin + length + 1, tokens.size());
      const auto at = [&](std::size_t index) {
        return tokens.begin() + static_cast<std::ptrdiff_t>(index);
      };
      texts.push_back({TokenIds(at(begin), at(end)), std::vector<bool>(end - begin, true)});
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
    const std::string what = str_cat("'", path.string(), "', line ", number);
    try {
      check_json(line);
      LearnedText text = reader.read(json::parse(line));
      if (std::ssize(text.tokens) > form.length + 1)
        fail<ValueError>("line", str_cat("at most ", form.length, " tokens (--length)"),
                         text.tokens.size() - 1);
      if (std::find(text.learned.begin(), text.learned.end(), true) == text.learned.end() ||
          text.tokens.size() < 2)
        fail<ValueError>("line", "at least one token to learn", "none");
      texts.push_back(std::move(text));
    } catch (const ValueError& error) {
      throw FileError(str_cat(what, ": ", error.what()));
    }
  }
  if (texts.empty())
    fail<FileError>(str_cat("'", path.string(), '\''), "at least one example", "none");
  return texts;
}

}  // namespace weft::gpt
