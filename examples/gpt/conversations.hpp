// Reading of fine-tuning data: conversations, prompts with answers, and plain text.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include <weft/train/data/packed.hpp>
#include <weft/train/pretrained/chat_templates/chat_template.hpp>
#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {

// How examples are converted to tokens: with the tokenizer, the model's chat template if it has
// one, the tokens that end a text, and the maximum number of tokens per example.
struct TextForm {
  // Takes the settings of a model. Throws FileError if the chat template cannot be read, and
  // ValueError if `length` exceeds the model's context.
  TextForm(const SavedModel& saved, Index length);

  const Tokenizer& tokenizer;
  std::optional<ChatTemplate> chat;
  TokenIds ends;
  Index length;
};

// Reads training examples. In a file whose name ends with ".jsonl", each line is an object with
//   "messages": a list of objects with "role" and "content"; the assistant's messages are learned;
//   "prompt" and "answer" (or "completion", or "response"): the answer is learned; if the model has
//   a chat template, both become a conversation; or
//   "text": all of it is learned.
// Any other file is a text, which is split into pieces of `length` tokens. Throws FileError, naming
// the line, if a line is not such an object, has several of these forms, has entries that chat
// templates would show as well ("tools", or "tool_calls" of a message), or has more than `length`
// tokens.
std::vector<LearnedText> read_learned_texts(const std::filesystem::path& path,
                                            const TextForm& form);

}  // namespace weft::gpt
