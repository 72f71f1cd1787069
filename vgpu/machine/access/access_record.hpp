// The records to which machine code appends rows by itself, in place of a call for each: of
// accesses to a block's shared memory, and of rows of global memory that conflict with none.
//
// Nearly all rows of shared memory are plain accesses to defined words, and between two barriers no
// other thread changes these words.  A mark for each word says who has accessed it since the record
// began, so the generated code sees in a few instructions whether a row conflicts with none before
// it.  Such a row is appended.  Any other row is reported by a call, as the interpreter does, and
// the owner of the record decides what follows.  A row whose marks are tested after a call costs
// about five times as much; a matrix product then takes 4.7 times as long.
//
// An observer that owns records gives them out by Observer::record_of() and queue_of().  Observers
// of rows receive what was appended by Observer::on_rows(), before the next other event
// (row_batches.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/pattern.hpp"
#include "vgpu/program/warp_rows.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

// A row of lanes that are adjacent, all at one place, or scattered.  Generated code depends on the
// layout.
struct RecordedRow {
  // A row whose lanes access parts of words is scattered, and its cells_log2 is this number and the
  // log2 of the bytes.
  static constexpr std::uint8_t kParts = 8;

  std::int32_t cell = 0;  // of lane 0, in words of 4 bytes; scattered: index of the offsets
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;  // not empty
  std::uint32_t warp = 0;
  std::uint32_t segment = 0;    // set by the owner of the log: a mark of its time
  std::uint8_t cells_log2 = 0;  // log2 of the words per lane, 0 to 2; or kParts and more
  bool write = false;
  bool uniform = false;
  bool scattered = false;

  // Returns the bytes that a lane accesses.
  [[nodiscard]] std::uint32_t bytes() const {
    return cells_log2 < kParts ? 4u << cells_log2 : 1u << (cells_log2 - kParts);
  }
  [[nodiscard]] Pattern pattern() const {
    return scattered ? Pattern::scattered : uniform ? Pattern::uniform : Pattern::strided;
  }
};

// A row of atomics.  Generated code depends on the layout.
struct RecordedAtomics {
  std::array<std::uint32_t, kWarpLanes> offset{};  // in bytes
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;  // not empty
  std::uint32_t warp = 0;
  std::uint8_t bytes = 0;  // per lane
  ptx::Scope scope = ptx::Scope::none;
};

// The mark of a word: its accesses since the last barrier, in 16 bits:
//
//   [ phase:4 ][ many:1 ][ thread:10 ][ written:1 ]
//
// A mark of another phase than the current one means that the word was not accessed.  Otherwise,
// only one thread has accessed it, and `written` says whether it has written; or, with `many`,
// several threads may have read it; or, with `many` and `written`, only atomics were performed, or,
// with thread 1 besides, only strong loads and stores, which have marks of their own, or, with
// thread 2, asynchronous copies, which the record does not contain.  An access conflicts with none
// of its phase if the mark allows it: a mark of the thread itself allows all its accesses, `many`
// allows reads.  If warps are in lockstep, the first thread of a warp stands
// for all its threads.
struct WordMark {
  static constexpr std::uint32_t kWritten = 1, kThread = 2, kMany = 1u << 11, kPhase = 1u << 12;
  static constexpr std::uint32_t kUpdated = kMany | kWritten;
  static constexpr std::uint32_t kStrong = kUpdated | kThread;
  static constexpr std::uint32_t kCopied = kUpdated | 2 * kThread;
  static constexpr std::uint32_t kPhasesEnd = 1u << 16;
  // The exclusive or of a mark and the mark of a reading thread is a distance: below kOwn for the
  // thread's own mark, from kOwn to below kPhase for marks of other threads, and larger for other
  // phases.
  static constexpr std::uint32_t kOwn = 2;
};

// The values that the threads of a row add to the mark of their phase and warp, for rows with 1, 2
// and 4 words per lane.
struct LaneMarks {
  alignas(32) std::uint16_t of_words[3][128];
};

struct LoadLog;  // load_log.hpp

