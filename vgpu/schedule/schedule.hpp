// Schedules: which warp runs, and which of its lanes, recorded as the decisions that differ from
// one fixed default.
//
// Default policy: it is not preemptive.  The lowest ready warp of the lowest resident block runs
// until it blocks, exits or has run a quantum of steps, and then comes after all others.  Blocks
// begin in order, each when no warp of the blocks that have begun is ready.  Within a warp, all
// lanes at the lowest pc run together.  A block whose warps only poll comes after all others too.
// A warp that has used up a quantum and can only poll, as long as what it reads is unchanged,
// counts as blocked until that changes.  A decision at the start of a launch makes another block
// and warp the lowest.  Other decisions are numbered per warp (by its accesses, its stops, or its
// releases), so one decision does not shift the others, and no number depends on which checkers are
// on.
//
// The device admits blocks in ascending order while they fit.  Any admitted block may begin, by any
// of its warps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::vgpu {

struct WarpId {
  std::uint32_t block = 0;  // linear index in the grid
  std::uint32_t warp = 0;   // in the block
  friend auto operator<=>(const WarpId&, const WarpId&) = default;
};

enum class WarpModel : std::uint8_t {
  independent,  // lanes of a warp are ordered only by what the PTX memory model orders
  lockstep,     // legacy: lanes of a warp run together; they do not race with each other
};

struct Decision {
  enum class Point : std::uint8_t {
    access,  // before the warp's `index`-th memory access (warp instructions, from 0)
    stop,    // at the warp's `index`-th stop: it blocked, exited, or used up its quantum
    // For streams: when the operation (a launch, a copy) with the number at.block was the next in
    // the order of the calls and had been passed over `index` times, the operation with the number
    // next.block ran instead.  Warps and the launch are 0.
    operation,
    // At the start of a launch: in the order of the default policy, block next.block comes first
    // among the blocks, and next.warp among the warps of each block.  The others follow in circular
    // order, ascending (`index` 0) or descending (1).  `at` and `held` are 0.
    start,
    // At the warp's `index`-th release: it was the last to arrive at a barrier, so by default it
    // would continue before the warps that it has released.
    release,
    // In the warp's `index`-th memory access: for the lanes of `held`, the latest next.block writes
    // of their locations are invisible, as far as the memory model allows.  What they load is the
    // write before those; what they store is placed before those. next.warp is 0.
    past,
    // Like `access`, before the warp's `index`-th fence.
    fence,
  };
  std::uint32_t launch = 0;  // index of the launch in the trial, from 0
  WarpId at;
  Point point = Point::access;
  std::uint64_t index = 0;
  // access: the lanes to hold until the rest of their warp cannot continue.  If all active lanes
  // are held: either `next` is another warp, and the whole warp is preempted; or `next` is the same
  // warp, and lanes of it at other places run first, where the warp has diverged.  If all those
  // lanes are held already, they run now.
  std::uint32_t held = 0;
  WarpId next;  // the warp that runs next; its block may not have begun
  friend bool operator==(const Decision&, const Decision&) = default;
};

struct Schedule {
  std::vector<Decision> decisions;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// The circular order in which the default policy prefers blocks, and warps of a block.
struct StartOrder {
  WarpId first;
  bool descending = false;
  friend bool operator==(const StartOrder&, const StartOrder&) = default;
};

// What a strategy knows at the start of a launch.
struct StartPoint {
  std::uint32_t launch = 0;
  std::uint32_t blocks = 1;  // that fit on the device together: any of 0 to blocks - 1 may be first
  std::uint32_t warps_per_block = 1;
};

// What an access is about to touch, for strategies.
struct AccessedWords {
  std::uint64_t site = 0;  // identifies the kernel and the instruction, equally in every trial
  bool reads = false, writes = false;
  // a reduction of integers without a result, which commutes with its like
  bool commutes = false;
  std::uint32_t phase = 0;  // barriers that its block has completed
  // The 4-byte words: address / 4; words in shared memory also contain their block.  By lane,
  // ascending, with the lane of each word.
  std::span<const std::uint64_t> words;
  std::span<const std::uint8_t> lanes;
};

// What a strategy knows when it may decide.
struct SchedulePoint {
  std::uint32_t launch = 0;
  WarpId at;
  Decision::Point point = Decision::Point::access;
  std::uint64_t index = 0;
  std::uint32_t active = 0;  // access: the lanes about to access; otherwise 0
  // access: lanes of the warp at other places that could continue instead
  std::uint32_t other_ready = 0;
  std::uint32_t behind = 0;  // access: held lanes of the warp
  std::uint32_t pc = 0;      // access, fence: pc of the instruction
  // stop: `at` could continue, but has used up its quantum, or sleeps or polls
  bool yielded = false;
  WarpModel model = WarpModel::independent;
  WarpId default_next;  // what the default policy would run
  // Every warp that could run next, ascending, except those that poll in vain.  It includes `at`
  // for an access and a release.  A block that fits and has not begun is represented by its warp 0;
  // any of its warps may be chosen.
  std::span<const WarpId> ready;
  std::span<const std::uint32_t> not_begun{};  // those blocks, ascending
  std::uint32_t warps_per_block = 1;
  // access: set if Strategy::sees_words(), for loads, stores and atomic operations on memory that
  // threads share; otherwise null.
  const AccessedWords* accessed = nullptr;

