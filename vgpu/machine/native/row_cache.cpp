#include "vgpu/machine/native/row_cache.hpp"

#include <algorithm>

#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu::native {
namespace {

bool reads(const Instr& instr, const Ref& row) {
  bool found = false;
  roles_of(instr).reads.for_each_in(instr.operands, [&](const Ref& ref) { found |= ref == row; });
  return found;
}

bool writes(const Instr& instr, const Ref& row) {
  bool found = false;
  roles_of(instr).writes.for_each_in(instr.operands, [&](const Ref& ref) { found |= ref == row; });
  return found;
}

}  // namespace

std::uint32_t RowCache::next_use(const Ref& row) const {
  for (std::uint32_t pc = state.pc + 1; pc < state.end; ++pc) {
    if (reads(code_[pc], row)) return pc;
    if (overwrites(code_[pc]) && writes(code_[pc], row)) break;
  }
  return ptx::kNone;
}

bool RowCache::outlasts_block(const Ref& row) const {
  for (std::uint32_t pc = state.pc + 1; pc < state.end; ++pc) {
    if (overwrites(code_[pc]) && writes(code_[pc], row)) return false;
  }
  // If lanes diverge at a branch, the interpreter executes the branch again.
  const InstrKind last = code_[state.end - 1].kind;
  const bool branches = last == InstrKind::branch || last == InstrKind::jump;
  return live_.is_live(branches && state.end - 1 != state.pc ? state.end - 1 : state.end, row);
}

bool RowCache::place(RowPlan& plan) const {
  const std::uint32_t count = registers(plan.row);
  const CachedRow* const before = find(plan.row.row);
  if (before != nullptr && before->constant.bank == Bank::none && registers(*before) == count) {
    plan.row.first = before->first;
    return plan.is_cached = true;
  }
  std::vector<bool> taken(first_vector_ + vectors_);
  const auto take = [&](const CachedRow& row) {
    if (row.constant.bank != Bank::none) return;
    std::fill_n(taken.begin() + row.first, registers(row), true);
  };
  std::ranges::for_each(state.rows, take);
  for (const RowPlan& other : state.plans) {
    if (other.is_cached) take(other.row);
  }
  for (std::uint32_t first = first_vector_; first + count <= taken.size(); ++first) {
    const auto begin = taken.begin() + first;
    if (std::find(begin, begin + count, true) != begin + count) continue;
    plan.row.first = first;
    return plan.is_cached = true;
  }
  return false;
}

CachedRow* RowCache::find_victim() {
  CachedRow* victim = nullptr;
  std::uint32_t last_use = 0;
  for (CachedRow& row : state.rows) {
    const std::uint32_t use = next_use(row.row);
    const bool may_go = row.constant.bank == Bank::none && !reads(code_[state.pc], row.row);
    if (!may_go || (victim != nullptr && use < last_use)) continue;
    victim = &row;
    last_use = use;
  }
  return victim;
}

RowPlan RowCache::plan_constant(const Ref& row, const Ref& constant) {
  RowPlan plan{.row = {.row = row, .constant = constant}, .is_stored = outlasts_block(row)};
  plan.is_cached = next_use(row) != ptx::kNone;
  plan.row.is_stored = plan.is_stored;
  state.plans.push_back(plan);
  return plan;
}

std::vector<CachedRow> RowCache::take_uniform_results() {
  std::vector<CachedRow> taken;
  std::erase_if(state.rows, [&](const CachedRow& row) {
    const bool is_taken =
        (row.constant.bank != Bank::none || row.is_uniform) && writes(code_[state.pc], row.row);
    if (is_taken && !row.is_stored) taken.push_back(row);
    return is_taken;
  });
  return taken;
}

const CachedRow* RowCache::find(const Ref& row) const {
  const auto found = std::ranges::find(state.rows, row, &CachedRow::row);
  return found == state.rows.end() ? nullptr : &*found;
}

void RowCache::end_instruction() {
  for (const RowPlan& plan : state.plans) {
    std::erase_if(state.rows, [&](const CachedRow& row) { return row.row == plan.row.row; });
    if (plan.is_cached) state.rows.push_back(plan.row);
  }
  state.plans.clear();
  std::erase_if(state.rows, [&](const CachedRow& row) { return next_use(row.row) == ptx::kNone; });
}

bool RowCache::has_reader(std::uint32_t pc) const {
  bool found = false;
  roles_of(code_[pc]).writes.for_each_in(code_[pc].operands, [&](const Ref& ref) {
    found |= ref.bank != Bank::none && live_.is_live(pc + 1, ref);
  });
  return found;
}

}  // namespace warpcheck::vgpu::native
