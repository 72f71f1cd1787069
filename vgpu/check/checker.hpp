// A checker: an observer that turns events into findings.
#pragma once

#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

struct CheckerSet;

class Checker : public Observer {
 public:
  explicit Checker(Reporter& reporter) : reporter_(reporter) {}
  // What is looked for from the next reset() on.
  virtual void configure(const CheckerSet& /*set*/) {}
  // Starts a new trial: nothing that was seen before counts.
  virtual void reset(WarpModel /*model*/) {}
  // CheckerSet::volatile_is_weak of the trials that follow.
  virtual void treat_volatile_as_weak(bool /*is_weak*/) {}

 protected:
  Reporter& reporter_;
};

}  // namespace warpcheck::vgpu
