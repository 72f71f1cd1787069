#include "vgpu/program/flow/data_uses.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/program/matrix.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Space;

// Returns the operands that control what the instruction does.  A kind that is not listed here and
// is no compute instruction either has its own rule, or its values are not followed.
OperandSet deciding_operands(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::load:
    case InstrKind::store: return {MemoryOperand::address};
    case InstrKind::atomic: return {AtomicOperand::address};
    case InstrKind::warp_sync: return {WarpOperand::lane, WarpOperand::clamp, WarpOperand::members};
    case InstrKind::barrier: return {BarrierOperand::number, BarrierOperand::threads};
    case InstrKind::copy:
      return {CopyOperand::target, CopyOperand::source, CopyOperand::bytes, CopyOperand::ignores};
    case InstrKind::copy_group: return {CopyGroupOperand::groups_left};
    case InstrKind::jump_table: return {TargetOperand::index};
    default: return {};
  }
}

bool is_followed(InstrKind kind) {
  switch (kind) {
    case InstrKind::compute:
    case InstrKind::warp:
    case InstrKind::warp_sync:
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address:
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::atomic:
    case InstrKind::copy:
    case InstrKind::copy_group:
    case InstrKind::cluster_barrier:
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::jump_table:
    case InstrKind::call:
    case InstrKind::ret:
    case InstrKind::exit:
    case InstrKind::barrier:
    case InstrKind::fence:
    case InstrKind::sleep:
    case InstrKind::trap:
    case InstrKind::nop: return true;
    default: return false;
  }
}

// Returns whether an instruction of this kind changes nothing but registers, independently of other
// threads.
bool only_calculates(InstrKind kind) {
  return kind == InstrKind::compute || kind == InstrKind::special || kind == InstrKind::param ||
         kind == InstrKind::local_address || kind == InstrKind::nop || kind == InstrKind::branch ||
         kind == InstrKind::jump;
}

// The blocks between a branch and the place where its ways meet again, if threads only calculate
// there, without a loop.  Such a branch selects between values, like selp.  Blocks are laid out so
// that edges outside loops go forward.
class Choices {
 public:
  explicit Choices(const RegisterFlow& flow) : flow_(flow) {}

  struct Choice {
    std::vector<std::uint32_t> between;
    std::uint32_t meets = 0;
  };
  [[nodiscard]] std::optional<Choice> at(std::uint32_t pc) const {
    const std::uint32_t branching = flow_.graph().block_of(pc);
    std::set<std::uint32_t> ahead;
    if (!go_on(branching, ahead)) return std::nullopt;
    Choice choice;
    while (ahead.size() > 1) {
      const std::uint32_t next = *ahead.begin();
      ahead.erase(ahead.begin());
      if (!calculates(next) || !go_on(next, ahead)) return std::nullopt;
      choice.between.push_back(next);
    }
    choice.meets = *ahead.begin();
    return choice;
  }

 private:
  // Returns false if the path ends there, or goes back.
  bool go_on(std::uint32_t block, std::set<std::uint32_t>& ahead) const {
    const auto successors = flow_.graph().successors(block);
    ahead.insert(successors.begin(), successors.end());
    return !successors.empty() &&
           std::ranges::all_of(successors, [&](std::uint32_t to) { return to > block; });
  }

  [[nodiscard]] bool calculates(std::uint32_t block) const {
    const BlockGraph::Block& range = flow_.graph().blocks()[block];
    const auto code = std::span(flow_.program().code).subspan(range.begin, range.end - range.begin);
    return std::ranges::all_of(code, only_calculates, &Instr::kind);
  }

  const RegisterFlow& flow_;
};

// A forward analysis over all paths (Kildall, POPL 1973).
class DataFlow {
 public:
  explicit DataFlow(const Program& program) : flow_(program), code_(program.code) {}

