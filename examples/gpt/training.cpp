#include "examples/gpt/training.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/train/data/windows.hpp>
#include <weft/train/text/generation/generate.hpp>
#include <weft/train/text/tokenizers/utf8_stream_decoder.hpp>
#include "examples/common/settings.hpp"

namespace weft::gpt {
namespace {

Tokens checked(const TokenIds& ids, const Configuration& configuration, const std::string& part) {
  if (std::ssize(ids) <= configuration.context)
    fail<ValueError>("text for " + part,
                     str_cat("more tokens than the context of ", configuration.context),
                     ids.size());
  return Tokens({std::ssize(ids)}, ids);
}

WindowBatches<TokenId> training_windows(const TokenIds& ids, const Configuration& configuration) {
  return {checked(ids, configuration, "training"),
          {.length = configuration.context,
           .random_starts = true,
           .batch_size = configuration.batch,
           .seed = static_cast<std::uint64_t>(configuration.seed)}};
}

// Returns consecutive windows, or the configured number of windows at equal distances.
WindowBatches<TokenId> validation_windows(const TokenIds& ids, const Configuration& configuration) {
  const Index starts = std::ssize(ids) - configuration.context;
  Index stride = configuration.context;
  if (configuration.validation_batches > 0)
    stride = std::max(stride, starts / (configuration.validation_batches * configuration.batch));
  return {checked(ids, configuration, "validation"),
          {.length = configuration.context,
           .stride = stride,
           .batch_size = configuration.batch,
           .shuffle = false}};
}

// Adds a prompt and its continuation by the model to the report.
void show_sample(ReportSection& section, const Gpt<float>& model, const Tokenizer& tokenizer,
                 const TokenIds& prompt, Index max_context) {
  Utf8StreamDecoder characters;
  const auto text_of = [&](const TokenIds& ids) {
    std::string text;
    for (const TokenId id : ids) text += characters.add(tokenizer.token(id));
    return text + characters.finish();
  };
  const TokenIds continuation = generate(model, prompt,
                                         {.max_tokens = 200,
                                          .sampling = {.temperature = 0.8, .top_k = 200},
                                          .seed = 1,
                                          .eos_token_ids = tokenizer.eos_token_ids(),
                                          .max_context = max_context});
  section.text("prompt", text_of(prompt));
  section.text("sample (temperature 0.8)", text_of(continuation));
}

}  // namespace

TrainingResult train_model(Gpt<float>& model, Configuration& configuration,
                           const Tokenizer& tokenizer, const TokenSplit& tokens,
                           TrainerOptions options) {
  const std::unique_ptr<Optimizer<float>> optimizer = configuration.make_optimizer(model);
  if (options.output) *options.output << optimizer->description() << std::endl;
  WindowBatches<TokenId> windows = training_windows(tokens.training, configuration);
  WindowBatches<TokenId> held_out = validation_windows(tokens.validation, configuration);

  const std::int64_t steps_in_epoch = (windows.num_batches() - 1) / configuration.accumulation + 1;
  options.epochs = (configuration.steps - 1) / steps_in_epoch + 1;
  options.max_steps = options.max_steps == 0 ? configuration.steps
                                             : std::min(options.max_steps, configuration.steps);
  options.gradient_accumulation_steps = configuration.accumulation;
  options.parts = configuration.parts;
  options.clip_norm = configuration.clip_norm;
  options.schedule = configuration.make_schedule(configuration.steps);
  const GptOptions form = configuration.model_options(tokenizer.size());
  options.settings_in_use = {{"vocabulary", str_cat(form.vocabulary_size)},
                             {"warmup", str_cat(configuration.warmup_steps(configuration.steps))},
                             {"kv-heads", str_cat(form.num_kv_heads.value_or(form.num_heads))},
                             {"ffn", str_cat(form.ffn_num_hiddens.value_or(4 * form.num_hiddens))}};
  options.seed = static_cast<std::uint64_t>(configuration.seed);
  Trainer trainer(
      model, *optimizer, windows,
      [&](Tape<float>& tape, const TensorBatch<TokenId>& batch) {
        // Labels are smoothed only in training, so that validations are comparable.
        return cross_entropy(
            model(tape, batch.inputs), batch.targets,
            {.label_smoothing = tape.training() ? configuration.label_smoothing : 0.0});
      },
      std::move(options));
  trainer.validate_on(
      held_out, {.every_steps = configuration.validate_every, .patience = configuration.patience});
  examples::ConfigurationInUse in_use(configuration);
  trainer.register_for_checkpointing("configuration", in_use);
  trainer.register_for_checkpointing("tokenizer", tokenizer);
  const Index prompt_size = std::min<Index>(configuration.context, 16);
  const TokenIds prompt(tokens.validation.begin(), tokens.validation.begin() + prompt_size);
  trainer.show_examples([&](ReportSection& section) {
    show_sample(section, model, tokenizer, prompt, configuration.context);
  });
  std::optional<ExponentialMovingAverage<float>> average;
  if (configuration.average > 0.0)
    trainer.track_average(average.emplace(model, configuration.average));
  return trainer.run();
}

}  // namespace weft::gpt
