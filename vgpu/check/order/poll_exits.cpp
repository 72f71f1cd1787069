#include "vgpu/check/order/poll_exits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <vector>

#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/program/operand_roles.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kLoopMax = 256;  // instructions of a loop
constexpr int kStepsMax = 64;
constexpr std::size_t kSeenMax = 16384;  // instructions behind a loop

Ref result_of(const Instr& instr) {
  return instr.kind == InstrKind::load ? instr[MemoryOperand::value] : instr[AtomicOperand::old];
}

// Returns whether a constant's row has this value; `ones`: all bits are set.
bool is_constant(const Program& program, const Ref& ref, std::uint32_t bytes, bool ones) {
  if (ref.bank != Bank::constant) return false;
  const std::uint64_t all = ~std::uint64_t{0};
  const std::uint64_t expected = ones ? all : 0;
  return std::memcmp(program.constants.data() + ref.offset, &expected, bytes) == 0;
}

// Returns whether an atomic operation leaves every value as it is.
bool changes_nothing(const Program& program, const Instr& instr) {
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  const Ref& value = instr[AtomicOperand::value];
  switch (instr.modifiers.atom_op) {
    case ptx::AtomOp::add:
    case ptx::AtomOp::or_:
    case ptx::AtomOp::xor_: return is_constant(program, value, bytes, false);
    case ptx::AtomOp::and_: return is_constant(program, value, bytes, true);
    case ptx::AtomOp::cas: return value == instr[AtomicOperand::swap];
    default: return false;
  }
}

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

bool branches(const Instr& instr) {
  return instr.kind == InstrKind::branch || instr.kind == InstrKind::jump;
}

bool only_pauses(InstrKind kind) {
  return kind == InstrKind::sleep || kind == InstrKind::nop || kind == InstrKind::fence;
}

// Returns whether an instruction loads what the access loads, as the same load in front of a loop
// and in it.
//   banks: the registers when the instruction executes
bool loads_same(const LaneBanks& banks, const Instr& instr, const Access& access, unsigned lane) {
  const Instr& first = access.program->code[access.pc];
  const Ref& address = first[MemoryOperand::address];
  if (instr.kind != first.kind || instr[MemoryOperand::address] != address ||
      instr.displacement != first.displacement || instr.modifiers.type != first.modifiers.type) {
    return false;
  }
  const std::size_t width = address.bank == Bank::wide ? 8 : 4;
  return std::memcmp(row_of(banks, address) + lane * width,
                     row_of(*access.registers, address) + lane * width, width) == 0;
}

// What follows a load: the first branch behind it, and the registers with the loaded value and what
// is computed from it until then.
struct Continuation {
  std::uint32_t branch = ptx::kNone;
  std::vector<Ref> values;
  [[nodiscard]] bool has(const Ref& ref) const {
    return std::ranges::find(values, ref) != values.end();
  }
};

Continuation behind(const Program& program, std::uint32_t pc) {
  Continuation found;
  found.values = {result_of(program.code[pc])};
  ++pc;
  for (int step = 0; step < kStepsMax && pc < program.code.size(); ++step) {
    const Instr& instr = program.code[pc];
    if (branches(instr) && instr.guard.bank != Bank::none) {
      found.branch = pc;
      return found;
    }
    ++pc;
    if (branches(instr)) {
      pc = instr.target;
    } else if (instr.kind == InstrKind::compute) {
      bool depends = found.has(instr.guard);
      roles_of(instr).reads.for_each_in(instr.operands,
                                        [&](const Ref& ref) { depends |= found.has(ref); });
      roles_of(instr).writes.for_each_in(instr.operands, [&](const Ref& ref) {
        if (depends && ref.bank != Bank::none) found.values.push_back(ref);
      });
    } else if (!only_pauses(instr.kind)) {
      break;
    }
  }
  return found;
}

bool is_operand(const OperandSet& operands, const Instr& instr, const Ref& ref) {
  bool is = false;
  operands.for_each_in(instr.operands, [&](const Ref& one) { is |= one == ref; });
  return is;
}

// Returns whether the value of a register is used on some path behind a branch, other than by a
// comparison inside of [begin, last].
bool is_used_behind(const Program& program, std::uint32_t branch, const Ref& ref,
                    std::uint32_t begin, std::uint32_t last) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> next{branch + 1, program.code[branch].target};
  while (!next.empty()) {
    const std::uint32_t pc = next.back();
    next.pop_back();
    if (pc >= program.code.size() || !seen.insert(pc).second) continue;
    const Instr& instr = program.code[pc];
    if (seen.size() > kSeenMax || instr.kind == InstrKind::jump_table) return true;
    const bool is_comparison = instr.kind == InstrKind::compute &&
                               instr.opcode == ptx::Opcode::setp_ && pc >= begin && pc <= last;
    const OperandRoles roles = roles_of(instr);
    if (!is_comparison && is_operand(roles.reads, instr, ref)) return true;
    const bool is_guarded = instr.guard.bank != Bank::none;
    if (!is_guarded && is_operand(roles.writes, instr, ref)) continue;
    const bool ends = instr.kind == InstrKind::exit || instr.kind == InstrKind::ret ||
                      instr.kind == InstrKind::trap || instr.kind == InstrKind::jump;
    if (branches(instr)) next.push_back(instr.target);
    if (is_guarded || !ends) next.push_back(pc + 1);
  }
  return false;
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
  const bool is_used = std::ranges::any_of(next.values, [&](const Ref& ref) {
    return ref.bank != Bank::predicate &&
           is_used_behind(program, next.branch, ref, poll.begin, poll.last);
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
    } else if (may_poll(program, instr) && loads_same(banks, instr, access, lane)) {
      return false;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace warpcheck::vgpu
