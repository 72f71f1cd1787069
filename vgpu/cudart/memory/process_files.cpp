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
  const ExecSession* const session = ExecSession::instance();
  if (session == nullptr) return nullptr;
  const std::string path =
      fmt::format("{}.{}.shared.{}", session->records(), handle.process, handle.number);
  const int file = ::open(path.c_str(), flags, 0600);
  if (file < 0) return nullptr;
  const auto size = static_cast<off_t>(bytes);
  struct stat known {};
  const bool has_room = (flags & O_CREAT) != 0
                            ? ::posix_fallocate(file, 0, size) == 0
                            : ::fstat(file, &known) == 0 && known.st_size == size;
  void* mapped = MAP_FAILED;
  if (has_room) mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (mapped == MAP_FAILED) return nullptr;
  return std::shared_ptr<ProcessFile>(
      new ProcessFile(handle, static_cast<std::byte*>(mapped), bytes));
}

ProcessFile::~ProcessFile() { ::munmap(data_, bytes_); }

}  // namespace warpcheck::cudart
