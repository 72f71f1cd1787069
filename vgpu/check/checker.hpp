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
enum class PartsEnd : std::uint8_t;  // checkers.hpp
class SharedGrid;

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
  // A library function reads or writes device memory.  For a read, the checker sets which bits are
  // undefined.
  virtual void on_operand(OperandAccess& /*access*/) {}
  // An access that on_operand() has already reported, with more launches in `unordered_launches`
  // (as Observer::on_late_host_access()).
  virtual void on_late_operand(const OperandAccess& /*access*/) {}

  // A launch, a call or a library function was refused that may have written any device memory.
  virtual void on_unknown_writes() {}

  // Several launches may be in progress: one runs, and the others are suspended.
  // The next launch begins while the given ones are suspended (Launch::index, ascending).
  virtual void begins_beside(std::span<const std::uint32_t> /*suspended*/) {}
  // The events that follow are of this launch; the one that ran until now is suspended, or has
  // ended, or is the same.
  virtual void resumes(const ResumedLaunch&) {}

  // When several machines run one launch, each machine has checkers of its own, which see the
  // events of that machine only: the parts.  The whole is the checker that sees all other events;
  // its state outlives the launch. begin_parts() and end_parts() are called on the whole.
  virtual void begin_parts() {}
  virtual void end_parts(PartsEnd /*end*/) {}
  // Called on a part after reset().  The part gives `grid` up when one machine must run the launch.
  virtual void join(Checker& /*whole*/, SharedGrid& /*grid*/) {}
  // Returns one byte of state for each byte of a global allocation, which parts may write; null:
  // the checker has none.
  [[nodiscard]] virtual std::uint8_t* states_of(const Allocation&) { return nullptr; }
  // Returns the same of the whole, and creates the states if there are none yet; null: the checker
  // never has any.
  virtual std::uint8_t* make_states_of(const Allocation&) { return nullptr; }

 protected:
  Reporter& reporter_;
};

// Each function is defined in the checker's own file.
#define CHECKER(name, turn, help) std::unique_ptr<Checker> make_##name##_checker(Reporter&);
#define SILENT_CHECKER(name, turn, enabled) CHECKER(name, turn, "")
#include "vgpu/check/checkers.def"
#undef CHECKER
#undef SILENT_CHECKER

}  // namespace warpcheck::vgpu