  DataUse first() {
    if (!flow_.is_known()) return {flow_.obstacle(), false};
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      if (!is_followed(code_[pc].kind) || flow_.is_opaque(pc)) return {pc, false};
    }
    at_begin_.resize(flow_.graph().blocks().size());
    State& start = at_begin_[flow_.graph().block_of(flow_.program().functions[0].entry)];
    start.reached = true;
    start.data.assign(flow_.registers(), false);
    do {
      grows_ = false;
      for (std::uint32_t block = 0; block < at_begin_.size(); ++block) follow(block);
    } while (grows_);
    return {first_, true};
  }

 private:
  struct State {
    std::vector<bool> data;  // by register: it may hold data
    bool reached = false;
  };

  void raise(bool& known, bool is_so) {
    grows_ |= is_so && !known;
    known |= is_so;
  }

  void follow(std::uint32_t block) {
    if (!at_begin_[block].reached) return;
    std::vector<bool> data = at_begin_[block].data;
    const BlockGraph::Block& range = flow_.graph().blocks()[block];
    for (std::uint32_t pc = range.begin; pc < range.end; ++pc) {
      if (is_decided(pc, data)) first_ = std::min(first_, pc);
      execute(pc, data);
    }
    for (const std::uint32_t next : flow_.graph().successors(block)) join(at_begin_[next], data);
  }

  void join(State& into, const std::vector<bool>& data) {
    raise(into.reached, true);
    into.data.resize(data.size());
    for (std::uint32_t i = 0; i < data.size(); ++i) {
      if (!data[i] || into.data[i]) continue;
      into.data[i] = grows_ = true;
    }
  }

  [[nodiscard]] bool reads_data(std::uint32_t pc, const std::vector<bool>& data) const {
    return std::ranges::any_of(flow_.reads(pc), [&](std::uint32_t from) { return data[from]; });
  }

  [[nodiscard]] bool is_data(std::uint32_t pc, const Ref& ref,
                             const std::vector<bool>& data) const {
    const std::uint32_t number = flow_.register_of(pc, ref);
    return number != ptx::kNone && data[number];
  }

  // Returns whether a load may find data.
  [[nodiscard]] bool has_data(Space space) const {
    if (space == Space::shared) return shared_has_data_;
    return space != Space::local || local_has_data_;
  }

  void leave_data(Space space) {
    const bool everywhere = space == Space::generic;
    raise(shared_has_data_, everywhere || space == Space::shared);
    raise(local_has_data_, everywhere || space == Space::local);
  }

  void execute(std::uint32_t pc, std::vector<bool>& data) {
    const Instr& instr = code_[pc];
    const bool reads = reads_data(pc, data);
    bool gives = reads;
    switch (instr.kind) {
      case InstrKind::load: gives |= has_data(instr.modifiers.space); break;
      case InstrKind::special: gives |= depends_on_order(instr.special); break;
      case InstrKind::store:
        if (reads) leave_data(instr.modifiers.space);
        break;
      case InstrKind::atomic:
        gives |= has_data(instr.modifiers.space);
        if (gives) leave_data(instr.modifiers.space);
        break;
      case InstrKind::copy: leave_data(Space::shared); break;
      case InstrKind::branch:
        if (reads) choose(pc, data);
        return;
      default: break;
    }
    // If the guard is false, the old value stays.
    const bool stays = instr.guard.bank != Bank::none;
    for (const std::uint32_t to : flow_.writes(pc)) data[to] = gives || (stays && data[to]);
  }

  // Data decides which way is taken, so everything calculated on a way is data where the ways meet.
  void choose(std::uint32_t pc, const std::vector<bool>& before) {
    const auto choice = choices_.at(pc);
    if (!choice) return;
    std::vector<bool> data = before;
    for (const std::uint32_t block : choice->between) {
      const BlockGraph::Block& range = flow_.graph().blocks()[block];
      for (std::uint32_t at = range.begin; at < range.end; ++at) {
        for (const std::uint32_t to : flow_.writes(at)) data[to] = true;
      }
    }
    join(at_begin_[choice->meets], data);
  }

  [[nodiscard]] bool is_decided(std::uint32_t pc, const std::vector<bool>& data) const {
    const Instr& instr = code_[pc];
    // If the guard of a calculation is false, the old value stays, so the guard selects a value as
    // well.
    bool decided = instr.kind != InstrKind::compute && is_data(pc, instr.guard, data);
    if (instr.kind == InstrKind::branch) return decided && !choices_.at(pc);
    deciding_operands(instr).for_each_in(
        instr.operands, [&](const Ref& ref) { decided = decided || is_data(pc, ref, data); });
    return decided;
  }

  RegisterFlow flow_;
  Choices choices_{flow_};
  const std::vector<Instr>& code_;
  std::vector<State> at_begin_;  // by block
  bool shared_has_data_ = false, local_has_data_ = false;
  bool grows_ = false;
  std::uint32_t first_ = ptx::kNone;
};

// Returns whether the order of threads may affect the instruction; reads of times and places do not
// count here.
bool may_show_order(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::load:
    case InstrKind::store: return instr.modifiers.order != ptx::Order::weak;
    case InstrKind::barrier: return is_partial_barrier(instr);
    case InstrKind::warp_sync: return instr.opcode == ptx::Opcode::elect_;
    case InstrKind::atomic:
    case InstrKind::warp: return true;
    default: return !is_followed(instr.kind);
  }
}

}  // namespace

bool order_shows_in_times_alone(const Program& program) {
  return std::ranges::none_of(program.code, may_show_order);
}

DataUse find_data_use(const Program& program) { return DataFlow(program).first(); }

}  // namespace warpcheck::vgpu
