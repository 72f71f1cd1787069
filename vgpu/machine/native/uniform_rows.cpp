#include "vgpu/machine/native/uniform_rows.hpp"

#include <algorithm>
#include <set>

#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {
namespace {

// The limit for the facts of all blocks, as for live rows.
constexpr std::size_t kFactsMax = std::size_t{1} << 20;

// Returns whether the register has one value for all lanes of a warp, as long as the block runs.
bool is_fixed(ptx::SpecialRegister special) {
  switch (special) {
    case ptx::SpecialRegister::ntid_x:
    case ptx::SpecialRegister::ntid_y:
    case ptx::SpecialRegister::ntid_z:
    case ptx::SpecialRegister::nctaid_x:
    case ptx::SpecialRegister::nctaid_y:
    case ptx::SpecialRegister::nctaid_z:
    case ptx::SpecialRegister::ctaid_x:
    case ptx::SpecialRegister::ctaid_y:
    case ptx::SpecialRegister::ctaid_z:
    case ptx::SpecialRegister::warpid:
    case ptx::SpecialRegister::warp_size: return true;
    default: return false;
  }
}

// Returns whether lanes that load from one address together load one value.  A generic address may
// be of local memory.
bool loads_one_value(const Instr& instr) {
  const ptx::Space space = instr.modifiers.space;
  return instr.modifiers.order == ptx::Order::weak &&
         (space == ptx::Space::shared || space == ptx::Space::global ||
          space == ptx::Space::constant);
}

}  // namespace

UniformRows::UniformRows(const LiveRows& live) : live_(live), flow_(live.flow()) {
  is_known_ = live.is_known() && flow_.blocks().size() * flow_.registers() <= kFactsMax;
  if (!is_known_) return;
  solve();
  list_rows();
}

// Branches at which lanes may part are found by the facts, and change the facts where lanes meet.
void UniformRows::solve() {
  parts_.assign(flow_.blocks().size(), false);
  apart_.assign(flow_.blocks().size(), {});
  do {
    follow_paths();
  } while (find_joins());
}

void UniformRows::follow_paths() {
  at_begin_.assign(flow_.blocks().size(), {});
  const std::uint32_t first = flow_.block_of(flow_.program().functions.front().entry);
  at_begin_[first].assign(flow_.registers(), kVarying);
  std::set<std::uint32_t> work{first};
  while (!work.empty()) {
    const std::uint32_t block = *work.begin();
    work.erase(work.begin());
    const Facts facts = before(block, flow_.blocks()[block].end);
    for (const std::uint32_t next : flow_.successors(block)) {
      if (join(next, facts)) work.insert(next);
    }
  }
}

// Keeps the facts that hold on both paths.  Returns whether that removed any.
bool UniformRows::join(std::uint32_t block, const Facts& from) {
  Facts& into = at_begin_[block];
  bool changes = into.empty();
  if (changes) into = from;
  for (std::size_t at = 0; at < into.size(); ++at) {
    if (into[at] == from[at] || into[at] == kVarying) continue;
    const std::uint32_t fact = from[at] == kVarying ? kVarying : kUniform;
    changes = changes || fact != into[at];
    into[at] = fact;
  }
  for (const std::uint32_t at : apart_[block]) {
    if (into[at] != kUniform) continue;
    into[at] = kVarying;
    changes = true;
  }
  return changes;
}

// Returns the facts before the instruction at `pc`, or, at its end, after the block.
UniformRows::Facts UniformRows::before(std::uint32_t block, std::uint32_t pc) const {
  Facts facts = at_begin_[block];
  if (facts.empty()) return facts;
  for (std::uint32_t at = flow_.blocks()[block].begin; at < pc; ++at) execute(facts, at);
  return facts;
}

void UniformRows::execute(Facts& facts, std::uint32_t pc) const {
  const std::span<const std::uint32_t> writes = flow_.writes(pc);
  if (writes.empty()) return;
  const std::uint32_t fact = fact_of_results(facts, pc);
  for (const std::uint32_t to : writes) facts[to] = fact;
}

