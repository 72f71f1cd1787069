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
class SharedGrid;
struct ResumedLaunch;  // checker.hpp

// What becomes of what several machines have left in the checkers of the whole (checker.hpp).
enum class PartsEnd : std::uint8_t {
  kept,
  undone,     // the launches run again on one machine
  postponed,  // memory and states of bytes are as before; they will be written later
};

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

  // Reports accesses of library functions to the checkers that are on (checker.hpp).
  void on_operand(OperandAccess& access);
  void on_late_operand(const OperandAccess& access);

  // Something that may have written device memory did not run: it was refused (checker.hpp).
  void on_unknown_writes();

  // Several launches are in progress (checker.hpp).
  void begins_beside(std::span<const std::uint32_t> suspended);
  void resumes(const ResumedLaunch& resumed);

  // When several machines run one launch (checker.hpp): called on the whole, before and after the
  // launch.
  void begin_parts();
  void end_parts(PartsEnd end);
  // Called on a part.  A part that finds anything gives `grid` up.
  void join(const Checkers& whole, SharedGrid& grid);
  // Returns Checker::states_of() of the only checker that has such states.
  [[nodiscard]] std::uint8_t* states_of(const Allocation& allocation) const;
  // Returns Checker::make_states_of() of the only checker that has such states.
  std::uint8_t* make_states_of(const Allocation& allocation);

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
