// The checker for kernels that end their launch themselves: trap (PTX ISA 9.7.20.4), failed
// assertions, bad calls.
#include "vgpu/check/checker.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

std::string_view role_of(Trap::Cause cause) {
  switch (cause) {
    case Trap::Cause::trap:
    case Trap::Cause::breakpoint: return "trap";
    case Trap::Cause::assertion: return "assert";
    case Trap::Cause::bad_index: return "branch";
    case Trap::Cause::no_object:
    case Trap::Cause::surface_bounds:
    case Trap::Cause::surface_alignment:
    case Trap::Cause::copy_bytes:
    case Trap::Cause::map_rule:
    case Trap::Cause::tensor_rule:
    case Trap::Cause::tensor_bounds:
    case Trap::Cause::faults: return "access";
    case Trap::Cause::bad_call:
    case Trap::Cause::stack_overflow: break;
  }
  return "call";
}

FindingKind kind_of(Trap::Cause cause) {
  switch (cause) {
    case Trap::Cause::stack_overflow:
    case Trap::Cause::faults:
    case Trap::Cause::tensor_bounds:
    case Trap::Cause::surface_bounds: return FindingKind::out_of_bounds;
    case Trap::Cause::copy_bytes:
    case Trap::Cause::surface_alignment: return FindingKind::misaligned_access;
    default: return FindingKind::trap;
  }
}

bool is_of_tensor_memory(Trap::Cause cause) {
  return cause == Trap::Cause::tensor_rule || cause == Trap::Cause::tensor_bounds;
}

std::string message_of(const Trap& trap) {
  if (!trap.detail.empty()) return std::string(trap.detail);
  if (trap.cause == Trap::Cause::breakpoint) {
    return "(1) is a breakpoint, which stops the kernel where there is no debugger";
  }
  return "(1) stops the kernel";
}

class TrapChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] Watched watches() const override { return Watched::rare(); }

  void on_trap(const Trap& trap) override {
    const Program& program = *trap.program;
    reporter_.report({&program, trap.pc, ptx::kNone, 0}, [&] {
      const auto lane = static_cast<unsigned>(__builtin_ctz(trap.lanes));
      Finding finding;
      finding.kind = kind_of(trap.cause);
      if (trap.cause == Trap::Cause::stack_overflow) {
        finding.space = space_name(ptx::Space::local);
        finding.object = "the stack";
      } else if (!trap.object.empty()) {
        finding.space = space_name(ptx::Space::global);
        finding.object = trap.object;
      }
      if (is_of_tensor_memory(trap.cause)) {
        finding.space = "tensor";
        finding.object = "tensor memory";
      }
      // The bad accesses themselves have already been reported.
      if (trap.cause == Trap::Cause::faults) finding.severity = Severity::note;
      finding.kernel = kernel_name(program.kernel);
      finding.accesses = {
          reporter_.side(role_of(trap.cause), program, trap.pc, thread_of(trap.place, lane))};
      finding.message = message_of(trap);
      return finding;
    });
  }
};

}  // namespace

std::unique_ptr<Checker> make_trap_checker(Reporter& reporter) {
  return std::make_unique<TrapChecker>(reporter);
}

}  // namespace warpcheck::vgpu
