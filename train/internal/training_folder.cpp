#include "train/internal/training_folder.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

std::string name_of_step(std::int64_t step) { return concatenate_text("step-", step, ".h5"); }

// The step of a file that was kept; none for other files.
std::optional<std::int64_t> step_of(const std::string& name) {
  const std::size_t digits = name.find_first_of("0123456789");
  if (digits == name.npos) return std::nullopt;
  const std::int64_t step = std::strtoll(name.c_str() + digits, nullptr, 10);
  return name == name_of_step(step) ? std::optional(step) : std::nullopt;
}

}  // namespace

template <class T>
TrainingFolder<T>::TrainingFolder(const TrainerOptions& options, Module<T>& model,
                                  NamedStates<T> states, TrainingProgress<T>& progress)
    : options_(options), model_(model), states_(std::move(states)), progress_(progress) {}

template <class T>
TrainingFolder<T>::~TrainingFolder() {
  if (pending_.valid()) pending_.wait();
}

template <class T>
bool TrainingFolder<T>::open(const std::vector<std::string>& validation_columns,
                             const std::string& label_unit) {
  if (options_.folder.empty()) return false;
  std::error_code error;
  std::filesystem::create_directories(options_.folder, error);
  if (error) fail<FileError>(options_.folder.string(), "a writable directory", error.message());
  lock_ = lock_directory(options_.folder);
  const bool last_exists = exists("last.h5"), best_exists = exists("best.h5");
  const bool resumes = options_.resume && last_exists;
  if (resumes)
    load_checkpoint(file("last.h5"), model_, states_);
  else if (options_.resume && best_exists)
    fail_on_file(file("last.h5"), "the checkpoint to resume from beside best.h5", "none");
  else if (progress_.step == 0 && (last_exists || best_exists))
    fail<FileError>(options_.folder.string(), "a directory without checkpoints, or `resume`",
                    "checkpoints of an earlier training");
  metrics_.emplace(file("metrics.csv"), validation_columns, progress_.step, label_unit);
  best_is_missing_ = resumes && !best_exists;
  return resumes;
}

// Whether there is an entry of this name, which may be a symbolic link without target.
template <class T>
bool TrainingFolder<T>::exists(const char* name) const {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(file(name), error);
  if (!std::filesystem::status_known(status))
    fail_on_file(file(name), "a file whose status can be read", error.message());
  return std::filesystem::exists(status);
}

template <class T>
void TrainingFolder<T>::save(const char* name, bool is_kept) {
  if (options_.folder.empty()) return;
  const auto writer = std::make_shared<Hdf5Writer>(prepare_checkpoint(file(name), model_, states_));
  wait();  // for those before it
  const auto task = [this, writer, is_kept, step = progress_.step] {
    writer->save();
    if (is_kept) keep(step);
  };
  if (options_.save_in_background)
    pending_ = std::async(std::launch::async, task);
  else
    task();
}

template <class T>
void TrainingFolder<T>::check() {
  if (pending_.valid() && pending_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    pending_.get();
}

template <class T>
void TrainingFolder<T>::wait() {
  if (pending_.valid()) pending_.get();
}

// Gives last.h5 another name, and removes the oldest of such files.
template <class T>
void TrainingFolder<T>::keep(std::int64_t step) const {
  const fs::path kept = options_.folder / name_of_step(step);
  std::error_code error;
  fs::remove(kept, error);
  fs::create_hard_link(options_.folder / "last.h5", kept, error);
  if (error) fail_on_file(kept, "a hard link to last.h5", error.message());
  std::vector<std::int64_t> steps;
  for (const auto& entry : fs::directory_iterator(options_.folder, error))
    if (const auto other = step_of(entry.path().filename().string())) steps.push_back(*other);
  std::ranges::sort(steps, std::greater());
  for (std::size_t i = static_cast<std::size_t>(options_.keep_checkpoints); i < steps.size(); ++i)
    fs::remove(options_.folder / name_of_step(steps[i]), error);
}

template class TrainingFolder<float>;
template class TrainingFolder<double>;

}  // namespace weft
