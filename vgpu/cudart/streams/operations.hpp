// The operations of the streams, which calls request and which run later.
//
// An operation waits for others.  Operations that wait for none are ready, and the strategy chooses
// which of them runs next.  The default is the order of the calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "vgpu/cudart/streams/order.hpp"
#include "vgpu/cudart/streams/work.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::cudart {

// What an operation has done ahead of its turn (run_ahead.hpp).
struct RanAhead {
  vgpu::Outcome outcome{};           // of a launch
  std::vector<std::byte> to_host{};  // of a copy to the host: rows without gaps
  // The states of the bytes that it has written are those that it has left.
  bool states_are_left = false;
};

struct Operation;
using OperationPtr = std::shared_ptr<Operation>;

struct Operation {
  enum class State : std::uint8_t { waiting, running, done };
  std::uint32_t number = 0;  // in the order of the calls, from 0
  unsigned device = 0;       // of the stream in which it was requested
  Work work;
  Stamp stamp;
  OperationSet clock;  // itself, and everything that comes before it
  bool is_kernel = false;
  bool next_begins_early = false;  // the next kernel need not wait until this one has completed
  // Everything else comes before it or after it, whatever the host requests later.
  bool is_alone = false;
  State state = State::waiting;
  std::uint32_t waits_for = 0;  // number of operations that have not run
  std::vector<OperationPtr> waited_for_by;
  std::uint64_t passed_over = 0;
  std::uint64_t ended_at = 0;             // virtual time, in cycles
  std::shared_ptr<const RanAhead> ahead;  // set if it has run ahead of its turn
  const void* asked_at = nullptr;         // return address of the call that requested it
  // What its kernel may do; null: everything.
  std::shared_ptr<const vgpu::AccessRights> rights;
  [[nodiscard]] bool is_done() const { return state == State::done; }
  // Returns whether it has no effect, so that the time at which it runs does not matter.
  [[nodiscard]] bool is_empty() const { return std::holds_alternative<EmptyWork>(work); }
};

class Operations {
 public:
  // Adds an operation that comes after those of `after`, which may have run or be null, and after
  // what the host knows of.
  OperationPtr add(Work&& work, const std::vector<OperationPtr>& after, unsigned device);
  // Begins an operation that runs at once: nothing is pending, and the host knows of everything.
  // The caller keeps its work.
  void begin_at_once(Operation& operation, unsigned device);

  using CanBegin = std::function<bool(const Operation&)>;
  // Takes a ready operation that can begin; nullptr: there is none.  A choice that differs from the
  // default is added to *schedule.
  OperationPtr take(vgpu::Strategy& strategy, vgpu::Schedule& schedule, const CanBegin& can_begin);
  // Returns whether the latest choice could have been different.
  [[nodiscard]] bool had_choice() const { return choices_.size() > 1; }
  [[nodiscard]] bool has_ready(const CanBegin& can_begin) const;
  // Returns the first ready operation, whether or not it can begin; nullptr: none is ready.
  [[nodiscard]] OperationPtr first_ready() const {
    return ready_.empty() ? nullptr : ready_.front();
  }
  // Returns whether the order of the operations leaves a choice.
  [[nodiscard]] bool has_several_ready() const { return ready_.size() > 1; }
  // Returns all operations that have not been taken, by number.
  [[nodiscard]] std::vector<OperationPtr> all_pending() const;
  // Orders the operation, and everything that comes after it, after these as well.
  void learn(Operation& operation, const OperationSet& more);
  // Returns what has run, with everything that comes before it.
  [[nodiscard]] const OperationSet& done() const { return done_; }
  // Returns whether everything that has run, and everything that the host has done by itself, comes
  // before the running operation, and everything pending comes after it.
  [[nodiscard]] bool nothing_is_concurrent_with(const Operation& running) const {
    return ready_.empty() && held_.empty() && running.clock.includes(done_) &&
           running.clock.includes(host_);
  }
  // Returns everything that an operation of the device, or of any device, comes after.
  [[nodiscard]] OperationSet all_of_device(unsigned device) const {
    return device < of_device_.size() ? of_device_[device].all : OperationSet();
  }
  [[nodiscard]] OperationSet all() const {
    OperationSet all;
    for (const OfDevice& one : of_device_) all.join(one.all);
    return all;
  }
  // Makes operations that waited for another process ready, if that process has done its part.
  void take_up_held();
  [[nodiscard]] bool waits_for_processes() const { return !held_.empty(); }
  // Marks a taken operation as run.
  void finish(Operation& operation, std::uint64_t cycles);
  // Returns how many operations were ever requested.
  [[nodiscard]] std::uint32_t asked_for() const { return next_number_; }
  // Returns how many operations have not finished.
  [[nodiscard]] std::size_t pending() const { return pending_; }
  // Returns how many of them are not kernels.
  [[nodiscard]] std::size_t pending_others() const { return pending_others_; }
  [[nodiscard]] bool has_pending(unsigned device) const {
    return device < of_device_.size() && of_device_[device].pending != 0;
  }

  // The host has waited for an operation, or for all operations of a device.
  void host_waited_for(const Operation& operation) { host_.join(operation.clock); }
  void host_waited_for_device(unsigned device) {
    if (device < of_device_.size()) host_.join(of_device_[device].all);
  }
  void host_waited_for_all() {
    for (const OfDevice& one : of_device_) host_.join(one.all);
  }
  [[nodiscard]] const OperationSet& known_to_host() const { return host_; }
  [[nodiscard]] bool host_knows_all() const {
    return std::ranges::all_of(of_device_,
                               [&](const OfDevice& one) { return host_.includes(one.all); });
  }
  // Defines a step of the host by itself, without a call: it comes after what the host knows of and
  // what it may know of, and before everything that it requests from now on.
  void step_of_host(Operation& step, const OperationSet& may_know);

  void clear();

 private:
  // Numbers the operation, which comes after those of its clock, and counts it as pending.
  void enter(Operation& operation, unsigned device);
  void make_ready(OperationPtr operation);

  std::vector<OperationPtr> ready_;     // by number
  std::vector<OperationPtr> held_;      // until another process has done its part
  std::deque<OperationPtr> requested_;  // by number, from the first one that has not finished
  std::vector<std::uint32_t> choices_;
  std::size_t pending_ = 0, pending_others_ = 0;
  std::uint32_t next_number_ = 0;
  Chains chains_;
  OperationSet host_, done_;
  struct OfDevice {
    OperationSet all;
    std::size_t pending = 0;
  };
  std::vector<OfDevice> of_device_;
};

}  // namespace warpcheck::cudart
