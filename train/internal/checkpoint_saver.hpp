// CheckpointSaver: saves the checkpoints of a training, also while it goes on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>

#include "weft/train/hdf5/hdf5_writer.hpp"

namespace weft {

struct CheckpointSaverOptions {
  std::filesystem::path folder;
  // Whether `save` returns before the file is written.
  bool in_background = false;
  // How many checkpoints are kept beside the last one, as step-N.h5; 0: none.
  std::int64_t keep = 0;
};

// All functions throw FileError when a checkpoint cannot be saved: in the background, the next
// function that is called. The destructor waits for what is being saved.
class CheckpointSaver {
 public:
  explicit CheckpointSaver(CheckpointSaverOptions options) : options_(std::move(options)) {}
  ~CheckpointSaver();
  CheckpointSaver(const CheckpointSaver&) = delete;
  CheckpointSaver& operator=(const CheckpointSaver&) = delete;

  // Saves a file after those before it.
  void save(Hdf5Writer checkpoint);
  // The same for last.h5, which is kept as the checkpoint of this step if any are.
  void save_last(Hdf5Writer checkpoint, std::int64_t step);
  // Throws the error of a checkpoint that was saved in the background, without waiting for one.
  void check();
  // Waits for what is being saved.
  void wait();

 private:
  void run(std::function<void()> task);
  void keep(std::int64_t step) const;

  CheckpointSaverOptions options_;
  std::future<void> pending_;
};

}  // namespace weft
