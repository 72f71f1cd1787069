// Does a block only poll?
//
// A warp that polls uses up its quantum, and then others have their turn.  A block whose warps meet
// at a barrier between polls never uses one up.  Such a block is told from one that works by what
// its accesses find: a poll is the same instruction at the same addresses with the same bytes
// there, again and again, while work goes to other addresses or changes what is there.  Memory
// local to a thread does not count, as what others wait for is not there.
//
// Blocks are watched only after many steps, and then for some of them, so launches of ordinary
// length pay nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// In quanta of steps of a block: when a watch begins, in a first turn and in those that follow one
// in which it polled; and, of each of its warps on average, how long a turn is whatever it does.
inline constexpr std::uint32_t kQuantaBeforeWatch = 64;
inline constexpr std::uint32_t kQuantaBeforeNextWatch = 4;
inline constexpr std::uint32_t kQuantaOfTurn = 256;

class PollWatch final : public Observer {
 public:
  enum class Verdict : std::uint8_t { undecided, polls, works };

  // A block; with `warp`, only that one of it.
  //   accesses_max: what has not repeated itself after so many does not poll.
  void begin(std::uint32_t block, std::uint64_t accesses_max);
  void begin(std::uint32_t block, std::uint32_t warp, std::uint64_t accesses_max);
  [[nodiscard]] Verdict verdict() const;

  void on_access(Access& access) override;

 private:
  bool insert(std::uint64_t hash);

  std::uint32_t block_ = 0;
  std::optional<std::uint32_t> warp_;
  std::uint64_t repeated_min_ = 0;
  std::uint64_t accesses_max_ = 0;
  std::uint64_t accesses_ = 0;
  std::uint64_t new_until_ = 0;      // how many accesses there were when the last new one came
  std::vector<std::uint64_t> seen_;  // hashes, in a table of a power of two; 0: free
};

}  // namespace warpcheck::vgpu
