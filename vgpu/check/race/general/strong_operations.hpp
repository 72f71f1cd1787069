// The effects of strong operations: on synchronisation variables (sync_variables.hpp), and on the
// cells.
#pragma once

#include "vgpu/check/order/poll_exits.hpp"
#include "vgpu/check/order/sync_variables.hpp"
#include "vgpu/check/race/general/checked_row.hpp"
#include "vgpu/check/race/general/missed_reads.hpp"

namespace warpcheck::vgpu {

class StrongOperations {
 public:
  StrongOperations(ThreadOrder& order, SyncVariables& variables, PollExits& polls, CellLists& lists,
                   MissedReads& missed)
      : order_(order), variables_(variables), polls_(polls), lists_(lists), missed_(missed) {}

  // Performs an operation of a lane now.
  void perform(const CheckedRow& row, const LaneAccess& mine);
  // Performs an operation as of another time.
  //   variables: as they were at that time
  void perform(const CheckedRow& row, StrongOperation operation, unsigned access_class,
               SyncVariables& variables);
  // Returns what the operation of a lane reads and writes; who performs it, and what that thread
  // has released, are left out.
  [[nodiscard]] static StrongOperation operation_of(const Access& access, const LaneAccess& mine);

 private:
  ThreadOrder& order_;
  SyncVariables& variables_;
  PollExits& polls_;
  CellLists& lists_;
  MissedReads& missed_;
};

}  // namespace warpcheck::vgpu
