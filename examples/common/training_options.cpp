#include "examples/common/training_options.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include <weft/train/report/run_record.hpp>

namespace weft::examples {

void TrainingOptions::add_to(CommandLine& line, const std::string& files) {
  constexpr std::int64_t max_count = 1'000'000'000;
  line.option("out", "output directory for " + files, out);
  line.flag("resume", "resume from the last checkpoint in --out, if there is one", resume);
  line.flag("background", "continue training while checkpoints are written", background);
  line.option("save-every", "steps between checkpoints, in addition to one per epoch; 0 disables",
              save_every, 0, max_count);
  line.option("keep-checkpoints", "number of recent checkpoints to keep as step-N.h5",
              keep_checkpoints, 0, max_count);
  line.option("max-steps", "pause after this step, to continue with --resume; 0: no limit",
              max_steps, 0, max_count);
  line.flag("tensorboard", "also write TensorBoard event files", tensorboard);
  line.flag("update-statistics",
            "add the ratio of update to weight and the gradient noise scale to the report",
            update_statistics);
  line.flag("profile",
            "measure operations, layers and phases; print the results and add them to the report",
            profile);
  line.choice("precision", "precision of the inputs of matrix products in training", precision);
}

void TrainingOptions::note(CommandLine& line, ProcessGroup& processes) {
  if (resume) {
    // Each option takes two lines: its name and its value.
    std::istringstream lines(processes.broadcast_from_root([&] {
      std::string text;
      std::error_code error;
      if (!std::filesystem::exists(std::filesystem::path(out) / "last.h5", error)) return text;
      for (const auto& [name, value] : recorded_notes(out))
        if (value.find('\n') == value.npos) text += str_cat(name, '\n', value, '\n');
      return text;
    }));
    const auto given = line.given();
    std::vector<std::pair<std::string, std::string>> taken;
    for (std::string name, value; std::getline(lines, name) && std::getline(lines, value);)
      if (std::ranges::none_of(given, [&](const auto& option) { return option.first == name; }))
        taken.emplace_back(name, value);
    line.take(taken);
    if (!taken.empty()) std::cout << "resuming with the options of the first run:";
    for (const auto& [name, value] : taken) std::cout << " --" << name << '=' << printable(value);
    if (!taken.empty()) std::cout << '\n';
  }
  // --tokenizer-files is not needed to resume: the checkpoint contains the tokens.
  notes = line.given();
  std::erase_if(notes, [](const auto& option) {
    return option.first == "resume" || option.first == "out" || option.first == "max-steps" ||
           option.first == "threads" || option.first == "tokenizer-files";
  });
  // The run may be resumed from a different directory.
  for (auto& [name, value] : notes)
    if (name == "text" || name == "dictionary" || name == "model" || name == "data" ||
        name == "validation")
      value = std::filesystem::absolute(value).string();
}

TrainerOptions TrainingOptions::for_trainer(const SignalHandler& interrupt,
                                            ProcessGroup& processes) const {
  return {.max_steps = max_steps,
          .folder = out,
          .resume = resume,
          .save_every_steps = save_every,
          .notes = notes,
          .tensorboard = tensorboard,
          .update_statistics = update_statistics,
          .output = &std::cout,
          .interrupt = &interrupt,
          .save_in_background = background,
          .keep_checkpoints = keep_checkpoints,
          .precision = precision,
          .profile = profile,
          .processes = &processes};
}

}  // namespace weft::examples
