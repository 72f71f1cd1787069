// The check and the recording of a row of weak accesses.
//
// Nearly always, everything recorded in the cells of a row comes before its lanes.  Then lanes are
// checked together: neighbours, lanes that read the same, or all cells of one lane.  If a lane's
// cells hold anything else, they are checked one by one.
#pragma once

#include <cstdint>

#include "vgpu/check/race/general/proxy_reads.hpp"
#include "vgpu/check/race/general/row_check.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"

namespace warpcheck::vgpu {

class WeakAccesses {
 public:
  WeakAccesses(const RaceRowFunctions& rows, GeneralState& state, RowCausality& causality,
               RowCheck& checks)
      : rows_(rows),
        state_(state),
        causality_(causality),
        checks_(checks),
        proxy_reads_(state, causality) {}

  void check(CheckedRow& row);
  // Records the reads of a product, if nothing can race with them.  False: nothing was done.
  //   row: describes them, but for their offsets and lanes
  bool take_product(CheckedRow& row, const ProductRead& read) {
    return proxy_reads_.take(row, read);
  }
  // Segments have new numbers, or memory has ended.
  void forget_tiles() { proxy_reads_.forget_tiles(); }
  // Records a row of words of neighbouring lanes in lines, if no lane can race.  False: the row
  // must be checked; a part of it may have been recorded.
  //   part: has its segment, pc and role
  bool take_in_lines(const WarpPlace& place, const CellLines::Part& part, const RowOfCells& row,
                     CellLines& lines);

 private:
  void fetch_records(const CheckedRow& row);
  bool take_neighbours(CheckedRow& row);
  bool take_common_read(CheckedRow& row);
  bool take_read(CheckedRow& row, const LaneAccess& mine, std::uint32_t lanes);
  static bool take_lane(const CheckedRow& row, const LaneAccess& mine);
  void record(CheckedRow& row, const LaneAccess& mine);
  void record_write(CheckedRow& row, unsigned lane, Cell& cell);
  void record_read(CheckedRow& row, unsigned lane, Cell& cell);

  const RaceRowFunctions& rows_;
  GeneralState& state_;
  RowCausality& causality_;
  RowCheck& checks_;
  ProxyReads proxy_reads_;
};

}  // namespace warpcheck::vgpu
