// The checkers of a trial, collected as the observers that a machine calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vgpu/check/checker_set.hpp"
#include "vgpu/check/finding.hpp"
#include "vgpu/check/operand.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class Causes;  // reporter.hpp
class Checker;
class MemoryShadow;
enum class PartsEnd : std::uint8_t;  // machine/block_share.hpp
class SharedGrid;
struct ResumedLaunch;  // checker.hpp

class Checkers {
 public:
  Checkers(const CheckerSet& set, WarpModel model);
  ~Checkers();
  Checkers(const Checkers&) = delete;
  Checkers& operator=(const Checkers&) = delete;

  // Starts a new trial.  The checkers keep their host memory for reuse.
  void reset(const CheckerSet& set, WarpModel model);

  // Valid until the next reset().
  [[nodiscard]] std::span<Observer* const> observers() const { return observers_; }

  // Reports accesses of library functions to the checkers that are on (checker.hpp).  For a read,
  // sets which bits are undefined.
  void on_operand(OperandAccess& access);
  void on_late_operand(const OperandAccess& access);

  // A launch, a call or a library function was refused that may have written any device memory.
  void on_unknown_writes();

  // Several launches are in progress (checker.hpp).
  void begins_beside(std::span<const std::uint32_t> suspended);
  void resumes(const ResumedLaunch& resumed);

  // Returns whether several machines may run one launch (Checker::may_be_split()).
  [[nodiscard]] bool may_be_split() const;
  // When several machines run one launch, each machine has checkers of its own, which see the
  // events of that machine only: the parts.  The whole sees all other events, and its state
  // outlives the launch.  Called on the whole, before and after the launch:
  void begin_parts();
  void end_parts(PartsEnd end);
  // Called on a part, after reset().  A part that finds anything, or a value that nothing has
  // written, gives `grid` up: one machine must run the launch.
  void join(const Checkers& whole, SharedGrid& grid);
  // Returns the states of bytes of a global allocation, which parts may write (UnwrittenMemory);
  // null: there are none.
  [[nodiscard]] MemoryShadow* states_of(const Allocation& allocation) const;
  // Returns the same of the whole, and creates the states if there are none yet; null: unwritten
  // values are not followed.
  MemoryShadow* make_states_of(const Allocation& allocation);

  // In order of first occurrence.
  [[nodiscard]] const std::vector<Finding>& findings() const;

  // Sets the function that is called with the index of each new finding.  The count of that finding
  // is not yet known then. reset() keeps the listener.
  void on_new_finding(std::function<void(std::size_t)> listener);

  // Sets the source of Finding::cause; not owned, kept by reset().
  void set_causes(const Causes* causes);

  // Adds a finding that no device event shows: misuse of the host API.  Returns false and drops the
  // finding if its checker (finding_kinds.def) is off.
  bool add(Finding finding);
  // Adds a finding that can repeat.  The first call with `key` adds the result of make(); later
  // calls only increase its count.
  void add(const std::string& key, const std::function<Finding()>& make);

 private:
  class Impl;
  // Turns on the checkers of the set, and turns off the others.
  void enable(const CheckerSet& set);

  std::unique_ptr<Impl> impl_;
  std::vector<Observer*> observers_;
};

}  // namespace warpcheck::vgpu
