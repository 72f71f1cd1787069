#include "vgpu/machine/warp/calls.hpp"

#include <bit>

#include <fmt/format.h>

#include "vgpu/machine/warp/branches.hpp"

namespace warpcheck::vgpu {

Step Calls::enter(RunningFragment& run, std::size_t index, std::uint32_t function) {
  Fragment& fragment = run.warp.fragments[index];
  const FunctionCode& caller = launch_.program().functions[fragment.function];
  const FunctionCode& callee = launch_.program().functions[function];
  fragment.callers.push_back(
      {run.pc + 1, fragment.function, fragment.local_base, fragment.local_top});
  fragment.word_base += caller.words * kWordRowBytes;
  fragment.wide_base += caller.wides * kWideRowBytes;
  fragment.predicate_base += caller.predicates * 4;
  fragment.local_base = fragment.local_top + (launch_.program().dynamic_stack ? kCallBytes : 0);
  fragment.local_top = fragment.local_base + callee.local_bytes;
  fragment.function = function;
  fragment.pc = callee.entry;
  if (launch_.program().dynamic_stack && !stacks_.grow(run, fragment, fragment.local_top)) {
    return Step::halted;
  }
  launch_.mark_unwritten(run.warp, fragment, function);
  launch_.cross(run.slot, run.warp, fragment.mask, run.pc, callee.entry);
  return Step::again;
}

Step Calls::return_to_caller(RunningFragment& run, std::size_t index) {
  Fragment& fragment = run.warp.fragments[index];
  const Return back = fragment.callers.back();
  const FunctionCode& caller = launch_.program().functions[back.function];
  launch_.pass(run.slot, run.warp, fragment.mask, run.pc, back.pc);
  stacks_.release(run.warp, fragment.local_base, fragment.local_top, fragment.mask);
  fragment.callers.pop_back();
  fragment.word_base -= caller.words * kWordRowBytes;
  fragment.wide_base -= caller.wides * kWideRowBytes;
  fragment.predicate_base -= caller.predicates * 4;
  fragment.local_base = back.local_base;
  fragment.local_top = back.local_top;
  fragment.function = back.function;
  fragment.pc = back.pc;
  return Step::again;
}

Step Calls::enter_by_register(RunningFragment& run, std::size_t index, const Instr& instr) {
  Warp& warp = run.warp;
  if (warp.undefined.any()) {
    launch_.use_of_undefined(run, UndefinedUse::Kind::address, instr[TargetOperand::address],
                             warp.fragments[index].mask);
  }
  std::uint32_t rest = warp.fragments[index].mask;
  while (true) {
    const std::uint64_t address = lane_value(run, instr[TargetOperand::address],
                                             static_cast<unsigned>(std::countr_zero(rest)));
    const std::uint32_t group = lanes_of_same_value(run, instr[TargetOperand::address], rest);
    const auto target = launch_.program().function_at.find(address);
    if (target == launch_.program().function_at.end()) {
      return launch_.halt(
          run, group, Trap::Cause::bad_call,
          address >= kFunctionBase && address < kFunctionEnd
              ? "(1) calls a function whose parameters are not those of the call"
              : fmt::format("(1) calls address {:#x}, where no function begins", address));
    }
    if (launch_.program().functions[target->second].signature != instr.signature) {
      return launch_.halt(
          run, group, Trap::Cause::bad_call,
          fmt::format("(1) calls function '{}', whose parameters are not those of the call",
                      launch_.program().functions[target->second].name));
    }
    rest &= ~group;
    const std::size_t other = rest == 0 ? index : warp.fragments.split(index, rest);
    if (enter(run, index, target->second) == Step::halted) return Step::halted;
    if (rest == 0) return Step::again;
    index = other;
    // A call may have made the banks grow.
    run.banks = banks_of(launch_.program(), warp, warp.fragments[index]);
  }
}

}  // namespace warpcheck::vgpu
