#include <algorithm>
#include <iostream>
#include <regex>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/layers/lora.hpp>
#include <weft/layers/summary.hpp>
#include <weft/train/data/packed.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/trainer.hpp>
#include <weft/train/weights/lora_weights.hpp>
#include "examples/common/output_files.hpp"
#include "examples/common/training_report.hpp"
#include "examples/gpt/commands.hpp"
#include "examples/gpt/conversations.hpp"
#include "examples/gpt/options.hpp"
#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string model, data, out = "build/finetuned", validation, layers = ".*attention\\.W_[qv]";
  std::int64_t lora = 0, length = 512, batch = 4, accumulation = 1, epochs = 1, steps = 0;
  std::int64_t validate_every = 0, save_every = 0, parts = 1, seed = 1;
  double alpha = 16.0, lora_dropout = 0.0, lr = 2e-4, weight_decay = 0.0, clip_norm = 1.0;
  bool recompute = false, resume = false;
  Precision precision = Precision::full;
};

NameFilter filter_of(const std::string& pattern) {
  try {
    return [expression = std::regex(pattern)](const std::string& name) {
      return std::regex_match(name, expression);
    };
  } catch (const std::regex_error&) {
    fail<examples::UsageError>("--layers", "a regular expression", "'" + pattern + "'");
  }
}

// Parses the command line. Returns false when --help is given.
bool parse(int argc, char** argv, Options& o) {
  constexpr std::int64_t max_count = 1'000'000'000;
  examples::CommandLine line(
      "gpt finetune",
      "Trains a model of Hugging Face further, all weights or low-rank adapters (LoRA).");
  line.option("model", "folder with config.json, model.safetensors and tokenizer.json", o.model);
  line.option("data", "JSON lines with messages, or prompt and answer, or text; or a text", o.data);
  line.option("validation", "the same, for validation; none: the last tenth of --data",
              o.validation);
  line.option("out", "output directory", o.out);
  line.option("lora", "rank of the adapters; 0: train all weights", o.lora, 0, 4096);
  line.option("alpha", "with --lora, what results of adapters are multiplied by, times the rank",
              o.alpha, 1e-6, 1e6);
  line.option("lora-dropout", "with --lora, probability of dropping an input of an adapter",
              o.lora_dropout, 0.0, 0.999);
  line.option("layers", "with --lora, a regular expression for the names of layers", o.layers);
  line.option("length", "tokens of a row of a batch, and of a text at most", o.length, 2, 1 << 20);
  line.option("batch", "rows of a batch; each has as many texts as fit", o.batch, 1, 4096);
  line.option("accumulation", "batches per step", o.accumulation, 1, 4096);
  line.option("epochs", "passes over the data", o.epochs, 1, 1'000'000);
  line.option("steps", "number of steps at most; 0: no limit", o.steps, 0, max_count);
  line.option("lr", "peak learning rate, of a cosine with a short warmup", o.lr, 1e-9, 1.0);
  line.option("weight-decay", "weight decay of AdamW", o.weight_decay, 0.0, 10.0);
  line.option("clip-norm", "maximum gradient norm", o.clip_norm, 1e-6, 1e9);
  line.option("validate-every", "steps between validations; 0: at the end of each epoch",
              o.validate_every, 0, max_count);
  line.option("save-every", "steps between checkpoints, besides one per epoch; 0 disables",
              o.save_every, 0, max_count);
  line.option("parts", "parts of a batch that are computed in parallel", o.parts, 1, 1024);
  line.option("seed", "random seed", o.seed, 0, max_count);
  line.flag("recompute", "compute activations again in backward, for less memory", o.recompute);
  line.flag("resume", "resume from the last checkpoint in --out, if any", o.resume);
  line.choice("precision", "inputs of matrix products in training", o.precision);
  if (!line.parse(argc, argv)) return false;
  for (const auto& [name, value] : {std::pair("--model", o.model), {"--data", o.data}})
    if (value.empty()) fail<examples::UsageError>("command line", name, "none");
  filter_of(o.layers);
  return true;
}

struct Data {
  std::vector<LearnedText> training, validation;
};

