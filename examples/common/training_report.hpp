// What programs leave that train: files in a folder, how it ended, and a plot of the losses.
#pragma once

#include <filesystem>
#include <string>

#include <weft/train/trainer.hpp>

namespace weft::examples {

// Throws FileError when a file that training writes in a folder cannot be replaced, or is the
// input; for programs to call before they train.
void check_outputs(const std::filesystem::path& folder, const std::filesystem::path& input);

// "finished after 2000 steps; weights in build/gpt/best.h5".
std::string describe(const TrainingResult& result, const std::filesystem::path& folder);

struct LossPlot {
  std::string title;
  std::string y_label;
  std::string training = "training";  // the name of that curve
};

// Draws the columns "loss" and "validation_loss" of a trainer's metrics.csv over the steps. Returns
// the status message of `draw`. Throws FileError when the file cannot be read or has cells that are
// no numbers.
std::string draw_losses(const std::filesystem::path& metrics, const std::filesystem::path& picture,
                        const LossPlot& plot);

}  // namespace weft::examples
