#include "weft/train/generation/generate.hpp"

#include <algorithm>
#include <limits>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
namespace {

// The most tokens that the model takes.
template <class T>
Index context_of(const Gpt<T>& model) {
  return model.positions ? model.positions->weight.shape()[0] : std::numeric_limits<Index>::max();
}

}  // namespace

template <class T>
Sequence generate(const Gpt<T>& model, std::span<const TokenId> prompt,
                  const GenerateOptions& options) {
  check_at_least("generate: max_tokens", options.max_tokens, Index{0});
  if (prompt.empty()) fail<ValueError>("generate: prompt", "at least one token", "none");
  Sampler<T> sampler(options.sampling, options.seed);
  Tape<T> tape = Tape<T>::inference();
  Sequence text(prompt.begin(), prompt.end());
  for (Index i = 0; i < options.max_tokens; ++i) {
    const Index time = std::min(context_of(model), std::ssize(text));
    Tokens context({1, time});
    std::copy(text.end() - time, text.end(), context.begin());
    const Tensor<T> logits = model(tape, context).value();
    tape.clear();
    const Index vocabulary = logits.shape()[2];
    const std::span<const T> last(logits.data() + (time - 1) * vocabulary,
                                  static_cast<std::size_t>(vocabulary));
    const TokenId token = sampler(last, text);
    if (token == options.end) break;
    text.push_back(token);
    if (options.on_token) options.on_token(token);
  }
  return {text.begin() + std::ssize(prompt), text.end()};
}

template Sequence generate(const Gpt<float>&, std::span<const TokenId>, const GenerateOptions&);
template Sequence generate(const Gpt<double>&, std::span<const TokenId>, const GenerateOptions&);

}  // namespace weft
