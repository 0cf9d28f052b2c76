// Random caches, searches and samplers, of random models, in random order.
#include <cmath>
#include <memory>

#include <weft/autograd/ops/softmax.hpp>
#include <weft/train/text/generation/encoder_decoder_search.hpp>
#include <weft/train/text/generation/generate.hpp>
#include <weft/train/text/generation/speculative.hpp>
#include "tests/random_calls.hpp"

namespace weft {
namespace {

using Cache = KeyValueCache<float>;

// A language model and a translator, with caches that are filled, reordered and cut.
class Session {
 public:
  explicit Session(Arguments& arguments) : a_(arguments) {
    attempt([&] { gpt_ = std::make_unique<Gpt<float>>(gpt_options(2), a_.random()); });
    attempt([&] { draft_ = std::make_unique<Gpt<float>>(gpt_options(1), a_.random()); });
    attempt([&] {
      translator_ = std::make_unique<EncoderDecoder<float>>(
          EncoderDecoderOptions{
              .source_vocabulary_size = 6,
              .target_vocabulary_size = vocabulary,
              .max_len = a_.chance(0.9) ? 6 : a_.integer(),
              .transformer = {.num_blocks = 1 + a_.below(2),
                              .num_hiddens = 4,
                              .ffn_num_hiddens = 4,
                              .num_heads = 2,
                              .norm_first = a_.flag(),
                              .num_kv_heads = a_.flag() ? std::optional<Index>(1) : std::nullopt}},
          a_.random());
    });
  }

  void act() {
    if (!gpt_) return;
    switch (a_.below(10)) {
      case 0:
        return attempt([&] { caches_.push_back(gpt_->make_cache(a_.integer(), a_.integer())); });
      case 1:
        return attempt([&] {
          caches_.emplace_back(KeyValueCacheOptions{.num_layers = 1 + a_.below(3),
                                                    .num_heads = a_.integer(),
                                                    .head_size = a_.integer()},
                               a_.below(3));
        });
      case 2:
        return attempt([&] { generate_some(); });
      case 3:
        return attempt([&] { translate(); });
      case 4:
        return attempt([&] { sample(); });
      default:
        return attempt([&] { use_a_cache(); });
    }
  }

  // Attention of a model to a cache reads positions up to its length.
  void check() const {
    for (const Cache& cache : caches_) {
      REQUIRE(cache.largest_length() <= cache.max_capacity());
      for (Index i = 0; i < cache.num_sequences(); ++i)
        REQUIRE(cache.length(i) <= cache.value_stride(i));
    }
  }

 private:
  static constexpr Index vocabulary = 7;

  GptOptions gpt_options(Index blocks) {
    const auto rarely = [&](Index value) {
      return a_.chance(0.2) ? std::optional(a_.chance(0.8) ? value : a_.integer()) : std::nullopt;
    };
    return {.vocabulary_size = a_.chance(0.95) ? vocabulary : a_.below(9),
            .max_len = a_.chance(0.9) ? 5 + a_.below(30) : a_.integer(),
            .num_hiddens = 4,
            .num_heads = 2,
            .head_size = rarely(2),
            .num_blocks = blocks,
            .bias = a_.flag(),
            .tied = a_.flag(),
            .rotary = a_.flag() ? std::optional(RotaryOptions{}) : std::nullopt,
            .alibi = a_.chance(0.2),
            .norm = a_.one_of({Norm::layer_norm, Norm::rms_norm}),
            .swiglu = a_.flag(),
            .num_kv_heads = rarely(1),
            .qk_norm = a_.chance(0.2),
            .window = rarely(3),
            .parallel_residual = a_.chance(0.2)};
  }

  Cache& a_cache() {
    if (caches_.empty()) caches_.push_back(gpt_->make_cache(1 + a_.below(3)));
    if (caches_.size() > 4) caches_.erase(caches_.begin());
    return a_.any(caches_);
  }
  Index index_in(const Cache& cache) {
    return a_.chance(0.9) ? a_.below(std::max<Index>(cache.num_sequences(), 1)) : a_.integer();
  }

  void use_a_cache() {
    Cache &cache = a_cache(), &other = a_.any(caches_);
    switch (a_.below(9)) {
      case 0: {
        std::vector<Index> indices(static_cast<std::size_t>(a_.below(5)));
        for (Index& index : indices) index = index_in(cache);
        return cache.reorder(indices);
      }
      case 1:
        return cache.append(other);
      case 2:
        return cache.replace(index_in(cache), other, index_in(other));
      case 3:
        return cache.truncate(index_in(cache), a_.integer());
      case 4:
        return cache.advance(a_.integer());
      case 5: {
        std::vector<Index> times(static_cast<std::size_t>(
            std::max<Index>(cache.num_sequences() + (a_.chance(0.9) ? 0 : a_.below(3) - 1), 0)));
        for (Index& time : times) time = a_.integer();
        return cache.advance(times);
      }
      case 6: {
        Tape<float> tape({.recording = a_.chance(0.05)});
        const KeyValueCacheOptions& o = cache.options();
        const Shape shape{cache.num_sequences(), a_.below(20), o.num_heads * o.head_size};
        if (shape.elements() > 1'000'000) return;
        const auto noise = [&] {
          return tape.constant(a_.random().normal_tensor(a_.chance(0.9) ? shape : a_.like(shape)));
        };
        return cache.store(a_.below(o.num_layers + 1), noise(), noise());
      }
      default: {
        Tape<float> tape({.recording = a_.chance(0.05)});
        const Shape shape{cache.num_sequences(), a_.below(a_.chance(0.1) ? 40 : 5)};
        const Tokens tokens = a_.ids(a_.chance(0.9) ? shape : a_.like(shape), vocabulary);
        const Var<float> states = gpt_->extend(tape, tokens, cache);
        return static_cast<void>(gpt_->logits(states));
      }
    }
  }

