#include "weft/train/text/generation/generate.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "autograd/internal/checks.hpp"
#include "train/text/generation/internal/processed_logits.hpp"

namespace weft {
namespace {

// A prompt and the tokens generated after it.
template <class T>
struct Text {
  Index index;  // index of the prompt
  Index prompt_length;
  TokenIds tokens;
  Sampler<T> sampler;

  std::span<const TokenId> from(Index begin) const {
    return std::span(tokens).subspan(static_cast<std::size_t>(begin));
  }
};

template <class T>
class Generation {
 public:
  Generation(const Gpt<T>& model, std::span<const TokenIds> prompts, const GenerateOptions& options)
      : model_(model),
        options_(options),
        max_context_(max_context_of(model, options.max_context)),
        results_(prompts.size()),
        tape_({.recording = false, .precision = options.precision}),
        processed_(options),
        cache_(model.make_cache(0)) {
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const TokenIds& prompt = prompts[i];
      if (prompt.empty()) fail<ValueError>("generate: prompt", "at least one token", "none");
      Sampler<T> sampler(options.sampling, options.seed + i);
      if (options.max_tokens == 0) continue;
      texts_.push_back({static_cast<Index>(i), std::ssize(prompt), prompt, std::move(sampler)});
      texts_.back().tokens.reserve(prompt.size() + expected_tokens());
    }
  }

  std::vector<TokenIds> run() {
    begin();
    while (!texts_.empty()) step();
    return std::move(results_);
  }

 private:
  // Returns the number of tokens to allocate memory for in advance.
  std::size_t expected_tokens() const {
    return static_cast<std::size_t>(std::min<Index>(options_.max_tokens, 1024));
  }

  // Returns the tokens from which the next token is predicted.
  std::span<const TokenId> context_of(const Text<T>& text) const {
    return text.from(context_begin(text.prompt_length, std::ssize(text.tokens), max_context_));
  }

  KeyValueCache<T> new_cache(const Text<T>& text) const {
    const Index length = std::ssize(context_of(text)) + static_cast<Index>(expected_tokens());
    return model_.make_cache(1, std::min(max_context_, length));
  }

  // Returns the states of one sequence, and appends its keys and values to the cache.
  Var<T> states_of(std::span<const TokenId> tokens, KeyValueCache<T>& cache) {
    return model_.extend(tape_, Tokens({1, std::ssize(tokens)}, tokens), cache);
  }

  // Reads the prompts, one by one, and generates their first tokens.
  void begin() {
    for (Index i = 0; Text<T> & text : texts_) {
      KeyValueCache<T> cache = new_cache(text);
      const Var<T> states = states_of(context_of(text), cache);
      const Index time = states.shape()[1];
      const Tensor<T> logits = model_.logits(slice(states, 1, time - 1, time)).value();
      tape_.clear();
      if (add_token(text, logits.values())) live_.push_back(i);
      cache_.append(cache);
      ++i;
    }
    drop_finished();
  }

  // Returns the keys and values of a context that has just slid, without its last token.
  KeyValueCache<T> slid_cache(const Text<T>& text) {
    KeyValueCache<T> cache = new_cache(text);
    const auto context = context_of(text);
    if (context.size() > 1) states_of(context.first(context.size() - 1), cache);
    tape_.clear();
    return cache;
  }

  // Generates the next token of each text.
  void step() {
    const Index count = std::ssize(texts_);
    if (last_tokens_.shape() != Shape{count, 1}) last_tokens_ = Tokens({count, 1});
    for (Index i = 0; i < count; ++i) {
      const Text<T>& text = texts_[static_cast<std::size_t>(i)];
      if (cache_.length(i) == max_context_) cache_.replace(i, slid_cache(text), 0);
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
    drop_finished();
  }

  // Returns whether the text continues.
  bool add_token(Text<T>& text, std::span<const T> logits) {
    const auto context = context_of(text);
    const Index generated = std::ssize(text.tokens) - text.prompt_length;
    const TokenId token = text.sampler(processed_(logits, text.index, context, generated), context);
    if (std::ranges::count(options_.eos_token_ids, token) > 0) return false;
    text.tokens.push_back(token);
    if (options_.on_token && !options_.on_token(text.index, token)) return false;
    return std::ssize(text.tokens) - text.prompt_length < options_.max_tokens;
  }

  // Keeps the texts in `live_`, and stores the results of all other texts.
  void drop_finished() {
    if (live_.size() == texts_.size()) return;
    std::vector<Text<T>> texts;
    for (const Index i : live_) texts.push_back(std::move(texts_[static_cast<std::size_t>(i)]));
    for (const Text<T>& text : texts_)
      if (!text.tokens.empty()) {  // not moved
        const auto result = text.from(text.prompt_length);
        results_[static_cast<std::size_t>(text.index)].assign(result.begin(), result.end());
      }
    texts_ = std::move(texts);
    cache_.reorder(live_);
  }

  const Gpt<T>& model_;
  const GenerateOptions& options_;
  Index max_context_;
  std::vector<TokenIds> results_;
  Tape<T> tape_;
  ProcessedLogits<T> processed_;
  std::vector<Text<T>> texts_;  // texts that continue, in the order of the cache's sequences
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
                     str_cat("at most the model's ", positions, " positions"), *limit);
  return limit.value_or(positions);
}

Index context_begin(Index prompt_length, Index length, Index max_context) {
  const Index first = std::max<Index>(prompt_length - max_context, 0);
  if (length - first <= max_context) return first;
  // Each slide reduces a context of max_context + 1 tokens to `kept` tokens.
  const Index kept = (max_context + 1) / 2, slide = max_context + 1 - kept;
  return first + (length - first - kept) / slide * slide;
}

template <class T>
std::vector<TokenIds> generate(const Gpt<T>& model, std::span<const TokenIds> prompts,
                               const GenerateOptions& options) {
  check_at_least("generate: max_tokens", options.max_tokens, Index{0});
  check_at_least("generate: min_tokens", options.min_tokens, Index{0});
  return Generation<T>(model, prompts, options).run();
}

template <class T>
TokenIds generate(const Gpt<T>& model, std::span<const TokenId> prompt,
                  const GenerateOptions& options) {
  const TokenIds tokens(prompt.begin(), prompt.end());
  return std::move(generate(model, std::span(&tokens, 1), options).front());
}

template Index max_context_of(const Gpt<float>&, std::optional<Index>);
template Index max_context_of(const Gpt<double>&, std::optional<Index>);
template std::vector<TokenIds> generate(const Gpt<float>&, std::span<const TokenIds>,
                                        const GenerateOptions&);
template std::vector<TokenIds> generate(const Gpt<double>&, std::span<const TokenIds>,
                                        const GenerateOptions&);
template TokenIds generate(const Gpt<float>&, std::span<const TokenId>, const GenerateOptions&);
template TokenIds generate(const Gpt<double>&, std::span<const TokenId>, const GenerateOptions&);

}  // namespace weft
