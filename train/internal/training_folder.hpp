// TrainingFolder: the directory of a training run, with last.h5, best.h5 and step-N.h5.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "weft/train/trainer.hpp"
#include "train/files/internal/file_descriptor.hpp"

namespace weft {

// Does nothing if TrainerOptions::folder is empty. All functions throw FileError, which may be the
// error of an earlier checkpoint that could not be saved in the background. Functions that load or
// save throw the same exceptions as `load_checkpoint` and `prepare_checkpoint`.
template <class T>
class TrainingFolder {
 public:
  TrainingFolder(const TrainerOptions& options, Module<T>& model, NamedStates<T> states,
                 TrainingProgress<T>& progress);
  // Waits for a checkpoint that is being saved.
  ~TrainingFolder();

  // Creates and locks the directory, and loads last.h5 if the run resumes from it. Returns whether
  // it has loaded last.h5.
  bool open();
  // Reads the list of kept checkpoints if the run resumes; otherwise removes it.
  void begin();
  // Whether the run resumed from a last.h5 without a best.h5.
  bool best_is_missing() const { return best_is_missing_; }

  void save_best() { save("best.h5", false); }
  // Saves last.h5, and also keeps it as step-N.h5 if TrainerOptions::keep_checkpoints > 0.
  void save_last() { save("last.h5", options_.keep_checkpoints > 0); }
  // Throws if a checkpoint could not be saved in the background. Does not wait.
  void check();
  // Waits for a checkpoint that is being saved.
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
