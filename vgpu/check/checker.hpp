// A checker: an observer that turns events of the machine into findings.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "vgpu/check/operand.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

struct CheckerSet;

// A launch that was suspended (vgpu/machine/progress/concurrent_work.hpp) goes on.
struct ResumedLaunch {
  std::uint32_t launch = 0;  // Launch::index
  // The launches of which everything until now comes before what it does from now on, because a
  // signal says so: of a copy, or of the host.
  std::span<const std::uint32_t> known{};
};

class Checker : public Observer {
 public:
  explicit Checker(Reporter& reporter) : reporter_(reporter) {}
  // Sets what the checker looks for from the next reset() on.
  virtual void configure(const CheckerSet& /*set*/) {}
  // Starts a new trial: the checker forgets everything that it has seen.
  virtual void reset(WarpModel /*model*/) {}
  // A library function reads or writes device memory.
  virtual void on_operand(const OperandAccess& /*access*/) {}
  // An access that on_operand() has already reported, with more launches in `unordered_launches`
  // (as Observer::on_late_host_access()).
  virtual void on_late_operand(const OperandAccess& /*access*/) {}

  // Several launches may be in progress: one runs, and the others are suspended.
  // The next launch begins while the given ones are suspended (Launch::index, ascending).
  virtual void begins_beside(std::span<const std::uint32_t> /*suspended*/) {}
  // The events that follow are of this launch; the one that ran until now is suspended, or has
  // ended, or is the same.
  virtual void resumes(const ResumedLaunch&) {}

  // Returns whether several machines may run one launch, each with a checker of its own.  The
  // launch counts if none of these has a finding; then what they have seen is dropped, and the
  // checker of the trial has not seen the launch.  So by default, a checker that receives more than
  // rare events wants to see all of them.
  [[nodiscard]] virtual bool may_be_split() const {
    const Watched watched = watches();
    return !watched.accesses && !watched.launches && !watched.blocks && !watched.collectives;
  }

 protected:
  Reporter& reporter_;
};

// Each function is defined in the checker's own file.
#define CHECKER(name, turn, help) std::unique_ptr<Checker> make_##name##_checker(Reporter&);
#define OPTIONAL_CHECKER(name, turn, help) CHECKER(name, turn, help)
#define SILENT_CHECKER(name, turn, enabled) CHECKER(name, turn, "")
#include "vgpu/check/checkers.def"
#undef CHECKER
#undef OPTIONAL_CHECKER
#undef SILENT_CHECKER

}  // namespace warpcheck::vgpu
