#include "vgpu/cudart/memory/process_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::size_t kIdentityBytes = 4096;

// Empty: this process does not run under exec.
std::string path_of(const ProcessFileHandle& handle) {
  const ExecSession* const session = ExecSession::instance();
  if (session == nullptr) return {};
  return fmt::format("{}.{}.shared.{}", session->records(), handle.process, handle.number);
}

}  // namespace

void require_exec(std::string_view call) {
  if (ExecSession::instance() != nullptr) return;
  throw vgpu::Refusal(
      fmt::format("{}: only processes under one `warpcheck exec` share anything", call));
}

std::shared_ptr<ProcessFile> ProcessFile::make(ProcessFileHandle::What what,
                                               std::uint64_t data_bytes, std::size_t file_bytes) {
  static std::atomic<std::uint64_t> made{0};
  return map({what, ::getpid(), ++made, data_bytes}, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
             file_bytes);
}

std::shared_ptr<ProcessFile> ProcessFile::open(const ProcessFileHandle& handle,
                                               std::size_t file_bytes) {
  return map(handle, O_RDWR | O_CLOEXEC, file_bytes);
}

// Disk space is reserved first, because a store to a page without disk space would raise SIGBUS.
std::shared_ptr<ProcessFile> ProcessFile::map(const ProcessFileHandle& handle, int flags,
                                              std::size_t bytes) {
  const std::string path = path_of(handle);
  if (path.empty()) return nullptr;
  const int file = ::open(path.c_str(), flags, 0600);
  if (file < 0) return nullptr;
  const auto identity_at = static_cast<off_t>(bytes);
  const auto size = static_cast<off_t>(bytes + kIdentityBytes);
  struct stat known {};
  const bool has_room =
      (flags & O_CREAT) != 0
          ? ::posix_fallocate(file, 0, size) == 0 &&
                ::pwrite(file, &handle, sizeof handle, identity_at) == sizeof handle
          : ::fstat(file, &known) == 0 && known.st_size == size;
  void* mapped = MAP_FAILED;
  if (has_room) mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (mapped == MAP_FAILED) return nullptr;
  return std::shared_ptr<ProcessFile>(
      new ProcessFile(handle, static_cast<std::byte*>(mapped), bytes));
}

std::optional<ProcessFileHandle> ProcessFile::handle_of(int descriptor) {
  struct stat known {};
  ProcessFileHandle handle;
  if (::fstat(descriptor, &known) != 0 || !S_ISREG(known.st_mode)) return {};
  const off_t at = known.st_size - static_cast<off_t>(kIdentityBytes);
  if (at < 0 || ::pread(descriptor, &handle, sizeof handle, at) != sizeof handle) return {};
  // What another file has there is no identity; the same file is at its own path.
  struct stat own {};
  const std::string path = path_of(handle);
  const bool is_it = !path.empty() && ::stat(path.c_str(), &own) == 0 &&
                     own.st_dev == known.st_dev && own.st_ino == known.st_ino;
  return is_it ? std::optional(handle) : std::nullopt;
}

int ProcessFile::descriptor() const { return ::open(path_of(handle_).c_str(), O_RDWR); }

ProcessFile::~ProcessFile() { ::munmap(data_, bytes_); }

}  // namespace warpcheck::cudart
