#include "vgpu/check/race/race_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/program/flow/next_instructions.hpp"
#include "vgpu/program/layout.hpp"
#include "vgpu/ptx/memory_order.hpp"

namespace warpcheck::vgpu {
namespace {

// The lock that a thread holds at a place, as the code shows it.
struct LockUse {
  std::uint32_t take_pc = 0, give_pc = 0;
  std::string name;       // of the variable; empty: not known
  bool acquires = false;  // when it is taken, or by a fence before the access
  bool releases = false;  // when it is given back, or by a fence after the access
};

bool may_take(const Instr& instr) {
  return instr.kind == InstrKind::atomic &&
         (instr.modifiers.atom_op == ptx::AtomOp::cas ||
          instr.modifiers.atom_op == ptx::AtomOp::exch) &&
         instr[AtomicOperand::old].bank != Bank::none;
}

bool may_give(const Instr& instr) {
  return instr.kind == InstrKind::atomic || instr.kind == InstrKind::store;
}

// The first operand of both kinds of instruction is the address.  Two registers with one provenance
// mostly hold the same address; constants are compared.
bool is_same_place(const Instr& one, const Instr& other) {
  if (one.displacement != other.displacement) return false;
  const Ref &a = one[MemoryOperand::address], &b = other[MemoryOperand::address];
  if (a == b) return true;
  const bool are_constant = a.bank == Bank::constant && b.bank == Bank::constant;
  return !are_constant && one.provenance != 0 && one.provenance == other.provenance;
}

class LockSearch {
 public:
  explicit LockSearch(const Program& program)
      : program_(program), call_of_(program.functions.size(), ptx::kNone) {
    for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
      const Instr& instr = program.code[pc];
      if (instr.kind == InstrKind::call) call_of_[instr.function] = pc;
    }
  }

  [[nodiscard]] std::optional<LockUse> find(std::uint32_t access) const {
    for (std::uint32_t at = access; at != ptx::kNone; at = call_of_[program_.function_of(at)]) {
      if (std::optional<LockUse> lock = find_around(access, at)) return lock;
    }
    return {};
  }

 private:
  // Returns the instruction of `function` that is `pc` or leads to it by calls; kNone: there is
  // none.
  [[nodiscard]] std::uint32_t lifted(std::uint32_t pc, std::uint32_t function) const {
    constexpr unsigned kDepthMax = 16;
    for (unsigned depth = 0; depth < kDepthMax && pc != ptx::kNone; ++depth) {
      if (program_.function_of(pc) == function) return pc;
      pc = call_of_[program_.function_of(pc)];
    }
    return ptx::kNone;
  }
  // Returns whether a branch behind `take` decides that `at` is reached before `take` is executed
  // again.
  [[nodiscard]] bool decides(std::uint32_t take, std::uint32_t at) const {
    for (std::uint32_t pc = take + 1; pc < at; ++pc) {
      const Instr& branch = program_.code[pc];
      if (branch.kind != InstrKind::branch) continue;
      if (reaches(branch.target, take, at) != reaches(pc + 1, take, at)) return true;
    }
    return false;
  }
  [[nodiscard]] bool reaches(std::uint32_t from, std::uint32_t take, std::uint32_t at) const {
    std::vector<bool> seen(program_.code.size(), false);
    std::vector<std::uint32_t> work{from};
    while (!work.empty()) {
      const std::uint32_t pc = work.back();
      work.pop_back();
      if (pc == at) return true;
      if (pc >= seen.size() || pc == take || seen[pc]) continue;
      seen[pc] = true;
      for_each_next(program_, pc, [&](std::uint32_t next) { work.push_back(next); });
    }
    return false;
  }
  // Returns whether an instruction that `fits` lies between two pcs of a function, or in what is
  // called there.
  template <typename Fits>
  [[nodiscard]] bool has_between(std::uint32_t first, std::uint32_t last, Fits fits) const {
    const std::uint32_t function = program_.function_of(first);
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      if (!fits(program_.code[pc])) continue;
      const std::uint32_t at = lifted(pc, function);
      if (at != ptx::kNone && first < at && at < last) return true;
    }
    return false;
  }

