#include "weft/train/text/generation/speculative.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"
#include "train/text/generation/internal/processed_logits.hpp"

namespace weft {
namespace {

// A model with the keys and values of the last tokens of a text.
template <class T>
class CachedModel {
 public:
  CachedModel(const Gpt<T>& model, Index prompt_length, Index max_context)
      : model_(model),
        prompt_length_(prompt_length),
        max_context_(max_context),
        cache_(model.make_cache(1)) {}

  Index begin(Index length) const { return context_begin(prompt_length_, length, max_context_); }
  // Returns the number of tokens that can be added to a text of this length before its context
  // slides.
  Index room(Index length) const { return max_context_ - (length - begin(length)); }

  // Returns the logits of the tokens after each of the last `count` tokens, [1, count, vocabulary].
  // The tokens before them must be the same as in the previous call.
  Tensor<T> logits(std::span<const TokenId> text, Index count) {
    const Index length = std::ssize(text), first = begin(length);
    if (first != begin_) cache_.truncate(0, 0);
    begin_ = first;
    const Index known = begin_ + cache_.length(0);
    // Logits are needed only for the last tokens.
    if (known < length - count) static_cast<void>(extend(text, known, length - count));
    const Tensor<T> logits = model_.logits(extend(text, length - count, length)).value();
    tape_.clear();
    return logits;
  }

  // Removes the tokens of the text from `length` on.
  void truncate(Index length) {
    cache_.truncate(0, std::clamp<Index>(length - begin_, 0, cache_.length(0)));
  }

 private:
  Var<T> extend(std::span<const TokenId> text, Index from, Index to) {
    const auto tokens =
        text.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
    return model_.extend(tape_, Tokens({1, to - from}, tokens), cache_);
  }

  const Gpt<T>& model_;
  Index prompt_length_, max_context_;
  Index begin_ = 0;  // index of the first token in the cache
  KeyValueCache<T> cache_;
  Tape<T> tape_ = Tape<T>::inference();
};

// Draws a token with the probabilities weights / Σ weights. At least one weight must be above 0.
TokenId draw(std::span<const double> weights, Random& random) {
  double left = random.uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
  TokenId chosen = 0;
  for (std::size_t i = 0; i < weights.size() && left >= 0.0; ++i) {
    if (weights[i] == 0.0) continue;
    chosen = static_cast<TokenId>(i);
    left -= weights[i];
  }
  return chosen;
}

template <class T>
class Speculation {
 public:
  Speculation(const Gpt<T>& model, const Gpt<T>& draft, std::span<const TokenId> prompt,
              const GenerateOptions& options)
      : options_(options),
        prompt_length_(std::ssize(prompt)),
        text_(prompt.begin(), prompt.end()),
        model_(model, prompt_length_, max_context_of(model, options.max_context)),
        draft_(draft, prompt_length_, context_of_draft(draft, options)),
        processed_(options),
        sampler_(options.sampling),
        random_(options.seed) {}

  SpeculativeText run(Index num_draft_tokens) {
    while (goes_on_ && left() > 0) {
      // Besides the proposed tokens, a round adds one token drawn by the model.
      round(std::min({num_draft_tokens, left() - 1, model_.room(std::ssize(text_)),
                      draft_.room(std::ssize(text_))}));
    }
    result_.tokens.assign(text_.begin() + prompt_length_, text_.end());
    return std::move(result_);
  }

 private:
  static Index context_of_draft(const Gpt<T>& draft, const GenerateOptions& options) {
    const Index most = max_context_of(draft);
    return std::min(most, options.max_context.value_or(most));
  }

  Index left() const { return options_.max_tokens - (std::ssize(text_) - prompt_length_); }

  // Returns the probabilities of the token after `text`. Its logits are in row `row`.
  std::vector<double> probabilities(const Tensor<T>& logits, Index row,
                                    std::span<const TokenId> text) {
    const Index vocabulary = logits.shape()[2];
    const auto context = text.subspan(static_cast<std::size_t>(model_.begin(std::ssize(text))));
    const std::span row_logits(logits.data() + row * vocabulary,
                               static_cast<std::size_t>(vocabulary));
    return sampler_.probabilities(
        processed_(row_logits, 0, context, std::ssize(text) - prompt_length_), context);
  }

  // Runs one pass of the model: adds the accepted tokens of `count` proposed tokens, and one more.
  void round(Index count) {
    const Index length = std::ssize(text_);
    TokenIds proposed = text_;
    std::vector<std::vector<double>> of_draft;
    for (Index i = 0; i < count; ++i) {
      of_draft.push_back(probabilities(draft_.logits(proposed, 1), 0, proposed));
      proposed.push_back(draw(of_draft.back(), random_));
    }
    const Tensor<T> logits = model_.logits(proposed, count + 1);
    result_.proposed += count;
    for (Index i = 0; i <= count && goes_on_; ++i) {
      std::vector<double> of_model = probabilities(logits, i, text_);
      if (i == count) {
        add(draw(of_model, random_));
        break;
      }
      const TokenId token = proposed[static_cast<std::size_t>(length + i)];
      const std::vector<double>& q = of_draft[static_cast<std::size_t>(i)];
      const auto index = static_cast<std::size_t>(token);
      if (random_.uniform() * q[index] < of_model[index]) {
        ++result_.accepted;
        add(token);
        continue;
      }
      // Draws from the excess of the model's probabilities over the draft's probabilities.
      std::ranges::transform(of_model, q, of_model.begin(),
                             [](double p, double drawn) { return std::max(0.0, p - drawn); });
      add(draw(of_model, random_));
      break;
    }
    // Neither cache contains the last token.
    model_.truncate(std::ssize(text_) - 1);
    draft_.truncate(std::ssize(text_) - 1);
  }

  void add(TokenId token) {
    goes_on_ = std::ranges::count(options_.eos_token_ids, token) == 0;
    if (!goes_on_) return;
    text_.push_back(token);
    if (options_.on_token) goes_on_ = options_.on_token(0, token);
  }

  const GenerateOptions& options_;
  Index prompt_length_;
  TokenIds text_;
  CachedModel<T> model_, draft_;
  ProcessedLogits<T> processed_;
  Sampler<T> sampler_;
  Random random_;
  bool goes_on_ = true;
  SpeculativeText result_;
};

}  // namespace

template <class T>
SpeculativeText generate_speculatively(const Gpt<T>& model, const Gpt<T>& draft,
                                       std::span<const TokenId> prompt,
                                       const GenerateOptions& options, Index num_draft_tokens) {
  check_at_least("generate: max_tokens", options.max_tokens, Index{0});
  check_at_least("generate: min_tokens", options.min_tokens, Index{0});
  check_positive("generate: num_draft_tokens", num_draft_tokens);
  if (prompt.empty()) fail<ValueError>("generate: prompt", "at least one token", "none");
  const Index vocabulary = model.tokens.weight.shape()[0];
  if (draft.tokens.weight.shape()[0] != vocabulary)
    fail<ValueError>("generate: draft",
                     str_cat("a vocabulary of ", vocabulary, " tokens, as in the model"),
                     draft.tokens.weight.shape()[0]);
  return Speculation<T>(model, draft, prompt, options).run(num_draft_tokens);
}

template SpeculativeText generate_speculatively(const Gpt<float>&, const Gpt<float>&,
                                                std::span<const TokenId>, const GenerateOptions&,
                                                Index);
template SpeculativeText generate_speculatively(const Gpt<double>&, const Gpt<double>&,
                                                std::span<const TokenId>, const GenerateOptions&,
                                                Index);

}  // namespace weft
