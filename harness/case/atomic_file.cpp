#include "harness/case/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace warpcheck {
namespace {

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Whether the path represents an open file: a device, a pipe, or a link of the system (/dev/stdout,
// /proc/self/fd/1).  Renaming a file over it would replace it for every program.
bool stands_for_open_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (exists(status) && !is_regular_file(status)) return true;
  if (!is_symlink(std::filesystem::symlink_status(path, error))) return false;
  const std::string place = std::filesystem::absolute(path, error).lexically_normal().string();
  return place.starts_with("/dev/") || place.starts_with("/proc/");
}

// The target of a link, or the path itself.
std::filesystem::path followed(std::filesystem::path path) {
  constexpr int kLinksMax = 40;  // the limit of Linux
  std::error_code error;
  for (int links = 0; !stands_for_open_file(path); ++links) {
    if (!is_symlink(std::filesystem::symlink_status(path, error))) break;
    if (links == kLinksMax) {
      errno = ELOOP;
      throw_file_error("write", path);
    }
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  }
  return path;
}

// Keeps the file's current contents: it may be our own standard output.
void write_in_place(const std::filesystem::path& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) throw_file_error("write", path);
  const bool written = write_all(file, text);
  const int reason = errno;
  if (::close(file) == 0 && written) return;
  errno = reason;
  throw_file_error("write", path);
}

enum class Replace : bool { no, yes };

// Writes a new file and renames it into place.  False: the path exists and is not replaced.
bool put_file(const std::filesystem::path& path, std::string_view text, Replace replace) {
  if (path.has_parent_path()) make_directory(path.parent_path());
  // An existing path that is no regular file, as /dev/stdout, is written to and not replaced.
  std::error_code unknown;
  const auto there = std::filesystem::status(path, unknown);
  const bool in_place = std::filesystem::exists(there) && !std::filesystem::is_regular_file(there);
  std::filesystem::path temporary = path;
  if (!in_place) temporary += fmt::format(".{}.tmp", ::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw_file_error("write", path);
  const auto fail = [&](int reason) {
    if (!in_place) ::unlink(temporary.c_str());
    errno = reason;
    throw_file_error("write", path);
  };
  const bool written = write_all(file, text) && (::fsync(file) == 0 || errno == EINVAL);
  const int reason = errno;
  if (::close(file) != 0) fail(errno);
  if (!written) fail(reason);
  if (in_place) return true;
  if (replace == Replace::yes) {
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail(errno);
    return true;
  }
  // Creating a link fails if the path exists.
  const bool is_new = ::link(temporary.c_str(), path.c_str()) == 0;
  if (!is_new && errno != EEXIST) fail(errno);
  ::unlink(temporary.c_str());
  return is_new;
}

}  // namespace

void throw_file_error(std::string_view action, const std::filesystem::path& path) {
  throw CaseFileError(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(errno)));
}

void make_directory(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return;
  throw CaseFileError(
      fmt::format("cannot make the directory {}: {}", path.string(), error.message()));
}

void write_file_atomically(const std::filesystem::path& given, std::string_view text) {
  const std::filesystem::path path = followed(given);
  if (stands_for_open_file(path)) return write_in_place(path, text);
  put_file(path, text, Replace::yes);
}

bool write_new_file(const std::filesystem::path& path, std::string_view text) {
  return put_file(path, text, Replace::no);
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  if (std::filesystem::symlink_status(directory, error).type() ==
          std::filesystem::file_type::not_found &&
      error != std::errc::not_a_directory) {
    return paths;
  }
  auto entry = std::filesystem::directory_iterator(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    paths.push_back(entry->path());
  }
  if (error) {
    throw CaseFileError(fmt::format("cannot read {}: {}", directory.string(), error.message()));
  }
  return paths;
}

}  // namespace warpcheck
