// Records which thread wrote the memory that others poll: the latest strong writes of single lanes,
// and the latest compare-and-swaps and exchanges that changed a value, by which locks are taken and
// flags set.
//
// The table has a fixed size; if two entries have the same place, the later one remains.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class StrongWrites {
 public:
  struct Write {
    std::uint64_t launch = 0;  // counted by the machine; 0: empty
    const Allocation* allocation = nullptr;
    std::uint32_t offset = 0;
    std::uint32_t block = 0, warp = 0, lane = 0, pc = 0;
  };

  explicit StrongWrites(const RunningLaunch& launch) : launch_(launch) {}

  // Records a write by the lanes of `mask`.
  void note(const RunningFragment& run, const Access& access, std::uint32_t mask);
  // Records a compare-and-swap or an exchange that has been executed, for the lanes that changed a
  // value.
  void note_swaps(const RunningFragment& run, const Instr& instr, const Access& access,
                  std::uint32_t mask);
  // Returns null if no write of this launch is known.
  [[nodiscard]] const Write* find(const Allocation* allocation, std::uint32_t offset) const;

 private:
  static constexpr std::size_t kPlaces = 1024;
  static std::size_t index_of(const Allocation* allocation, std::uint32_t offset) {
    return (allocation->id * 0x9e3779b1u + offset / 4) % kPlaces;
  }

  const RunningLaunch& launch_;
  std::array<Write, kPlaces> writes_{};
};

}  // namespace warpcheck::vgpu
