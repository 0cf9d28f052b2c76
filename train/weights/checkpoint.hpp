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

// An object with state, under the name of its group in the file.
template <class T>
struct WEFT_API NamedState {
  // `stateful` under the name `group`; it must outlive this.
  NamedState(std::string group, Stateful<T>& stateful)
      : name(std::move(group)), object(std::shared_ptr<void>(), &stateful) {}
  // A copy of a tokenizer under the name `group`. Loading throws ValueError if the checkpoint
  // contains different tokens. A checkpoint of weft 0.2, which contains none, is accepted.
  NamedState(std::string group, const Tokenizer& tokenizer);

  std::string name;                     // of the group
  std::shared_ptr<Stateful<T>> object;  // not null
};

// States of different names: {{"optimizer", optimizer}, {"progress", progress}}.
template <class T>
using NamedStates = std::vector<NamedState<T>>;

// Writes the parameters and buffers below the group /model and each state below a group of its
// name, where "encoder.0.weight" becomes encoder/0/weight. If the model has a
// Module::description, its type is the file's attribute "model_type", and its options are below the
// group /model_options. The file is written as a whole or not at
// all: an existing file is unchanged until the new one is on disk, which then has its permissions.
// It takes memory for a few blocks only.
// Throws NonFiniteError, naming the tensor, for a NaN or an infinity in a parameter, a buffer or a
// state tensor; ValueError for names with empty or unprintable parts or '/', for states of which
// the groups are not apart from each other, from /model and from /model_options, and for strings
// with NUL; FileError
// when writing fails.
//   save_checkpoint("model.h5", model, {{"optimizer", optimizer}, {"progress", progress}});
template <class T>
WEFT_API void save_checkpoint(const std::filesystem::path& path, const Module<T>& model,
                              const std::type_identity_t<NamedStates<T>>& states = {});

// What `save_checkpoint` writes, not saved yet: `save` of the result writes the objects as they are
// now, whatever happens to them until then, also on another thread. Tensors are copied only if they
// change before. Throws as `save_checkpoint` does, except for errors of writing.
template <class T>
WEFT_API Hdf5Writer prepare_checkpoint(const std::filesystem::path& path, const Module<T>& model,
                                       const std::type_identity_t<NamedStates<T>>& states = {});

// Reads what `save_checkpoint` wrote, bit for bit. Without `states`, of a checkpoint with a
// ExponentialMovingAverage (see TrainingLoop::track_average) the parameters are the averages. Other
// groups are ignored; the requested ones must contain exactly the names, shapes and types of the
// objects. Throws FileError for a file that is damaged (its checksum covers every byte), of a later
// format or of another model, and what `check_state` throws; all objects are then unchanged.
//   load_checkpoint("model.h5", model, {{"optimizer", optimizer}, {"progress", progress}});
template <class T>
WEFT_API void load_checkpoint(const std::filesystem::path& path, Module<T>& model,
                              const std::type_identity_t<NamedStates<T>>& states = {});

// Reads a single state, such as the configuration that the model is built from. Throws as
// `load_checkpoint` does.
template <class T>
WEFT_API void load_state(const std::filesystem::path& path, const std::string& name,
                         Stateful<T>& object);

// Reads the type and the options of the model in a checkpoint, as named values. Throws FileError
// for a file that is damaged or was written without them, for example by weft 0.2. See load_gpt.
WEFT_API ModelDescription load_model_description(const std::filesystem::path& path);

// Reads a tokenizer that was saved under this name. Returns a tokenizer without tokens if the
// checkpoint does not contain it. Throws FileError for a damaged file and for other contents.
//   const Tokenizer letters = load_tokenizer("run/best.h5");
WEFT_API Tokenizer load_tokenizer(const std::filesystem::path& path,
                                  const std::string& name = "tokenizer");

}  // namespace weft
