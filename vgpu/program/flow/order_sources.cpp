#include "vgpu/program/flow/order_sources.hpp"

#include <algorithm>

#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::AtomOp;
using ptx::Type;

bool is_strong(const Instr& instr) {
  const bool accesses = instr.kind == InstrKind::load || instr.kind == InstrKind::store;
  return accesses && instr.modifiers.order != ptx::Order::weak;
}

bool gives_old_value(const Instr& instr) { return instr[AtomicOperand::old].bank != Bank::none; }

// Finds out whether the old value of the atomic at `pc` is unused: it goes only to registers from
// which only further registers are computed.  The analysis covers all paths.  A register that is
// overwritten holds the value no more, which matters for registers shared by consecutive function
// calls.
class OldValues {
 public:
  explicit OldValues(const Program& program) : flow_(program) {
    const auto count = static_cast<std::uint32_t>(program.code.size());
    for (std::uint32_t pc = 0; flow_.is_known() && pc < count; ++pc) {
      if (flow_.is_opaque(pc)) opaque_.push_back(pc);
    }
  }

  [[nodiscard]] bool is_used(std::uint32_t pc) const {
    // The registers that an opaque instruction reads are not listed.
    if (!flow_.is_known() || !opaque_.empty()) return true;
    std::vector<Holds> at_begin(flow_.graph().blocks().size());
    std::vector<std::uint32_t> changed{flow_.graph().block_of(pc)};
    at_begin[changed.front()].assign(flow_.registers(), false);
    while (!changed.empty()) {
      const std::uint32_t block = changed.back();
      changed.pop_back();
      Holds holds = at_begin[block];
      if (is_used_in(block, pc, holds)) return true;
      for (const std::uint32_t next : flow_.graph().successors(block)) {
        if (join(at_begin[next], holds)) changed.push_back(next);
      }
    }
    return false;
  }

 private:
  using Holds = std::vector<bool>;  // by register

  bool is_used_in(std::uint32_t block, std::uint32_t pc, Holds& holds) const {
    const BlockGraph::Block& range = flow_.graph().blocks()[block];
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      const Instr& instr = flow_.program().code[at];
      const bool reads =
          std::ranges::any_of(flow_.reads(at), [&](std::uint32_t from) { return holds[from]; });
      if (reads && instr.kind != InstrKind::compute) return true;
      // If the guard is false, the old value stays.
      const bool stays = instr.guard.bank != Bank::none;
      for (const std::uint32_t to : flow_.writes(at)) {
        holds[to] = reads || at == pc || (stays && holds[to]);
      }
    }
    return false;
  }

  // Returns false if it was already known.
  static bool join(Holds& into, const Holds& holds) {
    if (into.empty()) {
      into = holds;
      return std::ranges::find(holds, true) != holds.end();
    }
    bool grows = false;
    for (std::size_t i = 0; i < holds.size(); ++i) {
      if (!holds[i] || into[i]) continue;
      into[i] = grows = true;
    }
    return grows;
  }

  RegisterFlow flow_;
  std::vector<std::uint32_t> opaque_;
};

// Atomics are not covered here; they are examined together.
std::string_view of_instruction(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::load:
    case InstrKind::store:
      return is_strong(instr) ? "shares a value without a barrier" : std::string_view{};
    case InstrKind::bulk_copy:
    case InstrKind::tensor_copy:
    case InstrKind::async_store: return "copies in bulk, which an mbarrier completes";
    default: return beyond_accesses(instr);
  }
}

}  // namespace

std::string_view beyond_accesses(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::special:
      return depends_on_order(instr.special) ? "reads when or where a thread runs"
                                             : std::string_view{};
    case InstrKind::warp: return "looks at the lanes that happen to be active";
    case InstrKind::warp_sync:
      return instr.opcode == ptx::Opcode::elect_ ? "elects a lane" : std::string_view{};
    case InstrKind::barrier:
      return is_partial_barrier(instr) ? "meets a part of its block at a barrier"
                                       : std::string_view{};
    case InstrKind::barrier_object: return "waits at an mbarrier";
    case InstrKind::group_load:
    case InstrKind::tensor_memory:
    case InstrKind::group_pending: return "multiplies matrices asynchronously";
    case InstrKind::heap_allocate:
    case InstrKind::heap_free: return "allocates from the device's heap";
    case InstrKind::device_call: return "calls the device's runtime";
    case InstrKind::print: return "prints";
    case InstrKind::refusal: return "cannot be run";
    default: return {};
  }
}