// The rows since the last barrier.
struct AccessRecord {
  static constexpr std::int64_t kSlackCells = 128;  // inactive lanes may be outside
  std::uint16_t* marks = nullptr;  // marks of words, with a row's slack before and after them
  const LaneMarks* lanes = nullptr;
  std::uint32_t phase = 0;  // as in a mark
  RecordedRow* next = nullptr;
  // Rows of words are appended below this limit, if their marks say that they conflict with none;
  // others are reported.  Null: all rows are reported.
  RecordedRow* limit = nullptr;
  // The byte offsets of scattered rows, which are also appended only below the limit.
  std::array<std::uint32_t, kWarpLanes>* offsets = nullptr;
  std::uint32_t scattered = 0, scattered_limit = 0;
  // Rows of atomics by all lanes, appended as long as all have the same size and there is no other
  // row: then they conflict with none, and they set no marks before another row comes, which is
  // reported.
  RecordedAtomics* next_update = nullptr;
  RecordedAtomics* update_limit = nullptr;
  const RecordedRow* first = nullptr;
  std::uint32_t update_bytes = 0;
  // The owner's time of the block, for reads of global memory: that of lane 0 of warp 0.
  std::uint64_t time = 0;
  std::uint32_t owner = 0;  // the block as in an OwnerMark, if its grid fits there
  // Where weak loads of the block's warps are logged that are not reported, by warp, with the phase
  // of the block (WarpPlace::phase).  Null: nobody needs them.
  LoadLog* loads = nullptr;
  std::uint32_t phase_of_block = 0;
};

// A row of global memory: of weak reads or writes, or of atomics.  The offsets of scattered lanes
// follow it. Generated code depends on the layout.
struct QueuedRow {
  std::uint64_t time = 0;   // of lane 0
  std::uint32_t first = 0;  // this and the next members are as in RowAccess
  std::uint32_t pc = 0, mask = 0;
  std::uint8_t bytes = 0;
  Pattern pattern = Pattern::strided;
  // 0: reads; kWrites: writes; otherwise atomics of this scope: 1 + its number.
  static constexpr std::uint8_t kWrites = 0xff;
  std::uint8_t scope = 0;
};
inline constexpr std::size_t kQueuedRowMax = sizeof(QueuedRow) + kWarpLanes * sizeof(std::uint32_t);

// Rows of one kind: those of a queue conflict with none of it.  Of kWrites are also reads.
struct QueuedKind {
  std::uint8_t scope = 0;  // as in QueuedRow
  std::uint8_t bytes = 0;  // of atomics, per lane
  static constexpr QueuedKind owned() { return {.scope = QueuedRow::kWrites}; }
  static constexpr QueuedKind atomics(ptx::Scope scope, std::uint32_t bytes) {
    return {static_cast<std::uint8_t>(1 + static_cast<unsigned>(scope)),
            static_cast<std::uint8_t>(bytes)};
  }
  friend bool operator==(const QueuedKind&, const QueuedKind&) = default;
};

// The mark of a word of global memory: its accesses in a period, in 32 bits:
//
//   [ period:4 ][ many:1 ][ block:16 ][ thread:10 ][ written:1 ]
//
// A mark of another period than the current one means that the word was not accessed.  Otherwise,
// only one thread has accessed it, and `written` says whether it has written; or, with `many`,
// several threads may have read it.
struct OwnerMark {
  static constexpr std::uint32_t kWritten = 1, kThread = 2, kBlock = 1u << 11, kMany = 1u << 27,
                                 kPeriod = 1u << 28;
  static constexpr std::uint32_t kThreadsEnd = kBlock / kThread, kBlocksEnd = kMany / kBlock,
                                 kPeriodsEnd = 1u << 4;
  // The exclusive or of a mark and the mark of a reading thread is a distance: below kOwn for the
  // thread's own mark, from kOwn to below kPeriod for those of others, and larger for other
  // periods.
  static constexpr std::uint32_t kOwn = 2;
};

// The rows of one allocation, as long as all accesses are weak reads, or atomics of one size and
// scope: these conflict with none, so they need no marks.  Or all are weak reads and writes of
// words whose marks allow them.  Other accesses are reported, and the owner then takes no more.
struct RowQueue {
  std::byte* next = nullptr;
  // Rows are appended below this limit.  Null: all are reported.
  std::byte* limit = nullptr;
  // The owner's limit.  Rows that find undefined bytes have to be reported, so the machine sets
  // `limit` to this after a row, if all bytes of the allocation are defined.
  std::byte* permitted = nullptr;
  QueuedKind kind;  // of the rows
  // Of kWrites: the marks of words, and that of the period.
  std::uint32_t* owners = nullptr;
  std::uint32_t owner = 0;

  void close() { limit = permitted = nullptr; }
};

}  // namespace warpcheck::vgpu
