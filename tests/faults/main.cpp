// faults save FOLDER: saves a checkpoint again and again while one system call after the other
// fails, with every kind of failure, and checks that each time there is a clear error and the old
// file, or the new one. Needs libfailing_calls.so preloaded.
//
// faults train FOLDER [STEPS]: trains a small model, saves after every step and resumes.
//
// faults load FOLDER: loads the last checkpoint of a training and prints its step.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include <weft/autograd/error.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/train/file_bytes.hpp"
#include "tests/train/toy_training.hpp"

namespace {

using namespace weft;
namespace fs = std::filesystem;

// Of the preloaded library.
template <class Function>
Function* preloaded(const char* name) {
  void* function = ::dlsym(RTLD_DEFAULT, name);
  if (!function) fail<ValueError>("faults", "libfailing_calls.so in LD_PRELOAD", "none");
  return reinterpret_cast<Function*>(function);
}

struct Failure {
  const char* name;
  int error;
};
constexpr Failure failures[] = {{"EIO", EIO},     {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT},
                                {"EINTR", EINTR}, {"EROFS", EROFS},   {"a short write", -1}};

struct Counts {
  int refused = 0, saved = 0;
};

// Saves a second model over the first, or as a new file, with the n-th call failing. Returns
// whether there was such a call.
bool save_with(const Failure& failure, long call, bool replace, const fs::path& folder,
               Counts& counts) {
  const fs::path path = folder / "model.h5";
  const std::string what =
      str_cat(failure.name, " at call ", call, replace ? " of replacing" : " of creating");
  Affine<float> old_model({300, 400}, {300}), new_model({300, 400}, {300});
  old_model.weight.values()[7] = 1.0f;
  new_model.weight.values()[7] = 2.0f;
  fs::remove(path);
  if (replace) {
    save_checkpoint(path, old_model);
    ::chmod(path.c_str(), 0640);
  }
  const std::string before = replace ? bytes_of(path) : "";

  std::string message;
  preloaded<void(long, int)>("weft_arm")(call, failure.error);
  try {
    save_checkpoint(path, new_model);
  } catch (const FileError& error) {
    message = error.what();
  }
  const long calls = preloaded<long()>("weft_disarm")();

  const auto check = [&](bool valid, const char* expected) {
    if (!valid) fail<ValueError>(what, expected, message.empty() ? "a save" : message);
  };
  if (message.empty()) {
    Affine<float> loaded({300, 400}, {300});
    load_checkpoint(path, loaded);
    check(loaded.weight.value().data()[7] == 2.0f, "the new file");
    ++counts.saved;
  } else {
    check(message.find("model.h5") != std::string::npos ||
              message.find(folder.string()) != std::string::npos,
          "a message with the name of the file");
    check(replace ? fs::exists(path) && bytes_of(path) == before : !fs::exists(path),
          "the old file");
    ++counts.refused;
  }
  if (replace) check((fs::status(path).permissions() & fs::perms::mask) == fs::perms{0640}, "0640");
  for (const auto& entry : fs::directory_iterator(folder))
    check(entry.path() == path, "no other file in the folder");
  return call <= calls;
}

void save(const fs::path& folder) {
  Counts counts;
  long most_calls = 0;
  for (const Failure& failure : failures)
    for (const bool replace : {false, true}) {
      long call = 1;
      while (save_with(failure, call, replace, folder, counts)) ++call;
      most_calls = std::max(most_calls, call - 1);
    }
  std::cout << counts.refused + counts.saved << " saves of up to " << most_calls
            << " calls, each of which failed in every way: " << counts.refused
            << " refused with the old file intact, " << counts.saved
            << " complete (calls that are repeated, or that fail after the file is on disk)\n";
}

void train(const fs::path& folder, std::int64_t steps) {
  ToyTraining<float> toy;
  Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
          {.epochs = steps,
           .max_steps = steps,
           .folder = folder,
           .resume = true,
           .save_every_steps = 1,
           .save_in_background = std::getenv("WEFT_IN_BACKGROUND") != nullptr})
      .run();
}

void load(const fs::path& folder) {
  ToyTraining<float> toy;
  load_checkpoint(folder / "last.h5", toy.model, {{"optimizer", toy.optimizer}});
  std::cout << toy.optimizer.steps() << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string command = argc > 2 ? argv[1] : "";
  if (command == "save")
    save(argv[2]);
  else if (command == "train")
    train(argv[2], argc > 3 ? std::atoll(argv[3]) : 300);
  else if (command == "load")
    load(argv[2]);
  else
    fail<ValueError>("faults", "save, train or load, and a folder", "other arguments");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "faults: " << error.what() << '\n';
  return 1;
}
