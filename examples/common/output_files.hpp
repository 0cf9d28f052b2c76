// Checks that results can be written, for programs to call before they compute them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weft::examples {

// Creates a directory and its parents unless they exist. Throws FileError when that fails or no
// file can be created in it.
void make_directory(const std::filesystem::path& directory);

// The files of a folder, not of its subfolders. The path itself unless it is a folder.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& path);

// The files of a model, for check_replaceable: of those in its folder, or beside an index of
// weights, the weights, settings and tokens, but no vectors, pictures or tables that are written
// there.
std::vector<std::filesystem::path> model_files(const std::filesystem::path& model);

// Throws FileError when there is something at `file` that cannot be replaced: a directory, a pipe,
// a file that cannot be written, or one of the inputs or of the files in one, also under another
// name.
void check_replaceable(const std::filesystem::path& file,
                       const std::vector<std::filesystem::path>& inputs = {});

// A file of this name in the folder of a model, which is a folder or a file; in the current
// directory where that folder cannot be written.
std::filesystem::path file_beside(const std::filesystem::path& model, const std::string& name);

}  // namespace weft::examples
