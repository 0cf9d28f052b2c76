// Random trainings in a folder, with random things done to the model and to the files in between;
// and random data sources.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include <weft/layers/freeze.hpp>
#include <weft/train/data/labelled.hpp>
#include <weft/train/data/packed.hpp>
#include <weft/train/data/pairs.hpp>
#include <weft/train/data/windows.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/muon.hpp>
#include <weft/train/optim/rmsprop.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include <weft/train/report/run_record.hpp>
#include <weft/train/trainer.hpp>
#include <weft/train/weights/convert_weights.hpp>
#include "tests/random_calls.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

// A language model that is trained, saved, loaded, adapted and frozen.
class Session {
 public:
  explicit Session(Arguments& arguments) : a_(arguments) {
    Random first(1);
    model_ = std::make_unique<Gpt<float>>(options_, first);
  }

  void act() {
    switch (a_.below(8)) {
      case 0:
        return attempt([&] { save(); });
      case 1:
      case 2:
        return attempt([&] { load(); });
      case 3:
        return attempt([&] { adapt(); });
      case 4:
        return attempt([&] { damage(); });
      case 5:
        return attempt([&] { report(); });
      default:
        return train();
    }
  }

 private:
  // Mostly a sensible value: of many options, one that is not is enough for an error.
  Index count(Index usual) { return a_.chance(0.97) ? usual : a_.integer(); }
  double number(double usual) { return a_.chance(0.97) ? usual : a_.number(); }

