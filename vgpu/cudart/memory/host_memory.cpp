#include "vgpu/cudart/memory/host_memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace warpcheck::cudart {
namespace {

namespace fs = std::filesystem;

// The host bytes for a byte of device memory that kernels have written and read: the byte itself,
// one of the initialisation checker, and one or two of the race checker if rows are whole.  The
// worst case is several times that.
constexpr std::uint64_t kBytesPerByte = 4;
// Address space is reserved for the worst case at once.
constexpr std::uint64_t kAddressesPerByte = 16;
constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;

// Returns the number after a name: "MemAvailable:   123 kB".
std::optional<std::uint64_t> number_after(const fs::path& file, std::string_view name) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string first;
    std::uint64_t number = 0;
    if (words >> first && first == name && words >> number) return number;
  }
  return std::nullopt;
}

// Returns the number in a file; nothing: the file does not exist, or contains "max".
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

// Where the kernel reports the memory of control groups, and the names of its files (cgroups(7)).
struct Groups {
  fs::path root;
  std::string_view limit, used, files;  // files: in memory.stat, memory that can be dropped
};

// Returns the memory that a group and all groups above it leave.
std::optional<std::uint64_t> left_by(const Groups& groups, fs::path group) {
  std::optional<std::uint64_t> left;
  for (;; group = group.parent_path()) {
    const fs::path at = groups.root / group.relative_path();
    const std::optional<std::uint64_t> limit = number_in(at / groups.limit);
    const std::optional<std::uint64_t> used = number_in(at / groups.used);
    if (limit && used) {
      const std::uint64_t files = number_after(at / "memory.stat", groups.files).value_or(0);
      const std::uint64_t kept = *used - std::min(*used, files);
      const std::uint64_t here = *limit - std::min(*limit, kept);
      left = std::min(left.value_or(here), here);
    }
    if (group == group.parent_path()) return left;
  }
}

// Returns nothing if no group limits this process.
std::optional<std::uint64_t> left_by_groups(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream in(root / "proc/self/cgroup");
  std::optional<std::uint64_t> left;
  std::string line;
  while (std::getline(in, line)) {  // "4:memory:/path", or "0::/path" in version 2
    const std::size_t second = line.find(':', line.find(':') + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(line.find(':') + 1, second - line.find(':') - 1);
    const fs::path group = line.substr(second + 1);
    std::optional<std::uint64_t> here;
    if (controllers.empty()) {
      here = left_by({mount, "memory.max", "memory.current", "inactive_file"}, group);
    } else if (controllers == "memory") {
      here = left_by({mount / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                      "total_inactive_file"},
                     group);
    }
    if (here) left = std::min(left.value_or(*here), *here);
  }
  return left;
}

}  // namespace

std::uint64_t host_memory_available(const fs::path& root) {
  std::uint64_t bytes = UINT64_MAX;
  const fs::path memory = root / "proc/meminfo";
  if (const auto available = number_after(memory, "MemAvailable:")) {
    bytes = (*available + number_after(memory, "SwapFree:").value_or(0)) * 1024;
  }
  if (const auto left = left_by_groups(root)) bytes = std::min(bytes, *left);
  return bytes;
}

std::uint64_t device_memory_of_host(const fs::path& root) {
  std::uint64_t bytes = host_memory_available(root) / kBytesPerByte;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    bytes = std::min<std::uint64_t>(bytes, limit.rlim_cur / kAddressesPerByte);
  }
  return std::max(bytes, kLeast);
}

}  // namespace warpcheck::cudart
