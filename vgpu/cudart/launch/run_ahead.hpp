// Operations of streams that nothing orders, executed at the same time on several threads
// (`exec --jobs N`).
//
// Operations run in the order of the calls, one after the other.  While the host waits for all of
// them, the launches, copies and fills that come next in this order can be executed ahead, as a
// group (ParallelMachines::run_together), if that cannot be distinguished.  Each operation then
// takes its turn as always, but what it does to device memory has been done.  So numbers, clocks,
// the host's memory and reports are those of one thread.
//
// Operations that a wait does not cover may be members too, if all that it covers are: the host
// will probably wait for them next.  Memory does not change before the wait that covers them, which
// checks that nothing has changed what they have found; otherwise they are executed as always.
//
// The group leaves no records of accesses for the race check.  So it counts only if nothing that is
// unordered with one of its launches can meet it:
//   - of operations that have run, and of pending ones, other than launches, the bytes are known;
//   - other launches come before or after all launches of the group;
//   - everything that the host requests later comes after the members that the wait covers; the
//     others count when a wait covers them too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "vgpu/cudart/device/device_state.hpp"
#include "vgpu/cudart/parallel/parallel_machines.hpp"
#include "vgpu/cudart/parallel/touched_words.hpp"
#include "vgpu/cudart/streams/execution.hpp"
#include "vgpu/cudart/streams/operations.hpp"

namespace warpcheck::cudart {

class CallRecording;
class CopyRunner;
class HostBlocks;
class KernelRunner;
class Transfers;
class Trial;

class RunAhead {
 public:
  // Nothing is owned.
  struct Dependencies {
    vgpu::DeviceMemory& memory;
    const Trial& trial;
    const DeviceStates& devices;
    const HostBlocks& host_blocks;
    const Transfers& transfers;
    const CallRecording& recording;
    const CopyRunner& copies;
    KernelRunner& kernels;
  };
  explicit RunAhead(const Dependencies& dependencies);
  ~RunAhead();
  RunAhead(const RunAhead&) = delete;
  RunAhead& operator=(const RunAhead&) = delete;

  // Called when the host waits for the operations of `goal`, and no operation is in progress.
  void run(const Operations& operations, const OperationSet& goal, const HostState& host);
  // All requested operations have run.
  void drop_late();
  // Operations are numbered from 0 again.
  void forget() {
    drop_late();
    decided_end_ = 0;
  }

 private:
  struct Group;
  struct Bytes {
    const vgpu::Allocation* allocation = nullptr;
    std::uint32_t offset = 0, bytes = 0;
    bool write = false;
  };

  [[nodiscard]] bool is_possible(const HostState& host) const;
  std::unique_ptr<Group> group_of(const std::vector<OperationPtr>& pending,
                                  const OperationSet& goal, const HostState& host, bool has_late);
  bool execute(Group& group);
  bool take_turns(const Operations& operations, const OperationSet& goal, const HostState& host);
  [[nodiscard]] bool may_take_turns(Group& group, const HostState& host) const;
  [[nodiscard]] bool is_unchanged(const Group& group, std::uint32_t task,
                                  const HostState& host) const;
  bool add_member(Group& group, const Operation& operation, bool is_late,
                  const HostState& host) const;
  bool add_launch(ParallelTask& task, const Operation& operation, bool is_late,
                  const HostState& host) const;
  bool add_copy(Group& group, ParallelTask& task, std::vector<std::byte>& kept,
                const CopyWork& work, bool is_late, const HostState& host) const;
  bool take_source(Group& group, ParallelTask& task, std::vector<std::byte>& kept,
                   const CopyWork& work) const;
  void leave_whole_machines(Group& group) const;
  [[nodiscard]] bool is_worth_it(const Group& group) const;
  static bool add_order(Group& group);
  [[nodiscard]] bool others_are_known(const Group& group) const;
  [[nodiscard]] bool has_met_nothing(Group& group) const;
  static bool has_met_each_other(Group& group, const WordsOfGroup& words);
  [[nodiscard]] bool has_met_past(Group& group, const WordsOfGroup& words) const;
  [[nodiscard]] bool has_met_pending(Group& group, const WordsOfGroup& words) const;
  [[nodiscard]] bool has_met_late_copy(Group& group, const WordsOfGroup& words) const;
  [[nodiscard]] bool has_met_launches(const Group& group) const;
  static bool has_late_sharing(Group& group, const WordsOfGroup& words);
  void keep(Group& group) const;
  static bool meets(const Group& group, const WordsOfGroup& words, const Bytes& bytes,
                    const std::function<bool(std::uint32_t)>& is_unordered);
  void blame(const Group& group) const;

  Dependencies dependencies_;
  std::uint32_t decided_end_ = 0;  // operations below this number are not looked at again
  std::unique_ptr<Group> late_;    // a group with members whose turn has not come
};

}  // namespace warpcheck::cudart
