#include "examples/common/training_options.hpp"

#include <iostream>

namespace weft::examples {

void TrainingOptions::add_to(CommandLine& line, const std::string& files) {
  constexpr std::int64_t max_count = 1'000'000'000;
  line.option("out", "output directory for " + files, out);
  line.flag("resume", "resume from the last checkpoint in --out, if any", resume);
  line.flag("background", "go on while checkpoints are written", background);
  line.option("save-every", "steps between checkpoints, besides one per epoch; 0 disables",
              save_every, 0, max_count);
  line.option("keep-checkpoints", "number of the last checkpoints to keep as step-N.h5",
              keep_checkpoints, 0, max_count);
  line.option("max-steps", "steps after which to pause, for --resume; 0 is unlimited", max_steps, 0,
              max_count);
  line.choice("precision", "inputs of matrix products in training", precision);
}

TrainerOptions TrainingOptions::for_trainer(const Interrupt& interrupt,
                                            ProcessGroup& processes) const {
  return {.max_steps = max_steps,
          .folder = out,
          .resume = resume,
          .save_every_steps = save_every,
          .output = &std::cout,
          .interrupt = &interrupt,
          .save_in_background = background,
          .keep_checkpoints = keep_checkpoints,
          .precision = precision,
          .processes = &processes};
}

}  // namespace weft::examples
