// Reports data that reaches the host from a device to `warpcheck exec`, which compares runs by it:
// the bytes of copies, and the content of memory that host and device share.  On request, also what
// the host hands to the device: the bytes of copies, and arguments of launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "vgpu/cudart/copies/box.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/program/dim3.hpp"

namespace warpcheck::cudart {

class Trial;

// A copy whose bytes reach the other side.
struct ArrivedCopy {
  std::string_view call;
  Box box;
  std::uint32_t operation = 0;  // its number
  // On the host: the first row; the other rows follow by pitch and slice.
  const std::byte* first = nullptr;
  std::size_t pitch = 0, slice = 0;
};

// A launch whose arguments reach the device.
struct ArrivedLaunch {
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;
  std::uint32_t operation = 0;  // its number
};

class Arrivals {
 public:
  // Nothing is owned.
  Arrivals(const Trial& trial, const vgpu::DeviceMemory& memory) : trial_(trial), memory_(memory) {}

  // A kernel is launched; `kernel` is its number among those of the trial (trial.hpp).
  void launched(std::uint32_t kernel) { last_kernel_ = kernel + 1; }
  // A copy has brought bytes to the host.
  void copied(const ArrivedCopy& copy);
  // A copy moves bytes of the host to a device.
  //   asked_at: return address of the call
  void copies_to_device(const ArrivedCopy& copy, const void* asked_at);
  // A kernel that launched() has named gets its turn.
  void launches(const ArrivedLaunch& launch, const void* asked_at);
  // All requested operations have run; `operations` is their number.  Only then is the content of
  // shared memory independent of the order of the operations.
  void all_done(std::uint32_t operations);
  // The device has been reset: operations are numbered from 0 again.
  void reset() { reported_operations_ = 0; }

 private:
  const Trial& trial_;
  const vgpu::DeviceMemory& memory_;
  std::uint32_t last_kernel_ = 0;          // its number plus one; 0: none
  std::uint32_t reported_operations_ = 0;  // at the last report of shared memory
};

}  // namespace warpcheck::cudart
