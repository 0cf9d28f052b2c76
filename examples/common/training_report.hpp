// Functions of programs that train: checks of the output folder, and a summary of the result.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <weft/train/trainer.hpp>

namespace weft::examples {

// Checks that training can write to a folder; call it before training. `results` are the files that
// the program writes in addition to the trainer's. Throws FileError if a file cannot be replaced or
// is (in) one of the inputs, or if the folder itself is an input.
void check_outputs(const std::filesystem::path& folder,
                   const std::vector<std::filesystem::path>& inputs,
                   std::vector<std::string> results = {});

// Returns the result of `train`. If a resumed run has different data, adds the option that sets the
// data, its value and `advice` to the message of the ValueError.
TrainingResult train_with_data(const std::string& option, const std::string& value,
                               const std::function<TrainingResult()>& train,
                               const std::string& advice = "");

// Returns a summary of a run: how it ended, which file contains which weights, the command that
// continues an interrupted run, and the path of the report. `command` is, for example, "gpt train".
// The last line has no line break.
std::string describe(const TrainingResult& result, const std::filesystem::path& folder,
                     const std::string& command);

}  // namespace weft::examples
