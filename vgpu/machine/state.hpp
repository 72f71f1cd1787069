// The machine's state: resident blocks, their warps, and each warp's fragments.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/memory/undefined.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// How many lanes a mask names.  Counted here, as the oldest x86-64 has no instruction for it and a
// library call is dear.
constexpr std::uint32_t lane_count(std::uint32_t mask) {
  mask -= (mask >> 1) & 0x5555'5555u;
  mask = (mask & 0x3333'3333u) + ((mask >> 2) & 0x3333'3333u);
  return (((mask + (mask >> 4)) & 0x0f0f'0f0fu) * 0x0101'0101u) >> 24;
}

// A caller to return to.
struct Return {
  std::uint32_t pc = 0;
  std::uint32_t function = 0;
  std::uint32_t local_base = 0, local_top = 0;
  friend bool operator==(const Return&, const Return&) = default;
};

// Lanes of one warp that are at the same place: same pc, same chain of callers.
struct Fragment {
  enum class State : std::uint8_t { ready, at_barrier, at_warp_operation, at_cluster_barrier };
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  State state = State::ready;
  bool held = false;           // stays behind until the rest of its warp cannot go on
  std::uint32_t barrier = 0;   // at_barrier: its number
  std::uint32_t members = 0;   // at_warp_operation: the mask that it names
  std::uint32_t function = 0;  // index into Program::functions
  std::uint32_t word_base = 0, wide_base = 0, predicate_base = 0;  // bytes into the banks
  // The frame in a lane's local memory, bytes: its begin, and its end with what alloca has taken.
  std::uint32_t local_base = 0, local_top = 0;
  std::vector<Return> callers;
};

// The rows of one bank of a warp, aligned for whole-row vectors.
class RowBank {
 public:
  void reset(std::size_t bytes) {
    grow(bytes);
    if (!lines_.empty()) std::memset(data(), 0, this->bytes());
  }
  void grow(std::size_t bytes) { lines_.resize((bytes + sizeof(Line) - 1) / sizeof(Line)); }
  [[nodiscard]] std::size_t bytes() const { return lines_.size() * sizeof(Line); }
  [[nodiscard]] const std::byte* data() const {
    return reinterpret_cast<const std::byte*>(lines_.data());
  }
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(lines_.data()); }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  std::vector<Line> lines_;
};

// What a warp that polls reads.
struct PolledBytes {
  const std::byte* at = nullptr;
  std::uint32_t count = 0;  // up to 16
  std::array<std::byte, 16> value{};
};

struct Warp {
  std::uint32_t index = 0;     // in the block
  std::uint32_t lanes = 0;     // that exist: the last warp of a block may be partial
  std::uint32_t live = 0;      // that have not exited
  std::uint64_t accesses = 0;  // memory instructions executed
  std::uint64_t ask_at = 0;    // the access before which the strategy decides
  std::uint64_t fences = 0;    // executed
  std::uint64_t faults = 0;    // of its lanes
  std::uint64_t ask_at_fence = 0;
  std::uint64_t stops = 0;
  std::uint64_t releases = 0;      // barriers to which it came last
  std::uint32_t quantum_left = 0;  // of a quantum that was interrupted; 0: a new one begins
  // Of a quantum in which it is watched whether the warp polls: what comes after the next look.
  std::uint32_t quantum_rest = 0;
  // Used up in a row, since it was last found to poll; with a bit that says whether it ever was.
  std::uint32_t quanta = 0;
  static constexpr std::uint32_t kHasPolled = 1u << 31;
  std::vector<PolledBytes> polled;    // what it read when it was last found to poll
  std::uint32_t ready_fragments = 0;  // it had then
  std::vector<Fragment> fragments;
  std::uint64_t run = 0;  // the launch that its registers were last cleared for
  RowBank words, wides, predicates;
  Allocation* local = nullptr;  // interleaved: 4-byte words of the lanes side by side
  struct LocalPiece {
    Allocation* allocation = nullptr;
    std::uint32_t begin = 0;  // bytes into a lane's local memory
  };
  std::vector<LocalPiece> local_beyond;  // what a dynamic stack has grown by
  std::uint32_t local_bytes = 0;         // a lane, all pieces together
  UndefinedRegisters undefined;
  // Products of a warpgroup that lanes have not waited for, and in which of their groups.
  struct PendingProduct {
    std::uint32_t pc = 0, group = 0, lanes = 0;
  };
  std::vector<PendingProduct> pending_products;
  std::array<std::uint32_t, kWarpLanes> closed_products{};  // groups, by lane
  // At the barrier of the cluster: lanes that have arrived and not waited yet, and in which phase.
  std::uint32_t cluster_arrived = 0;
  std::array<std::uint64_t, kWarpLanes> cluster_phase{};

