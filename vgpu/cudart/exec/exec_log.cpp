#include "vgpu/cudart/exec/exec_log.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace warpcheck::cudart {
namespace {

constexpr std::uint64_t kMagic = 0x32676f6c63657865;  // "execlog2"
constexpr std::size_t kFirstBytes = 64 * 1024;
// If a program copies more often than this, only these copies are compared.
constexpr std::size_t kBytesMax = std::size_t{1} << 30;

std::size_t end_of(std::uint64_t entries) {
  return sizeof(ExecLogCounts) + static_cast<std::size_t>(entries) * sizeof(Arrival);
}

}  // namespace

std::filesystem::path exec_log_path(const std::filesystem::path& records, int process) {
  return records.string() + "." + std::to_string(process);
}

std::filesystem::path counts_path(const std::filesystem::path& records, int process) {
  return exec_log_path(records, process).string() + ".counts";
}

std::filesystem::path kept_bytes_path(const std::filesystem::path& records, int process,
                                      Arrival::Kind kind, std::uint32_t operation) {
  constexpr std::array kNames{".copy.", ".memory.", ".prints.", ".to-device.", ".launch."};
  return exec_log_path(records, process).string() + kNames.at(static_cast<std::size_t>(kind)) +
         std::to_string(operation);
}

ExecLog::ExecLog(const std::filesystem::path& path) : path_(path) {
  if (!reserve(kFirstBytes)) return;
  counts()->magic = kMagic;
  launches_before_ = counts()->launches;
}

ExecLog::~ExecLog() {
  if (mapped_ != nullptr) ::munmap(mapped_, bytes_);
}

// Disk space is reserved first, because a store to a page without disk space would raise SIGBUS.
// The file is opened anew each time, because programs close file descriptors that they do not know.
bool ExecLog::reserve(std::size_t bytes) {
  const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  void* mapped = MAP_FAILED;
  int error = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (error == 0) {
    mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    error = errno;
  }
  ::close(file);
  errno = error;
  if (mapped == MAP_FAILED) return false;
  if (mapped_ != nullptr) ::munmap(mapped_, bytes_);
  mapped_ = mapped;
  bytes_ = bytes;
  return true;
}

void ExecLog::count_launches(std::uint64_t launches) {
  if (mapped_ != nullptr) counts()->launches = launches_before_ + launches;
}

void ExecLog::launch_begins(std::uint64_t kernel, std::uint64_t blocks) {
  if (mapped_ == nullptr) return;
  counts()->blocks = blocks;
  counts()->blocks_ended = 0;
  counts()->running_kernel = kernel;
}

void ExecLog::block_ended() {
  if (mapped_ != nullptr) ++counts()->blocks_ended;
}

void ExecLog::blocks_ended(std::uint64_t blocks) {
  if (mapped_ != nullptr) counts()->blocks_ended = blocks;
}

void ExecLog::launch_ended(std::uint64_t kernel, std::uint64_t thread_instructions,
                           std::uint64_t nanoseconds) {
  if (mapped_ == nullptr) return;
  counts()->running_kernel = 0;
  auto& kernels = counts()->kernels;
  KernelCounts& of_kernel = kernels[std::min<std::size_t>(kernel - 1, kernels.size() - 1)];
  ++of_kernel.launches;
  of_kernel.thread_instructions += thread_instructions;
  of_kernel.nanoseconds += nanoseconds;
}

void ExecLog::add(const Arrival& entry) {
  if (mapped_ == nullptr || counts()->incomplete != 0) return;
  const std::size_t begin = end_of(counts()->arrivals);
  if (begin + sizeof entry > bytes_ && (bytes_ >= kBytesMax || !reserve(2 * bytes_))) {
    counts()->incomplete = 1;
    return;
  }
  std::memcpy(static_cast<std::byte*>(mapped_) + begin, &entry, sizeof entry);
  ++counts()->arrivals;
}

std::optional<ExecLogContents> read_exec_log(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  ExecLogContents contents;
  if (!file.read(reinterpret_cast<char*>(&contents.counts), sizeof contents.counts)) {
    return std::nullopt;
  }
  if (contents.counts.magic != kMagic) return std::nullopt;
  Arrival entry;
  for (std::uint64_t i = 0; i < contents.counts.arrivals; ++i) {
    if (!file.read(reinterpret_cast<char*>(&entry), sizeof entry)) break;
    contents.arrivals.push_back(entry);
  }
  return contents;
}

}  // namespace warpcheck::cudart
