// The hot loops of the race checker: they compare the cells of one warp instruction with the cells'
// histories.
//
// The loops are compiled once per instruction set (race_rows_simd.cpp); race_row_functions()
// chooses.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/order/clocks/epoch.hpp"
#include "vgpu/machine/access/access_record.hpp"

namespace warpcheck::vgpu {

// The number of access classes that may occur in a cell (race_class.hpp).
inline constexpr unsigned kAccessClasses = 32;

// For each cell one epoch, and the pc of the access with this epoch.  Both pointers point at cell
// 0; a row's slack before the first and after the last cell is valid memory.
struct CellEpochs {
  Epoch* epoch = nullptr;
  std::uint32_t* pc = nullptr;
};

// The accesses of one class to a cell, as far as later accesses need them.  `last` is the most
// recent access; `other` is an access by another thread that was unordered with its successor.
// This pair is enough to decide exactly whether some earlier access is unordered with any given
// thread: if the two are of different blocks, one of them is of another block than the thread; if
// both are of one phase, one of them is by another thread (in lockstep: another warp); and older
// phases of one block are ordered.  If the pair can be of two different warps, it is, so a search
// for an access by another warp finds one.
struct History {
  CellEpochs last, other;
};

// For epochs that are unordered with `me`: returns whether they are of the warp of `me`.
template <typename T>
[[gnu::always_inline]] constexpr auto of_same_warp(const T& earlier, const T& me) {
  return (earlier ^ me) / kOrderedInWarp == 0;
}
// For any epochs: returns whether they are of the same block and phase, but of another warp.
template <typename T>
[[gnu::always_inline]] constexpr auto of_other_warp_in_phase(const T& earlier, const T& me) {
  return (earlier ^ me) - kOrderedInWarp < kPhaseUnit - kOrderedInWarp;
}

// Adds an access of `me` at `pc` to the history of a cell.  Returns true if history.other was
// written.  It is kept if it tells more than `last` would in its place: it is of another block than
// `me`, or of another warp while `last` is not.
[[gnu::always_inline]] inline bool record(const History& history, std::int64_t cell, Epoch me,
                                          std::uint32_t pc, std::uint64_t ordered_threads) {
  const auto [last, other] = history;
  const Epoch before = last.epoch[cell];
  const bool displaced =
      unordered(before, me, ordered_threads) && !across_blocks(other.epoch[cell], me) &&
      !(of_same_warp(before, me) && of_other_warp_in_phase(other.epoch[cell], me));
  if (displaced) {
    other.epoch[cell] = before;
    other.pc[cell] = last.pc[cell];
  }
  last.epoch[cell] = me;
  last.pc[cell] = pc;
  return displaced;
}

// The requirement that no access in these cells may be unordered with the lane's own access.
struct CellCheck {
  const Epoch* epoch;
  std::uint64_t ordered_threads;
};

// An access of one warp instruction, in cells.
struct RaceRow {
  Epoch epoch;                    // of the thread in lane 0; lane l's is epoch + l
  std::uint64_t ordered_threads;  // of the warp model: kOrderedInThread or kOrderedInWarp
  History history;                // where to record it
  const std::uint32_t* offset;    // scattered: 32 byte offsets
  std::int64_t cell;              // strided: lane 0's first cell (may lie before the allocation);
                                  // uniform: every lane's first cell
  std::uint32_t pc;
  std::uint32_t mask;         // not empty
  std::uint8_t offset_shift;  // cell = byte offset >> offset_shift
  std::uint8_t cells_log2;    // cells of one lane
  bool exclusive;             // a weak write: lanes of one row must not meet in a cell either, and
                              // only history.last is kept
  std::uint8_t checks = 0;
  const CellCheck* check = nullptr;  // `checks` elements
};

enum class RaceRowResult : std::uint8_t {
  recorded,
  displaced,  // recorded; history.other was written
  conflict,   // some lane's access is unordered with an earlier one; nothing was recorded
};

// The active lanes of scattered offsets as runs of consecutive lanes.  A run begins at a lane whose
// predecessor is inactive, or whose offset is not `step` more than its predecessor's offset.
struct LaneRuns {
  std::uint32_t begins = 0;  // one bit per lane; 0 for inactive lanes
  std::uint32_t count = 0;
};
// Calls visit(offset, lanes) for each run, until it returns false.  Returns whether all calls have
// returned true.
//   step: by which the offsets of a run grow
//   offset: of lane 0 if the run went so far
template <typename Visit>
[[gnu::always_inline]] inline bool for_each_run_of(const LaneRuns& runs,
                                                   const std::uint32_t* offsets, std::uint32_t mask,
                                                   std::uint32_t step, Visit visit) {
  return for_each_run(runs.begins, mask, [&](unsigned first, std::uint32_t lanes) {
    return visit(std::int64_t{offsets[first]} - std::int64_t{first} * step, lanes);
  });
}
using RunsFn = LaneRuns (*)(const std::uint32_t* offset, std::uint32_t mask, std::uint32_t step);

// The cells of the general checker have another layout, and mostly everything in the cells of a row
// comes before all its lanes, or was done by the lane itself.  Then the row cannot race.

// The number of bits of the segment in the lower half of a Record (race_cells.hpp); the lane
// follows.
inline constexpr unsigned kRecordSegmentBits = 27;

// Cells of consecutive lanes, two words each: Record::bits of the last weak write, and of a weak
// read (race_cells.hpp).
struct CellRow {
  std::uint64_t* words = nullptr;
  std::uint32_t cells = 0;
  std::uint32_t cells_log2 = 0;  // each lane has 1 << cells_log2 cells
};

// The accesses that come before the row: those of certain segments, and each lane's own.
struct KnownBefore {
  std::uint64_t first = 0;         // all segments below this one
  std::uint64_t segments[4] = {};  // further segments; 0: none
  std::uint64_t own = 0;           // the low half of the first lane's Record
};

// A row of words that are to be marked.
struct OwnedRow {
  std::uint32_t* marks;         // by word
  const std::uint32_t* offset;  // scattered: 32 byte offsets; null: it is not
  std::int64_t word;            // not scattered: the first one of lane 0, active or not
  std::uint32_t mark;           // of the thread in lane 0 if it reads
  std::uint32_t mask;           // not empty
  std::uint32_t words;          // of a lane
  bool is_uniform, is_write;
};
// Returns whether marks allow the row, which has been marked then.
using OwnFn = bool (*)(const OwnedRow&);

// A row of words that may have to follow a block's synchronisation (ordered_words.hpp).
struct OrderedRow {
  static constexpr unsigned kKnown = 8;
  // The segment is in the lower half of a word.
  static constexpr unsigned kLaneShift = 32, kKindsShift = 48;
  std::uint64_t* words;         // by number
  const std::uint32_t* offset;  // of the lanes, in bytes
  // Segments that come before all lanes, each at its number modulo kKnown.
  const std::uint32_t* known;
  std::uint64_t mark;    // what the row leaves in words, without the lane
  std::uint64_t actors;  // the bits of a lane's number that name its thread
  std::uint32_t mask;    // not empty
  std::uint32_t unsure;  // of the mask: the lanes whose words may be of segments that are not known
};
// The lanes of a row that its caller has to look at.
struct OrderedLanes {
  std::uint32_t unordered = 0;  // their word is of a segment that is not known
  std::uint32_t met = 0;        // a later lane has met them in their word
};

struct RaceRowFunctions {
  // Check and record a row in the cells of epochs.
  RaceRowResult (*strided)(const RaceRow&);
  RaceRowResult (*uniform)(const RaceRow&);
  RaceRowResult (*scattered)(const RaceRow&);
  RunsFn runs;
  // Returns lane 0, and the lanes that access another word of 4 bytes than the lane before them.
  std::uint32_t (*new_words)(const std::uint32_t* offset);
  // Returns the first word that belongs to none of those, or that refers to a list; 2 * cells:
  // there is none.
  std::uint32_t (*find_other)(const CellRow& row, const KnownBefore& known);
  // Record a row whose accesses replace all others.
  //   record: that of the first lane
  void (*record_writes)(const CellRow& row, std::uint64_t record);
  void (*record_reads)(const CellRow& row, std::uint64_t record);
  OwnFn own;
  // Marks the words of a row, unless some lanes are unordered.
  OrderedLanes (*mark_ordered)(const OrderedRow& row);
};

// level: "baseline", "avx2" or "avx512"; the host must support it.
const RaceRowFunctions& race_row_functions(std::string_view level);

namespace baseline {
extern const RaceRowFunctions kRaceRowFunctions;
}
namespace avx2 {
extern const RaceRowFunctions kRaceRowFunctions;
}
namespace avx512 {
extern const RaceRowFunctions kRaceRowFunctions;
}

}  // namespace warpcheck::vgpu
