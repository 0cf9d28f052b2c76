#include "examples/gpt/tokenizer.hpp"

#include <weft/autograd/error.hpp>
#include <weft/train/weights/checkpoint.hpp>

namespace weft::gpt {
namespace {

// The tokens in the configuration of a weft 0.2 checkpoint: a Vocabulary of characters, or the
// files of a BytePairEncoding.
struct EarlierTokens final : Stateful<float> {
  void state(State<float>& state) override {
    state.text("characters", characters);
    state.text("byte_pairs", byte_pairs);
    state.text("merges", merges);
  }
  bool was_only_in_0_2(const std::string&) const override { return true; }

  std::string characters, byte_pairs, merges;
};

}  // namespace

Tokenizer tokenizer_of(const std::filesystem::path& checkpoint) {
  if (Tokenizer tokenizer = load_tokenizer(checkpoint); !tokenizer.empty()) return tokenizer;
  EarlierTokens tokens;
  load_state(checkpoint, "configuration", tokens);
  if (!tokens.characters.empty()) return Vocabulary::from_text(tokens.characters);
  return BytePairEncoding::from_text({tokens.byte_pairs, tokens.merges});
}

TokenIds beginning_of_text(const Tokenizer& tokenizer) {
  if (const TokenIds end = tokenizer.eos_token_ids(); !end.empty()) return end;
  if (const TokenIds begin = tokenizer.encode_with_ends(""); !begin.empty()) return begin;
  try {
    return tokenizer.encode("\n");
  } catch (const ValueError&) {
    fail<ValueError>("prompt", "text, because the model has no token to start with", "none");
  }
}

}  // namespace weft::gpt
