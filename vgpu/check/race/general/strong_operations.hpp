// The effects of strong operations: on synchronisation variables (sync_variables.hpp), and on the
// cells.
#pragma once

#include "vgpu/check/race/general/general_state.hpp"

namespace warpcheck::vgpu {

class StrongOperations {
 public:
  explicit StrongOperations(GeneralState& state) : state_(state) {}

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
  GeneralState& state_;
};

}  // namespace warpcheck::vgpu
