// What comes from a device to the host, told to `warpcheck exec`, which compares runs by it: the
// bytes of copies, and what is in memory that host and device share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

struct CopyWork;
class Trial;

class Arrivals {
 public:
  // Nothing is owned.
  Arrivals(const Trial& trial, const vgpu::DeviceMemory& memory) : trial_(trial), memory_(memory) {}

  // The kernel that is launched, by its number among those of the trial (trial.hpp).
  void launched(std::uint32_t kernel) { last_kernel_ = kernel + 1; }
  // A copy has brought bytes to the host.
  //   operation: its number; first: of the first row, where the others lie by pitch and slice
  void copied(const CopyWork& work, std::uint32_t operation, const std::byte* first,
              std::size_t pitch, std::size_t slice);
  // All operations that were asked for have run, so many of them.  Only then is it known what the
  // host would read in memory that it shares, whatever the order of the operations was.
  void all_done(std::uint32_t operations);
  // The device has been reset: operations are counted anew.
  void reset() { told_operations_ = 0; }

 private:
  const Trial& trial_;
  const vgpu::DeviceMemory& memory_;
  std::uint32_t last_kernel_ = 0;      // one more than its number; 0: none
  std::uint32_t told_operations_ = 0;  // when shared memory was told last
};

}  // namespace warpcheck::cudart
