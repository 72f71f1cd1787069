// The checkers of a trial, as the observers that a machine wants.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/operand.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class Causes;  // reporter.hpp
class SharedGrid;

// Which checkers are on (checkers.def).  Deadlocks and traps end a launch, so they are always
// reported.
struct CheckerSet {
#define CHECKER(name, turn, help) bool name = true;
#define SILENT_CHECKER(name, turn, enabled)
#include "vgpu/check/checkers.def"
#undef CHECKER
#undef SILENT_CHECKER
  // Notes on code that only targets from sm_70 on allow: barriers after some threads have exited.
  bool portable = false;
  // Volatile accesses are weak ones to the race checker.  By the letter they are relaxed at system
  // scope (PTX ISA 8.4.2), and do not race with each other.
  bool volatile_is_weak = false;
};

// A checker as options, case files and reports know it.
struct CheckerRow {
  bool CheckerSet::*enabled = nullptr;
  std::string_view name;
  std::string_view help;  // what it finds
};

inline constexpr auto kCheckers = std::to_array<CheckerRow>({
#define CHECKER(name, turn, help) {&CheckerSet::name, #name, help},
#define SILENT_CHECKER(name, turn, enabled)
#include "vgpu/check/checkers.def"
#undef CHECKER
#undef SILENT_CHECKER
});

// "race (what it finds), bounds (...), ...": for help.
std::string checkers_help();

class Checkers {
 public:
  Checkers(const CheckerSet& set, WarpModel model);
  ~Checkers();
  Checkers(const Checkers&) = delete;
  Checkers& operator=(const Checkers&) = delete;

  // Starts a new trial.  Host memory is kept for reuse.
  void reset(const CheckerSet& set, WarpModel model);

  // Valid until the next reset().
  [[nodiscard]] std::span<Observer* const> observers() const { return observers_; }

  // What library functions do, told to the checkers that are on.
  void on_operand(OperandAccess& access);
  void on_late_operand(const OperandAccess& access);

  // Where several machines run a launch (checker.hpp): of the whole, before and after that.
  void begin_parts();
  void end_parts(bool keeps);
  // Of a part: what finds anything gives `grid` up.
  void join(const Checkers& whole, SharedGrid& grid);
  // See Checker::states_of(); of the one checker that has any.
  [[nodiscard]] std::uint8_t* states_of(const Allocation& allocation) const;

  // In order of first occurrence.
  [[nodiscard]] const std::vector<Finding>& findings() const;

  // Called with the index of a finding when it is first seen, its count not yet known; kept by
  // reset().
  void on_new_finding(std::function<void(std::size_t)> listener);

  // What findings name as their causes; not owned, kept by reset().
  void set_causes(const Causes* causes);

  // Adds a finding that no device event shows: misuse of the host API.  False: the checker whose
  // kind of finding it is (finding_kinds.def) is off, so it is dropped.
  bool add(Finding finding);
  // The same of what can repeat: the first time with `key`, make() gives the finding; then it
  // counts.
  void add(const std::string& key, const std::function<Finding()>& make);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  std::vector<Observer*> observers_;
};

}  // namespace warpcheck::vgpu
