// The memory words that the next access is about to touch, for strategies that ask for them
// (Strategy::sees_words()).
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class WordsAhead {
 public:
  explicit WordsAhead(const RunningLaunch& launch) : launch_(launch) {}

  void begin_launch();
  // Returns null if the instruction is no load, store or atomic, or accesses memory that no other
  // thread of the launch can write.  Shared memory of other blocks of a cluster is not reported
  // either.  The result is valid until the next call.
  [[nodiscard]] const AccessedWords* of(const RunningFragment& run, std::uint32_t active);

 private:
  // per element of a vector, of 16 bytes
  static constexpr std::size_t kWordsMax = 4;

  const RunningLaunch& launch_;
  std::uint64_t kernel_ = 0;  // hash of the kernel's name and its length
  AccessedWords accessed_;
  std::array<std::uint64_t, kWarpLanes * kWordsMax> words_{};
  std::array<std::uint8_t, kWarpLanes * kWordsMax> lanes_{};
};

}  // namespace warpcheck::vgpu
