// A launch with everything that it reads: what another device needs to run it once more.
//
// The memory is at the same device addresses there, so pointers in parameters and in memory remain
// valid.  Module variables have addresses of their own on each device: they are known by name, and
// parameters that are their addresses are translated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/program/dim3.hpp"

namespace warpcheck::cudart {

// Bytes of device memory before or after a launch.
struct MemoryImage {
  std::string variable;       // the name of a module variable; empty: an allocation
  std::uint64_t address = 0;  // on the virtual device
  std::vector<std::byte> bytes;
  bool is_constant = false;  // kernels cannot change it
};

// A parameter that is an address in a module variable.
struct VariableAddress {
  std::uint32_t at = 0;  // byte in the parameters
  std::string variable;
  std::uint64_t offset = 0;
};

struct LaunchImage {
  std::string ptx;
  std::string kernel;  // mangled
  Dim3 grid, block, cluster;
  bool explicit_cluster = false;
  bool cooperative = false;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;
  std::vector<VariableAddress> addresses;
  std::vector<MemoryImage> memory;
};

// What a launch has left on another device.
struct LaunchResult {
  std::string problem;              // why there is none; empty: the launch has run
  std::vector<MemoryImage> memory;  // those of the image, in its order
};

// A device that runs images of launches.
class LaunchTarget {
 public:
  virtual ~LaunchTarget() = default;
  // optimization: level of the assembler that makes machine code of the PTX, 0 to 4
  virtual LaunchResult run(const LaunchImage& image, unsigned optimization) = 0;
  // "NVIDIA H200, sm_90, driver for CUDA 13.0"
  [[nodiscard]] virtual const std::string& name() const = 0;
};

}  // namespace warpcheck::cudart
