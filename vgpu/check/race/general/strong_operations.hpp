// The effects of strong operations: on synchronisation variables (sync_variables.hpp), and on the
// cells.
#pragma once

#include "vgpu/check/race/general/general_state.hpp"

namespace warpcheck::vgpu {

class StrongOperations {
 public:
  explicit StrongOperations(GeneralState& state) : state_(state) {}

  // Returns what the operations of the lanes of a row have in common, if they are performed now.
  [[nodiscard]] StrongOperation begin(const CheckedRow& row);
  // Performs the operation of a lane now.
  //   operation: of begin(); what belongs to the lane is replaced
  void perform(const CheckedRow& row, StrongOperation& operation, const LaneAccess& mine);
  // Performs an operation as of another time.
  //   variables: as they were at that time
  void perform(const CheckedRow& row, StrongOperation& operation, unsigned access_class,
               SyncVariables& variables);
  // Sets what the operation of a lane reads and writes; who performs it, and what that thread has
  // released, are left out.
  static void set_lane(StrongOperation& operation, const LaneAccess& mine);

 private:
  GeneralState& state_;
};

}  // namespace warpcheck::vgpu
