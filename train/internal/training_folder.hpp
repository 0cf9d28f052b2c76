// TrainingFolder: the directory of a training, with last.h5, best.h5 and step-N.h5.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "weft/train/trainer.hpp"
#include "train/files/internal/file_descriptor.hpp"

namespace weft {

// Does nothing when TrainerOptions::folder is empty. All functions throw FileError, also when a
// checkpoint cannot be saved in the background: the next function that is called then. Those that
// load or save throw what `load_checkpoint` and `prepare_checkpoint` throw.
template <class T>
class TrainingFolder {
 public:
  TrainingFolder(const TrainerOptions& options, Module<T>& model, NamedStates<T> states,
                 TrainingProgress<T>& progress);
  // Waits for what is being saved.
  ~TrainingFolder();

  // Makes and locks the directory, and loads last.h5 if the training resumes from it. Returns
  // whether it has loaded last.h5.
  bool open();
  // Reads the list of kept checkpoints, or removes it if the training starts.
  void begin();
  // Whether there was a last.h5 without best.h5.
  bool best_is_missing() const { return best_is_missing_; }

  void save_best() { save("best.h5", false); }
  // Kept as the checkpoint of this step, too, if any are.
  void save_last() { save("last.h5", options_.keep_checkpoints > 0); }
  // Throws the error of a checkpoint that was saved in the background, without waiting for one.
  void check();
  // Waits for what is being saved.
  void wait();

 private:
  std::filesystem::path file(const std::string& name) const { return options_.folder / name; }
  bool exists(const std::string& name) const;
  void save(const char* name, bool is_kept);
  void keep(std::int64_t step);

  const TrainerOptions& options_;
  Module<T>& model_;
  NamedStates<T> states_;
  TrainingProgress<T>& progress_;
  FileDescriptor lock_;
  std::future<void> pending_;
  bool best_is_missing_ = false;
  std::vector<std::int64_t> kept_;  // the steps of kept checkpoints in the order of writing
};

extern template class TrainingFolder<float>;
extern template class TrainingFolder<double>;

}  // namespace weft
