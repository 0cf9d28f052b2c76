#include "tests/benchmarks/workloads.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include <weft/autograd/error.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/layers/lora.hpp>
#include <weft/layers/models/bert.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train.hpp>
#include "examples/pronounce/model.hpp"
#include "tests/benchmarks/inputs.hpp"
#include "tests/benchmarks/layers.hpp"

namespace weft::benchmarks {
namespace {

Tokens random_tokens(const Shape& shape, Index vocabulary, Random& random) {
  Tokens tokens(shape);
  for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(vocabulary));
  return tokens;
}

// The FLOPs of forward and backward; the backward has two products for each of the forward.
double training_flops(double forward_multiplications) {
  return 3.0 * 2.0 * forward_multiplications;
}

// The multiplications of the scores and of the weighted sums; `keys` is the mean number of keys per
// query that are not masked.
double attention_multiplications(double queries, double keys, double width) {
  return 2.0 * queries * keys * width;
}

std::shared_ptr<Profile> profile_of(const Module<float>& model, bool profiled) {
  return profiled ? std::make_shared<Profile>(model) : nullptr;
}

// A step of training, whose gradients `pass` adds.
template <class Pass>
void train(Profile* profile, Optimizer<float>& optimizer, const Pass& pass) {
  {
    const Profile::Phase phase(profile, "forward and backward");
    pass();
  }
  {
    const Profile::Phase phase(profile, "optimizer");
    optimizer.step(clip_factor(optimizer.grad_norm(), 1.0));
  }
  if (profile) profile->end_step();
}

struct GptSize {
  GptOptions gpt;
  Index batch;
  Index lora_rank = 0;  // of the adapters that are trained alone; 0: all parameters are
  Index parts = 0;      // see TrainerOptions::parts
};

Gpt<float> new_model(const GptSize& size, Random& random) {
  Gpt<float> model(size.gpt, random);
  if (size.lora_rank > 0)
    add_lora(
        model, {.rank = size.lora_rank},
        [](const std::string& name) { return name.ends_with("W_q") || name.ends_with("W_v"); },
        random);
  return model;
}

Workload gpt_step(const GptSize& size, Precision precision, bool profiled) {
  struct State {
    State(const GptSize& gpt_size, Precision of_products, bool is_profiled)
        : size(gpt_size),
          model(new_model(gpt_size, random)),
          profile(profile_of(trained, is_profiled)),
          optimizer(trained, {.lr = 1e-3}),
          pass(named_parameters(trained), parts,
               {.training = true, .precision = of_products, .observer = profile.get()}) {}
    GptSize size;
    Random random{1};
    Gpt<float> model;
    TrainableParameters<float> trained{model};
    Index parts = part_limits(size.parts, model).parts(size.batch, size.batch* size.gpt.max_len);
    std::shared_ptr<Profile> profile;
    AdamW<float> optimizer;
    ParallelPass<float> pass;
    std::vector<Tokens> inputs, targets;  // one per part
    std::uint32_t step = 0;
  };
  const auto state = std::make_shared<State>(size, precision, profiled);
  const Index context = size.gpt.max_len, rows = size.batch / state->parts;
  for (Index part = 0; part < state->parts; ++part) {
    state->inputs.push_back(
        random_tokens({rows, context}, size.gpt.vocabulary_size, state->random));
    state->targets.push_back(
        random_tokens({rows, context}, size.gpt.vocabulary_size, state->random));
  }

  const double tokens = static_cast<double>(size.batch * context);
  const double width = static_cast<double>(size.gpt.num_hiddens);
  const double per_block =
      12.0 * width * width +
      attention_multiplications(1.0, (static_cast<double>(context) + 1) / 2, width);
  return {.step =
              [state, tokens] {
                train(state->profile.get(), state->optimizer, [&] {
                  state->pass.add_gradients(
                      state->step++, state->parts, [&](Tape<float>& tape, Index part) {
                        const auto i = static_cast<std::size_t>(part);
                        return cross_entropy(state->model(tape, state->inputs[i]),
                                             state->targets[i], {.divisor = tokens});
                      });
                });
              },
          .tokens = tokens,
          // Frozen weights have no gradients, which are a third of the products.
          .product_flops =
              (size.lora_rank > 0 ? 2.0 / 3.0 : 1.0) *
              training_flops(tokens * (static_cast<double>(size.gpt.num_blocks) * per_block +
                                       width * static_cast<double>(size.gpt.vocabulary_size))),
          .profile = state->profile};
}

// The pronunciation model of `pronounce train`, on 128 words of 8 letters and 8 phones.
Workload pronunciation_step(Index most_parts, Precision precision, bool profiled) {
  constexpr Index batch_size = 128, length = 8;
  struct State {
    pronounce::Configuration configuration = pronounce::Configuration::quick();
    pronounce::Language language;
    Random random{1};
    std::unique_ptr<pronounce::Pronouncer<float>> model;
    std::shared_ptr<Profile> profile;
    std::unique_ptr<AdamW<float>> optimizer;
    std::unique_ptr<ParallelPass<float>> pass;
    std::vector<PairBatch> batches;
    std::uint32_t step = 0;
  };
  const auto state = std::make_shared<State>();
  // The model of peers/torch_step.py.
  pronounce::Configuration& form = state->configuration;
  form.rms_norm = form.qk_norm = form.squared_relu = false;
  std::vector<pronounce::Entry> words;
  const std::string letters = "abcdefghijklmnopqrstuvwxyz'";
  for (char letter : letters) words.push_back({std::string(1, letter), {}});
  for (int phone = 0; phone < 39; ++phone)
    words.front().pronunciations.push_back({str_cat("P", phone)});
  state->language = pronounce::Language::of(words);
  state->model = std::make_unique<pronounce::Pronouncer<float>>(state->configuration,
                                                                state->language, state->random);
  const Index parts = part_limits(most_parts, *state->model).parts(batch_size, batch_size * length);
  state->profile = profile_of(*state->model, profiled);
  state->optimizer = std::make_unique<AdamW<float>>(*state->model, AdamWOptions{.lr = 1e-3});
  state->pass = std::make_unique<ParallelPass<float>>(
      named_parameters(*state->model), parts,
      TapeOptions{.training = true, .precision = precision, .observer = state->profile.get()});
  const Index num_letters = state->language.letters.size();
  const Index num_phones = state->language.phones.size();
  std::vector<SequencePair> pairs(batch_size);
  for (auto& [source, target] : pairs) {
    const Tokens source_tokens = random_tokens({length}, num_letters - 4, state->random);
    const Tokens target_tokens = random_tokens({length - 1}, num_phones - 4, state->random);
    for (TokenId token : source_tokens) source.push_back(token + 4);
    for (TokenId token : target_tokens) target.push_back(token + 4);
  }
  const PairBatch full_batch = PairBatches(pairs, {.batch_size = batch_size}).batch(0, 0);
  for (Index part = 0; part < parts; ++part)
    state->batches.push_back(
        part_of(full_batch, part * batch_size / parts, (part + 1) * batch_size / parts));

  const double width = static_cast<double>(state->configuration.width);
  const double positions = static_cast<double>(batch_size * length);
  const double layers = static_cast<double>(state->configuration.layers);
  const double encoder = 12.0 * width * width + attention_multiplications(1.0, length, width);
  const double decoder = 16.0 * width * width +
                         attention_multiplications(1.0, (length + 1) / 2.0, width) +
                         attention_multiplications(1.0, length, width);
  return {
      .step =
          [state, parts] {
            train(state->profile.get(), *state->optimizer, [&] {
              state->pass->add_gradients(state->step++, parts, [&](Tape<float>& tape, Index part) {
                return batch_loss(*state->model, tape,
                                  state->batches[static_cast<std::size_t>(part)],
                                  {.label_smoothing = state->configuration.label_smoothing});
              });
            });
          },
      .tokens = positions,
      .product_flops = training_flops(
          positions * (layers * (encoder + decoder) + width * static_cast<double>(num_phones))),
      .profile = state->profile};
}

// One character of text from the model of W2, at its full context, with everything recomputed.
Workload sampling_step(const GptOptions& options, Precision precision) {
  struct State {
    State(const GptOptions& gpt_options, Precision of_products)
        : model(gpt_options, random), tape({.recording = false, .precision = of_products}) {}
    Random random{1};
    Gpt<float> model;
    Tokens text;
    Tape<float> tape;
  };
  const auto state = std::make_shared<State>(options, precision);
  state->text = random_tokens({1, options.max_len}, options.vocabulary_size, state->random);
  return {.step =
              [state] {
                const Var<float> logits = state->model(state->tape, state->text);
                const Tensor<float>& probabilities = softmax(logits).value();
                const Index last = state->text.size() - 1;
                double left = state->random.uniform();
                Index next = 0;
                for (; next + 1 < probabilities.shape()[2]; ++next)
                  if ((left -= static_cast<double>(probabilities(0, last, next))) < 0.0) break;
                std::rotate(state->text.begin(), state->text.begin() + 1, state->text.end());
                state->text(0, last) = static_cast<TokenId>(next);
                state->tape.clear();
              },
          .tokens = 1.0};
}

// Greedy generation of 32 tokens after a prompt of 16 by the model of W3.
Workload generation_step(const GptOptions& options) {
  constexpr Index prompt = 16, new_tokens = 32;
  struct State {
    explicit State(const GptOptions& gpt_options) : model(gpt_options, random) {}
    Random random{1};
    Gpt<float> model;
    TokenIds prompt;
  };
  const auto state = std::make_shared<State>(options);
  for (Index i = 0; i < prompt; ++i)
    state->prompt.push_back(static_cast<TokenId>(state->random.below(options.vocabulary_size)));
  return {.step =
              [state] {
                generate(state->model, state->prompt,
                         {.max_tokens = new_tokens, .sampling = {.temperature = 0.0}});
              },
          .tokens = new_tokens};
}

// The states of 32 sentences of 64 tokens, by an encoder of the size of MiniLM-L6.
Workload sentences_step(Precision precision) {
  constexpr Index batch = 32, time = 64;
  struct State {
    BertOptions options{
        .vocabulary_size = 30522, .num_hiddens = 384, .num_heads = 12, .num_blocks = 6};
    Random random{1};
    Bert<float> model{options, random};
    Tokens text = random_tokens({batch, time}, options.vocabulary_size, random);
    ValidLens lengths{std::vector<std::int32_t>(batch, time)};
    Tape<float> tape;
    explicit State(Precision of_products) : tape({.recording = false, .precision = of_products}) {}
  };
  const auto state = std::make_shared<State>(precision);
  const double width = 384.0, tokens = batch * time;
  const double per_block = 12.0 * width * width + attention_multiplications(1.0, time, width);
  return {.step =
              [state] {
                state->model(state->tape, state->text, state->lengths);
                state->tape.clear();
              },
          .tokens = tokens,
          .product_flops = 2.0 * tokens * 6.0 * per_block};
}

struct AttentionSize {
  Index width, heads, batch, queries, keys;
};

// Forward and backward of multi-head attention, with gradients of the inputs and the parameters.
Workload attention_step(const AttentionSize& size, Precision precision) {
  struct State {
    Random random{1};
    MultiHeadAttention<float> attention;
    Parameter<float> queries, keys;
    Tensor<float> upstream;
    Tape<float> tape;
    State(const AttentionSize& sizes, Precision of_products)
        : attention({.query_size = sizes.width,
                     .key_size = sizes.width,
                     .value_size = sizes.width,
                     .num_hiddens = sizes.width,
                     .num_heads = sizes.heads},
                    random),
          queries(random.normal_tensor<float>({sizes.batch, sizes.queries, sizes.width}, 0.0, 1.0)),
          keys(random.normal_tensor<float>({sizes.batch, sizes.keys, sizes.width}, 0.0, 1.0)),
          upstream(
              random.normal_tensor<float>({sizes.batch, sizes.queries, sizes.width}, 0.0, 1.0)),
          tape({.training = true, .precision = of_products}) {}
  };
  const auto state = std::make_shared<State>(size, precision);
  const auto parameters =
      std::make_shared<NamedParameters<float>>(named_parameters(state->attention));
  parameters->push_back({"queries", &state->queries});
  parameters->push_back({"keys", &state->keys});
  const auto n = [](Index count) { return static_cast<double>(count); };
  const double projections =
      n(size.batch) * n(size.width) * n(size.width) * (2.0 * n(size.queries) + 2.0 * n(size.keys));
  return {.step =
              [state, parameters] {
                for (const auto& [name, parameter] : *parameters) parameter->zero_grad();
                Tape<float>& tape = state->tape;
                const Var<float> keys = tape.parameter(state->keys);
                tape.backward(state->attention(tape.parameter(state->queries), keys, keys),
                              state->upstream);
              },
          .tokens = n(size.batch * size.queries),
          .product_flops =
              training_flops(projections + attention_multiplications(n(size.batch * size.queries),
                                                                     n(size.keys), n(size.width)))};
}

// The number that is written behind a workload's slash, 0 without one.
Index parts_of(const std::string& text, Index batch) {
  if (text.empty()) return 0;
  Index parts = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts);
  if (error != std::errc() || end != text.data() + text.size() || parts < 1 || batch % parts != 0)
    fail<ValueError>("workload: parts", str_cat("a divisor of ", batch), text);
  return parts;
}

}  // namespace

