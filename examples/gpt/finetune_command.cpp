#include <algorithm>
#include <chrono>
#include <iostream>
#include <numeric>
#include <optional>

#include <weft/autograd/error.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/layers/lora.hpp>
#include <weft/layers/summary.hpp>
#include <weft/train/data/packed.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/trainer.hpp>
#include "examples/common/output_files.hpp"
#include "examples/common/settings.hpp"
#include "examples/common/training_options.hpp"
#include "examples/common/training_report.hpp"
#include "examples/gpt/answers.hpp"
#include "examples/gpt/commands.hpp"
#include "examples/gpt/conversations.hpp"
#include "examples/gpt/finetune_configuration.hpp"

namespace weft::gpt {
namespace {

namespace fs = std::filesystem;

// Options that are not part of the configuration.
struct Options {
  std::string model, data, validation;
  std::int64_t samples = 0;
  examples::TrainingOptions training = {.out = "build/finetuned"};
  bool is_resumed = false;  // there is a checkpoint to resume from
};

// Parses the command line. Returns false if --help is given.
bool parse(int argc, char** argv, ProcessGroup& processes, Options& options,
           FinetuneConfiguration& configuration) {
  examples::CommandLine line(
      "gpt finetune", "Fine-tunes a model: all weights, or low-rank adapters (LoRA) with --lora.");
  line.option("model",
              "Hugging Face folder (config.json, model.safetensors, tokenizer.json), or checkpoint "
              "of gpt train, or its folder",
              options.model);
  line.option("data",
              ".jsonl file with messages, prompt and answer, or text in each line; or a text file",
              options.data);
  line.option("validation",
              "validation data in the same format; if not set, the last tenth of --data",
              options.validation);
  line.option("samples", "number of validation prompts to answer after each validation",
              options.samples, 0, 1'000'000);
  options.training.add_to(line, "the model or its adapters, checkpoints, metrics and a report");
  examples::setting_options(line, configuration);
  if (!line.parse(argc, argv)) return false;
  options.training.note(line, processes);
  for (const auto& [name, value] : {std::pair("--model", options.model), {"--data", options.data}})
    if (value.empty()) fail<examples::UsageError>("command line", name, "none");
  options.is_resumed =
      options.training.resume &&
      examples::resume_configuration(options.training.out, line, configuration, processes);
  if (configuration.lora == 0)
    line.without_effect({"alpha", "lora-dropout", "layers"}, "without --lora");
  configuration.check_state();
  return true;
}

SavedModel load_base(const Options& options, const FinetuneConfiguration& configuration) {
  const std::string what = "'" + options.model + "'";
  // An adapter file names its base model, but cannot name other adapters of the base model.
  if (std::error_code error;
      configuration.lora > 0 && fs::exists(fs::path(options.model) / "adapter_config.json", error))
    fail<FileError>(what, "a model without adapters, for --lora",
                    "adapter_config.json; without --lora, its adapters are merged and all weights "
                    "are trained");
  SavedModel base = SavedModel::load(options.model);
  unfreeze(base.model);  // loading adapters froze the weights
  return base;
}

struct Data {
  std::vector<LearnedText> training, validation;
};

Data read_data(const Options& options, const TextForm& form) {
  Data data{read_learned_texts(options.data, form), {}};
  if (!options.validation.empty()) {
    data.validation = read_learned_texts(options.validation, form);
    return data;
  }
  const std::size_t held_out = data.training.size() / 10;
  const auto begin = data.training.end() - static_cast<std::ptrdiff_t>(held_out);
  data.validation.assign(begin, data.training.end());
  data.training.erase(begin, data.training.end());
  return data;
}

// Fixes the date in conversations to the date on which training started.
void fix_date(TextForm& form, FinetuneConfiguration& configuration, bool is_resumed,
              ProcessGroup& processes) {
  if (!form.chat || !form.chat->uses_date()) return;
  if (!is_resumed)
    configuration.chat_date = std::stoll(processes.broadcast_from_root(
        [] { return str_cat(ChatTemplate::current_date().time_since_epoch().count()); }));
  form.chat = form.chat->with_date(
      std::chrono::local_seconds(std::chrono::seconds(configuration.chat_date)));
}

// Freezes the model and adds adapters if the configuration requires it.
void add_adapters(Gpt<float>& model, const FinetuneConfiguration& configuration) {
  if (configuration.lora == 0) return;
  Random random(static_cast<std::uint64_t>(configuration.seed));
  add_lora(model,
           {.rank = configuration.lora,
            .alpha = configuration.alpha,
            .dropout = configuration.lora_dropout},
           configuration.adapted_layers(), random);
}

// Stores the sum of the frozen weights, which identifies the base model. If training resumes,
// throws ValueError for a different base model.
void check_frozen(const Gpt<float>& model, FinetuneConfiguration& configuration, bool is_resumed) {
  double sum = 0.0;
  for (const auto& [name, parameter] : named_parameters(model))
    if (!parameter->requires_grad())
      sum = std::accumulate(parameter->value().begin(), parameter->value().end(), sum);
  if (is_resumed && sum != configuration.frozen_sum)
    fail<ValueError>("--model", "the model that the training began with",
                     "a model with different weights");
  configuration.frozen_sum = sum;
}

// The files of a model folder that are copied with the weights.
const std::vector<std::string> description_files = {"tokenizer.json",
                                                    "tokenizer_config.json",
                                                    "vocab.json",
                                                    "merges.txt",
                                                    "chat_template.jinja",
                                                    "generation_config.json",
                                                    "special_tokens_map.json"};

// Throws FileError if a result would replace an input. Unless training resumes, also throws if the
// output folder already contains a model or adapters.
void check_folder(const Options& options, const SavedModel& base) {
  const fs::path out = options.training.out;
  const std::vector<std::string> results = {"config.json", "model.safetensors",
                                            "adapter_config.json", "adapter_model.safetensors"};
  std::vector<std::string> all = results;
  all.insert(all.end(), description_files.begin(), description_files.end());
  examples::make_directory(out);
  examples::check_outputs(out, {options.model, base.folder, options.data, options.validation},
                          std::move(all));
  std::error_code error;
  for (const std::string& name : results)
    if (!options.is_resumed && fs::exists(out / name, error))
      fail<FileError>("output directory '" + out.string() + "'",
                      "a directory without a model or adapters, or --resume", name);
}

// Saves the result like the base model: as adapters or a Hugging Face folder. For a checkpoint, the
// result is the last checkpoint of the training. Returns the path for --model.
fs::path save_result(const Options& options, const SavedModel& base, bool has_adapters) {
  const fs::path out = options.training.out;
  if (has_adapters) {
    const std::string base_path = fs::absolute(options.model).lexically_normal().string();
    try {
      save_lora(out, base.model, Layout::llama, base_path);
    } catch (const ValueError&) {
      std::cout << "PEFT cannot read these adapters, because it has no names for their layers\n";
      save_lora(out, base.model, Layout::pytorch, base_path);
    }
  } else if (base.folder.empty()) {
    return out / "last.h5";
  } else {
    save_pretrained(out, base.model, {.eos_token_ids = base.eos_token_ids});
    for (const std::string& name : description_files)
      if (fs::exists(base.folder / name))
        fs::copy_file(base.folder / name, out / name, fs::copy_options::overwrite_existing);
  }
  return out;
}

// Prints the model's answers and adds them to the report.
void show_samples(std::span<const Question> questions, const SavedModel& saved,
                  ReportSection& section) {
  std::cout << '\n';
  const std::vector<std::string> answers = answers_to(questions, saved);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string text = comparison(questions[i], answers[i]);
    std::cout << text << '\n';
    section.text(str_cat("question ", i + 1), text);
  }
  std::cout << std::flush;
}

}  // namespace

