#include "vgpu/program/flow/read_uses.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "vgpu/program/flow/bits.hpp"
#include "vgpu/program/flow/next_instructions.hpp"
#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;

// Sets of facts about registers at the beginning of every block, which grow until a fixed point.
class Spread {
 public:
  Spread(const RegisterFlow& flow, std::uint32_t facts)
      : flow_(flow), words_((facts + 63) / 64), at_begin_(flow.graph().blocks().size()) {}

  // Follows all paths from a block on; execute(facts, pc) applies an instruction to the facts.
  template <typename Execute>
  void run(std::uint32_t first, Execute execute) {
    at_begin_[first] = Bits(words_);
    const auto after = [&](std::uint32_t block) {
      Bits facts = at_begin_[block];
      const auto [begin, end] = flow_.graph().blocks()[block];
      for (std::uint32_t pc = begin; pc < end; ++pc) execute(facts, pc);
      return facts;
    };
    follow_paths(flow_.graph(), first, after, [this](std::uint32_t next, const Bits& facts) {
      return unite(at_begin_[next], facts);
    });
  }
  // Empty: the block is not reached.
  [[nodiscard]] const Bits& at_begin(std::uint32_t block) const { return at_begin_[block]; }

 private:
  static bool unite(Bits& into, const Bits& from) {
    if (into.empty()) {
      into = from;
      return true;
    }
    bool changed = false;
    for (std::size_t i = 0; i < into.size(); ++i) {
      changed |= (from[i] & ~into[i]) != 0;
      into[i] |= from[i];
    }
    return changed;
  }

  const RegisterFlow& flow_;
  std::size_t words_;
  std::vector<Bits> at_begin_;
};

// The origins of values: memory that threads share; and values that may be addresses of local
// memory.
class Origins {
 public:
  explicit Origins(const RegisterFlow& flow) : flow_(flow), spread_(flow, 2 * flow.registers()) {
    spread_.run(flow.graph().block_of(flow.program().functions[0].entry),
                [this](Bits& facts, std::uint32_t pc) { execute(facts, pc); });
  }
  // The answer for the place before the instruction at `pc`.
  [[nodiscard]] bool is_loaded(std::uint32_t pc, const Ref& ref) { return holds(pc, ref, 0); }
  [[nodiscard]] bool is_local_address(std::uint32_t pc, const Ref& ref) {
    return holds(pc, ref, flow_.registers());
  }

 private:
  void execute(Bits& facts, std::uint32_t pc) const {
    const Instr& instr = flow_.program().code[pc];
    const std::uint32_t local = flow_.registers();
    bool loaded = instr.kind == InstrKind::atomic ||
                  (instr.kind == InstrKind::load && instr.modifiers.space != ptx::Space::local &&
                   instr.modifiers.space != ptx::Space::constant);
    bool address = instr.kind == InstrKind::local_address;
    const bool moves = instr.kind != InstrKind::load && instr.kind != InstrKind::atomic;
    for (const std::uint32_t from : flow_.reads(pc)) {
      loaded |= moves && test(facts, from);
      // A pointer stored in local memory may point to local memory: in unoptimised code many do.
      address |=
          (moves || instr.modifiers.space != ptx::Space::global) && test(facts, local + from);
    }
    address |= instr.kind == InstrKind::load && instr.modifiers.space == ptx::Space::local;
    const bool keeps = instr.guard.bank != Bank::none;
    for (const std::uint32_t to : flow_.writes(pc)) {
      assign(facts, to, loaded || (keeps && test(facts, to)));
      assign(facts, local + to, address || (keeps && test(facts, local + to)));
    }
  }
  bool holds(std::uint32_t pc, const Ref& ref, std::uint32_t fact) {
    const std::uint32_t at = flow_.register_of(pc, ref);
    if (at == ptx::kNone) return false;
    const std::uint32_t block = flow_.graph().block_of(pc);
    Bits facts = spread_.at_begin(block);
    if (facts.empty()) return false;
    for (std::uint32_t i = flow_.graph().blocks()[block].begin; i < pc; ++i) execute(facts, i);
    return test(facts, fact + at);
  }

  const RegisterFlow& flow_;
  Spread spread_;
};

// A loop: the code from the target of a backward jump to the jump; loops are contiguous.
struct Loop {
  std::uint32_t begin = 0, last = 0;
  [[nodiscard]] bool has(std::uint32_t pc) const { return begin <= pc && pc <= last; }
};

std::vector<Loop> loops_of(const Program& program) {
  std::map<std::uint32_t, std::uint32_t> last_of;  // by begin
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    if (to <= from) last_of[to] = std::max(last_of[to], from);
  };
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& instr = program.code[pc];
    if (branches(instr)) add(pc, instr.target);
    if (instr.kind != InstrKind::jump_table) continue;
    for (const std::uint32_t target : program.jump_tables[instr.table]) add(pc, target);
  }
  std::vector<Loop> loops;
  for (const auto& [begin, last] : last_of) loops.push_back({begin, last});
  return loops;
}

