// Named texts in a folder or an archive (.tar.gz, .tgz, .zip), for the artefacts of CI jobs.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpcheck::campaign {

struct NamedBytes {
  std::string name;  // relative, "/" between its parts
  std::string bytes;
};

// Something cannot be read or written.  what() is one line that names it.
class ArchiveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ArchiveContents {
  std::vector<NamedBytes> entries;  // in order of name
  std::vector<std::string> errors;  // entries that could not be read: "NAME: why"
};

// Larger entries are errors.
inline constexpr std::size_t kEntryBytesMax = 64 * 1024 * 1024;

// Reads a folder, an archive of any format that libarchive supports, or a single .case file.  For a
// damaged archive, the readable entries are returned together with the error.  Throws ArchiveError
// if nothing can be read.
ArchiveContents read_archive(const std::filesystem::path& path);

// Writes an archive if the name ends in .tar.gz, .tgz or .zip, else a folder.  The same entries
// give the same bytes.  Throws ArchiveError.
void write_archive(const std::filesystem::path& path, std::vector<NamedBytes> entries);

}  // namespace warpcheck::campaign
