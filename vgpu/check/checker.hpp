// A checker: an observer that turns events into findings.
#pragma once

#include <memory>

#include "vgpu/check/operand.hpp"
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
  // What a library function does to device memory; of a read, sets which bits are undefined.
  virtual void on_operand(OperandAccess& /*access*/) {}
  // An access that was told before, as Observer::on_late_host_access().
  virtual void on_late_operand(const OperandAccess& /*access*/) {}

 protected:
  Reporter& reporter_;
};

// Each is defined in the checker's own file.
#define CHECKER(name, turn, help) std::unique_ptr<Checker> make_##name##_checker(Reporter&);
#define SILENT_CHECKER(name, turn, enabled) CHECKER(name, turn, "")
#include "vgpu/check/checkers.def"
#undef CHECKER
#undef SILENT_CHECKER

}  // namespace warpcheck::vgpu