  [[nodiscard]] bool is_ready() const {
    for (const Fragment& fragment : fragments) {
      if (fragment.state == Fragment::State::ready) return true;
    }
    return false;
  }
  [[nodiscard]] std::uint32_t count_ready() const {
    return static_cast<std::uint32_t>(
        std::ranges::count(fragments, Fragment::State::ready, &Fragment::state));
  }
  // Of a warp that has polled: it would do so again.
  [[nodiscard]] bool polls_in_vain() const {
    return count_ready() == ready_fragments &&
           std::ranges::all_of(polled, [](const PolledBytes& bytes) {
             return std::memcmp(bytes.at, bytes.value.data(), bytes.count) == 0;
           });
  }
};

// A barrier of a block, of a program that uses others than number 0 for all threads.
struct NamedBarrier {
  struct Arrival {  // of one warp
    std::uint32_t warp = 0;
    std::uint32_t lanes = 0;
    std::uint32_t waiting = 0;  // of them: not by .arrive
    bool complete = false;      // all lanes of the warp have arrived, and it counts
  };
  std::vector<Arrival> arrivals;  // empty: nobody is there
  std::uint32_t count = 0;        // threads that it is for; 0: the whole block
  bool reduces = false;
  bool misused = false;                                        // and reported
  std::uint32_t first_pc = 0, first_warp = 0, first_lane = 0;  // who came first
};

// An mbarrier that was initialised.
struct BarrierObjectState {
  const Allocation* allocation = nullptr;
  std::uint32_t offset = 0;
  std::uint64_t phase = 0;  // counted from init
};

// One of the places where a block can be resident.
struct Slot {
  bool occupied = false;
  std::uint32_t index = 0;
  std::uint64_t serial = 0;         // number among all blocks that the machine has run
  std::uint32_t block = 0;          // linear index in the grid
  Dim3 position;                    // of the block in the grid
  std::uint32_t phase = 0;          // whole-block barriers completed
  std::uint32_t live_lanes = 0;     // threads that have not exited
  std::uint32_t waiting_lanes = 0;  // threads at any barrier
  std::uint32_t ready_warps = 0;    // one bit each
  std::uint32_t yielded_warps = 0;  // those that wait for others to use up their quantum, too
  std::uint32_t polling_warps = 0;  // those that polled when they stopped, and have not run since
  std::uint64_t turn_steps = 0;     // warp instructions since all had yielded last
  std::uint64_t watch_at = 0;       // of a turn: when to look whether the block only polls
  std::vector<Warp> warps;          // kept between blocks
  Allocation* shared = nullptr;
  Allocation* reserved_shared = nullptr;  // where the program uses it
  // The first thread that exited, for the report of a barrier that misses it.
  std::uint32_t exit_pc = ptx::kNone, exit_warp = 0, exit_lane = 0;
  std::array<NamedBarrier, 16> barriers;
  std::vector<BarrierObjectState> objects;
  std::uint32_t cluster = 0;       // the first of its blocks in the grid, linear
  std::uint32_t cluster_rank = 0;  // of the block

  // Those of polling_warps that would poll in vain.
  [[nodiscard]] std::uint32_t vain_warps() const {
    std::uint32_t vain = 0;
    for (std::uint32_t rest = polling_warps; rest != 0; rest &= rest - 1) {
      const auto number = static_cast<std::size_t>(std::countr_zero(rest));
      if (warps[number].polls_in_vain()) vain |= 1u << number;
    }
    return vain;
  }
};

}  // namespace warpcheck::vgpu
