// Files that appear under their name whole or not at all, and directories that are read whole or
// not at all.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

// A case file that cannot be read or written.  what() is one line that names the file.
class CaseFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// "cannot read PATH: " and what errno says.
[[noreturn]] void throw_file_error(std::string_view action, const std::filesystem::path& path);

// Writes a new file and renames it into place, so that no reader and no crash sees half of one.
// Makes the directory.  Where the path is a link, its target is written; what is no file of its own
// (a device, a pipe, /dev/stdout) is written to as it is.  Throws CaseFileError.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);
// The same where there is no such file yet; false: there is one, and it stays as it is.
[[nodiscard]] bool write_new_file(const std::filesystem::path& path, std::string_view text);

// What is in a directory, in no order; nothing where there is none.  Throws CaseFileError where it
// cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory);

}  // namespace warpcheck
