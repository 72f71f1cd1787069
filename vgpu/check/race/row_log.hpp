// The rows of one phase of a block's shared memory, as long as they need no shadow.
//
// In most phases no two rows conflict in a cell at all, or only rows of the same threads do.  A bit
// a cell, for reads and for writes, shows the former, and a look through the rows the latter.  Such
// a phase leaves nothing to remember: whatever comes after its barrier is ordered after it.  The
// first row that the log cannot vouch for closes it; the rows so far then go to the shadow
// (race_shadow.hpp), where the phase goes on.
//
// Takes weak reads and writes of whole words, strided or uniform.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/check/race/race_rows.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

class RowLog {
 public:
  struct Row {
    std::int32_t cell = 0;  // as in RaceRow, in words
    std::uint32_t pc = 0;
    std::uint32_t mask = 0;  // not empty
    std::uint32_t warp = 0;
    std::uint32_t segment = 0;    // the caller's own mark of its time
    std::uint8_t cells_log2 = 0;  // words of one lane, 0 to 2
    bool write = false;
    bool uniform = false;
  };

  // Begins a phase: the log is empty and open.
  //   bytes: of the shared memory.
  void begin(std::uint32_t bytes);
  // From now on in this phase, no row is taken.
  void close() { open_ = false; }
  [[nodiscard]] bool is_open() const { return open_; }

  // Adds a row, unless it is none for the log, might race with one that is there, or the log is
  // full.
  //   ordered_threads: of the warp model
  bool take(const Access& access, std::uint64_t ordered_threads, std::uint32_t segment = 0);
  bool take(const Row& row, std::uint64_t ordered_threads);
  // In the order in which they were taken.
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] std::vector<Row>& rows() { return rows_; }

 private:
  static constexpr std::size_t kRowsMax = 128;
  // Rows looked at in one phase, before the shadow is the cheaper way.
  static constexpr std::size_t kLooksMax = 2048;
  static constexpr std::int64_t kSlackCells = 128;  // inactive lanes may lie outside

  using Cells = std::vector<std::uint64_t>;  // a bit a cell, from -kSlackCells on

  [[nodiscard]] bool is_ordered(const Row& row, std::uint64_t ordered_threads);

  bool open_ = false;
  std::size_t looks_ = 0;
  std::vector<Row> rows_;
  Cells read_, written_;
};

}  // namespace warpcheck::vgpu
