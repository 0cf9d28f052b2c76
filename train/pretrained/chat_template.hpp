// ChatTemplate: how a conversation is written for a language model.
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
  // "system", "user" or "assistant", or another role that the template knows.
  std::string role;
  std::string content;
};

// The chat template of a Hugging Face model, rendered as transformers does (jinja2 with trim_blocks
// and lstrip_blocks, in a sandbox). Supports what the templates of models use:
// - the tags if, for, set, macro, generation, break, continue and raw;
// - the filters capitalize, default, dictsort, first, format (only %s), indent, int, items, join,
//   last, length, list, lower, map, min, reject, rejectattr, replace, safe (to be written or added
//   to), select, selectattr, sort, string, title, tojson, trim, unique and upper;
// - the tests boolean, defined, eq, false, in, iterable, mapping, none, sequence, string, true and
//   undefined;
// - the methods capitalize, endswith, find, lower, lstrip, replace, rfind, rstrip, split,
//   startswith, strip, title and upper of strings, and get, items, keys and values of dicts;
// - the functions dict, namespace, raise_exception, range and strftime_now;
// - the operators of Python except /, // and **.
// Throws ValueError, naming it, for everything else. Copies share the template, which several
// threads may use.
//   const auto chat = ChatTemplate::load("SmolLM2-135M-Instruct");
//   const std::string text = chat.apply(std::vector<ChatMessage>{{"user", "Hello!"}}, true);
class WEFT_API ChatTemplate {
 public:
  // Special tokens that templates name, "<s>" and "</s>".
  struct Tokens {
    std::string bos, eos;                       // empty if the model has none
    std::map<std::string, std::string> others;  // "pad_token", "unk_token", … and their text
  };

  // Throws ValueError, naming the line, unless the text is a template.
  explicit ChatTemplate(const std::string& text, Tokens tokens = {});
  // Loads the template of a model's folder: chat_template.jinja, or the entry of
  // tokenizer_config.json, which also has the special tokens. Throws FileError if the folder
  // has no template, or it cannot be read.
  static ChatTemplate load(const std::filesystem::path& folder);

  // Returns a template whose dates (strftime_now) are those of a local time. Without one, they
  // are those of the time when it is rendered.
  ChatTemplate with_date(std::chrono::local_seconds date) const;
  // Returns whether the template names strftime_now.
  bool uses_date() const;
  // Returns the local time now.
  static std::chrono::local_seconds current_date();

  // Returns the text of a conversation, which ends with a request for an answer if
  // `is_answered_next`. Throws ValueError for what the template refuses (raise_exception), for
  // what jinja2 refuses, for what is not supported, and for more work than 64 MiB of values and
  // steps and 32 times the conversation.
  std::string apply(std::span<const ChatMessage> messages, bool is_answered_next) const;

  // A part of a conversation's text, and whether a model is trained on it.
  struct Part {
    std::string text;
    bool is_answer;  // whether the model says it
  };
  // Returns the text of `apply` in parts. If the template has {% generation %} blocks, their texts
  // are the answers. Otherwise an answer is what an assistant's message adds to the text that
  // requests it, for which each beginning of the conversation is rendered, within 16 times the
  // work of `apply`. Throws ValueError as `apply` does, and for a template that writes a message
  // otherwise once others follow.
  std::vector<Part> parts(std::span<const ChatMessage> messages) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace weft
