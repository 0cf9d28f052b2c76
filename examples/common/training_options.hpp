// TrainingOptions: the options of all commands that train a model in a folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <weft/train/trainer.hpp>
#include "examples/common/command_line.hpp"

namespace weft::examples {

struct TrainingOptions {
  std::string out;
  bool resume = false, background = false, tensorboard = false, profile = false;
  std::int64_t save_every = 0, keep_checkpoints = 0, max_steps = 0;
  Precision precision = Precision::full;
  // The options that are given, which the run's record keeps, but those that say how far it goes.
  std::vector<std::pair<std::string, std::string>> notes = {};

  // Adds an option for each of them; `files` is what is in `out` afterwards.
  void add_to(CommandLine& line, const std::string& files);
  // After the command line was parsed: a run that resumes takes the options of its start from the
  // record in `out`, unless others are given, and prints them; notes all.
  void note(CommandLine& line, ProcessGroup& processes);
  // Those of a trainer, which shows its progress on standard output; the arguments must outlive it.
  TrainerOptions for_trainer(const SignalHandler& interrupt, ProcessGroup& processes) const;
};

}  // namespace weft::examples