  // A file of the folder, mostly one that there is.
  fs::path file() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_.path())) files.push_back(entry.path());
    std::ranges::sort(files);
    if (!files.empty() && a_.chance(0.7)) return a_.any(files);
    return folder_ / a_.one_of({"last.h5", "best.h5", "step-2.h5", "own.h5", "own.safetensors",
                                "config.json", "model.safetensors", "metrics.csv", "run.json",
                                "adapter_config.json", "adapter_model.safetensors"});
  }
  std::string name() {
    const auto names = named_parameters(*model_);
    return a_.chance(0.6) ? a_.any(names).name
                          : a_.one_of({"blocks", "blocks.0", "tokens", "output", "", "other"});
  }
  std::string pattern() { return a_.one_of({".*", "blocks\\..*", "(", "model\\.(.*)", ""}); }

  std::unique_ptr<Optimizer<float>> optimizer(Module<float>& trained) {
    const double lr = number(0.01);
    const Index kind = a_.chance(0.9) ? optimizer_ : a_.below(4);
    if (kind == 0) {
      ParameterGroups groups;
      if (a_.flag()) groups = {{.parameters = below(name()), .lr_factor = number(0.5)}};
      return std::make_unique<AdamW<float>>(trained, AdamWOptions{.lr = lr, .groups = groups});
    }
    if (kind == 1)
      return std::make_unique<SGD<float>>(
          trained, SGDOptions{.lr = lr, .momentum = number(0.5), .nesterov = a_.flag()});
    if (kind == 2) return std::make_unique<RMSprop<float>>(trained, RMSpropOptions{.lr = lr});
    MuonOptions options{.lr = lr, .nesterov = a_.flag()};
    if (a_.flag()) options.matrices = below(name());
    return std::make_unique<Muon<float>>(trained, options);
  }

  std::optional<Schedule> schedule() {
    switch (a_.below(6)) {
      case 0:
        return warmup_cosine_schedule({.peak = number(0.1),
                                       .warmup_steps = count(1),
                                       .total_steps = count(3),
                                       .final = number(0.01)});
      case 1:
        return one_cycle_schedule(
            {.peak = number(0.01), .total_steps = count(3), .pct_start = number(0.3)});
      case 2:
        return sequential_schedule({{linear_schedule(0.0, 0.01, count(2)), count(2)},
                                    {step_schedule(0.01, count(1), number(0.5))}});
      case 3:
        return Schedule("random", [rate = number(0.01)](std::int64_t) { return rate; });
      default:
        return std::nullopt;
    }
  }

  TrainerOptions options() {
    std::int64_t calls = 1 + a_.below(12);
    const bool saves = a_.chance(0.9);
    return {.epochs = count(1 + a_.below(3)) % 4,
            .max_steps = count(a_.below(7)),
            .gradient_accumulation_steps = count(1 + a_.below(2)),
            .parts = count(1 + a_.below(3)),
            .clip_norm = number(1.0),
            .schedule = schedule(),
            .plateau = a_.chance(0.2)
                           ? std::optional(Plateau{.factor = number(0.5), .patience = count(0)})
                           : std::nullopt,
            .seed = a_.chance(0.95) ? 0 : a_.random().next(),
            .should_stop = [calls]() mutable { return --calls == 0; },
            .folder = saves ? folder_.path() : fs::path(),
            .resume = saves && a_.chance(0.95),
            .save_every_steps = count(a_.below(3)),
            .save_every_seconds = number(0.0),
            .log_every_steps = count(1 + a_.below(3)),
            .notes = {{"text", pattern()}},
            .tensorboard = a_.chance(0.1),
            .save_in_background = a_.flag(),
            .keep_checkpoints = count(a_.below(3)),
            .precision = a_.one_of({Precision::full, Precision::bf16})};
  }

  void train() {
    attempt([&] {
      TrainableParameters<float> trainable(*model_);
      Module<float>& trained = a_.chance(0.2) ? static_cast<Module<float>&>(trainable) : *model_;
      const std::unique_ptr<Optimizer<float>> rule = optimizer(trained);
      WindowBatches<TokenId> windows(text_,
                                     {.length = 4, .batch_size = 3, .shuffle = a_.chance(0.9)});
      const TrainerOptions chosen = options();
      Trainer trainer(
          trained, *rule, windows,
          [&](Tape<float>& tape, const TensorBatch<TokenId>& batch) {
            return model_->loss(tape, batch.inputs, batch.targets);
          },
          chosen);
      ExponentialMovingAverage<float> average(trained, number(0.9));
      if (a_.chance(0.3)) trainer.track_average(average);
      if (a_.chance(0.1))
        trainer.register_for_checkpointing(a_.one_of({"more", "model", "a/b", ""}), average);
      if (a_.chance(0.7))
        trainer.validate_on(windows, {.every_steps = count(a_.below(3)), .patience = count(2)});
      else if (a_.flag())
        trainer.validate_with({.columns = {a_.one_of({"value", "a,b", "loss"})},
                               .run = [this] { return validated(); },
                               .every_steps = a_.below(3)});
      if (a_.flag())
        trainer.show_examples([](ReportSection& section) { section.text("text", "\x01<"); });
      const TrainingResult result = trainer.run();
      REQUIRE(result.steps == trainer.progress().step);
      // What was trained is what was saved.
      if (chosen.folder.empty() || &trained != model_.get() || has_adapters_) return;
      Random random(1);
      Gpt<float> saved(options_, random);
      (void)load_weights(folder_ / "last.h5", saved, {.group = "model"});
      REQUIRE(values_of(saved) == values_of(*model_));
    });
  }

  std::vector<double> validated() {
    if (a_.chance(0.1)) fail<ValueError>("validation", "a number", "none");
    std::vector<double> values(a_.chance(0.95) ? 1 : 2);
    for (double& value : values) value = a_.number();
    return values;
  }

  static std::vector<float> values_of(Gpt<float>& model) {
    std::vector<float> all;
    for (const auto& [name, parameter] : named_parameters(model))
      all.insert(all.end(), parameter->value().begin(), parameter->value().end());
    return all;
  }

  void save() {
    const SaveWeightsOptions chosen{.layout = a_.any(layout_names).first,
                                    .storage = a_.any(storage_type_names).first};
    switch (a_.below(5)) {
      case 0:
        return save_weights(file(), *model_, chosen);
      case 1:
        return static_cast<void>(convert_weights(file(), file(), chosen, a_.flag()));
      case 2:
        return save_pretrained(
            folder_.path(), *model_,
            {.eos_token_ids = {a_.below(9) == 0 ? 9 : 1}, .storage = chosen.storage});
      case 3:
        return save_lora(folder_.path(), *model_, chosen.layout);
      default: {
        ExponentialMovingAverage<float> average(*model_);
        if (a_.flag()) average.update();
        return save_checkpoint(file(), *model_, {{a_.one_of({"average", "model", "x"}), average}});
      }
    }
  }

  void load() {
    const auto some = [&] {
      return a_.chance(0.7) ? std::vector<std::string>() : std::vector<std::string>{pattern()};
    };
    const std::vector<float> before = values_of(*model_);
    try {
      switch (a_.below(5)) {
        case 0: {
          has_adapters_ = false;
          *model_ = load_gpt(folder_.path()).model;
          return;
        }
        case 1:
          has_adapters_ = load_lora(folder_.path(), *model_) > 0;
          return;
        case 2:
          return load_checkpoint(file(), *model_);
        default: {
          LoadWeightsOptions chosen{.group = a_.chance(0.8) ? "" : "model",
                                    .ignore_missing = some(),
                                    .ignore_unexpected = some(),
                                    .only = some(),
                                    .except = some(),
                                    .prefix = a_.chance(0.9) ? "" : "model."};
          if (a_.chance(0.1)) chosen.rename = {{pattern(), a_.one_of({"$1", "x", ""})}};
          return static_cast<void>(load_weights(file(), *model_, chosen));
        }
      }
    } catch (const Error&) {
      REQUIRE(values_of(*model_) == before);
    }
  }

  void adapt() {
    switch (a_.below(5)) {
      case 0:
        add_lora(
            *model_, {.rank = count(2), .alpha = number(8.0), .dropout = number(0.1)},
            [&](const std::string&) { return a_.flag(); }, a_.random());
        has_adapters_ = true;
        return;
      case 1:
        return static_cast<void>(merge_lora(*model_));
      case 2:
        return static_cast<void>(remove_lora(*model_));
      case 3:
        return static_cast<void>(freeze(*model_, name()));
      default:
        return static_cast<void>(a_.flag() ? unfreeze(*model_) : unfreeze(*model_, name()));
    }
  }

  // A file is removed, cut, changed in one byte, or takes the place of another.
  void damage() {
    const fs::path path = file(), other = file();
    std::error_code error;
    const auto size = static_cast<Index>(fs::file_size(path, error));
    if (error || size == 0) return;
    switch (a_.below(4)) {
      case 0:
        return static_cast<void>(fs::remove(path));
      case 1:
        return fs::resize_file(path, static_cast<std::uintmax_t>(a_.below(size)));
      case 2: {
        std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
        return static_cast<void>(
            stream.seekp(a_.below(size)).put(static_cast<char>(a_.random().next())));
      }
      default:
        return fs::rename(path, other);
    }
  }

  void report() {
    recorded_notes(folder_.path());
    const std::vector<RunRecord> runs(static_cast<std::size_t>(a_.below(3)),
                                      read_run(folder_.path(), 1 + a_.random().next() % 9));
    write_comparison(folder_ / "comparison.html", runs);
  }

  Arguments& a_;
  GptOptions options_{.vocabulary_size = 5,
                      .max_len = 8,
                      .num_hiddens = 4,
                      .num_heads = 2,
                      .ffn_num_hiddens = 4,
                      .dropout = 0.1,
                      .tied = false};
  std::unique_ptr<Gpt<float>> model_;
  Tokens text_ = a_.ids({30 + a_.below(20)}, 5);
  Index optimizer_ = a_.below(4);  // that of most trainings, which resume
  bool has_adapters_ = false;
  TemporaryFolder folder_;
};

