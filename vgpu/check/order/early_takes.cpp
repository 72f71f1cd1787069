#include "vgpu/check/order/early_takes.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

#include "vgpu/check/order/value_paths.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/program/flow/next_instructions.hpp"
#include "vgpu/program/operand_roles.hpp"
#include "vgpu/ptx/memory_order.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr int kWayMax = 64;
constexpr std::size_t kReachedMax = 256;  // instructions behind an operation
constexpr std::array kRegisterBanks{Bank::word, Bank::wide, Bank::predicate};
constexpr std::array<std::uint32_t, 3> kRowSizes{kWordRowBytes, kWideRowBytes, 4};

bool acquires_or_fences(const Instr& instr) {
  return instr.kind == InstrKind::fence || ptx::acquires(instr.modifiers.order);
}

// Returns whether an instruction reads one word in a strong way, into a register.
bool reads_word(const Instr& instr) {
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  if (instr.modifiers.vector > 1 || (bytes != 4 && bytes != 8)) return false;
  const bool is_strong_load =
      instr.kind == InstrKind::load && instr.modifiers.order != ptx::Order::weak;
  if (!is_strong_load && instr.kind != InstrKind::atomic) return false;
  return result_of(instr).bank == (bytes == 8 ? Bank::wide : Bank::word);
}

// Returns whether an instruction reads, by the same registers, the word that `first` reads.
bool reads_same(const Instr& instr, const Instr& first) {
  return reads_word(instr) && instr[MemoryOperand::address] == first[MemoryOperand::address] &&
         instr.displacement == first.displacement &&
         ptx::bytes_of(instr.modifiers.type) == ptx::bytes_of(first.modifiers.type);
}

bool changes(const Program& program, const Instr& instr) {
  return instr.kind == InstrKind::atomic && !changes_nothing(program, instr);
}

std::uint64_t value_of(const LaneBanks& banks, const Ref& ref, unsigned lane, std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, row_of(banks, ref) + lane * bytes, bytes);
  return value;
}

// Returns what an atomic operation leaves in its word.
std::optional<std::uint64_t> left_in(const LaneBanks& banks, const Instr& instr, unsigned lane,
                                     std::uint64_t word) {
  const std::size_t bytes = ptx::bytes_of(instr.modifiers.type);
  const std::uint64_t operand = value_of(banks, instr[AtomicOperand::value], lane, bytes);
  const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : 0xffff'ffffu;
  switch (instr.modifiers.atom_op) {
    case ptx::AtomOp::add: return (word + operand) & mask;
    case ptx::AtomOp::and_: return word & operand;
    case ptx::AtomOp::or_: return word | operand;
    case ptx::AtomOp::xor_: return word ^ operand;
    case ptx::AtomOp::exch: return operand;
    case ptx::AtomOp::cas:
      return word == operand ? value_of(banks, instr[AtomicOperand::swap], lane, bytes) : word;
    default: return std::nullopt;
  }
}

bool is_float(ptx::AtomOp op, ptx::Type type) {
  return op == ptx::AtomOp::add && (type == ptx::Type::f32 || type == ptx::Type::f64);
}

}  // namespace

EarlyTakes::Take EarlyTakes::find(const Program& program, std::uint32_t pc) {
  const Instr& first = program.code[pc];
  if (!reads_word(first) || is_float(first.modifiers.atom_op, first.modifiers.type)) return {};
  const Continuation next = behind(program, pc);
  if (next.branch == ptx::kNone || !next.has(program.code[next.branch].guard)) return {};
  Take take;
  bool may_acquire = acquires_or_fences(first), may_change = changes(program, first);
  std::set<std::uint32_t> reached;
  std::vector<std::uint32_t> rest{pc};
  while (!rest.empty()) {
    const std::uint32_t at = rest.back();
    rest.pop_back();
    if (at >= program.code.size() || !reached.insert(at).second) continue;
    if (reached.size() > kReachedMax) return {};
    const Instr& instr = program.code[at];
    const auto use = [&](const Ref& ref) {
      for (std::size_t i = 0; i < kBanks; ++i) {
        if (ref.bank == kRegisterBanks[i])
          take.bytes[i] = std::max(take.bytes[i], ref.offset + kRowSizes[i]);
      }
    };
    std::ranges::for_each(instr.operands, use);
    use(instr.guard);
    const bool is_same = reads_same(instr, first);
    may_acquire |= (is_same || instr.kind == InstrKind::fence) && acquires_or_fences(instr);
    may_change |= is_same && changes(program, instr);
    const bool goes_on =
        is_same || instr.kind == InstrKind::compute || branches(instr) || only_pauses(instr.kind);
    if (!goes_on) continue;
    for_each_next(program, at, [&](std::uint32_t pc_behind) { rest.push_back(pc_behind); });
  }
  take.is_one = may_acquire && may_change;
  return take;
}

bool EarlyTakes::may_take(const Program& program) {
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    if (program.code[pc].kind == InstrKind::atomic && find(program, pc).is_one) return true;
  }
  return false;
}

