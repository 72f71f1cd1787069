// Rows of accesses to the shared memory of a block, as machine code notes them by itself in place
// of telling whoever watches.
//
// Nearly all rows of shared memory are plain ones of defined words that meet no other row between
// two barriers.  Of those nobody has to be told: a bit a cell shows that there is none to meet, and
// the row is kept for the case that a later one is to be explained.  That is so little that the
// code does it itself; everything else it tells, as the interpreter does.
#pragma once

#include <cstdint>

namespace warpcheck::vgpu {

struct Allocation;

// A row of lanes side by side, or all in one place.  The layout is known to generated code.
struct NotedRow {
  std::int32_t cell = 0;  // of lane 0, in words of 4 bytes
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;  // not empty
  std::uint32_t warp = 0;
  std::uint32_t segment = 0;    // of whoever keeps the row: a mark of its time
  std::uint8_t cells_log2 = 0;  // words of one lane, 0 to 2
  bool write = false;
  bool uniform = false;
};

// The rows since the last barrier.
struct NotedRows {
  static constexpr unsigned kWordBits = 64;
  static constexpr std::int64_t kSlackCells = 128;  // inactive lanes may lie outside
  // A bit a cell that was read or written, from -kSlackCells on.
  std::uint64_t *read = nullptr, *written = nullptr;
  NotedRow* next = nullptr;
  // Rows of words are noted below it, if they meet none that was written, nor, writing, one that
  // was read; others are told.  Null: all are told.
  NotedRow* limit = nullptr;
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

// What those who watch have to note such rows with.
struct RowNotes {
  NotedRows* rows = nullptr;
  const NotedStates* states = nullptr;  // null: nobody asks what is defined
  std::uint8_t stored = 0;
};

}  // namespace warpcheck::vgpu
