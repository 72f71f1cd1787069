// Hands rows that machine code has appended to the record of accesses (access_record.hpp) over to
// the observers that receive rows.
//
// Rows are handed over before machine code calls anything that may cause an event, and when it
// ends.  So observers receive all events in the order in which the interpreter reports them.
#pragma once

#include <vector>

#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class RowBatches {
 public:
  explicit RowBatches(const RunningLaunch& launch) : launch_(launch) {}

  // Machine code is about to append rows.
  void begin(const AccessRecord& record) {
    next_ = record.next;
    next_update_ = record.next_update;
  }
  // Hands over what was appended since begin().
  //   record: of the block in `slot`
  void hand_over(const AccessRecord& record, const Slot& slot) {
    if (next_ != record.next || next_update_ != record.next_update) hand_over_rows(record, slot);
  }

 private:
  void hand_over_rows(const AccessRecord& record, const Slot& slot);

  const RunningLaunch& launch_;
  const RecordedRow* next_ = nullptr;
  const RecordedAtomics* next_update_ = nullptr;
  std::vector<RowAccess> rows_;
};

}  // namespace warpcheck::vgpu