bool is_compare_and_swap(const Instr& instr) {
  return instr.kind == InstrKind::atomic && instr.modifiers.atom_op == ptx::AtomOp::cas;
}

// Follows the value of one load.  There are four facts about a register: it holds the value, or
// what was calculated from it; it holds the result of a comparison of those; that comparison tests
// the value; it holds what a compare-and-swap that expected the value has found.
class ReadUses {
 public:
  ReadUses(const RegisterFlow& flow, Origins& origins, const std::vector<Loop>& loops,
           std::uint32_t load)
      : flow_(flow),
        program_(flow.program()),
        origins_(origins),
        loops_(loops),
        load_(load),
        compared_(flow.registers()),
        looked_(2 * flow.registers()),
        found_(3 * flow.registers()) {}

  bool find_data_use() {
    follow();
    return is_data_;
  }
  // A value that was tested may still be the expected value.
  bool find_swap() {
    follows_what_was_looked_at_ = true;
    follow();
    return is_expected_;
  }

 private:
  [[nodiscard]] bool has(const Bits& facts, std::uint32_t fact, std::uint32_t pc,
                         const Ref& ref) const {
    const std::uint32_t at = flow_.register_of(pc, ref);
    return at != ptx::kNone && test(facts, fact + at);
  }
  [[nodiscard]] bool is_value(const Bits& facts, std::uint32_t pc, const Ref& ref) const {
    return has(facts, 0, pc, ref);
  }
  void follow() {
    Spread spread(flow_, 4 * flow_.registers());
    spread.run(flow_.graph().block_of(load_),
               [this](Bits& facts, std::uint32_t pc) { execute(facts, pc); });
  }
  void execute(Bits& facts, std::uint32_t pc);
  void move(Bits& facts, std::uint32_t pc) const;
  [[nodiscard]] bool looks(const Bits& facts, std::uint32_t pc) const;
  [[nodiscard]] bool uses_as_data(const Bits& facts, std::uint32_t pc) const;
  [[nodiscard]] bool leaves_loop(std::uint32_t branch) const;

  const RegisterFlow& flow_;
  const Program& program_;
  Origins& origins_;
  const std::vector<Loop>& loops_;
  std::uint32_t load_, compared_, looked_, found_;
  bool follows_what_was_looked_at_ = false;
  bool is_data_ = false, is_expected_ = false;
};

void ReadUses::execute(Bits& facts, std::uint32_t pc) {
  const Instr& instr = program_.code[pc];
  is_data_ |= uses_as_data(facts, pc);
  is_expected_ |= is_compare_and_swap(instr) && is_value(facts, pc, instr[AtomicOperand::value]);
  const bool decides = instr.kind == InstrKind::jump_table
                           ? is_value(facts, pc, instr[TargetOperand::index])
                           : has(facts, looked_, pc, instr.guard) ||
                                 (has(facts, compared_, pc, instr.guard) && leaves_loop(pc));
  const bool goes = instr.kind == InstrKind::branch || instr.kind == InstrKind::jump_table ||
                    instr.kind == InstrKind::ret || instr.kind == InstrKind::exit;
  if (goes && decides && !follows_what_was_looked_at_) {
    std::ranges::fill(facts, 0);
  } else {
    move(facts, pc);
  }
}

void ReadUses::move(Bits& facts, std::uint32_t pc) const {
  const Instr& instr = program_.code[pc];
  if (flow_.writes(pc).empty()) return;
  const bool is_load = instr.kind == InstrKind::load || instr.kind == InstrKind::atomic;
  const bool is_comparison = instr.opcode == Opcode::setp_ || instr.opcode == Opcode::set_;
  bool value = false, compared = false, looked = false;
  bool found = is_compare_and_swap(instr) && is_value(facts, pc, instr[AtomicOperand::value]);
  if (!is_load) {
    for (const std::uint32_t from : flow_.reads(pc)) {
      value |= test(facts, from);
      found |= test(facts, found_ + from);
      compared |= test(facts, compared_ + from);
      looked |= test(facts, looked_ + from);
    }
  }
  if (is_comparison && value) {
    value = false;
    compared = true;
    looked |= looks(facts, pc);
  } else if (instr.opcode == Opcode::selp_ && looked) {
    value = false;  // selected by a test of the value
  }
  const bool keeps = instr.guard.bank != Bank::none;
  if (keeps && has(facts, looked_, pc, instr.guard)) value = false;
  if (pc == load_) value = true;
  const auto set = [&](std::uint32_t fact, bool holds) {
    assign(facts, fact, holds || (keeps && test(facts, fact)));
  };
  for (const std::uint32_t to : flow_.writes(pc)) {
    set(to, value);
    set(found_ + to, found && !is_comparison);
    set(compared_ + to, compared && !value);
    set(looked_ + to, looked && !value);
  }
}

