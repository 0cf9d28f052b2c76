// What programs that train share: their folder, how a run ended, and how to go on with it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <weft/train/trainer.hpp>

namespace weft::examples {

// Throws FileError when a file that training writes in a folder cannot be replaced, or is one of
// the inputs or in one of them, and when the folder itself is an input; for programs to call before
// they train. `results` are the files that a program writes there besides.
void check_outputs(const std::filesystem::path& folder,
                   const std::vector<std::filesystem::path>& inputs,
                   std::vector<std::string> results = {});

// Returns what `train` returns. When the data are not those that the run began with, the ValueError
// names the option that says where they are, and its value.
TrainingResult train_with_data(const std::string& option, const std::string& value,
                               const std::function<TrainingResult()>& train);

// How a run ended, which file has which weights, the command that goes on if there is more to do,
// and where its report is; in lines, without the last line break. `command`: "gpt train".
std::string describe(const TrainingResult& result, const std::filesystem::path& folder,
                     const std::string& command);

}  // namespace weft::examples
