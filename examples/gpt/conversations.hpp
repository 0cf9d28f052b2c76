// Conversations: what a model of Hugging Face is fine-tuned on.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include <weft/train/data/packed.hpp>
#include <weft/train/pretrained/chat_template.hpp>
#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {

// How texts become tokens: the tokenizer, the model's chat template if it has one, the tokens that
// end a text, and the largest number of tokens of a text.
struct TextForm {
  // Of a model. Throws FileError for a chat template that cannot be read, and ValueError for a
  // length above the model's context.
  TextForm(const SavedModel& saved, Index length);

  const Tokenizer& tokenizer;
  std::optional<ChatTemplate> chat;
  TokenIds ends;
  Index length;
};

// Reads a file whose name ends with ".jsonl", in which each line is an object with
//   "messages": a list of objects with "role" and "content", of which the assistant's are learned;
//   "prompt" and "answer" (or "completion", or "response"), of which the answer is learned, as a
//   conversation where the model has a chat template; or
//   "text", which is learned,
// or another file, a text that is cut into pieces of `length` tokens. Throws FileError, naming the
// line, for one that is no such object, has several of these, or entries that chat templates would
// show besides ("tools", or "tool_calls" of a message), or has more tokens.
std::vector<LearnedText> read_learned_texts(const std::filesystem::path& path,
                                            const TextForm& form);

}  // namespace weft::gpt
