// How the files of a program are compiled: the options in its compile_commands.json (CMake writes
// it with CMAKE_EXPORT_COMPILE_COMMANDS).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpcheck {

// The options of the first entry for `file` in the first such file of these folders and their
// `build` folders, without input, output, target and debugging; relative paths are made absolute.
// Nothing: there is no such entry.
std::optional<std::vector<std::string>> options_of_build(
    const std::filesystem::path& file, const std::vector<std::filesystem::path>& folders);

// What of nvcc's options matters for the device code of another directory.
//   directory: of relative paths; input: the word that names the file
std::vector<std::string> device_options(const std::vector<std::string>& words,
                                        const std::filesystem::path& directory,
                                        const std::filesystem::path& input);

}  // namespace warpcheck