bool tells_place_or_time(ptx::SpecialRegister special) {
  using enum ptx::SpecialRegister;
  switch (special) {
    case clock:
    case clock_hi:
    case clock64:
    case globaltimer:
    case globaltimer_lo:
    case globaltimer_hi:
    case smid: return true;
    default: return false;
  }
}

bool depends_on_order(ptx::SpecialRegister special) {
  return special == ptx::SpecialRegister::warpid || tells_place_or_time(special);
}

bool is_partial_barrier(const Instr& barrier) {
  const Bank number = barrier[BarrierOperand::number].bank;
  const bool is_fixed = number == Bank::none || number == Bank::constant;
  return barrier[BarrierOperand::threads].bank != Bank::none || barrier.modifiers.arrive ||
         !is_fixed;
}

bool orders_memory(const Instr& atomic) {
  return atomic.modifiers.order != ptx::Order::relaxed &&
         atomic.modifiers.order != ptx::Order::weak;
}

std::optional<Reduction> reduction_of(const Instr& instr) {
  if (instr.kind != InstrKind::atomic || instr.modifiers.vector > 1) return std::nullopt;
  const ptx::Modifiers& m = instr.modifiers;
  Type type = m.type;
  switch (m.atom_op) {
    case AtomOp::add:  // two's complement addition
      if (type == Type::s32) type = Type::u32;
      if (type == Type::s64) type = Type::u64;
      if (type == Type::u32 || type == Type::u64) return Reduction{m.atom_op, type};
      return std::nullopt;
    case AtomOp::min:
    case AtomOp::max:
      if (type == Type::u32 || type == Type::s32 || type == Type::u64 || type == Type::s64)
        return Reduction{m.atom_op, type};
      return std::nullopt;
    case AtomOp::and_:
    case AtomOp::or_:
    case AtomOp::xor_:
      if (type == Type::b32 || type == Type::b64) return Reduction{m.atom_op, type};
      return std::nullopt;
    default: return std::nullopt;
  }
}

std::vector<bool> unused_old_values(const Program& program) {
  const OldValues values(program);
  std::vector<bool> unused(program.code.size());
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& instr = program.code[pc];
    unused[pc] =
        instr.kind == InstrKind::atomic && (!gives_old_value(instr) || !values.is_used(pc));
  }
  return unused;
}

OrderSource find_order_source(const Program& program) {
  std::optional<OldValues> old_values;
  std::optional<Reduction> reduction;
  std::optional<std::uint32_t> fence;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& instr = program.code[pc];
    if (const std::string_view what = of_instruction(instr); !what.empty()) return {pc, what};
    if (instr.kind == InstrKind::fence && !instr.modifiers.proxy &&
        instr.opcode != ptx::Opcode::griddepcontrol_)
      fence = pc;
    if (instr.kind != InstrKind::atomic) continue;
    const std::optional<Reduction> own = reduction_of(instr);
    if (!own) return {pc, "is an atomic operation whose order matters"};
    if (reduction && *reduction != *own)
      return {pc, "is an atomic operation beside another kind of them"};
    reduction = own;
    if (orders_memory(instr)) return {pc, "is an atomic operation that orders memory"};
    if (!gives_old_value(instr)) continue;
    if (!old_values) old_values.emplace(program);
    if (old_values->is_used(pc)) return {pc, "takes the old value of an atomic operation"};
  }
  if (fence && reduction) return {*fence, "is a fence beside atomic operations"};
  return {};
}

}  // namespace warpcheck::vgpu
