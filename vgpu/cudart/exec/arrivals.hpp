// Reports data that reaches the host from a device to `warpcheck exec`, which compares runs by it:
// the bytes of copies, and the content of memory that host and device share.  On request, also what
// the host hands to the device: the bytes of copies, and arguments of launches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

struct CopyWork;
struct KernelWork;
class Trial;

class Arrivals {
 public:
  // Nothing is owned.
  Arrivals(const Trial& trial, const vgpu::DeviceMemory& memory) : trial_(trial), memory_(memory) {}

  // A kernel is launched; `kernel` is its number among those of the trial (trial.hpp).
  void launched(std::uint32_t kernel) { last_kernel_ = kernel + 1; }
  // A copy has brought bytes to the host.
  //   operation: its number; first: the first row; the other rows follow by pitch and slice
  void copied(const CopyWork& work, std::uint32_t operation, const std::byte* first,
              std::size_t pitch, std::size_t slice);
  // A copy moves bytes of the host to a device.
  //   first: the first row of the source; asked_at: return address of the call
  void copies_to_device(const CopyWork& work, std::uint32_t operation, const void* asked_at,
                        const std::byte* first, std::size_t pitch, std::size_t slice);
  // A kernel that launched() has named gets its turn.
  void launches(const KernelWork& work, std::uint32_t operation, const void* asked_at);
  // All requested operations have run; `operations` is their number.  Only then is the content of
  // shared memory independent of the order of the operations.
  void all_done(std::uint32_t operations);
  // The device has been reset: operations are numbered from 0 again.
  void reset() { told_operations_ = 0; }

 private:
  const Trial& trial_;
  const vgpu::DeviceMemory& memory_;
  std::uint32_t last_kernel_ = 0;      // its number plus one; 0: none
  std::uint32_t told_operations_ = 0;  // at the last report of shared memory
};

}  // namespace warpcheck::cudart
