// What an access is about to touch, told to strategies that ask for it
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
  // Null: no load, store or atomic operation, or one on memory that no other thread of the launch
  // can write.  Shared memory of other blocks of a cluster is not told either.  Valid until the
  // next call.
  [[nodiscard]] const AccessedWords* of(const RunningFragment& run, std::uint32_t active);

 private:
  // Of an element of a vector, 16 bytes.
  static constexpr std::size_t kWordsMax = 4;

  const RunningLaunch& launch_;
  std::uint64_t kernel_ = 0;  // hash of its name and its length
  AccessedWords accessed_;
  std::array<std::uint64_t, kWarpLanes * kWordsMax> words_{};
  std::array<std::uint8_t, kWarpLanes * kWordsMax> lanes_{};
};

}  // namespace warpcheck::vgpu
