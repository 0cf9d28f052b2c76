// Pronouncer: a transformer that reads the letters of words and says their phones.
#pragma once

#include "examples/common/encoder_decoder.hpp"
#include "examples/pronounce/configuration.hpp"
#include "examples/pronounce/language.hpp"

namespace weft::pronounce {

template <class T = float>
struct Pronouncer : examples::EncoderDecoder<T> {
  // Throws ValueError for a configuration outside its ranges.
  Pronouncer(const Configuration& configuration, const Language& language, Random& random);

  // Its checkpoints speak of letters and phones.
  void members(Members<T>& members) override;
};

extern template struct Pronouncer<float>;
extern template struct Pronouncer<double>;

}  // namespace weft::pronounce
