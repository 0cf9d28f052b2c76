#include "weft/train/generation/generate.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
namespace {

// A prompt and what was generated after it.
template <class T>
struct Text {
  Index index;  // of the prompt
  Index prompt_length;
  Sequence tokens;
  Sampler<T> sampler;

  std::span<const TokenId> from(Index begin) const {
    return std::span(tokens).subspan(static_cast<std::size_t>(begin));
  }
};

template <class T>
class Generation {
 public:
  Generation(const Gpt<T>& model, std::span<const Sequence> prompts, const GenerateOptions& options)
      : model_(model),
        options_(options),
        max_context_(max_context_of(model, options.max_context)),
        results_(prompts.size()),
        cache_(model.make_cache(0)) {
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const Sequence& prompt = prompts[i];
      if (prompt.empty()) fail<ValueError>("generate: prompt", "at least one token", "none");
      Sampler<T> sampler(options.sampling, options.seed + i);
      if (options.max_tokens == 0) continue;
      texts_.push_back({static_cast<Index>(i), std::ssize(prompt), prompt, std::move(sampler)});
      Sequence& tokens = texts_.back().tokens;
      tokens.reserve(prompt.size() +
                     static_cast<std::size_t>(std::min<Index>(options.max_tokens, Index{1} << 20)));
      cache_.append(cache_of(texts_.back()));
    }
  }

  std::vector<Sequence> run() {
    while (!texts_.empty()) step();
    return std::move(results_);
  }

 private:
  // The keys and values of what the next token is predicted from, but the last token.
  KeyValueCache<T> cache_of(const Text<T>& text) {
    const Index length = std::ssize(text.tokens);
    const auto context = text.from(context_begin(text.prompt_length, length, max_context_));
    const Index capacity =
        std::min(max_context_, std::ssize(context) + std::min<Index>(options_.max_tokens, 1024));
    KeyValueCache<T> cache = model_.make_cache(1, capacity);
    if (context.size() > 1) {
      static_cast<void>(model_.extend(
          tape_, Tokens({1, std::ssize(context) - 1}, context.first(context.size() - 1)), cache));
      tape_.clear();
    }
    return cache;
  }

  // Generates the next token of each text.
  void step() {
    const Index count = std::ssize(texts_);
    if (last_tokens_.shape() != Shape{count, 1}) last_tokens_ = Tokens({count, 1});
    for (Index i = 0; i < count; ++i) {
      const Text<T>& text = texts_[static_cast<std::size_t>(i)];
      if (cache_.length(i) == max_context_) cache_.replace(i, cache_of(text), 0);
      last_tokens_(i, 0) = text.tokens.back();
    }
    const Tensor<T> logits = model_.logits(model_.extend(tape_, last_tokens_, cache_)).value();
    tape_.clear();
    const Index vocabulary = logits.shape()[2];
    live_.clear();
    for (Index i = 0; i < count; ++i)
      if (add_token(texts_[static_cast<std::size_t>(i)],
                    {logits.data() + i * vocabulary, static_cast<std::size_t>(vocabulary)}))
        live_.push_back(i);
    if (std::ssize(live_) < count) drop_finished();
  }

  // Returns whether the text goes on.
  bool add_token(Text<T>& text, std::span<const T> logits) {
    const Index begin = context_begin(text.prompt_length, std::ssize(text.tokens), max_context_);
    const TokenId token = text.sampler(logits, text.from(begin));
    if (token == options_.end) return false;
    text.tokens.push_back(token);
    if (options_.on_token && !options_.on_token(text.index, token)) return false;
    return std::ssize(text.tokens) - text.prompt_length < options_.max_tokens;
  }

  // Keeps the texts `live_`, and stores the results of the others.
  void drop_finished() {
    std::vector<Text<T>> texts;
    for (auto next = live_.begin(); Text<T> & text : texts_) {
      const Index i = &text - texts_.data();
      if (next != live_.end() && *next == i) {
        texts.push_back(std::move(text));
        ++next;
      } else {
        const auto result = text.from(text.prompt_length);
        results_[static_cast<std::size_t>(text.index)].assign(result.begin(), result.end());
      }
    }
    texts_ = std::move(texts);
    cache_.select(live_);
  }

  const Gpt<T>& model_;
  const GenerateOptions& options_;
  Index max_context_;
  std::vector<Sequence> results_;
  Tape<T> tape_ = Tape<T>::inference();
  std::vector<Text<T>> texts_;  // those that go on, in the order of the cache's sequences
  KeyValueCache<T> cache_;
  Tokens last_tokens_;
  std::vector<Index> live_;
};

}  // namespace

template <class T>
Index max_context_of(const Gpt<T>& model, std::optional<Index> limit) {
  if (limit) check_at_least("generate: max_context", *limit, Index{1});
  if (!model.positions) return limit.value_or(std::numeric_limits<Index>::max());
  const Index positions = model.positions->weight.shape()[0];
  if (limit.value_or(0) > positions)
    fail<ValueError>("generate: max_context",
                     concatenate_text("at most the model's ", positions, " positions"), *limit);
  return limit.value_or(positions);
}

Index context_begin(Index prompt_length, Index length, Index max_context) {
  const Index first = std::max<Index>(prompt_length - max_context, 0);
  if (length - first <= max_context) return first;
  // The context of max_context + 1 tokens became one of `kept`, and so on.
  const Index kept = (max_context + 1) / 2, slide = max_context + 1 - kept;
  return first + (length - first - kept) / slide * slide;
}

template <class T>
std::vector<Sequence> generate(const Gpt<T>& model, std::span<const Sequence> prompts,
                               const GenerateOptions& options) {
  check_at_least("generate: max_tokens", options.max_tokens, Index{0});
  return Generation<T>(model, prompts, options).run();
}

template <class T>
Sequence generate(const Gpt<T>& model, std::span<const TokenId> prompt,
                  const GenerateOptions& options) {
  const Sequence tokens(prompt.begin(), prompt.end());
  return std::move(generate(model, std::span(&tokens, 1), options).front());
}

template Index max_context_of(const Gpt<float>&, std::optional<Index>);
template Index max_context_of(const Gpt<double>&, std::optional<Index>);
template std::vector<Sequence> generate(const Gpt<float>&, std::span<const Sequence>,
                                        const GenerateOptions&);
template std::vector<Sequence> generate(const Gpt<double>&, std::span<const Sequence>,
                                        const GenerateOptions&);
template Sequence generate(const Gpt<float>&, std::span<const TokenId>, const GenerateOptions&);
template Sequence generate(const Gpt<double>&, std::span<const TokenId>, const GenerateOptions&);

}  // namespace weft
