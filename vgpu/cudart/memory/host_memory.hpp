// How much memory the virtual device may have, by what the host has.
//
// Device memory and what the checkers know of it are memory of the host.  A program that asks how
// much there is and takes all of it must not be killed for it, so the device has no more than a
// share of what the host could give at present.
#pragma once

#include <cstdint>
#include <filesystem>

namespace warpcheck::cudart {

// Bytes that the host could give to this process at present.
//   root: of the file system that this is read from (/proc, /sys/fs/cgroup)
std::uint64_t host_memory_available(const std::filesystem::path& root = "/");

// Bytes of all devices together.
//   root: as above
std::uint64_t device_memory_of_host(const std::filesystem::path& root = "/");

}  // namespace warpcheck::cudart
