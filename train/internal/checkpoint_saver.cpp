#include "train/internal/checkpoint_saver.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "train/files/file_descriptor.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "step-", suffix = ".h5";

std::string name_of_step(std::int64_t step) { return concatenate_text(prefix, step, suffix); }

// The step of a file that was kept; none for other files.
std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  const char* begin = name.data() + prefix.size();
  const char* end = name.data() + name.size() - suffix.size();
  std::int64_t step = 0;
  const auto [last, error] = std::from_chars(begin, end, step);
  if (error != std::errc() || last != end) return std::nullopt;
  return step;
}

}  // namespace

CheckpointSaver::~CheckpointSaver() {
  if (pending_.valid()) pending_.wait();
}

void CheckpointSaver::save(Hdf5Writer checkpoint) {
  run([writer = std::make_shared<Hdf5Writer>(std::move(checkpoint))] { writer->save(); });
}

void CheckpointSaver::save_last(Hdf5Writer checkpoint, std::int64_t step) {
  run([this, step, writer = std::make_shared<Hdf5Writer>(std::move(checkpoint))] {
    writer->save();
    if (options_.keep > 0) keep(step);
  });
}

void CheckpointSaver::run(std::function<void()> task) {
  wait();
  if (options_.in_background)
    pending_ = std::async(std::launch::async, std::move(task));
  else
    task();
}

void CheckpointSaver::check() {
  if (pending_.valid() && pending_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    pending_.get();
}

void CheckpointSaver::wait() {
  if (pending_.valid()) pending_.get();
}

// Gives last.h5 another name, and removes the oldest of such files.
void CheckpointSaver::keep(std::int64_t step) const {
  const fs::path kept = options_.folder / name_of_step(step);
  std::error_code error;
  fs::remove(kept, error);
  fs::create_hard_link(options_.folder / "last.h5", kept, error);
  if (error) fail_on_file(kept, "a further name of last.h5 (a hard link)", error.message());
  std::vector<std::int64_t> steps;
  for (const auto& entry : fs::directory_iterator(options_.folder, error))
    if (const auto other = step_of(entry.path().filename().string())) steps.push_back(*other);
  std::ranges::sort(steps, std::greater());
  for (std::size_t i = static_cast<std::size_t>(options_.keep); i < steps.size(); ++i)
    fs::remove(options_.folder / name_of_step(steps[i]), error);
}

}  // namespace weft
