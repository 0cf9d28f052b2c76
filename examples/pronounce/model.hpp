// Pronouncer: a transformer from the letters of words to their phones.
#pragma once

#include <weft/layers.hpp>
#include <weft/train/data/pairs.hpp>
#include "examples/pronounce/configuration.hpp"
#include "examples/pronounce/language.hpp"

namespace weft::pronounce {

template <class T = float>
struct Pronouncer : EncoderDecoder<T> {
  // Creates a model with random weights. Throws ValueError if a setting is out of range.
  Pronouncer(const Configuration& configuration, const Language& language, Random& random);

  // The embeddings are named after letters and phones.
  void members(Members<T>& members) const override;
};

extern template struct Pronouncer<float>;
extern template struct Pronouncer<double>;

}  // namespace weft::pronounce
