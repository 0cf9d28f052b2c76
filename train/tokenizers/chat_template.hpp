// ChatTemplate: how a conversation is written for a language model.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"

namespace weft {

struct ChatMessage {
  // "system", "user" or "assistant", or what else a template knows.
  std::string role;
  std::string content;
};

// The chat template of a model of Hugging Face. Of the language Jinja it may use: if, for, set
// (also of a namespace), {% generation %}; comparisons, arithmetic, `in`, `is`, conditional
// expressions, slices; the filters trim, length, upper, lower, tojson, join, first, last, default,
// string, list, replace, items; methods of texts and dictionaries (strip, split, startswith, get,
// …); namespace, range, raise_exception and strftime_now. Copies share the template; it may be used
// on several threads.
class WEFT_API ChatTemplate {
 public:
  // Tokens that templates name, "<s>" and "</s>".
  struct Tokens {
    std::string bos, eos;
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
    std::string text;
    bool is_answer;
  };
  // The text of `apply` in parts. Throws as it does, and ValueError for a template that writes a
  // message otherwise once others follow.
  std::vector<Part> parts(std::span<const ChatMessage> messages) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace weft
