// The check of a lane's access against the records of a cell.
//
// PTX ISA 8.7.1: two conflicting operations are in a data race when they are not related in
// causality order and not morally strong.  An access through another proxy also needs a proxy fence
// after the writes that come before it (8.9.5).
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/check/race/general/access_relations.hpp"
#include "vgpu/check/race/general/deferred/deferred_atomics.hpp"
#include "vgpu/check/race/general/race_reports.hpp"
#include "vgpu/check/race/general/shared_phases.hpp"

namespace warpcheck::vgpu {

class RowCheck {
 public:
  RowCheck(GeneralState& state, RowCausality& causality, SharedPhases& phases,
           DeferredAtomics& deferred, RaceReports& reports)
      : state_(state),
        causality_(causality),
        phases_(phases),
        deferred_(deferred),
        reports_(reports),
        relations_(state.order, state.launches) {}

  void clear() { asks_again_ = false; }
  // Calls check_cells(), which calls check() for the cells of the row.  A race that may be
  // explained by reads in deferred rows is not reported at first: those rows are performed, and the
  // cells are checked again.
  template <typename CheckCells>
  void run(const CheckedRow& row, CheckCells check_cells) {
    has_found_ = false;
    check_cells();
    if (asks_again(row)) check_cells();
  }
  // Returns whether the latest run() has found a race.
  [[nodiscard]] bool has_found() const { return has_found_; }
  // Reports every access that the cell records and that races with the lane's access.
  void check(CheckedRow& row, const LaneAccess& mine, Cell& cell);

 private:
  void check_list(CheckedRow& row, const LaneAccess& mine, const Cell& cell);
  [[nodiscard]] std::size_t first_in_question(CheckedRow& row, const LaneAccess& mine,
                                              const AccessRelations::Classes& classes,
                                              CellList& list) const;
  [[nodiscard]] bool is_passed_on(CheckedRow& row, std::uint32_t across, const CellList& list,
                                  const CellList::Passed& passed) const;
  [[nodiscard]] bool is_writer(const Cell& cell, SegmentId segment, unsigned lane) const;
  void check_proxy(const CheckedRow& row, const LaneAccess& mine, EarlierAccess earlier);
  bool report(const CheckedRow& row, const LaneAccess& mine, const EarlierAccess& earlier);
  bool asks_again(const CheckedRow& row);

  GeneralState& state_;
  RowCausality& causality_;
  SharedPhases& phases_;
  DeferredAtomics& deferred_;
  RaceReports& reports_;
  AccessRelations relations_;
  // A race was found that cannot be explained before the deferred rows are performed.
  bool asks_again_ = false;
  bool has_found_ = false;
};

}  // namespace warpcheck::vgpu