  SamplingOptions sampling() {
    const auto usual = [&](double value) {
      return a_.chance(0.6) ? value : a_.chance(0.8) ? a_.random().uniform() : a_.number();
    };
    return {.temperature = usual(1.0),
            .top_k = a_.flag() ? 0 : a_.integer(),
            .top_p = usual(1.0),
            .min_p = usual(0.0),
            .repetition_penalty = usual(1.0)};
  }

  void generate_some() {
    Index stop_after = a_.below(12);
    const GenerateOptions options{
        .max_tokens = a_.below(12) - 1,
        .sampling = sampling(),
        .seed = a_.random().next(),
        .eos_token_ids = a_.flag() ? TokenIds() : TokenIds{static_cast<TokenId>(a_.below(9) - 1)},
        .on_token = [&](Index, TokenId) { return --stop_after != 0; },
        .max_context = a_.chance(0.7) ? std::nullopt : std::optional(a_.integer()),
        .precision = a_.one_of({Precision::full, Precision::bf16})};
    std::vector<TokenIds> prompts(static_cast<std::size_t>(a_.below(a_.chance(0.1) ? 20 : 4)));
    for (TokenIds& prompt : prompts) {
      const Tokens ids = a_.ids({a_.chance(0.05) ? 0 : 1 + a_.below(40)}, vocabulary);
      prompt.assign(ids.begin(), ids.end());
    }
    if (a_.flag() || !draft_ || prompts.empty()) {
      const std::vector<TokenIds> results = generate(*gpt_, prompts, options);
      REQUIRE(results.size() == prompts.size());
      for (const TokenIds& result : results)
        REQUIRE(std::ssize(result) <= std::max<Index>(options.max_tokens, 0));
    } else {
      const SpeculativeText result =
          generate_speculatively(*gpt_, *draft_, prompts.front(), options, a_.integer());
      REQUIRE(result.accepted <= result.proposed);
    }
  }

  void translate() {
    const BeamSearchOptions options{.beam_width = a_.integer(),
                                    .max_len = a_.below(8) - 1,
                                    .bos = static_cast<TokenId>(a_.below(9) - 1),
                                    .eos_token_ids = {static_cast<TokenId>(a_.below(9) - 1)},
                                    .length_penalty = a_.number(),
                                    .n_best = a_.flag() ? 1 : a_.integer()};
    const auto next = [&](const Prefixes& prefixes) {
      Shape shape{prefixes.tokens.shape()[0], vocabulary};
      if (a_.chance(0.02)) shape = a_.like(shape);
      Tape<float> tape = Tape<float>::inference();
      Tensor<float> logits = a_.random().normal_tensor(shape);
      if (a_.chance(0.05) && !logits.empty()) logits.values()[0] = static_cast<float>(a_.number());
      return a_.chance(0.02) ? logits : log_softmax(tape.constant(logits)).value();
    };
    if (a_.flag() || !translator_)
      return static_cast<void>(beam_search(next, a_.below(4), options));
    std::vector<TokenIds> sources(static_cast<std::size_t>(a_.below(4)));
    for (TokenIds& source : sources) {
      const Tokens ids = a_.ids({a_.chance(0.05) ? 0 : 1 + a_.below(6)}, 6);
      source.assign(ids.begin(), ids.end());
    }
    if (a_.flag()) return static_cast<void>(greedy_search(*translator_, sources, options));
    for (const auto& hypotheses : beam_search(*translator_, sources, options)) {
      REQUIRE(std::ssize(hypotheses) <= options.n_best);
      for (const Hypothesis& hypothesis : hypotheses)
        REQUIRE(std::ssize(hypothesis.tokens) <= options.max_len);
    }
  }

  void sample() {
    Sampler<float> sampler(sampling(), a_.random().next());
    Tensor<float> logits = a_.random().normal_tensor({a_.below(12)});
    for (float& logit : logits)
      if (a_.chance(0.05)) logit = static_cast<float>(a_.number());
    const Tokens context = a_.ids({a_.below(4)}, std::max<Index>(logits.size(), 1));
    for (int i = 0; i < 3; ++i) {
      const TokenId token = sampler(logits.values(), context.values());
      REQUIRE((token >= 0 && token < logits.size()));
    }
    double sum = 0.0;
    for (const double p : sampler.probabilities(logits.values(), context.values())) sum += p;
    REQUIRE(std::abs(sum - 1.0) < 1e-4);
  }

  Arguments& a_;
  std::unique_ptr<Gpt<float>> gpt_, draft_;
  std::unique_ptr<EncoderDecoder<float>> translator_;
  std::vector<Cache> caches_;
};

}  // namespace

TEST_CASE("random calls: caches, searches and samplers work or throw an Error",
          "[generation][random]") {
  for_random_sequences([](Arguments& arguments) {
    Session session(arguments);
    for (Index i = 10 + arguments.below(20); i > 0; --i) {
      session.act();
      session.check();
    }
  });
}

}  // namespace weft
