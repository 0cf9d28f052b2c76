// ChatTemplate: how a conversation is written for a language model.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"

namespace weft {

// What one side of a conversation says.
struct ChatMessage {
  // "system", "user" or "assistant", or what else a template knows.
  std::string role;
  std::string content;  // what it says
};

// The chat template of a model of Hugging Face. Of the language Jinja it may use: if, for, set
// (also of a namespace), {% generation %}; comparisons, arithmetic, `in`, `is`, conditional
// expressions, slices; the filters trim, length, upper, lower, tojson, join, first, last, default,
// string, list, replace, items; methods of texts and dictionaries (strip, split, startswith, get,
// …); namespace, range, raise_exception and strftime_now. Copies share the template; it may be used
// on several threads.
//   const auto chat = ChatTemplate::load("SmolLM2-135M-Instruct");
//   const std::string text = chat.apply(std::vector<ChatMessage>{{"user", "Hello!"}}, true);
class WEFT_API ChatTemplate {
 public:
  // Tokens that templates name, "<s>" and "</s>".
  struct Tokens {
    std::string bos, eos;  // empty if the model has none
  };

  // Throws ValueError for a text that is no template, with the line.
  explicit ChatTemplate(const std::string& text, Tokens tokens = {});
  // Of a model's folder: chat_template.jinja, or the entry of tokenizer_config.json, which also has
  // the tokens. Throws FileError when there is none, or it cannot be read.
  static ChatTemplate load(const std::filesystem::path& folder);

  // The text of a conversation, at the end of which `is_answered_next` asks for an answer. Throws
  // ValueError for what the template refuses (raise_exception) and for what it does not define.
  std::string apply(std::span<const ChatMessage> messages, bool is_answered_next) const;

  // A part of a conversation's text, and whether the model says it: what it is trained on.
  struct Part {
    std::string text;  // of the part
    bool is_answer;    // whether the model says it
  };
  // The text of `apply` in parts. Throws as it does, and ValueError for a template that writes a
  // message otherwise once others follow.
  std::vector<Part> parts(std::span<const ChatMessage> messages) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace weft
