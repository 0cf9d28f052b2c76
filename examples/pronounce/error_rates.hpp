// ErrorRates: word and phone error rates.
#pragma once

#include <string>
#include <vector>

#include <weft/autograd/shape.hpp>
#include "examples/pronounce/dictionary.hpp"

namespace weft::pronounce {

// Returns the minimum number of insertions, deletions and substitutions that transform `a` into `b`
// (Levenshtein, 1966).
Index edit_distance(const Phones& a, const Phones& b);

// Accumulates errors over words. A word is correct if the prediction equals one of its
// pronunciations. Its phone errors are the edit distance to the closest pronunciation (the first in
// case of a tie), and its phone count is the length of that pronunciation.
class ErrorRates {
 public:
  // Adds a word. Throws ValueError if there are no pronunciations.
  void add(const Phones& prediction, const std::vector<Phones>& pronunciations);

  Index words() const { return words_; }
  // Return wrong words / words and phone errors / phones, in percent; 0 if there are no words. The
  // phone error rate may exceed 100.
  double word_error_rate() const { return percent(wrong_words_, words_); }
  double phone_error_rate() const { return percent(phone_errors_, phones_); }

  // Returns "word error rate 41.30 %  phone error rate 10.20 %  words 6123"
  std::string to_string() const;

 private:
  static double percent(Index count, Index total);

  Index words_ = 0;
  Index wrong_words_ = 0;
  Index phones_ = 0;
  Index phone_errors_ = 0;
};

}  // namespace weft::pronounce
