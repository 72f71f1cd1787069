// A checker: an observer that turns events into findings.
#pragma once

#include <memory>

#include "vgpu/check/operand.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

struct CheckerSet;
class SharedGrid;

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

  // A launch that begins while another is suspended (vgpu/machine/progress/concurrent_work.hpp).
  // False: its events are told between those of the other.  True: only this is told of it, as the
  // checker follows one launch at a time.
  virtual bool passes_over(const Sync& /*kernel_start*/) { return false; }

  // Where several machines run a launch, each has checkers of its own, which see what that machine
  // does.  What outlives the launch is the whole's: the checker that sees everything else.
  //   of the whole; keeps: what the parts have left in it holds
  virtual void begin_parts() {}
  virtual void end_parts(bool /*keeps*/) {}
  //   of a part, after reset(): it gives up `grid` where one machine has to run it
  virtual void join(Checker& /*whole*/, SharedGrid& /*grid*/) {}
  // A byte for each of a global allocation, which parts may write; null: there is none.
  [[nodiscard]] virtual std::uint8_t* states_of(const Allocation&) { return nullptr; }

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
