// The operations of the streams: asked for by a call, run later.
//
// An operation waits for others; those that wait for nothing are ready, and which of them runs
// next is the strategy's choice.  The default is the order of the calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "vgpu/cudart/streams/order.hpp"
#include "vgpu/cudart/streams/work.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::cudart {

struct Operation;
using OperationPtr = std::shared_ptr<Operation>;

struct Operation {
  enum class State : std::uint8_t { waiting, running, done };
  std::uint32_t number = 0;  // in the order of the calls, from 0
  unsigned device = 0;       // of the stream that it was asked for in
  Work work;
  Stamp stamp;
  OperationSet clock;  // itself, and what comes before it
  bool is_kernel = false;
  bool next_begins_early = false;  // a kernel that need not wait until this one has completed
  State state = State::waiting;
  std::uint32_t waits_for = 0;  // operations that have not run
  std::vector<OperationPtr> waited_for_by;
  std::uint64_t passed_over = 0;
  std::uint64_t ended_at = 0;      // virtual time, in cycles
  const void* asked_at = nullptr;  // to which the call returns that has asked for it
  [[nodiscard]] bool is_done() const { return state == State::done; }
  // Moves nothing, so that it matters to nobody when it runs.
  [[nodiscard]] bool is_empty() const { return std::holds_alternative<EmptyWork>(work); }
};

class Operations {
 public:
  // A new operation that comes after those of `after`, which may have run or be null, and after
  // what the host knows of.
  OperationPtr add(Work&& work, const std::vector<OperationPtr>& after, unsigned device);

  using CanBegin = std::function<bool(const Operation&)>;
  // Takes a ready operation to be run, one that can begin; nullptr: there is none.  A choice other
  // than the default's is added to *schedule.
  OperationPtr take(vgpu::Strategy& strategy, vgpu::Schedule& schedule, const CanBegin& can_begin);
  // Whether the latest one could have been another.
  [[nodiscard]] bool had_choice() const { return choices_.size() > 1; }
  [[nodiscard]] bool has_ready(const CanBegin& can_begin) const;
  // The first that is ready, whether or not it can begin; nullptr: none is.
  [[nodiscard]] OperationPtr first_ready() const {
    return ready_.empty() ? nullptr : ready_.front();
  }
  // The operation, and all that comes after it, come after these as well.
  void learn(Operation& operation, const OperationSet& more);
  // What has run, with what comes before it.
  [[nodiscard]] const OperationSet& done() const { return done_; }
  // Whether all that has run comes before the one operation that runs, as does all that the host
  // has done by itself, and all that is pending after it.
  [[nodiscard]] bool nothing_is_concurrent_with(const Operation& running) const {
    return ready_.empty() && held_.empty() && running.clock.includes(done_) &&
           running.clock.includes(host_);
  }
  // What an operation of the device, or of any, comes after.
  [[nodiscard]] OperationSet all_of_device(unsigned device) const {
    return device < of_device_.size() ? of_device_[device].all : OperationSet();
  }
  [[nodiscard]] OperationSet all() const {
    OperationSet all;
    for (const OfDevice& one : of_device_) all.join(one.all);
    return all;
  }
  // What waited for another process is ready, if that has done it.
  void take_up_held();
  [[nodiscard]] bool waits_for_processes() const { return !held_.empty(); }
  // An operation that was taken has run.
  void finish(Operation& operation, std::uint64_t cycles);
  // How many there were, of all time.
  [[nodiscard]] std::uint32_t asked_for() const { return next_number_; }
  // Those that have not been finished.
  [[nodiscard]] std::size_t pending() const { return pending_; }
  // Of them, those that are no kernels.
  [[nodiscard]] std::size_t pending_others() const { return pending_others_; }
  [[nodiscard]] bool has_pending(unsigned device) const {
    return device < of_device_.size() && of_device_[device].pending != 0;
  }

  // The host waited for an operation, or for all that there were.
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
  // What the host does next by itself, without a call: after what it knows of, and what it may
  // know of besides; before all that it asks for from now on.
  void step_of_host(Operation& step, const OperationSet& may_know);

  void clear();

 private:
  void make_ready(OperationPtr operation);

  std::vector<OperationPtr> ready_;  // by number
  std::vector<OperationPtr> held_;   // until another process has done something
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