  //   at: the access, or the call that leads to it
  [[nodiscard]] std::optional<LockUse> find_around(std::uint32_t access, std::uint32_t at) const {
    const std::uint32_t function = program_.function_of(at);
    std::optional<LockUse> found;
    std::uint32_t taken_at = 0, given_at = 0;
    for (std::uint32_t take = 0; take < program_.code.size(); ++take) {
      if (!may_take(program_.code[take]) || take == access) continue;
      const std::uint32_t from = lifted(take, function);
      if (from == ptx::kNone || from >= at || (found && from < taken_at)) continue;
      if (!decides(from, at)) continue;
      const std::uint32_t give = find_give(take, at, access);
      if (give == ptx::kNone) continue;
      taken_at = from;
      given_at = lifted(give, function);
      found.emplace();
      found->take_pc = take;
      found->give_pc = give;
    }
    if (!found) return {};
    const auto is_fence = [](const Instr& instr) {
      return instr.kind == InstrKind::fence && !instr.modifiers.proxy;
    };
    const Instr &take = program_.code[found->take_pc], &give = program_.code[found->give_pc];
    found->acquires = ptx::acquires(take.modifiers.order) || has_between(taken_at, at, is_fence);
    found->releases = ptx::releases(give.modifiers.order) || has_between(at, given_at, is_fence);
    found->name = name_of_place(take);
    return found;
  }

  // Returns the first instruction behind `at` that gives back what `take` takes.
  [[nodiscard]] std::uint32_t find_give(std::uint32_t take, std::uint32_t at,
                                        std::uint32_t access) const {
    const std::uint32_t function = program_.function_of(at);
    std::uint32_t found = ptx::kNone, found_at = ptx::kNone;
    for (std::uint32_t give = 0; give < program_.code.size(); ++give) {
      if (give == take || give == access || !may_give(program_.code[give])) continue;
      if (!is_same_place(program_.code[take], program_.code[give])) continue;
      const std::uint32_t to = lifted(give, function);
      if (to == ptx::kNone || to <= at || to >= found_at) continue;
      found = give;
      found_at = to;
    }
    return found;
  }

  [[nodiscard]] std::string name_of_place(const Instr& instr) const {
    const Provenance& provenance = program_.provenances[instr.provenance];
    if (instr.provenance == 0 || provenance.sum.size() != 1) return {};
    const Root& root = program_.roots[provenance.sum[0].root];
    switch (root.kind) {
      case Root::Kind::shared: return demangled_variable(program_.shared_symbols[root.index].name);
      case Root::Kind::variable: return demangled_variable(program_.patches[root.index].name);
      case Root::Kind::parameter: break;
    }
    return {};
  }

  const Program& program_;
  std::vector<std::uint32_t> call_of_;  // by function
};

std::string place_text(const Program& program, std::uint32_t pc) {
  const ptx::SourceLocation& at = program.user_location(pc);
  if (at.file >= program.files.size()) return program.source_of(pc).text;
  const std::string_view file = program.files[at.file];
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), at.line);
}

}  // namespace

std::string missing_lock_fences(const Program& program, std::uint32_t one, std::uint32_t other) {
  if (program.functions.empty()) return {};
  const LockSearch search(program);
  const std::optional<LockUse> lock = search.find(one), also = search.find(other);
  if (!lock || !also) return {};
  if (!is_same_place(program.code[lock->take_pc], program.code[also->take_pc])) return {};
  const bool acquires = lock->acquires && also->acquires;
  const bool releases = lock->releases && also->releases;
  if (acquires && releases) return {};
  const std::string behind =
      fmt::format("behind its taking ({})", place_text(program, lock->take_pc));
  const std::string before =
      fmt::format("before it is given back ({})", place_text(program, lock->give_pc));
  const std::string where = acquires   ? before
                            : releases ? behind
                                       : fmt::format("{} and {}", behind, before);
  return fmt::format(
      "both are under the lock{}{}, whose atomics order nothing else: a fence is missing {}",
      lock->name.empty() ? "" : " ", lock->name, where);
}

}  // namespace warpcheck::vgpu
