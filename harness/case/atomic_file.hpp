// Atomic files: writes that leave a complete file or none, and directory reads that succeed or
// throw.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

// A case file cannot be read or written.  what() is one line that names the file.
class CaseFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws CaseFileError: "cannot read PATH: " and the text of errno.
[[noreturn]] void throw_file_error(std::string_view action, const std::filesystem::path& path);

// Makes a directory, and those above it.  Throws CaseFileError.
void make_directory(const std::filesystem::path& path);

// Writes a new file and renames it into place, so that no reader and no crash sees a half-written
// file.  Creates the directory.  If the path is a link, its target is written.  A path that is no
// regular file (a device, a pipe, /dev/stdout) is written directly.  Throws CaseFileError.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);
// As write_file_atomically(), but never replaces a file: returns false if the path exists.
[[nodiscard]] bool write_new_file(const std::filesystem::path& path, std::string_view text);

// The entries of a directory, unordered; empty if it does not exist.  Throws CaseFileError if it
// cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory);

}  // namespace warpcheck
