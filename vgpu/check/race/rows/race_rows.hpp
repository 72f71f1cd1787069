// The hot loops of the race checker: one warp instruction's cells against their history.
//
// Compiled once per instruction set (race_rows_simd.cpp); race_row_functions() chooses.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/check/order/epoch.hpp"

namespace warpcheck::vgpu {

// How many kinds of accesses may meet in a cell (race_class.hpp).
inline constexpr unsigned kAccessClasses = 32;

// One epoch a cell and the pc that left it.  Both point at cell 0 and reach a row's slack beyond
// both ends.
struct CellEpochs {
  Epoch* epoch = nullptr;
  std::uint32_t* pc = nullptr;
};

// The accesses of one class, as far as a later access can want to know: `last` is the most recent
// one; `other` one of other threads that was unordered with its successor.  One pair is enough to
// know exactly whether some earlier access is unordered with any given thread: if the two are of
// different blocks, one of them is of another block than that thread; if both are of one phase,
// one of them is by another thread (warp, in lockstep); and older phases of one block are ordered.
// Where they could be of two warps, they are: a search for another warp's access finds one.
struct History {
  CellEpochs last, other;
};

// Of epochs that are unordered with `me`: whether it is of the warp of `me`.
template <typename T>
[[gnu::always_inline]] constexpr auto of_same_warp(const T& earlier, const T& me) {
  return (earlier ^ me) / kOrderedInWarp == 0;
}
// Of any: whether it is of the same block and phase, and of another warp.
template <typename T>
[[gnu::always_inline]] constexpr auto of_other_warp_in_phase(const T& earlier, const T& me) {
  return (earlier ^ me) - kOrderedInWarp < kPhaseUnit - kOrderedInWarp;
}

// Adds an access of `me` at `pc` to the history of a cell; true: history.other was written.  It is
// not where it says more than `last` would in its place: it is of another block than `me`; or of
// another warp, and `last` is not.
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

// "No access in these cells may be unordered with mine."
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
  std::uint8_t offset_shift;  // byte offset >> this: cell
  std::uint8_t cells_log2;    // cells of one lane
  bool exclusive;             // a weak write: lanes of one row must not meet in a cell either, and
                              // only history.last is kept
  std::uint8_t checks = 0;
  const CellCheck* check = nullptr;  // `checks` of them
};

enum class RaceRowResult : std::uint8_t {
  recorded,
  displaced,  // recorded, and history.other was written
  conflict,   // at least one lane's access is unordered with an earlier one; nothing recorded
};

// The active lanes of scattered offsets as runs of lanes that follow each other: where a lane's
// offset is not `step` more than that of the lane before it, or that lane is not active, a run
// begins.
struct LaneRuns {
  std::uint32_t begins = 0;  // a bit a lane; 0 for inactive lanes
  std::uint32_t count = 0;
};
using RunsFn = LaneRuns (*)(const std::uint32_t* offset, std::uint32_t mask, std::uint32_t step);

struct RaceRowFunctions {
  RaceRowResult (*strided)(const RaceRow&);
  RaceRowResult (*uniform)(const RaceRow&);
  RaceRowResult (*scattered)(const RaceRow&);
  RunsFn runs;
};

// level: "baseline", "avx2" or "avx512"; the caller knows that this host has it.
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
