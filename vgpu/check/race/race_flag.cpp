#include "vgpu/check/race/race_flag.hpp"

#include <optional>
#include <vector>

#include "vgpu/check/order/value_paths.hpp"
#include "vgpu/program/flow/block_graph.hpp"
#include "vgpu/program/flow/next_instructions.hpp"
#include "vgpu/program/flow/read_uses.hpp"

namespace warpcheck::vgpu {
namespace {

bool is_relaxed_update(const Instr& instr) {
  return instr.kind == InstrKind::atomic && instr.modifiers.order == ptx::Order::relaxed;
}

// Which code lies behind which.
class CodeOrder {
 public:
  explicit CodeOrder(const Program& program) : program_(program), graph_(program) {}

  // Returns whether `behind` is in the function of `pc` and can run after it.
  [[nodiscard]] bool leads_to(std::uint32_t pc, std::uint32_t behind) {
    if (program_.function_of(pc) != program_.function_of(behind)) return false;
    const std::uint32_t block = graph_.block_of(pc), to = graph_.block_of(behind);
    return (block == to && pc < behind) || reached_from(block)[to];
  }

 private:
  // By block: whether it can follow this one.
  const std::vector<bool>& reached_from(std::uint32_t block) {
    if (from_ == block) return reached_;
    from_ = block;
    reached_.assign(graph_.blocks().size(), false);
    std::vector<std::uint32_t> open{block};
    while (!open.empty()) {
      const std::uint32_t one = open.back();
      open.pop_back();
      for (const std::uint32_t next : graph_.successors(one)) {
        if (reached_[next]) continue;
        reached_[next] = true;
        open.push_back(next);
      }
    }
    return reached_;
  }

  const Program& program_;
  const BlockGraph graph_;
  std::optional<std::uint32_t> from_;
  std::vector<bool> reached_;
};

bool writes_flag_behind(const Program& program, std::uint32_t write) {
  CodeOrder order(program);
  const std::uint32_t function = program.function_of(write);
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& instr = program.code[pc];
    const bool is_flag =
        instr.kind == InstrKind::store ? is_relaxed_access(instr) : is_relaxed_update(instr);
    if (is_flag && program.function_of(pc) == function && order.leads_to(write, pc)) return true;
  }
  return false;
}

bool reads_flag(const Program& program, std::uint32_t begin, std::uint32_t end, bool one_block) {
  for (std::uint32_t pc = begin; pc < end; ++pc) {
    const Instr& instr = program.code[pc];
    if (instr.kind == InstrKind::load && is_relaxed_access(instr)) return true;
    if (is_relaxed_update(instr) && (!one_block || changes_nothing(program, instr))) return true;
  }
  return false;
}

// Returns whether a loop that ends in front of `read` reads a flag.
bool polls_flag_before(const Program& program, std::uint32_t read, bool one_block) {
  CodeOrder order(program);
  for (std::uint32_t last = 0; last < read; ++last) {
    const Instr& jump = program.code[last];
    if (!branches(jump) || jump.target > last) continue;
    if (!reads_flag(program, jump.target, last, one_block)) continue;
    if (order.leads_to(last, read)) return true;
  }
  return false;
}

}  // namespace

bool is_handed_on_by_flag(const Program& writer, std::uint32_t write, const Program& reader,
                          std::uint32_t read, bool one_block) {
  return writes_flag_behind(writer, write) && polls_flag_before(reader, read, one_block);
}

bool waits_for_phase(const Program& program, std::uint32_t copy, std::uint32_t access) {
  for (std::uint32_t pc = copy; pc < access; ++pc) {
    const ptx::ObjectOp op = program.code[pc].modifiers.object_op;
    if (op == ptx::ObjectOp::test_wait || op == ptx::ObjectOp::try_wait) return true;
  }
  return false;
}

}  // namespace warpcheck::vgpu