Data read_data(const Options& options, const SavedModel& base) {
  TextForm form{base.tokenizer, {}, base.description->ends, options.length};
  try {
    form.chat = ChatTemplate::load(base.folder);
  } catch (const FileError&) {
    if (fs::exists(base.folder / "chat_template.jinja")) throw;
  }
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

// Those that are not frozen: the others need no state of the optimizer.
NamedParameters<float> trained_parameters(Gpt<float>& model) {
  NamedParameters<float> parameters = named_parameters(model);
  std::erase_if(parameters, [](const auto& named) { return !named.parameter->requires_grad(); });
  return parameters;
}

// The files of a model beside its weights.
void copy_description(const fs::path& from, const fs::path& to) {
  for (const char* const name : {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja",
                                 "generation_config.json", "special_tokens_map.json"})
    if (fs::exists(from / name))
      fs::copy_file(from / name, to / name, fs::copy_options::overwrite_existing);
}

void save_result(const Options& options, const SavedModel& base, const Gpt<float>& model) {
  const fs::path out = options.out;
  if (options.lora > 0) {
    save_lora(out, model, Layout::llama, fs::absolute(base.folder).lexically_normal().string());
  } else {
    save_pretrained_gpt(out, model, *base.description);
    copy_description(base.folder, out);
  }
}

}  // namespace

int finetune(ProcessGroup& processes, int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 0;
  const fs::path out = options.out;
  SavedModel base = SavedModel::load(options.model);
  if (!base.description)
    fail<FileError>("'" + options.model + "'", "a folder with config.json", "a checkpoint");
  processes.from_first([&] {
    examples::make_directory(out);
    return std::string();
  });
  Data data = read_data(options, base);
  for (TransformerEncoderBlock<float>& block : base.model.blocks.blocks) block.dropout.p = 0.0;
  base.model.blocks.recompute = options.recompute;
  Random random(static_cast<std::uint64_t>(options.seed));
  if (options.lora > 0)
    add_lora(base.model,
             {.rank = options.lora, .alpha = options.alpha, .dropout = options.lora_dropout},
             filter_of(options.layers), random);
  std::cout << data.training.size() << " texts for training, " << data.validation.size()
            << " for validation\n"
            << "model with " << count_parameters(base.model) << " parameters\n";

  PackedBatches training(std::move(data.training),
                         {.length = options.length,
                          .batch_size = options.batch,
                          .seed = static_cast<std::uint64_t>(options.seed)});
  AdamW<float> optimizer(trained_parameters(base.model),
                         {.lr = options.lr, .weight_decay = options.weight_decay});
  std::cout << optimizer.description() << std::endl;
  const std::int64_t steps_in_epoch = (training.num_batches() - 1) / options.accumulation + 1;
  std::int64_t steps = options.epochs * steps_in_epoch;
  if (options.steps > 0) steps = std::min(steps, options.steps);
  const Interrupt interrupt;
  Trainer trainer(
      base.model, optimizer, training,
      [&](Tape<float>& tape, const PackedBatch& batch) {
        return cross_entropy(base.model(tape, batch.inputs, batch.mask), batch.targets);
      },
      {.epochs = options.epochs,
       .max_steps = options.steps,
       .accumulation = options.accumulation,
       .parts = options.parts,
       .clip_norm = options.clip_norm,
       .schedule = warmup_cosine_schedule({.peak = options.lr,
                                           .warmup_steps = std::min<std::int64_t>(20, steps / 2),
                                           .total_steps = steps,
                                           .final = options.lr / 10}),
       .seed = static_cast<std::uint64_t>(options.seed),
       .folder = out,
       .resume = options.resume,
       .save_every_steps = options.save_every,
       .output = &std::cout,
       .interrupt = &interrupt,
       .precision = options.precision,
       .processes = &processes});
  std::optional<PackedBatches> held_out;
  if (!data.validation.empty()) {
    held_out.emplace(
        std::move(data.validation),
        PackedOptions{.length = options.length, .batch_size = options.batch, .shuffle = false});
    trainer.validate_on(*held_out, {.every_steps = options.validate_every});
  }
  const TrainingResult result = trainer.run();
  if (!processes.is_first()) return result.exit_status;
  save_result(options, base, base.model);
  std::cout << "the model is in " << out.string() << "; talk to it with gpt sample --model "
            << out.string() << " --chat\n";
  return result.exit_status;
}

}  // namespace weft::gpt
