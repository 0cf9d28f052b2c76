// TrainingOptions: command-line options shared by all commands that train a model.
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
  bool update_statistics = false;
  std::int64_t save_every = 0, keep_checkpoints = 0, max_steps = 0;
  Precision precision = Precision::full;
  // The given options that the run's record stores: all except --resume, --out, --max-steps,
  // --threads and --tokenizer-files.
  std::vector<std::pair<std::string, std::string>> notes = {};

  // Adds an option for each setting. `files` names the contents of `out` in the help of --out.
  void add_to(CommandLine& line, const std::string& files);
  // Fills in `notes`; call it after parsing the command line. If the run resumes, first sets the
  // options stored in the record in `out`, except those given now, and prints them.
  void note(CommandLine& line, ProcessGroup& processes);
  // Returns options for a trainer that shows its progress on standard output. The arguments must
  // outlive the trainer.
  TrainerOptions for_trainer(const SignalHandler& interrupt, ProcessGroup& processes) const;
};

}  // namespace weft::examples
