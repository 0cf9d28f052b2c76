#include "examples/pronounce/model.hpp"

#include "examples/pronounce/dictionary.hpp"

namespace weft::pronounce {

template <class T>
Pronouncer<T>::Pronouncer(const Configuration& configuration, const Language& language,
                          Random& random)
    : EncoderDecoder<T>({.source_vocabulary_size = language.letters.size(),
                         .target_vocabulary_size = language.phones.size(),
                         .max_len = static_cast<Index>(max_len),
                         .transformer = configuration.transformer_options()},
                        random) {}

template <class T>
void Pronouncer<T>::members(Members<T>& members) const {
  members.type("Pronouncer");
  members("letter_embedding", this->source_embedding);
  members("phone_embedding", this->target_embedding);
  members("position", this->position);
  members("encoder", this->encoder);
  members("decoder", this->decoder);
  members("output", this->output);
}

template struct Pronouncer<float>;
template struct Pronouncer<double>;

}  // namespace weft::pronounce
