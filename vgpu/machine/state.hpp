// The state of the machine: resident blocks and their warps.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "vgpu/machine/fragments.hpp"
#include "vgpu/machine/look_costs.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/memory/undefined.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// Returns the number of lanes in a mask.  It is computed here, because the oldest x86-64 processors
// have no instruction for it and a library call is slow.
constexpr std::uint32_t lane_count(std::uint32_t mask) {
  mask -= (mask >> 1) & 0x5555'5555u;
  mask = (mask & 0x3333'3333u) + ((mask >> 2) & 0x3333'3333u);
  return (((mask + (mask >> 4)) & 0x0f0f'0f0fu) * 0x0101'0101u) >> 24;
}

// The register rows of one bank of a warp, aligned for whole-row vectors.
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

// Bytes that a polling warp has read.
struct PolledBytes {
  const std::byte* at = nullptr;
  std::uint32_t count = 0;  // up to 16
  std::array<std::byte, 16> value{};
};

// How far a warp has come; a look-ahead restores it.
struct WarpProgress {
  std::uint32_t live = 0;      // lanes that have not exited
  std::uint64_t accesses = 0;  // memory instructions executed
  std::uint64_t ask_at = 0;    // the access before which the strategy is asked
  std::uint64_t fences = 0;    // executed so far
  std::uint64_t faults = 0;    // bad accesses of its lanes
  std::uint64_t ask_at_fence = 0;
  std::uint64_t stops = 0;
  std::uint64_t releases = 0;      // barriers at which it arrived last
  std::uint32_t quantum_left = 0;  // rest of an interrupted quantum; 0: a new one begins
  // If the machine tests in this quantum whether the warp polls: the rest of the quantum after the
  // next test.
  std::uint32_t quantum_rest = 0;
  // The number of quanta used up in a row since the warp last polled; kHasPolled: it has polled at
  // least once.
  std::uint32_t quanta = 0;
  static constexpr std::uint32_t kHasPolled = 1u << 31;
  // For progress/time_waits.hpp: the number of instructions that have read the time; whether the
  // warp has paused in the current round.
  std::uint32_t time_reads = 0;
  bool has_paused = false;
  // At the cluster barrier: the lanes that have arrived and not waited yet, and the phase of their
  // arrival.
  std::uint32_t cluster_arrived = 0;
  std::array<std::uint64_t, kWarpLanes> cluster_phase{};
};

struct Warp : WarpProgress {
  std::uint32_t index = 0;            // in the block
  std::uint32_t lanes = 0;            // lanes that exist; the last warp of a block may be partial
  std::vector<PolledBytes> polled;    // what it read when the last test found that it polls
  std::uint32_t ready_fragments = 0;  // the number of ready fragments at that test
  // For progress/time_waits.hpp: whether the warp has waited for time in its last turn; what a test
  // has found about the places that it accesses.
  std::uint64_t wait_steps = 0;    // since its last turn that was not preempted
  std::uint32_t reads_before = 0;  // the number of reads at that time
  bool waits_for_time = false;
  enum class Places : std::uint8_t {
    unknown,
    change,
    repeat,  // and do not only poll
    poll,    // repeat, and may only poll
  } places = Places::unknown;
  // The number of its latest turns in a row that a wait in vain has ended after a few steps.
  std::uint32_t vain_turns = 0;
  Fragments fragments;
  std::uint64_t run = 0;  // the launch for which its registers were last cleared
  RowBank words, wides, predicates;
  Allocation* local = nullptr;  // interleaved: 4-byte words of all lanes are adjacent
  struct LocalPiece {
    Allocation* allocation = nullptr;
    std::uint32_t begin = 0;  // bytes into a lane's local memory
  };
  std::vector<LocalPiece> local_beyond;  // pieces by which a dynamic stack has grown
  std::uint32_t local_bytes = 0;         // per lane, all pieces together
  UndefinedRegisters undefined;
  // Products of a warpgroup that lanes have not waited for; `group` is the group of products that
  // contains it.
  struct PendingProduct {
    std::uint32_t pc = 0, group = 0, lanes = 0;
  };
  std::vector<PendingProduct> pending_products;
  std::array<std::uint32_t, kWarpLanes> closed_products{};  // number of closed groups, by lane
  bool has_closed_products = false;                         // one of them is not 0
  // For tensor/warpgroup_steps.hpp: how often each lane has executed an instruction.
  struct GroupStep {
    std::uint32_t pc = 0;
    std::array<std::uint32_t, kWarpLanes> times{};
  };
  std::vector<GroupStep> group_steps;
  std::uint32_t exit_pc = ptx::kNone;  // of the lanes that exited last

  void pauses() { has_paused = true; }
  // Returns whether the warp may be waiting for time.
  [[nodiscard]] bool may_wait_for_time() const { return has_paused && time_reads != 0; }
  [[nodiscard]] bool is_ready() const { return fragments.any_ready(); }
  // For a warp that has polled: returns whether it would only poll again.
  [[nodiscard]] bool polls_in_vain() const {
    return fragments.count_ready() == ready_fragments &&
           std::ranges::all_of(polled, [](const PolledBytes& bytes) {
             return std::memcmp(bytes.at, bytes.value.data(), bytes.count) == 0;
           });
  }
};

// A barrier of a block, in programs that use more than barrier 0 with all threads.
struct NamedBarrier {
  struct Arrival {  // of one warp
    std::uint32_t warp = 0;
    std::uint32_t lanes = 0;
    std::uint32_t waiting = 0;  // those of `lanes` that wait (not .arrive)
    bool complete = false;      // all lanes of the warp have arrived, so the warp counts
  };
  std::vector<Arrival> arrivals;  // empty: no arrivals
  std::uint32_t count = 0;        // number of threads it expects; 0: the whole block
  bool reduces = false;
  bool misused = false;                                        // misused, and reported
  std::uint32_t first_pc = 0, first_warp = 0, first_lane = 0;  // the first arrival
};

// An initialised mbarrier.
struct BarrierObjectState {
  const Allocation* allocation = nullptr;
  std::uint32_t offset = 0;
  std::uint64_t phase = 0;  // counted from init
};

// How far a block has come; a look-ahead restores it.
struct SlotProgress {
  std::uint32_t phase = 0;          // whole-block barriers completed
  std::uint32_t live_lanes = 0;     // threads that have not exited
  std::uint32_t waiting_lanes = 0;  // threads at any barrier
  std::uint32_t ready_warps = 0;    // one bit each
  std::uint32_t yielded_warps = 0;  // warps that wait until others have used up their quantum too
};

struct TensorBlock;  // tensor_memory/tensor_block.hpp

// A slot: one of the places where a block can be resident.
struct Slot : SlotProgress {
  bool occupied = false;
  std::uint32_t index = 0;
  std::uint64_t serial = 0;         // number among all blocks of this machine
  std::uint32_t block = 0;          // linear index in the grid
  Dim3 position;                    // of the block in the grid
  std::uint32_t polling_warps = 0;  // warps that polled when they stopped and have not run since
  std::uint64_t steps = 0;          // warp instructions of its turns that have ended
  LookAccount looks;                // at its warps
  bool repeats_itself = false;      // the last test found that the block only polls
  std::uint64_t turn_steps = 0;     // warp instructions since all warps last yielded
  // the value of turn_steps at which to test whether the block only polls
  std::uint64_t watch_at = 0;
  std::vector<Warp> warps;  // kept between blocks
  Allocation* shared = nullptr;
  Allocation* reserved_shared = nullptr;  // null if the program does not use it
  // The first thread that exited; for the report of a barrier that waits for it.
  std::uint32_t exit_pc = ptx::kNone, exit_warp = 0, exit_lane = 0;
  std::array<NamedBarrier, 16> barriers;
  std::vector<BarrierObjectState> objects;
  std::shared_ptr<TensorBlock> tensor;  // null: the block has not allocated tensor memory
  std::uint32_t cluster = 0;            // the linear index of the cluster's first block
  std::uint32_t cluster_rank = 0;       // of the block

  // Returns the warps of polling_warps that would only poll again.
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
