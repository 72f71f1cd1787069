#include "vgpu/program/flow/lone_blocks.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {
namespace {

bool is_of_one_machine(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::special:
      return tells_place_or_time(instr.special) || instr.special == ptx::SpecialRegister::nsmid;
    case InstrKind::heap_allocate:
    case InstrKind::heap_free:
    case InstrKind::device_call:
    case InstrKind::bulk_copy:
    case InstrKind::async_store:
    case InstrKind::tensor_copy:
    case InstrKind::group_load:
    case InstrKind::group_pending: return true;
    default: return false;
  }
}

// The registers that may be read after the beginning of each basic block before they are written;
// an instruction with a guard may write nothing.
class LiveRegisters {
 public:
  explicit LiveRegisters(const RegisterFlow& flow)
      : flow_(flow), live_(flow.blocks().size(), std::vector<bool>(flow.registers())) {
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t block = flow.blocks().size(); block-- > 0;) {
        std::vector<bool> live = live_before(static_cast<std::uint32_t>(block));
        if (live == live_[block]) continue;
        live_[block] = std::move(live);
        grows = true;
      }
    }
  }

  [[nodiscard]] const std::vector<bool>& at(std::uint32_t block) const { return live_[block]; }

 private:
  [[nodiscard]] std::vector<bool> live_before(std::uint32_t block) const {
    std::vector<bool> live(flow_.registers());
    for (const std::uint32_t next : flow_.successors(block)) {
      std::transform(live.begin(), live.end(), live_[next].begin(), live.begin(),
                     std::logical_or());
    }
    const RegisterFlow::Block& code = flow_.blocks()[block];
    for (std::uint32_t pc = code.end; pc-- > code.begin;) pass(pc, live);
    return live;
  }
  void pass(std::uint32_t pc, std::vector<bool>& live) const {
    const Program& program = flow_.program();
    const Instr& instr = program.code[pc];
    const auto set = [&](const Ref& ref, bool value) {
      const std::uint32_t number = flow_.register_of(pc, ref);
      if (number != ptx::kNone) live[number] = value;
    };
    if (instr.guard.bank == Bank::none) {
      for (const std::uint32_t number : flow_.writes(pc)) live[number] = false;
      if (flow_.is_opaque(pc)) {
        for (const Ref& ref : destinations_of(program, instr)) set(ref, false);
      }
    }
    for (const std::uint32_t number : flow_.reads(pc)) live[number] = true;
    if (instr.kind != InstrKind::texture) return;
    const TextureInstr& texture = program.texture_instrs[instr.texture];
    for (const Ref& ref : {texture.object, texture.layer, texture.level}) set(ref, true);
    for (const auto* const refs : {&texture.at, &texture.dx, &texture.dy}) {
      for (const Ref& ref : *refs) set(ref, true);
    }
    if (texture.operation != TextureInstr::Operation::store) return;
    for (const Ref& ref : texture.values) set(ref, true);
  }

  const RegisterFlow& flow_;
  std::vector<std::vector<bool>> live_;  // by block, then by register
};

}  // namespace

bool reads_unwritten_register(const Program& program) {
  const RegisterFlow flow(program);
  if (!flow.is_known()) return true;
  const LiveRegisters live(flow);
  return std::ranges::count(live.at(flow.block_of(program.functions.front().entry)), true) != 0;
}

bool blocks_may_run_apart(const Program& program) {
  const bool is_whole = program.uses_heap || program.uses_clusters || program.has_grid_workspace;
  return !is_whole && std::ranges::none_of(program.code, is_of_one_machine) &&
         !reads_unwritten_register(program);
}

}  // namespace warpcheck::vgpu