Workload make_workload(const std::string& name, Precision precision, bool profiled) {
  const auto gpt = [](Index vocabulary, Index context, Index layers, Index heads, Index width) {
    return GptOptions{.vocabulary_size = vocabulary,
                      .max_len = context,
                      .num_hiddens = width,
                      .num_heads = heads,
                      .num_blocks = layers};
  };
  const std::map<std::string, GptSize> gpts = {{"W1", {gpt(30, 10, 2, 4, 32), 64}},
                                               {"W2", {gpt(65, 64, 4, 4, 128), 12}},
                                               {"W3", {gpt(65, 256, 6, 6, 384), 8}},
                                               {"W4", {gpt(50257, 64, 12, 12, 768), 4}},
                                               {"LoRA", {gpt(65, 256, 6, 6, 384), 8, 8}}};
  const std::size_t slash = name.find('/');
  const std::string model = name.substr(0, slash);
  const std::string parts_text = slash == name.npos ? "" : name.substr(slash + 1);
  if (const auto found = gpts.find(model); found != gpts.end()) {
    GptSize size = found->second;
    size.parts = parts_of(parts_text, size.batch);
    return gpt_step(size, precision, profiled);
  }
  if (model == "W5") return pronunciation_step(parts_of(parts_text, 128), precision, profiled);
  if (profiled) fail<ValueError>("profile", "W1 … W5 or LoRA", name);
  if (name == "generation" && precision == Precision::full)
    return generation_step(gpts.at("W3").gpt);
  if (name == "sampling") return sampling_step(gpts.at("W2").gpt, precision);
  if (name == "sentences") return sentences_step(precision);
  if (name == "W6") return attention_step({100, 5, 2, 4, 6}, precision);
  for (Index length = 128; length <= 8192; length *= 2)
    if (name == str_cat("W6-", length))
      return attention_step({512, 8, 1, length, length}, precision);
  if (std::optional<Workload> layer = layer_step(name); layer && precision == Precision::full)
    return *layer;
  if (std::optional<Workload> input = input_step(name); input && precision == Precision::full)
    return *input;
  fail<ValueError>("workload",
                   "W1 … W6, W6-128 … W6-8192, LoRA, generation, sampling, sentences, loading, "
                   "tokenizing or a layer",
                   name);
}

void repeat_step(const Workload& workload, Index times) {
  for (Index i = 0; i < times; ++i) workload.step();
}

}  // namespace weft::benchmarks
