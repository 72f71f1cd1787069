// Named texts in a folder or an archive (.tar.gz, .tgz, .zip): what CI keeps of a run.
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

// What cannot be read or written.  what() is one line that names it.
class ArchiveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ArchiveContents {
  std::vector<NamedBytes> entries;  // in order of name
  std::vector<std::string> errors;  // parts that could not be read: "NAME: why"
};

// Larger entries are errors.
inline constexpr std::size_t kEntryBytesMax = 64 * 1024 * 1024;

// A folder, an archive of any format that libarchive knows, or a single .case file.  What can be
// read of a damaged archive is returned beside the error.  Throws ArchiveError when nothing can.
ArchiveContents read_archive(const std::filesystem::path& path);

// Writes an archive when the name ends in .tar.gz, .tgz or .zip, else into a folder.  Same entries,
// same bytes.  Throws ArchiveError.
void write_archive(const std::filesystem::path& path, std::vector<NamedBytes> entries);

}  // namespace warpcheck::campaign