// Returns whether a comparison is with something that is not data itself, or with what a
// compare-and-swap has found where it expected the value.
bool ReadUses::looks(const Bits& facts, std::uint32_t pc) const {
  const Instr& instr = program_.code[pc];
  for (const CompareOperand operand : {CompareOperand::a, CompareOperand::b}) {
    const Ref& ref = instr[operand];
    if (is_value(facts, pc, ref) || has(facts, found_, pc, ref)) continue;
    if (origins_.is_loaded(pc, ref)) return false;
  }
  return true;
}

bool ReadUses::uses_as_data(const Bits& facts, std::uint32_t pc) const {
  const Instr& instr = program_.code[pc];
  const auto any_of = [&](auto... operands) {
    return (is_value(facts, pc, instr[operands]) || ...);
  };
  const auto any_element = [&] {
    using enum MemoryOperand;
    return any_of(value, value + 1, value + 2, value + 3);
  };
  if (has(facts, looked_, pc, instr.guard)) return false;
  switch (instr.kind) {
    case InstrKind::load: return any_of(MemoryOperand::address);
    case InstrKind::store:
      if (any_of(MemoryOperand::address)) return true;
      return any_element() && instr.modifiers.space != ptx::Space::local &&
             !origins_.is_local_address(pc, instr[MemoryOperand::address]);
    case InstrKind::atomic:
      // A compare-and-swap tests its operands.
      if (is_compare_and_swap(instr)) return any_of(AtomicOperand::address);
      return any_of(AtomicOperand::address, AtomicOperand::value, AtomicOperand::swap);
    case InstrKind::async_store: return any_of(MemoryOperand::address) || any_element();
    case InstrKind::copy:
      return any_of(CopyOperand::target, CopyOperand::source, CopyOperand::bytes);
    case InstrKind::bulk_copy:
      return any_of(BulkOperand::target, BulkOperand::source, BulkOperand::bytes);
    case InstrKind::group_load: return any_of(GroupOperand::descriptor);
    case InstrKind::tensor_copy:
      return any_of(TensorOperand::shared, TensorOperand::map, TensorOperand::coordinates);
    default: return false;
  }
}

// Returns whether a branch decides between repeating the load and leaving its loop, for the
// innermost loop that contains both.
bool ReadUses::leaves_loop(std::uint32_t branch) const {
  if (program_.code[branch].kind != InstrKind::branch) return false;
  std::uint32_t load = load_;
  while (load != ptx::kNone && flow_.function_of(load) != flow_.function_of(branch)) {
    load = flow_.call_of(flow_.function_of(load));
  }
  if (load == ptx::kNone) return false;
  const Loop* innermost = nullptr;
  for (const Loop& loop : loops_) {
    if (!loop.has(branch) || !loop.has(load)) continue;
    const bool is_inner =
        innermost == nullptr || loop.last - loop.begin < innermost->last - innermost->begin;
    if (is_inner) innermost = &loop;
  }
  if (innermost == nullptr) return false;
  return innermost->has(program_.code[branch].target) != innermost->has(branch + 1);
}

}  // namespace

bool is_relaxed_access(const Instr& instr) {
  if (instr.kind != InstrKind::load && instr.kind != InstrKind::store) return false;
  return instr.modifiers.order == ptx::Order::volatile_ ||
         instr.modifiers.order == ptx::Order::relaxed;
}

std::vector<bool> find_data_reads(const Program& program) {
  const auto has = [&](InstrKind kind) {
    return std::ranges::any_of(program.code, [&](const Instr& instr) {
      return instr.kind == kind && is_relaxed_access(instr);
    });
  };
  if (!has(InstrKind::store)) return {};
  std::vector<bool> data(program.code.size(), false);
  if (!has(InstrKind::load)) return data;
  const RegisterFlow flow(program);
  if (!flow.is_known()) return data;
  Origins origins(flow);
  const std::vector<Loop> loops = loops_of(program);
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& instr = program.code[pc];
    if (instr.kind != InstrKind::load || !is_relaxed_access(instr)) continue;
    data[pc] = ReadUses(flow, origins, loops, pc).find_data_use();
  }
  return data;
}

bool is_swap_guess(const Program& program, std::uint32_t pc) {
  if (program.code[pc].kind != InstrKind::load) return false;
  if (std::ranges::none_of(program.code, is_compare_and_swap)) return false;
  const RegisterFlow flow(program);
  if (!flow.is_known()) return false;
  Origins origins(flow);
  const std::vector<Loop> loops = loops_of(program);
  return ReadUses(flow, origins, loops, pc).find_swap() &&
         !ReadUses(flow, origins, loops, pc).find_data_use();
}

}  // namespace warpcheck::vgpu