  [[nodiscard]] bool can_run(const WarpId& warp) const {
    return std::ranges::binary_search(ready, warp) ||
           (warp.warp < warps_per_block && std::ranges::binary_search(not_begun, warp.block));
  }
};

struct Choice {
  std::uint32_t held = 0;
  WarpId next;
};

// What a strategy knows when operations of several streams are ready, which are not ordered.
struct OperationPoint {
  std::span<const std::uint32_t> ready;  // numbers in the order of the calls, at least two; the
                                         // default policy runs the first
  std::uint64_t passed_over = 0;         // how often the first one was passed over
};

// What a strategy knows when an access need not find, or become, the latest write.
struct PastPoint {
  std::uint32_t launch = 0;
  WarpId at;
  std::uint64_t index = 0;  // of the access
  std::uint32_t lanes = 0;  // lanes for which that holds; at least one
  std::uint32_t depth = 1;  // the maximal number of writes that one of them may leave out
  bool is_store = false;
};

struct PastChoice {
  std::uint32_t lanes = 0;   // a subset of PastPoint::lanes, not empty
  std::uint32_t writes = 1;  // the number to leave out, as far as allowed; at least one
};

// A strategy makes the decisions of a schedule.  It must be a deterministic function of its
// construction and of the calls, in order.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // Called when a launch begins: its index, blocks in the grid, warps in a block.
  virtual void begin(std::uint32_t /*launch*/, std::uint32_t /*blocks*/,
                     std::uint32_t /*warps_per_block*/) {}
  // Returns the index of the next access of `warp`, at least `from`, before which decide() is to be
  // called; UINT64_MAX: never.  Called when a warp starts, and after every access decision of that
  // warp.  After a decision that lets other threads run first, the result `from` - 1 requests
  // another decision at the same access.
  virtual std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) = 0;
  // Returns the same for fences.
  virtual std::uint64_t next_fence(std::uint32_t /*launch*/, WarpId /*warp*/,
                                   std::uint64_t /*from*/) {
    return UINT64_MAX;
  }
  // Returns whether next_fence() requests any decision in this launch.
  [[nodiscard]] virtual bool decides_fences(std::uint32_t /*launch*/) const { return false; }
  // Chooses which block and warp come first in this launch; called after begin().
  virtual StartOrder choose_start(const StartPoint& /*point*/) { return {}; }
  // Return whether decide() is to be called at stops, and at releases.  The answers may change with
  // every decision.
  [[nodiscard]] virtual bool decides_stops() const { return false; }
  [[nodiscard]] virtual bool decides_releases() const { return false; }
  // Returns whether decide() needs SchedulePoint::accessed.
  [[nodiscard]] virtual bool sees_words() const { return false; }
  // Makes a decision.  Nothing: follow the default policy.
  virtual std::optional<Choice> decide(const SchedulePoint& point) = 0;
  // Returns one of point.ready.
  virtual std::uint32_t choose_operation(const OperationPoint& point) {
    return point.ready.front();
  }
  // Returns whether choose_past() is to be called in this launch.  The writes of every location
  // must then be recorded, which is expensive.
  [[nodiscard]] virtual bool chooses_past(std::uint32_t /*launch*/) const { return false; }
  // Chooses how many writes to leave out.  Nothing: the access finds the latest write.
  virtual std::optional<PastChoice> choose_past(const PastPoint& /*point*/) { return std::nullopt; }
  // Returns the number of recorded decisions (of a replay) that were not followed so far: they did
  // not fit, or their point was not reached.
  [[nodiscard]] virtual std::uint64_t ignored() const { return 0; }
};

// Returns "access" etc.
std::string_view name_of(Decision::Point point);
// Returns one line, e.g. "launch 0: block 0 warp 0 access 2: hold lanes 0x4, run block 0 warp 0".
std::string to_string(const Decision& decision);

}  // namespace warpcheck::vgpu