std::uint32_t UniformRows::fact_of_results(const Facts& facts, std::uint32_t pc) const {
  const Instr& instr = flow_.program().code[pc];
  if (instr.guard.bank != Bank::none) return kVarying;
  const std::uint32_t fixed = kFixed + pc;
  std::uint32_t fact = fixed;
  for (const std::uint32_t from : flow_.reads(pc)) {
    if (facts[from] == kVarying) return kVarying;
    if (facts[from] == kUniform) fact = kUniform;
  }
  switch (instr.kind) {
    case InstrKind::compute: return fact;
    case InstrKind::param:
    case InstrKind::local_address: return fixed;
    case InstrKind::special: return is_fixed(instr.special) ? fixed : kVarying;
    case InstrKind::load: return loads_one_value(instr) ? kUniform : kVarying;
    default: return kVarying;
  }
}

// Finds where lanes meet that may part.  Returns whether there are more such places than before.
bool UniformRows::find_joins() {
  bool changes = false;
  for (std::uint32_t block = 0; block < at_begin_.size(); ++block) {
    if (parts_[block] || flow_.successors(block).size() < 2) continue;
    const std::uint32_t last = flow_.blocks()[block].end - 1;
    const Facts facts = before(block, last);
    if (facts.empty()) continue;
    parts_[block] = std::ranges::any_of(
        flow_.reads(last), [&](std::uint32_t from) { return facts[from] == kVarying; });
    if (!parts_[block]) continue;
    part_at(block);
    changes = true;
  }
  return changes;
}

// Follows lanes that have parted: those at the lowest place run first, until all are at one place.
void UniformRows::part_at(std::uint32_t block) {
  const std::span<const std::uint32_t> ways = flow_.successors(block);
  std::set<std::uint32_t> waiting(ways.begin(), ways.end()), passed;
  std::vector<bool> written(flow_.registers());
  while (waiting.size() > 1) {
    const std::uint32_t runs = *waiting.begin();
    waiting.erase(waiting.begin());
    passed.insert(runs);
    const RegisterFlow::Block& range = flow_.blocks()[runs];
    for (std::uint32_t pc = range.begin; pc < range.end; ++pc) {
      for (const std::uint32_t to : flow_.writes(pc)) written[to] = true;
    }
    for (const std::uint32_t next : flow_.successors(runs)) {
      if (!passed.contains(next)) waiting.insert(next);
    }
  }
  if (waiting.empty()) return;
  std::vector<std::uint32_t>& apart = apart_[*waiting.begin()];
  for (std::uint32_t at = 0; at < written.size(); ++at) {
    if (written[at]) apart.push_back(at);
  }
}

void UniformRows::list_rows() {
  const Program& program = flow_.program();
  std::vector<std::uint32_t> listed_for(flow_.registers(), ptx::kNone);
  rows_.resize(program.functions.size());
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& instr = program.code[pc];
    const std::uint32_t function = flow_.function_of(pc);
    roles_of(instr).writes.for_each_in(instr.operands, [&](const Ref& row) {
      const std::uint32_t number = flow_.register_of(pc, row);
      if (number == ptx::kNone || listed_for[number] == function) return;
      listed_for[number] = function;
      rows_[function].push_back(row);
    });
  }
}

void UniformRows::move_to(std::uint32_t pc) {
  pc_ = pc;
  if (is_known_) now_ = before(flow_.block_of(pc), pc);
}

void UniformRows::move_on() {
  if (!now_.empty()) execute(now_, pc_);
  ++pc_;
}

bool UniformRows::is_uniform(const Ref& ref) const {
  if (ref.bank == Bank::constant) return true;
  return !now_.empty() && ref.bank != Bank::none && now_[flow_.register_of(pc_, ref)] != kVarying;
}

bool UniformRows::makes_uniform() const {
  return !now_.empty() && fact_of_results(now_, pc_) != kVarying;
}

std::vector<Ref> UniformRows::unproven(std::uint32_t pc) {
  move_to(pc);
  std::vector<Ref> found;
  if (now_.empty()) return found;
  for (const Ref& row : rows_[flow_.function_of(pc)]) {
    if (now_[flow_.register_of(pc, row)] == kUniform && live_.is_live(pc, row)) {
      found.push_back(row);
    }
  }
  return found;
}

}  // namespace warpcheck::vgpu
