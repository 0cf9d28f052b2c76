// TokenDecoder: the decoder of a tokenizer.json, which converts the names of tokens to text.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "train/text/tokenizers/internal/text_budget.hpp"

namespace weft {

// A step of a decoder. The pieces are initially the names of the tokens.
struct DecoderStep {
  using Pieces = std::vector<std::string>;
  // The position of a piece.
  struct Place {
    bool is_first, is_last;
  };
  // Changes the pieces of a text.
  std::function<void(Pieces&, TextBudget&)> all;
  // Changes one piece without knowing the other pieces.
  std::function<std::string(std::string, Place, TextBudget&)> one;
  bool fuses = false;         // whether the result is a single piece
  bool changes_ends = false;  // whether only the ends of pieces are changed
};

class TokenDecoder {
 public:
  // Throws ValueError for an invalid description. Null joins names by spaces.
  explicit TokenDecoder(const nlohmann::json& description);

  // Returns the text of tokens. Throws ValueError if it would be far larger than the names.
  std::string text_of(std::vector<std::string> names) const;
  // Returns the bytes that a token adds to a text between other tokens.
  std::string bytes_of(const std::string& name) const;

 private:
  std::vector<DecoderStep> steps_;
};

}  // namespace weft
