// Hands rows that machine code has appended to the record of accesses (access_record.hpp) over to
// the observers that receive rows.
//
// Rows are handed over before machine code calls anything that may cause an event, and when it
// ends.  So observers receive all events in the order in which the interpreter reports them; but
// rows of global memory, which machine code appends only for observers that all watch tallies, come
// after those of shared memory, allocation by allocation.
#pragma once

#include <cstddef>
#include <vector>

#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/access/appended_rows.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class RowBatches {
 public:
  RowBatches(const RunningLaunch& launch, const Accesses& accesses)
      : launch_(launch), accesses_(accesses) {}

  // Machine code is about to append rows.
  void begin(const AccessRecord& record) {
    next_ = record.next;
    next_update_ = record.next_update;
    const std::span<const OpenQueue> queues = accesses_.open_queues();
    if (next_queued_.size() != queues.size()) [[unlikely]]
      next_queued_.resize(queues.size());
    for (std::size_t i = 0; i < queues.size(); ++i) next_queued_[i] = queues[i].queue->next;
  }
  // Hands over what was appended since begin(), once.
  //   record: of the block in `slot`
  void hand_over(const AccessRecord& record, const Slot& slot) {
    bool is_new = next_ != record.next || next_update_ != record.next_update;
    for (std::size_t i = 0; i < next_queued_.size(); ++i) {
      is_new |= next_queued_[i] != accesses_.open_queues()[i].queue->next;
    }
    if (is_new) hand_over_rows(record, slot);
  }

 private:
  void hand_over_rows(const AccessRecord& record, const Slot& slot);
  void convert(const AppendedRows& appended);

  const RunningLaunch& launch_;
  const Accesses& accesses_;
  const RecordedRow* next_ = nullptr;
  const RecordedAtomics* next_update_ = nullptr;
  std::vector<const std::byte*> next_queued_;  // by number in Accesses::open_queues()
  std::vector<QueuedRows> queued_;
  std::vector<RowAccess> rows_;
};

}  // namespace warpcheck::vgpu
