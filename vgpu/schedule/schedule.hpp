// Schedules: which warp runs, and which of its lanes, recorded as the decisions that differ from
// one fixed default.
//
// Default policy: not preemptive; the lowest ready warp of the lowest resident block runs until it
// blocks, exits or has run a quantum of steps, and then comes after all others; blocks begin in
// order, when no warp is ready of those that have begun.  Within a warp all lanes at the lowest pc
// run together.  A block of which the warps only poll, whatever they do in between, comes after all
// others too.  A warp that has used up a quantum and can only poll, as long as what it reads is as
// it is, counts as blocked until that changes.  A decision at the start of a launch makes another
// block and warp the lowest. Other decisions are numbered per warp (by its accesses, its stops, or
// its releases), so one decision does not shift the others, and nothing depends on which checkers
// are on.
//
// The device admits blocks in ascending order while they fit.  Any block that it has admitted may
// begin, by any of its warps.
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
    // Of the streams: when the operation (a launch, a copy) of number at.block was the next in the
    // order of the calls and had been passed over `index` times, the operation of number next.block
    // ran instead.  Warps and the launch are 0.
    operation,
    // At the start of a launch: in the order of the default policy, block next.block comes first
    // among the blocks and next.warp among the warps of each block; the others follow in a circle,
    // ascending (`index` 0) or descending (1).  `at` and `held` are 0.
    start,
    // At the warp's `index`-th release: it came last to a barrier, and so would go on before those
    // that it has released.
    release,
    // In the warp's `index`-th memory access: the lanes of `held` take no notice of the latest
    // next.block writes of their locations, as far as the memory model allows.  What they load is
    // the write before those; what they store comes before those.  next.warp is 0.
    past,
    // As `access`, before the warp's `index`-th fence.
    fence,
  };
  std::uint32_t launch = 0;  // index of the launch in the trial, from 0
  WarpId at;
  Point point = Point::access;
  std::uint64_t index = 0;
  // access: lanes that stay behind until the rest of their warp cannot go on.  All active lanes:
  // either the whole warp is preempted, and `next` is another warp; or `next` is the same, and the
  // lanes stay behind those of their warp that are elsewhere, where the warp has diverged.  Where
  // all of those stay behind, they go on now.
  std::uint32_t held = 0;
  WarpId next;  // what runs next; may be of a block that has not begun
  friend bool operator==(const Decision&, const Decision&) = default;
};

