#include "vgpu/check/order/poll_exits.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "vgpu/check/order/value_paths.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/program/flow/next_instructions.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kLoopMax = 256;  // instructions of a loop
constexpr int kStepsMax = 64;

bool may_poll(const Program& program, const Instr& instr) {
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  if (instr.modifiers.vector > 1 || (bytes != 4 && bytes != 8)) return false;
  if (instr.kind == InstrKind::load) {
    if (instr.modifiers.order == ptx::Order::weak) return false;
  } else if (instr.kind != InstrKind::atomic || !changes_nothing(program, instr)) {
    return false;
  }
  return result_of(instr).bank == (bytes == 8 ? Bank::wide : Bank::word);
}

}  // namespace

bool PollExits::may_poll_by_atomics(const Program& program) {
  return std::ranges::any_of(program.code, [&](const Instr& instr) {
    return instr.kind == InstrKind::atomic && may_poll(program, instr);
  });
}

PollExits::Poll PollExits::find(const Program& program, std::uint32_t pc) {
  if (!may_poll(program, program.code[pc])) return {};
  // Loops are contiguous: the code from the target of a backward jump to the jump.
  std::map<std::uint32_t, std::uint32_t> last_of;  // by begin
  for (std::uint32_t at = pc; at < program.code.size(); ++at) {
    const Instr& instr = program.code[at];
    if (branches(instr) && instr.target <= pc) last_of[instr.target] = at;
  }
  Poll poll;
  for (const auto& [begin, last] : last_of) {
    const bool is_inner = !poll.is_in_loop || last - begin < poll.last - poll.begin;
    if (last - begin < kLoopMax && is_inner) poll = {true, true, begin, last, 0, 0, 0};
  }
  const Continuation next = behind(program, pc);
  if (next.branch == ptx::kNone || !next.has(program.code[next.branch].guard)) return {};
  const std::array behind_branch{next.branch + 1, program.code[next.branch].target};
  const bool is_used = std::ranges::any_of(next.values, [&](const Ref& ref) {
    return ref.bank != Bank::predicate &&
           is_used_from(program, behind_branch, ref, poll.begin, poll.last);
  });
  if (is_used) return {};
  if (!poll.is_in_loop) {
    const auto end = static_cast<std::uint32_t>(program.code.size());
    poll = {true, false, pc, std::min(pc + kLoopMax, end) - 1, 0, 0, 0};
  }
  for (std::uint32_t at = poll.begin; at <= poll.last; ++at) {
    const auto use = [&](const Ref& ref) {
      if (ref.bank == Bank::word) poll.words = std::max(poll.words, ref.offset + kWordRowBytes);
      if (ref.bank == Bank::wide) poll.wides = std::max(poll.wides, ref.offset + kWideRowBytes);
      if (ref.bank == Bank::predicate) poll.predicates = std::max(poll.predicates, ref.offset + 4);
    };
    std::ranges::for_each(program.code[at].operands, use);
    use(program.code[at].guard);
  }
  return poll;
}

const PollExits::Poll& PollExits::poll_of(const Access& access) {
  if (access.program != latest_) {
    latest_ = access.program;
    of_latest_ = &polls_[latest_];
    of_latest_->resize(latest_->code.size());
  }
  std::unique_ptr<const Poll>& poll = (*of_latest_)[access.pc];
  if (poll == nullptr) poll = std::make_unique<const Poll>(find(*latest_, access.pc));
  return *poll;
}

bool PollExits::polls(const Access& access) {
  const bool is_strong = access.kind == AccessKind::atomic || access.order != ptx::Order::weak;
  if (!is_strong || access.registers == nullptr || access.asynchronous) return false;
  return poll_of(access).is_one;
}

std::optional<bool> PollExits::ends(const Access& access, unsigned lane, std::uint64_t value) {
  const Poll& poll = poll_of(access);
  const Program& program = *access.program;
  LaneBanks banks = *access.registers;
  const auto copy = [&](Bank bank, RowBank& to, std::uint32_t bytes) {
    std::byte*& base = banks.base[static_cast<std::size_t>(bank)];
    to.grow(bytes);
    if (bytes != 0) std::memcpy(to.data(), base, bytes);
    base = to.data();
  };
  copy(Bank::word, words_, poll.words);
  copy(Bank::wide, wides_, poll.wides);
  copy(Bank::predicate, predicates_, poll.predicates);
  std::memcpy(row_of(banks, result_of(program.code[access.pc])) + lane * access.bytes, &value,
              access.bytes);
  std::uint32_t pc = access.pc + 1;
  for (int step = 0; step < kStepsMax; ++step) {
    if (pc == access.pc) return false;
    if (pc < poll.begin || pc > poll.last) {
      return poll.is_in_loop ? std::optional(true) : std::nullopt;
    }
    const Instr& instr = program.code[pc++];
    const bool is_guarded = instr.guard.bank != Bank::none;
    const bool holds = !is_guarded || ((read_predicate(banks, instr.guard) >> lane & 1u) != 0) !=
                                          instr.guard_negated;
    if (!holds || only_pauses(instr.kind)) continue;
    if (branches(instr)) {
      pc = instr.target;
    } else if (instr.kind == InstrKind::compute) {
      instr.compute(banks, instr, 1u << lane);
    } else if (instr.kind == program.code[access.pc].kind && may_poll(program, instr) &&
               instr.modifiers.type == program.code[access.pc].modifiers.type &&
               is_same_word(banks, instr, access, lane)) {
      return false;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace warpcheck::vgpu
