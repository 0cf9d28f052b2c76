// Checks that results can be written. Programs call them before long computations.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weft::examples {

// Creates a directory and its parents if they do not exist. Throws FileError if a directory cannot
// be created, or if no file can be created in it.
void make_directory(const std::filesystem::path& directory);

// Returns the files in a folder, without subfolders. Returns `path` itself if it is not a folder.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& path);

// Returns the files of a model, for check_replaceable: the weights, settings and tokens in its
// folder, or in the folder of its weight index. Other files in the folder, such as vectors and
// pictures, are results and may be replaced.
std::vector<std::filesystem::path> model_files(const std::filesystem::path& model);

// Checks that a program may write to `file`. Throws FileError if `file` exists and cannot be
// replaced: a directory, a pipe, a read-only file, or one of the inputs or of the files in an input
// folder, even under another name.
void check_replaceable(const std::filesystem::path& file,
                       const std::vector<std::filesystem::path>& inputs = {});

// Returns the path of a file in the folder of `model`, which is a folder or a file. If the folder
// is not writable, returns a path in the current directory.
std::filesystem::path file_beside(const std::filesystem::path& model, const std::string& name);

}  // namespace weft::examples
