// ErrorRates: how often answers are wrong, by words and by phones.
#pragma once

#include <string>
#include <vector>

#include <weft/autograd/shape.hpp>
#include "examples/pronounce/dictionary.hpp"

namespace weft::pronounce {

// The smallest number of phones to put in, leave out or exchange that makes one of the other
// (Levenshtein, 1966).
Index edit_distance(const Phones& a, const Phones& b);

// Counts over words. A word is right if the answer equals one of its pronunciations. Its phone
// errors are the edit distance to the closest pronunciation (the first of several as close), and
// its phones are those of that pronunciation.
class ErrorRates {
 public:
  // `pronunciations`: at least one.
  void add(const Phones& answer, const std::vector<Phones>& pronunciations);

  Index words() const { return words_; }
  // Wrong words of all words, and phone errors of all phones, in percent; 0 without any. The second
  // may exceed 100.
  double word_error_rate() const { return percent(wrong_words_, words_); }
  double phone_error_rate() const { return percent(phone_errors_, phones_); }

  // "word error rate 41.30 %  phone error rate 10.20 %  words 6123"
  std::string to_string() const;

 private:
  static double percent(Index part, Index whole);

  Index words_ = 0;
  Index wrong_words_ = 0;
  Index phones_ = 0;
  Index phone_errors_ = 0;
};

}  // namespace weft::pronounce
