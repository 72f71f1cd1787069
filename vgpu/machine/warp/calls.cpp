// Control flow that leaves a function or depends on a register: calls, returns, jump tables, traps
// (PTX ISA 9.7.12).
//
// Lanes of a fragment that go to different places become fragments of their own, as at a branch.
// Those deeper in calls run first, so that they all meet again behind the call.
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "vgpu/machine/core.hpp"

namespace warpcheck::vgpu {

std::uint64_t Core::lane_value(const RunningFragment& run, const Ref& ref, unsigned lane) const {
  const std::byte* const row = run.banks.base[static_cast<std::size_t>(ref.bank)] + ref.offset;
  if (ref.bank == Bank::word) {
    std::uint32_t value = 0;
    std::memcpy(&value, row + lane * sizeof value, sizeof value);
    return value;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, row + lane * sizeof value, sizeof value);
  return value;
}

// Ends the launch.
Core::Step Core::halt(const RunningFragment& run, std::uint32_t lanes, Trap::Cause cause,
                      std::string_view detail, std::string_view object) {
  Trap trap{program_, place_of(run.slot, run.warp), run.pc, lanes, cause, detail, object};
  notify([&](Observer& observer) { observer.on_trap(trap); });
  outcome_.end = Outcome::End::trap;
  outcome_.cause = cause;
  return Step::halted;
}

Core::Step Core::refuse(const RunningFragment&, std::string_view why) {
  outcome_.end = Outcome::End::refused;
  outcome_.refusal = why;
  return Step::halted;
}

// The fragment at a call goes to the first instruction of `function`.
Core::Step Core::enter(RunningFragment& run, std::size_t index, std::uint32_t function) {
  Fragment& fragment = run.warp.fragments[index];
  const FunctionCode& caller = program_->functions[fragment.function];
  const FunctionCode& callee = program_->functions[function];
  fragment.callers.push_back(
      {run.pc + 1, fragment.function, fragment.local_base, fragment.local_top});
  fragment.word_base += caller.words * kWordRowBytes;
  fragment.wide_base += caller.wides * kWideRowBytes;
  fragment.predicate_base += caller.predicates * 4;
  fragment.local_base = fragment.local_top + (program_->dynamic_stack ? kCallBytes : 0);
  fragment.local_top = fragment.local_base + callee.local_bytes;
  fragment.function = function;
  fragment.pc = callee.entry;
  if (program_->dynamic_stack && !grow_stack(run, fragment, fragment.local_top)) {
    return Step::halted;
  }
  edge(run.pc, callee.entry);
  return Step::again;
}

Core::Step Core::return_to_caller(RunningFragment& run, std::size_t index) {
  Fragment& fragment = run.warp.fragments[index];
  const Return back = fragment.callers.back();
  const FunctionCode& caller = program_->functions[back.function];
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

// Each group of lanes calls the function at its address.
Core::Step Core::enter_by_register(RunningFragment& run, std::size_t index, const Instr& instr) {
  Warp& warp = run.warp;
  if (warp.undefined.any()) {
    use_of_undefined(run, UndefinedUse::Kind::address, instr[TargetOperand::address],
                     warp.fragments[index].mask);
  }
  std::uint32_t rest = warp.fragments[index].mask;
  while (true) {
    const std::uint64_t address = lane_value(run, instr[TargetOperand::address],
                                             static_cast<unsigned>(std::countr_zero(rest)));
    std::uint32_t group = 0;
    for (std::uint32_t lanes = rest; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      if (lane_value(run, instr[TargetOperand::address], lane) == address) group |= 1u << lane;
    }
    const auto target = program_->function_at.find(address);
    if (target == program_->function_at.end()) {
      return halt(run, group, Trap::Cause::bad_call,
                  address >= kFunctionBase && address < kFunctionEnd
                      ? "(1) calls a function whose parameters are not those of the call"
                      : fmt::format("(1) calls address {:#x}, where no function begins", address));
    }
    if (program_->functions[target->second].signature != instr.target) {
      return halt(run, group, Trap::Cause::bad_call,
                  fmt::format("(1) calls function '{}', whose parameters are not those of the call",
                              program_->functions[target->second].name));
    }
    rest &= ~group;
    const std::size_t other = rest == 0 ? 0 : split(warp, index, rest);
    if (enter(run, index, target->second) == Step::halted) return Step::halted;
    if (rest == 0) return Step::again;
    index = other;
    run.banks = banks_of(warp, warp.fragments[index]);  // a call may have made them grow
  }
}

// brx.idx: each group of lanes goes to the label with its number.
Core::Step Core::jump_by_table(RunningFragment& run, std::size_t index, const Instr& instr) {
  Warp& warp = run.warp;
  if (warp.undefined.any()) {
    use_of_undefined(run, UndefinedUse::Kind::branch, instr[TargetOperand::index],
                     warp.fragments[index].mask);
  }
  const std::vector<std::uint32_t>& table = program_->jump_tables[instr.target];
  std::uint32_t rest = warp.fragments[index].mask;
  while (true) {
    const std::uint64_t number =
        lane_value(run, instr[TargetOperand::index], static_cast<unsigned>(std::countr_zero(rest)));
    std::uint32_t group = 0;
    for (std::uint32_t lanes = rest; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      if (lane_value(run, instr[TargetOperand::index], lane) == number) group |= 1u << lane;
    }
    if (number >= table.size()) {
      return halt(run, group, Trap::Cause::bad_index,
                  fmt::format("(1) jumps to label {} of a list of {}", number, table.size()));
    }
    rest &= ~group;
    const std::size_t other = rest == 0 ? 0 : split(warp, index, rest);
    warp.fragments[index].pc = table[number];
    edge(run.pc, table[number]);
    if (rest == 0) return Step::again;
    index = other;
  }
}

}  // namespace warpcheck::vgpu
