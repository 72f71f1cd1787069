// The checkers of a trial, as the observers that a machine wants.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class Causes;  // reporter.hpp

// Which checkers are on.  Deadlocks and traps end a launch, so they are always reported.
struct CheckerSet {
  bool race = true;
  bool bounds = true;  // and alignment
  bool init = true;
  bool barrier = true;
  bool lifetime = true;
  // Notes on code that only targets from sm_70 on allow: barriers after some threads have exited.
  bool portable = false;
  // Volatile accesses are weak ones to the race checker.  By the letter they are relaxed at system
  // scope (PTX ISA 8.4.2), and do not race with each other.
  bool volatile_is_weak = false;
};

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

  // In order of first occurrence.
  [[nodiscard]] const std::vector<Finding>& findings() const;

  // Called with the index of a finding when it is first seen, its count not yet known; kept by
  // reset().
  void on_new_finding(std::function<void(std::size_t)> listener);

  // What findings name as their causes; not owned, kept by reset().
  void set_causes(const Causes* causes);

  // Adds a finding that no device event shows: misuse of the host API.
  void add(Finding finding);
  // The same of what can repeat: the first time with `key`, make() gives the finding; then it
  // counts.
  void add(const std::string& key, const std::function<Finding()>& make);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  std::vector<Observer*> observers_;
};

}  // namespace warpcheck::vgpu
