#include "train/internal/training_folder.hpp"

#include <utility>

#include "weft/autograd/error.hpp"
#include "train/files/file_descriptor.hpp"

namespace weft {

template <class T>
TrainingFolder<T>::TrainingFolder(const TrainerOptions& options, Module<T>& model,
                                  NamedStates<T> states, TrainingProgress<T>& progress)
    : options_(options),
      model_(model),
      states_(std::move(states)),
      progress_(progress),
      saver_({options.folder, options.save_in_background, options.keep_checkpoints}) {}

template <class T>
bool TrainingFolder<T>::open(const std::vector<std::string>& validation_columns) {
  if (options_.folder.empty()) return false;
  std::error_code error;
  std::filesystem::create_directories(options_.folder, error);
  if (error) fail<FileError>(options_.folder.string(), "a writable directory", error.message());
  lock_.emplace(options_.folder);
  const bool last_exists = exists("last.h5"), best_exists = exists("best.h5");
  const bool resumes = options_.resume && last_exists;
  if (resumes)
    load_checkpoint(file("last.h5"), model_, states_);
  else if (options_.resume && best_exists)
    fail_on_file(file("last.h5"), "the checkpoint to resume from beside best.h5", "none");
  else if (progress_.step == 0 && (last_exists || best_exists))
    fail<FileError>(options_.folder.string(), "a directory without checkpoints, or `resume`",
                    "checkpoints of an earlier training");
  metrics_.emplace(file("metrics.csv"), validation_columns, progress_.step);
  best_is_missing_ = resumes && !best_exists;
  return resumes;
}

// Whether there is an entry of this name, which may be a symbolic link without target.
template <class T>
bool TrainingFolder<T>::exists(const char* name) const {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(file(name), error);
  if (!std::filesystem::status_known(status))
    fail_on_file(file(name), "a file that can be looked at", error.message());
  return std::filesystem::exists(status);
}

template <class T>
Hdf5Writer TrainingFolder<T>::checkpoint(const char* name) {
  return prepare_checkpoint(file(name), model_, states_);
}

template <class T>
void TrainingFolder<T>::save_best() {
  if (!options_.folder.empty()) saver_.save(checkpoint("best.h5"));
}

template <class T>
void TrainingFolder<T>::save_last() {
  if (!options_.folder.empty()) saver_.save_last(checkpoint("last.h5"), progress_.step);
}

template class TrainingFolder<float>;
template class TrainingFolder<double>;

}  // namespace weft
