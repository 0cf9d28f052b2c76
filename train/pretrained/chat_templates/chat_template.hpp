// ChatTemplate: formats a conversation as a prompt for a chat model.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"

namespace weft {

// A message of a conversation.
struct ChatMessage {
  // The role of the author: "system", "user", "assistant", or another role that the template
  // supports.
  std::string role;
  std::string content;  // the message itself
};

// The chat template of a Hugging Face model. It is rendered as in transformers (jinja2 with
// trim_blocks and lstrip_blocks, in a sandbox). The supported part of jinja2 covers the templates
// of common models:
// - the tags if, for, set, macro, generation, break, continue and raw;
// - the filters capitalize, default, dictsort, first, format (only %s), indent, int, items, join,
//   last, length, list, lower, map, min, reject, rejectattr, replace, safe (if the result is only
//   written or concatenated), select, selectattr, sort, string, title, tojson, trim, unique and
//   upper;
// - the tests boolean, defined, eq, false, in, iterable, mapping, none, sequence, string, true and
//   undefined;
// - the methods capitalize, endswith, find, lower, lstrip, replace, rfind, rstrip, split,
//   startswith, strip, title and upper of strings, and get, items, keys and values of dicts;
// - the functions dict, namespace, raise_exception, range and strftime_now;
// - the operators of Python except /, // and **.
//
// Everything else throws a ValueError that names the unsupported element. Copies share the
// template; several threads may use it at the same time.
//   const auto chat = ChatTemplate::load("SmolLM2-135M-Instruct");
//   const std::string text = chat.apply(std::vector<ChatMessage>{{"user", "Hello!"}}, true);
class WEFT_API ChatTemplate {
 public:
  // The special tokens that a template can refer to, for example "<s>" and "</s>".
  struct Tokens {
    std::string bos, eos;                       // empty if the model has none
    std::map<std::string, std::string> others;  // by name: "pad_token", "unk_token", …
  };

  // Parses a template. Throws ValueError, naming the line, if `text` is not a valid template.
  explicit ChatTemplate(const std::string& text, Tokens tokens = {});
  // Loads the template from a model's folder: from chat_template.jinja, or else from the entry
  // chat_template of tokenizer_config.json, which also contains the special tokens. Throws
  // FileError if the folder contains no template, or if a file cannot be read.
  static ChatTemplate load(const std::filesystem::path& folder);

  // Returns a copy of the template whose dates (strftime_now) use this local time instead of the
  // time of rendering.
  ChatTemplate with_date(std::chrono::local_seconds date) const;
  // Returns whether the template uses strftime_now.
  bool uses_date() const;
  // Returns the current local time.
  static std::chrono::local_seconds current_date();

  // Returns a conversation as text. If `is_answered_next`, the text ends with the prompt for an
  // answer by the assistant (add_generation_prompt in transformers). Throws ValueError if the
  // template rejects the conversation (raise_exception), for errors of jinja2, for unsupported
  // elements, and if rendering exceeds its limit of work: 64 MiB of values and steps plus 32 times
  // the size of the conversation.
  std::string apply(std::span<const ChatMessage> messages, bool is_answered_next) const;

  // A part of a conversation's text.
  struct Part {
    std::string text;  // the characters of the part
    bool is_answer;    // whether it is said by the assistant, so that a model is trained on it
  };
  // Returns the text of `apply`, without a prompt at its end, split into answers and the text
  // between them. If the template contains {% generation %} blocks, the contents of these blocks
  // are the answers. Otherwise, the template is rendered for each beginning of the conversation,
  // and an answer is the text that an assistant's message adds to the prompt for it; this may take
  // up to 16 times the work allowed for `apply`. Throws the same exceptions as `apply`, and
  // ValueError if the template changes the text of a message when further messages follow.
  std::vector<Part> parts(std::span<const ChatMessage> messages) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace weft