// Batches of a source, and parts of them, in any order.
template <class Source, class... Options>
void read_batches(Arguments& a, Options&&... options) {
  Source source(std::forward<Options>(options)...);
  for (int i = 0; i < 4; ++i)
    attempt([&] {
      const auto batch = source.batch(a.chance(0.9) ? a.below(3) : a.integer(),
                                      a.chance(0.9) ? a.below(source.num_batches()) : a.integer());
      const Index examples = num_examples(batch), first = a.below(examples + 1);
      const auto part = part_of(batch, first, a.chance(0.8) ? examples : a.integer());
      REQUIRE(num_examples(part) + first <= examples);
    });
}

void use_a_source(Arguments& a) {
  const auto usual = [&](Index value) { return a.chance(0.9) ? value : a.integer(); };
  const auto sequence = [&] {
    const Tokens ids = a.ids({a.chance(0.02) ? 0 : 1 + a.below(9)}, 7);
    return TokenIds(ids.begin(), ids.end());
  };
  const std::size_t count = static_cast<std::size_t>(a.below(9));
  const BatchOptions options{.batch_size = usual(3),
                             .seed = a.random().next(),
                             .shuffle = a.flag(),
                             .bucket_batches = usual(2)};
  switch (a.below(5)) {
    case 0:
      return read_batches<WindowBatches<float>>(a, a.random().normal_tensor(a.shape()),
                                                WindowOptions{.length = usual(2),
                                                              .offset = usual(1),
                                                              .target_length = a.integer(),
                                                              .stride = a.integer(),
                                                              .random_starts = a.flag(),
                                                              .batch_size = usual(3),
                                                              .shuffle = a.flag()});
    case 1: {
      const Shape shape = a.shape();
      return read_batches<TensorBatches<double, TokenId>>(
          a, a.random().normal_tensor<double>(shape), a.ids(a.like(shape), 5), options);
    }
    case 2: {
      std::vector<SequencePair> pairs(count);
      for (SequencePair& pair : pairs) pair = {sequence(), sequence()};
      return read_batches<PairBatches>(a, std::move(pairs), options);
    }
    case 3: {
      std::vector<LabelledSequence> examples(count);
      for (LabelledSequence& example : examples) example = {sequence(), 1};
      return read_batches<LabelledBatches>(a, std::move(examples), options);
    }
    default: {
      std::vector<LearnedText> texts(count);
      for (LearnedText& text : texts) {
        text.tokens = sequence();
        text.learned.assign(text.tokens.size() + (a.chance(0.02) ? 1 : 0), true);
      }
      return read_batches<PackedBatches>(
          a, std::move(texts),
          PackedOptions{.length = usual(12), .batch_size = usual(2), .shuffle = a.flag()});
    }
  }
}

}  // namespace

TEST_CASE("random calls: trainings and their files work or throw an Error", "[train][random]") {
  for_random_sequences(
      [](Arguments& arguments) {
        Session session(arguments);
        for (Index i = 5 + arguments.below(10); i > 0; --i) session.act();
      },
      30);
}

TEST_CASE("random calls: data sources work or throw an Error", "[data][random]") {
  for_random_sequences([](Arguments& arguments) {
    for (int i = 0; i < 10; ++i) attempt([&] { use_a_source(arguments); });
  });
}

}  // namespace weft
