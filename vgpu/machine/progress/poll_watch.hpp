// Detects blocks that only poll.
//
// A warp that polls uses up its quantum, and then other warps have their turn.  A block whose warps
// meet at a barrier between polls never uses up a quantum.  The content of its accesses
// distinguishes such a block from one that works: polling repeats the same instruction at the same
// addresses with the same bytes in memory, whereas work uses other addresses or changes the bytes.
// Memory local to a thread does not count, because other threads cannot change it.
//
// Blocks are watched only after many steps, and then only for some steps, so launches of ordinary
// length have no cost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/machine/observer.hpp"

namespace warpcheck::vgpu {

// In quanta of steps of a block: when a watch begins, in the first turn and in turns after one in
// which the block polled; and the maximal length of a turn in quanta per warp.
inline constexpr std::uint32_t kQuantaBeforeWatch = 64;
inline constexpr std::uint32_t kQuantaBeforeNextWatch = 4;
inline constexpr std::uint32_t kQuantaOfTurn = 256;

class PollWatch final : public Observer {
 public:
  enum class Verdict : std::uint8_t { undecided, polls, works };

  // Watches a block, or only `warp` of it.
  //   accesses_max: a block that does not repeat itself within so many accesses does not poll
  void begin(std::uint32_t block, std::uint64_t accesses_max);
  void begin(std::uint32_t block, std::uint32_t warp, std::uint64_t accesses_max);
  [[nodiscard]] Verdict verdict() const;
  // For a watch of one warp: returns whether the accesses repeat themselves but for the bytes that
  // they find; nothing: there were too few.
  [[nodiscard]] std::optional<bool> repeats_places() const {
    if (accesses_ != 0 && accesses_ < kAccessesMin) return std::nullopt;
    return repeats(accesses_, new_place_until_);
  }

  void on_access(const Access& access) override;

 private:
  static constexpr std::uint64_t kAccessesMin = 8;

  bool insert(std::uint64_t hash);
  [[nodiscard]] bool repeats(std::uint64_t accesses, std::uint64_t new_until) const;

  std::uint32_t block_ = 0;
  std::optional<std::uint32_t> warp_;
  std::uint64_t repeated_min_ = 0;
  std::uint64_t accesses_max_ = 0;
  std::uint64_t accesses_ = 0;
  std::uint64_t new_place_until_ = 0;  // the number of accesses at the latest one at a new place
  std::uint64_t new_until_ = 0;        // the number of accesses at the latest new one
  std::vector<std::uint64_t> seen_;    // hashes, in a table whose size is a power of two; 0: free
};

}  // namespace warpcheck::vgpu
