#include "train/internal/training_folder.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "weft/autograd/error.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/random_access_file.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

std::string name_of_step(std::int64_t step) { return str_cat("step-", step, ".h5"); }

// The list of kept checkpoints: one step per line, in the order of writing.
constexpr const char* list_name = "checkpoints.txt";

std::vector<std::int64_t> steps_in(const std::string& list) {
  std::vector<std::int64_t> steps;
  const char *at = list.data(), *const end = at + list.size();
  for (std::int64_t step = 0; at < end; ++at) {
    const auto [stop, failed] = std::from_chars(at, end, step);
    if (failed != std::errc{}) break;
    steps.push_back(step);
    at = stop;
  }
  return steps;
}

// Copies a file. A hard link would not do: it would change if a user overwrote last.h5 in place.
void copy_atomically(const fs::path& from, const fs::path& to) {
  const RandomAccessFile source(from);
  AtomicFile copy(to);
  std::vector<std::byte> bytes(std::size_t{1} << 20);
  for (std::uint64_t offset = 0; offset < source.size(); offset += bytes.size()) {
    bytes.resize(std::min<std::uint64_t>(bytes.size(), source.size() - offset));
    if (!source.read(offset, bytes)) fail_on_file(from, "a readable file", "a read error");
    copy.write(bytes);
  }
  copy.commit();
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
bool TrainingFolder<T>::open() {
  if (options_.folder.empty()) return false;
  std::error_code error;
  std::filesystem::create_directories(options_.folder, error);
  if (error)
    throw FileError(
        str_cat("cannot create directory ", quoted(options_.folder), ": ", error.message()));
  lock_ = lock_directory(options_.folder);
  const bool last_exists = exists("last.h5"), best_exists = exists("best.h5");
  const bool resumes = options_.resume && last_exists;
  if (resumes)
    load_checkpoint(file("last.h5"), model_, states_);
  else if (options_.resume && best_exists)
    fail_on_file(file("last.h5"), "a checkpoint to resume from, since best.h5 exists",
                 "no such file");
  else if (progress_.step == 0 && (last_exists || best_exists))
    fail<FileError>(options_.folder.string(),
                    "a directory without checkpoints unless `resume` is set",
                    "checkpoints of an earlier run");
  best_is_missing_ = resumes && !best_exists;
  return resumes;
}

template <class T>
void TrainingFolder<T>::begin() {
  if (options_.folder.empty()) return;
  std::error_code error;
  // Checkpoints kept by an earlier run are never removed.
  if (progress_.step == 0)
    fs::remove(file(list_name), error);
  else
    kept_ = steps_in(file_contents(file(list_name)).value_or(""));
}

// Returns whether the folder has an entry of this name, including a symbolic link without target.
template <class T>
bool TrainingFolder<T>::exists(const std::string& name) const {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(file(name), error);
  if (!std::filesystem::status_known(status))
    throw FileError(
        str_cat("cannot read the status of ", quoted(file(name)), ": ", error.message()));
  return std::filesystem::exists(status);
}

template <class T>
void TrainingFolder<T>::save(const char* name, bool is_kept) {
  if (options_.folder.empty()) return;
  const auto writer = std::make_shared<Hdf5Writer>(prepare_checkpoint(file(name), model_, states_));
  wait();  // waits for the previous checkpoint
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

// Copies last.h5, and removes the oldest kept checkpoints.
template <class T>
void TrainingFolder<T>::keep(std::int64_t step) {
  const std::string name = name_of_step(step);
  std::error_code error;
  if (std::erase(kept_, step) == 0 && exists(name)) {
    // The file belongs to another run.
    int number = 1;
    while (exists(str_cat(name, ".old", number))) ++number;
    fs::rename(file(name), file(str_cat(name, ".old", number)), error);
    if (error)
      throw FileError(str_cat("cannot rename ", quoted(file(name)), ": ", error.message()));
  }
  kept_.push_back(step);
  // The list includes the checkpoints to be removed, so that none is forgotten if that fails.
  std::string list;
  for (const std::int64_t each : kept_) list += str_cat(each, '\n');
  write_atomically(file(list_name), std::as_bytes(std::span(list)));
  copy_atomically(file("last.h5"), file(name));
  for (; std::ssize(kept_) > options_.keep_checkpoints; kept_.erase(kept_.begin()))
    fs::remove(file(name_of_step(kept_.front())), error);
}

template class TrainingFolder<float>;
template class TrainingFolder<double>;

}  // namespace weft
