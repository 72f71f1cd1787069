// Launches too large to run whole, in a trial.
#pragma once

#include <cstdint>
#include <vector>

namespace warpcheck::cudart {

// While it exists, launches of the running trial run the given blocks and those of sparse_blocks()
// (launch/sparse_blocks.hpp) unless there are few, and all memory that exists when a launch begins
// counts as written.  Pages that nothing touches take no memory of the host.
class SampledLaunches {
 public:
  // blocks: their numbers; those that a launch does not have are left out.
  // memory_bytes: of the device, if that is more than the trial's settings say
  SampledLaunches(std::vector<std::uint32_t> blocks, std::uint64_t memory_bytes);
  ~SampledLaunches();
  SampledLaunches(const SampledLaunches&) = delete;
  SampledLaunches& operator=(const SampledLaunches&) = delete;
};

}  // namespace warpcheck::cudart