const EarlyTakes::Take& EarlyTakes::take_of(const Access& access) {
  if (access.program != latest_) {
    latest_ = access.program;
    of_latest_ = &programs_[latest_];
    of_latest_->takes.resize(latest_->code.size());
  }
  std::unique_ptr<const Take>& take = of_latest_->takes[access.pc];
  if (take == nullptr) take = std::make_unique<const Take>(find(*latest_, access.pc));
  return *take;
}

bool EarlyTakes::takes(const Access& access) {
  if (access.registers == nullptr || access.asynchronous) return false;
  if (access.space != ptx::Space::global) return false;
  return take_of(access).is_one;
}

// Returns nothing if the lane would come back to the operation, or go a long way.
std::optional<EarlyTakes::Way> EarlyTakes::go(const Access& access, unsigned lane,
                                              std::uint64_t value, Registers& registers) {
  const Program& program = *access.program;
  const Instr& first = program.code[access.pc];
  const Take& take = take_of(access);
  LaneBanks& banks = registers.banks;
  banks = *access.registers;
  for (std::size_t i = 0; i < kBanks; ++i) {
    if (take.bytes[i] == 0) continue;
    std::byte*& base = banks.base[static_cast<std::size_t>(kRegisterBanks[i])];
    registers.rows[i].grow(take.bytes[i]);
    std::memcpy(registers.rows[i].data(), base, take.bytes[i]);
    base = registers.rows[i].data();
  }
  Way way{access.pc, access.pc, value, {}};
  for (int step = 0; step < kWayMax && way.pc < program.code.size(); ++step) {
    if (step != 0 && way.pc == access.pc) return std::nullopt;
    const Instr& instr = program.code[way.pc];
    const bool is_guarded = instr.guard.bank != Bank::none;
    if (is_guarded && guarded_lanes(banks, instr, 1u << lane) == 0) {
      ++way.pc;
      continue;
    }
    if (branches(instr)) {
      way.pc = instr.target;
      continue;
    }
    if (instr.kind == InstrKind::compute) {
      instr.compute(banks, instr, 1u << lane);
      std::ranges::copy_if(destinations_of(program, instr), std::back_inserter(way.written),
                           [](const Ref& ref) { return ref.bank != Bank::none; });
    } else if (reads_same(instr, first) && is_same_word(banks, instr, access, lane)) {
      const std::size_t bytes = ptx::bytes_of(instr.modifiers.type);
      const std::uint64_t found = way.left;
      if (instr.kind == InstrKind::atomic) {
        const std::optional<std::uint64_t> left = left_in(banks, instr, lane, found);
        if (!left) return std::nullopt;
        way.left = *left;
      }
      std::memcpy(row_of(banks, result_of(instr)) + lane * bytes, &found, bytes);
      way.written.push_back(result_of(instr));
      way.last_access = way.pc;
    } else if (!only_pauses(instr.kind)) {
      return way;
    }
    ++way.pc;
  }
  return std::nullopt;
}

bool EarlyTakes::is_used(const Program& program, std::uint32_t pc, const Ref& ref) {
  const std::uint64_t key = std::uint64_t{static_cast<std::uint8_t>(ref.bank)} << 32 | ref.offset;
  const auto [found, is_new] = of_latest_->is_used.try_emplace({pc, key}, false);
  if (is_new) found->second = is_used_from(program, std::array{pc}, ref, 1, 0);
  return found->second;
}

bool EarlyTakes::are_alike(const Access& access, unsigned lane, std::uint64_t one,
                           std::uint64_t other) {
  const std::optional<Way> a = go(access, lane, one, one_);
  if (!a) return false;
  const std::optional<Way> b = go(access, lane, other, other_);
  if (!b || a->pc != b->pc || a->last_access != b->last_access) return false;
  const auto differs = [&](const Ref& ref) {
    if (ref.bank == Bank::predicate) {
      const std::uint32_t bits =
          read_predicate(one_.banks, ref) ^ read_predicate(other_.banks, ref);
      return (bits >> lane & 1) != 0;
    }
    const std::size_t bytes = ref.bank == Bank::wide ? 8 : 4;
    return value_of(one_.banks, ref, lane, bytes) != value_of(other_.banks, ref, lane, bytes);
  };
  const auto matters = [&](const Ref& ref) {
    return differs(ref) && is_used(*access.program, a->pc, ref);
  };
  return std::ranges::none_of(a->written, matters) && std::ranges::none_of(b->written, matters);
}

std::optional<std::uint64_t> EarlyTakes::left_by(const Access& access, unsigned lane,
                                                 std::uint64_t value) {
  const std::optional<Way> way = go(access, lane, value, one_);
  return way ? std::optional(way->left) : std::nullopt;
}

std::uint32_t EarlyTakes::last_access(const Access& access, unsigned lane, std::uint64_t value) {
  const std::optional<Way> way = go(access, lane, value, one_);
  return way ? way->last_access : ptx::kNone;
}

}  // namespace warpcheck::vgpu
