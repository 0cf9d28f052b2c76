// Checkpoints: a model's parameters and buffers, its options, and other state, in one HDF5 file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/files/hdf5/hdf5_writer.hpp"
#include "weft/train/text/tokenizers/tokenizer.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// An object with state and the name of its group in a checkpoint.
template <class T>
struct WEFT_API NamedState {
  // Stores a reference to `stateful`, which must outlive this object. `group` is the name of the
  // group.
  NamedState(std::string group, Stateful<T>& stateful)
      : name(std::move(group)), object(std::shared_ptr<void>(), &stateful) {}
  // Stores a copy of a tokenizer, which is optional. Loading does not change it, but throws
  // ValueError if the checkpoint contains different tokens.
  NamedState(std::string group, const Tokenizer& tokenizer);

  std::string name;                     // the name of the group
  std::shared_ptr<Stateful<T>> object;  // not null
  // Whether loading accepts a checkpoint without the group, and leaves the object unchanged.
  bool is_optional = false;
};

// States with different names, for example {{"optimizer", optimizer}, {"progress", progress}}.
template <class T>
using NamedStates = std::vector<NamedState<T>>;

// Saves a model, and optionally other state, to an HDF5 file.
//
// The model's parameters and buffers are written to the group /model, and each state to a group
// with its name. Each part of a dotted name becomes a group: "encoder.0.weight" is stored as
// encoder/0/weight. If the model has a Module::description, its type is stored as the file
// attribute "model_type", and its options in the group /model_options.
//
// The file is written completely or not at all: an existing file is replaced after the new file is
// on disk. The new file gets its permissions. Writing takes memory for a few blocks only.
//
// Throws NonFiniteError, which names the tensor, for a NaN or an infinity in a parameter, a buffer
// or a state tensor. Throws ValueError for an invalid name (with an empty or unprintable part or
// with '/'), for a string that contains NUL, and if the group of a state contains, or is inside,
// the group of another state, /model or /model_options. Throws FileError if writing fails.
//   save_checkpoint("model.h5", model, {{"optimizer", optimizer}, {"progress", progress}});
template <class T>
WEFT_API void save_checkpoint(const std::filesystem::path& path, const Module<T>& model,
                              const std::type_identity_t<NamedStates<T>>& states = {});

// Prepares a checkpoint without writing it. Takes the same arguments as `save_checkpoint`. Calling
// `save` on the result writes the present state of the objects, even if they change before then,
// and may run in another thread. A tensor is copied only if it changes before it is written. Throws
// the same exceptions as `save_checkpoint`, except for write errors.
template <class T>
WEFT_API Hdf5Writer prepare_checkpoint(const std::filesystem::path& path, const Module<T>& model,
                                       const std::type_identity_t<NamedStates<T>>& states = {});

// Loads a model, and optionally other state, from a file written by `save_checkpoint`. The values
// are restored bit for bit. Groups that are not requested are ignored. A requested group must
// contain exactly the names, shapes and types of its object.
//
// If `states` is empty and the checkpoint contains an ExponentialMovingAverage (see
// TrainingLoop::track_average), the parameters are set to the averages.
//
// Throws FileError if the file is damaged (its checksum covers every byte), has an unknown format
// version or belongs to a different model. Rethrows errors of Stateful::check_state. On error, all
// objects are unchanged.
//   load_checkpoint("model.h5", model, {{"optimizer", optimizer}, {"progress", progress}});
template <class T>
WEFT_API void load_checkpoint(const std::filesystem::path& path, Module<T>& model,
                              const std::type_identity_t<NamedStates<T>>& states = {});

// Loads the state called `name` from a checkpoint, without the model, for example the configuration
// that the model is built from. Throws the same exceptions as `load_checkpoint`.
template <class T>
WEFT_API void load_state(const std::filesystem::path& path, const std::string& name,
                         Stateful<T>& object);

// Loads the type and the options of the model in a checkpoint, as named values (see load_gpt).
// Throws FileError if the file is damaged or does not contain them, for example if it was written
// by weft 0.2.
WEFT_API ModelDescription load_model_description(const std::filesystem::path& path);

// Loads the tokenizer that was saved under `name`. Returns a tokenizer without tokens if the
// checkpoint does not contain it. Throws FileError if the file is damaged, or if the group is not a
// tokenizer.
//   const Tokenizer letters = load_tokenizer("run/best.h5");
WEFT_API Tokenizer load_tokenizer(const std::filesystem::path& path,
                                  const std::string& name = "tokenizer");

}  // namespace weft
