// printf() and assert() of device code: vprintf() and __assertfail() (CUDA C++ Programming Guide,
// "Formatted Output", "Assertion").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class Printing {
 public:
  explicit Printing(RunningLaunch& launch) : launch_(launch) {}

  Step print(RunningFragment& run, std::size_t index, const Instr& instr);
  Step fail_assertion(RunningFragment& run, std::size_t index, const Instr& instr);

 private:
  std::size_t read_bytes(const RunningFragment& run, unsigned lane, std::uint64_t address,
                         std::span<std::byte> to) const;
  std::string read_string(const RunningFragment& run, unsigned lane, std::uint64_t address) const;

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
