// What one thread has done, has released and knows of the others (PTX ISA 8.8, 8.9.5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/check/order/clocks/vector_clock.hpp"

namespace warpcheck::vgpu {

// How far a strong operation reaches (PTX ISA 8.5): its block, its cluster, or all threads.  If
// there are several devices and no clusters, `cluster` means the blocks of one device.
enum class Reach : std::uint8_t { block, cluster, grid };
inline constexpr std::array kReaches{Reach::block, Reach::cluster, Reach::grid};

// What an acquire at each reach would learn.
struct ReleasedClocks {
  VectorClock block, cluster, grid;  // each includes the one before it
  void join(const ReleasedClocks& other);
  [[nodiscard]] const VectorClock& at(Reach reach) const {
    return reach == Reach::block ? block : reach == Reach::cluster ? cluster : grid;
  }
  [[nodiscard]] bool is_empty() const { return grid.is_empty(); }
};

// Everything that a thread had done and knew when it released.
struct Moment {
  VectorClock knows;
  Tick phase = 0, ticks = 0;
  bool is_set = false;
};
// Returns a clock that knows what a thread of a block, or several neighbours, had done and knew.
VectorClock clock_of(const Moment& moment, BlockKey block, std::uint32_t thread,
                     std::uint32_t count = 1);

// What a thread has released by fences.
struct ReleasedFences {
  std::array<Moment, 3> latest;  // by Reach: the latest fence that reaches that far
  // The latest fence.sc that reaches the grid; and such fences of other threads that come before
  // it by barriers.
  Moment sc;
  VectorClock sc_of_others;

  [[nodiscard]] const Moment& operator[](std::size_t reach) const { return latest[reach]; }
  Moment& operator[](std::size_t reach) { return latest[reach]; }
  [[nodiscard]] bool is_empty() const { return !latest[0].is_set && sc_of_others.is_empty(); }
};

struct ThreadState {
  VectorClock knows;
  Tick tick = 0;
  Tick copier_tick = 0;
  std::vector<Tick> groups;  // of copies: each group ends before this tick of the copier
  ReleasedFences fence;
  ReleasedClocks observed;  // by strong reads; not acquired yet
  // What fence.sc operations have released and strong reads have observed: reads of this thread,
  // and reads that come before it by barriers.
  VectorClock sc_observed;
  // What was observed of each variable, oldest first.  `observed` includes the first `folded`
  // entries.
  struct Seen {
    std::uint64_t variable = 0;
    std::uint64_t chain = 0;  // 0: several chains
    ReleasedClocks released_clocks;
  };
  std::vector<Seen> seen;
  static constexpr std::size_t kCompactAt = 32;
  std::size_t folded = 0, compact_at = kCompactAt;

  //   chain: a later observer of the same chain observes at least as much
  void observe(std::uint64_t variable, std::uint64_t chain, const ReleasedClocks& released_clocks);
  void fold();
  // Forgets what was observed.
  void forget_observed();
  // A thread begins.
  //   known: at its start
  void begin(const VectorClock& known);
  // Returns everything that operations with the reach of the grid have observed.
  [[nodiscard]] VectorClock all_observed() const;

 private:
  void compact();
};

}  // namespace warpcheck::vgpu
