// How much memory the virtual device may have, depending on the host's memory.
//
// Device memory and the checkers' shadows of it are host memory.  A program that queries the memory
// size and allocates all of it must not be killed for that, so the device has only a share of what
// the host can currently provide.
#pragma once

#include <cstdint>
#include <filesystem>

namespace warpcheck::cudart {

// Returns the bytes that the host can currently provide to this process.
//   root: of the file system from which this is read (/proc, /sys/fs/cgroup)
std::uint64_t host_memory_available(const std::filesystem::path& root = "/");

// Returns the bytes of all devices together.
//   root: as above
std::uint64_t device_memory_of_host(const std::filesystem::path& root = "/");

}  // namespace warpcheck::cudart