struct Schedule {
  std::vector<Decision> decisions;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// The order in which the default policy prefers blocks, and warps of a block: in a circle.
struct StartOrder {
  WarpId first;
  bool descending = false;
  friend bool operator==(const StartOrder&, const StartOrder&) = default;
};

// What a strategy sees at the start of a launch.
struct StartPoint {
  std::uint32_t launch = 0;
  std::uint32_t blocks = 1;  // that fit on the device at once: any of 0 to blocks - 1 may be first
  std::uint32_t warps_per_block = 1;
};

// What an access is about to touch, as a strategy sees it.
struct AccessedWords {
  std::uint64_t site = 0;  // the kernel and the instruction; the same in every trial
  bool reads = false, writes = false;
  bool commutes = false;    // with its like: a reduction of integers that returns nothing
  std::uint32_t phase = 0;  // barriers that its block has completed
  // 4-byte words: their addresses / 4, those in shared memory told apart by their blocks.  By lane,
  // ascending; and which lane's each is.
  std::span<const std::uint64_t> words;
  std::span<const std::uint8_t> lanes;
};

// What a strategy sees when it may decide.
struct SchedulePoint {
  std::uint32_t launch = 0;
  WarpId at;
  Decision::Point point = Decision::Point::access;
  std::uint64_t index = 0;
  std::uint32_t active = 0;       // access: the lanes about to access; else 0
  std::uint32_t other_ready = 0;  // access: lanes of the warp elsewhere that could go on instead
  std::uint32_t behind = 0;       // access: lanes of the warp that stay behind
  std::uint32_t pc = 0;           // access, fence: of the instruction
  bool yielded = false;  // stop: `at` could go on, but has used up its quantum, or sleeps or polls
  WarpModel model = WarpModel::independent;
  WarpId default_next;  // what the default policy would run
  // Every warp that could run next, ascending, but for those that poll in vain; includes `at` for
  // an access and a release.  A block that fits and has not begun counts by its warp 0; any of its
  // warps may be chosen.
  std::span<const WarpId> ready;
  std::span<const std::uint32_t> not_begun{};  // those blocks, ascending
  std::uint32_t warps_per_block = 1;
  // access: where Strategy::sees_words(), of loads, stores and atomic operations on memory
  // that threads share; else null.
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

// What a strategy sees when operations of several streams are ready: nothing orders them.
struct OperationPoint {
  std::span<const std::uint32_t> ready;  // numbers in the order of the calls, at least two; the
                                         // default policy runs the first
  std::uint64_t passed_over = 0;         // how often the first was
};

// What a strategy sees when an access need not find, or become, the latest write.
struct PastPoint {
  std::uint32_t launch = 0;
  WarpId at;
  std::uint64_t index = 0;  // of the access
  std::uint32_t lanes = 0;  // that need not; at least one
  std::uint32_t depth = 1;  // how many writes one of them may leave out, at most
  bool is_store = false;
};

struct PastChoice {
  std::uint32_t lanes = 0;   // of PastPoint::lanes, at least one
  std::uint32_t writes = 1;  // that they leave out, if they may; at least one
};

// Decides.  Strategies are deterministic functions of their construction and of what they were
// asked, in order.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // Called when a launch begins: its index, blocks in the grid, warps in a block.
  virtual void begin(std::uint32_t /*launch*/, std::uint32_t /*blocks*/,
                     std::uint32_t /*warps_per_block*/) {}
  // The index of the next access of `warp` at which decide() wants to be asked, at least `from`;
  // UINT64_MAX: never.  Asked when a warp starts and after every access decision of that warp.
  // After a decision that lets others go first, `from` - 1 asks for another one at the same access.
  virtual std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) = 0;
  // The same of fences.
  virtual std::uint64_t next_fence(std::uint32_t /*launch*/, WarpId /*warp*/,
                                   std::uint64_t /*from*/) {
    return UINT64_MAX;
  }
  // Whether next_fence() is ever anything else in this launch.
  [[nodiscard]] virtual bool decides_fences(std::uint32_t /*launch*/) const { return false; }
  // Which warp comes first in this launch; asked after begin().
  virtual StartOrder choose_start(const StartPoint& /*point*/) { return {}; }
  // Whether decide() wants to be asked at stops, and at releases.  May change with every decision.
  [[nodiscard]] virtual bool decides_stops() const { return false; }
  [[nodiscard]] virtual bool decides_releases() const { return false; }
  // Whether decide() wants to be told what accesses are about to touch.
  [[nodiscard]] virtual bool sees_words() const { return false; }
  // Nothing: follow the default policy.
  virtual std::optional<Choice> decide(const SchedulePoint& point) = 0;
  // One of point.ready.
  virtual std::uint32_t choose_operation(const OperationPoint& point) {
    return point.ready.front();
  }
  // Whether choose_past() wants to be asked in this launch.  Then the writes of every location are
  // remembered, which costs.
  [[nodiscard]] virtual bool chooses_past(std::uint32_t /*launch*/) const { return false; }
  // Nothing: the latest.
  virtual std::optional<PastChoice> choose_past(const PastPoint& /*point*/) { return std::nullopt; }
  // Recorded decisions (of a replay) that were not followed so far: they did not fit what they
  // met, or their point was not reached.
  [[nodiscard]] virtual std::uint64_t ignored() const { return 0; }
};

// "access"
std::string_view name_of(Decision::Point point);
// One line, e.g. "launch 0: block 0 warp 0 access 2: hold lanes 0x4, run block 0 warp 0".
std::string to_string(const Decision& decision);

}  // namespace warpcheck::vgpu
