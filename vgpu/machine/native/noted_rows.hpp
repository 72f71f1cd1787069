// Rows of accesses to the shared memory of a block, as machine code notes them by itself in place
// of telling whoever watches.
//
// Nearly all rows of shared memory are plain ones of defined words that race with no other row
// between two barriers.  Of those nobody has to be told: a mark a word shows that there is none,
// and the row is kept for the case that a later one is to be explained.  That is so little that the
// code does it itself; everything else it tells, as the interpreter does.
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

struct Allocation;

// A row of lanes side by side, all in one place, or scattered.  The layout is known to generated
// code.
struct NotedRow {
  std::int32_t cell = 0;  // of lane 0, in words of 4 bytes; scattered: where the offsets lie
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;  // not empty
  std::uint32_t warp = 0;
  std::uint32_t segment = 0;    // of whoever keeps the row: a mark of its time
  std::uint8_t cells_log2 = 0;  // words of one lane, 0 to 2
  bool write = false;
  bool uniform = false;
  bool scattered = false;
};

// A row of atomics.  The layout is known to generated code.
struct NotedUpdate {
  std::array<std::uint32_t, kWarpLanes> offset{};  // in bytes
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;  // not empty
  std::uint32_t warp = 0;
  std::uint8_t bytes = 0;  // of a lane
  ptx::Scope scope = ptx::Scope::none;
};

// What a word has seen since the last barrier, in 16 bits:
//
//   [ phase:4 ][ many:1 ][ thread:10 ][ written:1 ]
//
// A mark of another phase than the present one says that nobody has been there.  Else one thread
// alone has been, and has written or not; or threads have read, many of them perhaps; or, `many`
// and `written`, only atomics were performed.  An access races with none of its phase where the
// mark allows it: a thread's own to all it does, `many` to reads.  Where a warp is in lockstep, its
// first thread stands for all.
struct Mark {
  static constexpr std::uint32_t kWritten = 1, kThread = 2, kMany = 1u << 11, kPhase = 1u << 12;
  static constexpr std::uint32_t kUpdated = kMany | kWritten;
  static constexpr std::uint32_t kPhasesEnd = 1u << 16;
  // By an exclusive or, the distance of a mark from that of a thread that reads: of its own below
  // kOwn, of others from there on below kPhase; of other phases beyond.
  static constexpr std::uint32_t kOwn = 2;
};

// What the threads of a row add to the mark of its phase and warp, for rows whose lanes have 1, 2
// and 4 words.
struct LaneMarks {
  alignas(32) std::uint16_t of_words[3][128];
};

// The rows since the last barrier.
struct NotedRows {
  static constexpr std::int64_t kSlackCells = 128;  // inactive lanes may lie outside
  std::uint16_t* marks = nullptr;  // of words, which have a row's slack on both sides
  const LaneMarks* lanes = nullptr;
  std::uint32_t phase = 0;  // as in a mark
  NotedRow* next = nullptr;
  // Rows of words are noted below it, where their marks say that they race with nothing; others are
  // told.  Null: all are told.
  NotedRow* limit = nullptr;
  // In bytes, of scattered rows; they are noted below the limit, too.
  std::array<std::uint32_t, kWarpLanes>* offsets = nullptr;
  std::uint32_t scattered = 0, scattered_limit = 0;
  // The same of atomics of all lanes, as long as all are of so many bytes and there is no row yet:
  // they race with nothing then, and leave no marks before a row comes, which is told.
  NotedUpdate* next_update = nullptr;
  NotedUpdate* update_limit = nullptr;
  const NotedRow* first = nullptr;
  std::uint32_t update_bytes = 0;
};

// What is defined of the shared memory of the block that runs.
struct NotedStates {
  const Allocation* settled = nullptr;  // all of it is
  // Of this one `states` has a byte for each byte, whose highest bit says that it is defined: rows
  // that load what is not are told, and rows that are stored leave RowNotes::stored in each byte.
  // Rows of any other are told.
  const Allocation* unsettled = nullptr;
  std::uint8_t* states = nullptr;
};

// What those who watch have to note such rows, and atomics in shared memory, with.
struct RowNotes {
  NotedRows* rows = nullptr;
  const NotedStates* states = nullptr;  // null: nobody asks what is defined
  std::uint8_t stored = 0;
};

}  // namespace warpcheck::vgpu
