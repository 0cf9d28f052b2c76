// Checkpoints: a model's parameters, and whatever else must survive a restart, in one HDF5 file.
//
//   save_checkpoint("model.h5", model, {{"optimizer", optimizer}, {"progress", progress}});
//   load_checkpoint("model.h5", model, {{"optimizer", optimizer}, {"progress", progress}});
#pragma once

#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/layers/module.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// An object with state, under the name of its group in the file.
template <class T>
struct NamedState {
  NamedState(std::string group, Stateful<T>& stateful)
      : name(std::move(group)), object(&stateful) {}

  std::string name;
  Stateful<T>* object;
};

template <class T>
using NamedStates = std::vector<NamedState<T>>;

// Writes the parameters below the group /model and each state below a group of its name, where
// "encoder.0.weight" becomes encoder/0/weight. The file is written whole or not at all: until it is
// safely on disk, the one that was there before stays as it was. Throws NonFiniteError, naming the
// tensor, for a NaN or an infinity in a parameter or a state; ValueError for names that no file can
// hold; FileError when writing fails.
template <class T>
void save_checkpoint(const std::filesystem::path& path, Module<T>& model,
                     const std::type_identity_t<NamedStates<T>>& states = {});

// Reads what `save_checkpoint` wrote, bit for bit. Groups that are not asked for are passed over;
// those that are must hold exactly the names, shapes and types of the objects. Throws FileError for
// a file that is damaged (every byte is checked), of a later format or of another model, and what
// `check_state` throws; everything is then as it was before.
template <class T>
void load_checkpoint(const std::filesystem::path& path, Module<T>& model,
                     const std::type_identity_t<NamedStates<T>>& states = {});

// Reads one state alone, such as the configuration that the model is built from. Throws as
// `load_checkpoint` does.
template <class T>
void load_state(const std::filesystem::path& path, const std::string& name, Stateful<T>& object);

}  // namespace weft
