#include "vgpu/machine/memory/host_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kPage = 4096;
// The size of a file of one value.  A block takes one mapping for each such size, and a process has
// a limited number of mappings (65,530, unless its administrator raises it).
constexpr std::size_t kFileBytes = std::size_t{16} << 20;
// A block of such a size is written in many places, if it is written at all, so large host pages
// save hundreds of page faults.  In a larger block they would cost unused memory.
constexpr std::size_t kLargePagesMin = std::size_t{2} << 20, kLargePagesMax = std::size_t{32} << 20;
// Smaller ranges are cheaper to fill than to map again.
constexpr std::size_t kRemappedMin = std::size_t{256} << 10;

std::size_t pages_of(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Anonymous files, one for each byte value.
class FilesOfOneValue {
 public:
  // Returns the file; -1: the host cannot create one.
  int of(std::byte value) {
    const std::lock_guard lock(mutex_);
    File& file = files_[value];
    if (!is_there(file)) file = make(value);
    return file.descriptor;
  }

 private:
  struct File {
    int descriptor = -1;
    struct stat status {};
  };
  // The program may have closed the descriptor together with all other unknown descriptors.
  static bool is_there(const File& file) {
    struct stat status {};
    return file.descriptor >= 0 && ::fstat(file.descriptor, &status) == 0 &&
           status.st_dev == file.status.st_dev && status.st_ino == file.status.st_ino;
  }
  static File make(std::byte value) {
    File file;
    file.descriptor = ::memfd_create("warpcheck", MFD_CLOEXEC);
    if (file.descriptor < 0) return file;
    const std::vector<std::byte> bytes(std::size_t{1} << 16, value);
    for (std::size_t at = 0; at < kFileBytes; at += bytes.size()) {
      if (::pwrite(file.descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at)) !=
          static_cast<ssize_t>(bytes.size())) {
        ::close(file.descriptor);
        return {};
      }
    }
    ::fstat(file.descriptor, &file.status);
    return file;
  }

  std::mutex mutex_;
  std::map<std::byte, File> files_;
};

FilesOfOneValue& files_of_one_value() {
  static auto* const files = new FilesOfOneValue;  // used until the process ends
  return *files;
}

// Returns one bit per page: the page is private to the block, in memory or swapped out.
//   from: /proc/self/pagemap, see proc_pid_pagemap(5)
std::vector<bool> own_pages(int from, const std::byte* begin, std::size_t bytes) {
  constexpr std::uint64_t kPresent = std::uint64_t{1} << 63, kSwapped = std::uint64_t{1} << 62;
  constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
  std::vector<bool> own(pages_of(bytes) / kPage, true);
  std::array<std::uint64_t, 512> entries{};
  const auto first = reinterpret_cast<std::uintptr_t>(begin) / kPage;
  for (std::size_t page = 0; page < own.size(); page += entries.size()) {
    const std::size_t count = std::min(entries.size(), own.size() - page);
    const std::size_t wanted = count * sizeof entries[0];
    const auto at = static_cast<off_t>((first + page) * sizeof entries[0]);
    if (::pread(from, entries.data(), wanted, at) != static_cast<ssize_t>(wanted)) break;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_there = (entries[i] & (kPresent | kSwapped)) != 0;
      own[page + i] = is_there && (entries[i] & kOfFile) == 0;
    }
  }
  return own;
}

}  // namespace

bool map_alike(std::byte* at, std::size_t bytes, std::byte value) {
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  constexpr int kOver = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
  if (value == std::byte{0}) {
    return ::mmap(at, bytes, kAccess, kOver | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
  }
  const int file = files_of_one_value().of(value);
  if (file < 0) return false;
  for (std::size_t done = 0; done < bytes; done += kFileBytes) {
    const std::size_t count = std::min(kFileBytes, bytes - done);
    if (::mmap(at + done, count, kAccess, kOver, file, 0) != MAP_FAILED) continue;
    // The process has no mapping left, so the rest is filled.
    std::memset(at + done, std::to_integer<int>(value), bytes - done);
    break;
  }
  return true;
}

HostPages::HostPages(std::size_t bytes, std::byte value) : bytes_(bytes) {
  if (bytes < kMappedMin) {
    data_ = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}, std::nothrow));
    if (data_ != nullptr) std::memset(data_, std::to_integer<int>(value), bytes);
    return;
  }
  mapped_ = true;
  void* const given = ::mmap(nullptr, pages_of(bytes), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (given == MAP_FAILED) return;
  data_ = static_cast<std::byte*>(given);
  if (value == std::byte{0} && bytes >= kLargePagesMin && bytes <= kLargePagesMax) {
    ::madvise(given, pages_of(bytes), MADV_HUGEPAGE);  // hosts without large pages ignore it
  }
  if (value == std::byte{0} || map_alike(data_, pages_of(bytes), value)) return;
  std::memset(data_, std::to_integer<int>(value), bytes);
}

HostPages::~HostPages() {
  if (data_ == nullptr) return;
  if (mapped_) {
    ::munmap(data_, pages_of(bytes_));
  } else {
    ::operator delete (data_, std::align_val_t{64});
  }
}

void HostPages::fill(std::size_t offset, std::size_t bytes, std::byte value) {
  if (mapped_) return fill_at(data_ + offset, bytes, value);
  std::memset(data_ + offset, std::to_integer<int>(value), bytes);
}

void HostPages::fill_at(std::byte* begin, std::size_t bytes, std::byte value) {
  const auto set = [&](std::byte* from, std::byte* to) {
    std::memset(from, std::to_integer<int>(value), static_cast<std::size_t>(to - from));
  };
  std::byte* const end = begin + bytes;
  const std::size_t into_page = reinterpret_cast<std::uintptr_t>(begin) % kPage;
  std::byte* const first = begin + (into_page == 0 ? 0 : kPage - into_page);
  std::byte* const behind = end - reinterpret_cast<std::uintptr_t>(end) % kPage;
  if (behind < first + kRemappedMin ||
      !map_alike(first, static_cast<std::size_t>(behind - first), value)) {
    return set(begin, end);
  }
  set(begin, first);
  set(behind, end);
}

void HostPages::for_each_written(const std::function<void(std::size_t, std::size_t)>& visit) const {
  if (data_ == nullptr) return;
  const int pages = mapped_ ? ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
  if (pages < 0) return visit(0, bytes_);
  const std::vector<bool> own = own_pages(pages, data_, bytes_);
  ::close(pages);
  for (std::size_t page = 0; page < own.size();) {
    std::size_t end = page;
    while (end < own.size() && own[end]) ++end;
    if (end != page) visit(page * kPage, std::min(end * kPage, bytes_) - page * kPage);
    page = end + 1;
  }
}

}  // namespace warpcheck::vgpu