int finetune(ProcessGroup& processes, int argc, char** argv) {
  Options options;
  FinetuneConfiguration configuration;
  if (!parse(argc, argv, processes, options, configuration)) return 0;
  const fs::path out = options.training.out;
  SavedModel base = load_base(options, configuration);
  if (configuration.length == 0) configuration.length = std::min<std::int64_t>(base.context(), 512);
  TextForm form(base, configuration.length);
  fix_date(form, configuration, options.is_resumed, processes);
  Data data = read_data(options, form);
  std::vector<Question> questions;
  if (options.samples > 0) {
    questions = questions_of(base, data.validation);
    questions.resize(std::min(questions.size(), static_cast<std::size_t>(options.samples)));
    if (questions.empty()) fail<ValueError>("--samples", "prompts in the validation data", "none");
  }
  if (configuration.validate_every > 0 && data.validation.empty())
    fail<ValueError>("--validate-every", "validation data: --validation, or at least ten examples",
                     "none");
  processes.broadcast_from_root([&] {
    check_folder(options, base);
    return std::string();
  });
  for (TransformerEncoderBlock<float>& block : base.model.blocks.blocks) block.dropout.p = 0.0;
  base.model.blocks.recompute = configuration.recompute;
  add_adapters(base.model, configuration);
  check_frozen(base.model, configuration, options.is_resumed);
  std::cout << data.training.size() << " examples for training, " << data.validation.size()
            << " for validation\n"
            << "model with " << count_parameters(base.model) << " parameters\n";

  const auto seed = static_cast<std::uint64_t>(configuration.seed);
  PackedBatches training(
      std::move(data.training),
      {.length = configuration.length, .batch_size = configuration.batch, .seed = seed});
  // Checkpoints of adapters do not contain the frozen weights.
  TrainableParameters<float> adapters(base.model);
  Module<float>& trained =
      configuration.lora > 0 ? static_cast<Module<float>&>(adapters) : base.model;
  AdamW<float> optimizer(trained,
                         {.lr = configuration.lr, .weight_decay = configuration.weight_decay});
  std::cout << optimizer.description() << std::endl;
  const std::int64_t steps_in_epoch = (training.num_batches() - 1) / configuration.accumulation + 1;
  std::int64_t steps = configuration.epochs * steps_in_epoch;
  if (configuration.steps > 0) steps = std::min(steps, configuration.steps);

  const SignalHandler interrupt;
  TrainerOptions trainer_options = options.training.for_trainer(interrupt, processes);
  trainer_options.epochs = configuration.epochs;
  trainer_options.max_steps =
      trainer_options.max_steps == 0 ? steps : std::min(trainer_options.max_steps, steps);
  trainer_options.gradient_accumulation_steps = configuration.accumulation;
  trainer_options.parts = configuration.parts;
  trainer_options.clip_norm = configuration.clip_norm;
  trainer_options.schedule =
      warmup_cosine_schedule({.peak = configuration.lr,
                              .warmup_steps = std::min<std::int64_t>(20, steps / 2),
                              .total_steps = steps,
                              .final = configuration.lr / 10});
  trainer_options.seed = seed;
  const LossFunction<float, PackedBatch> loss = [&](Tape<float>& tape, const PackedBatch& batch) {
    return base.model.loss(tape, batch.inputs, batch.targets, batch.mask);
  };
  Trainer trainer(trained, optimizer, training, loss, std::move(trainer_options));
  examples::ConfigurationInUse in_use(configuration);
  trainer.register_for_checkpointing("configuration", in_use);
  if (base.folder.empty()) trainer.register_for_checkpointing("tokenizer", base.tokenizer);
  std::optional<PackedBatches> held_out;
  if (!data.validation.empty()) {
    held_out.emplace(std::move(data.validation), PackedOptions{.length = configuration.length,
                                                               .batch_size = configuration.batch,
                                                               .shuffle = false});
    trainer.validate_on(*held_out, {.every_steps = configuration.validate_every});
    if (!questions.empty())
      trainer.show_examples(
          [&](ReportSection& section) { show_samples(questions, base, section); });
  }
  const TrainingResult result = trainer.run();
  if (!processes.is_root()) return result.exit_status;
  const std::string model = save_result(options, base, configuration.lora > 0).string();
  std::cout << examples::describe(result, out, "gpt finetune") << "\nthe model is in " << model
            << (form.chat ? "; chat" : "; continue a text") << " with it: gpt sample --model "
            << model << (form.chat ? " --chat\n" : "\n");
  return result.exit_status;
}

}  // namespace weft::gpt
