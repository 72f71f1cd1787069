#include "vgpu/machine/native/flow/uniform_rows.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "vgpu/program/operand_roles.hpp"
#include "vgpu/ptx/opcode.hpp"

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

bool is_32_or_64_bits(ptx::Type type) {
  switch (type) {
    case ptx::Type::b32:
    case ptx::Type::u32:
    case ptx::Type::s32:
    case ptx::Type::b64:
    case ptx::Type::u64:
    case ptx::Type::s64: return true;
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

UniformRows::UniformRows(const LiveRows& live, bool in_row)
    : live_(live), flow_(live.flow()), in_row_(in_row) {
  const std::size_t facts = flow_.graph().blocks().size() * flow_.registers();
  is_known_ = live.is_known() && facts != 0 && facts <= kFactsMax;
  if (!is_known_) return;
  solve();
  list_rows();
}

// Branches at which lanes may part are found by the facts, and change the facts where lanes meet.
void UniformRows::solve() {
  diverges_.assign(flow_.graph().blocks().size(), false);
  apart_.assign(flow_.graph().blocks().size(), {});
  do {
    follow_paths();
  } while (find_joins());
}

void UniformRows::follow_paths() {
  at_begin_.assign(flow_.graph().blocks().size(), {});
  const std::uint32_t first = flow_.graph().block_of(flow_.program().functions.front().entry);
  at_begin_[first].assign(flow_.registers(), {});
  vgpu::follow_paths(
      flow_.graph(), first,
      [this](std::uint32_t block) { return before(block, flow_.graph().blocks()[block].end); },
      [this](std::uint32_t next, const Facts& facts) { return join(next, facts); });
}

// Keeps the facts that hold on both paths.  Returns whether that removed any.
bool UniformRows::join(std::uint32_t block, const Facts& from) {
  Facts& into = at_begin_[block];
  bool changes = into.empty();
  if (changes) into = from;
  for (std::size_t at = 0; at < into.size(); ++at) {
    if (into[at] == from[at] || into[at].form == 0) continue;
    const Fact fact = into[at].form == from[at].form ? Fact{into[at].form} : Fact{};
    changes = changes || fact != into[at];
    into[at] = fact;
  }
  for (const std::uint32_t at : apart_[block]) {
    if (into[at].form == 0 || into[at].fixed_by != ptx::kNone) continue;
    into[at] = {};
    changes = true;
  }
  return changes;
}

// Returns the facts before the instruction at `pc`, or, at its end, after the block.
UniformRows::Facts UniformRows::before(std::uint32_t block, std::uint32_t pc) const {
  Facts facts = at_begin_[block];
  if (facts.empty()) return facts;
  for (std::uint32_t at = flow_.graph().blocks()[block].begin; at < pc; ++at) execute(facts, at);
  return facts;
}

void UniformRows::execute(Facts& facts, std::uint32_t pc) const {
  // Behind these, code is entered again: to check many ascending rows there would cost more than it
  // gains.
  const InstrKind kind = flow_.program().code[pc].kind;
  if (kind == InstrKind::barrier || kind == InstrKind::call || kind == InstrKind::ret) {
    for (Fact& fact : facts) {
      if (fact.form >= kAscending && fact.fixed_by == ptx::kNone) fact = {};
    }
  }
  const std::span<const std::uint32_t> writes = flow_.writes(pc);
  if (writes.empty()) return;
  const Fact fact = fact_of_results(facts, pc);
  for (const std::uint32_t to : writes) facts[to] = fact;
}

UniformRows::Fact UniformRows::fact_of_results(const Facts& facts, std::uint32_t pc) const {
  const Instr& instr = flow_.program().code[pc];
  if (instr.guard.bank != Bank::none) return {};
  bool uniform = true, fixed = true;
  for (const std::uint32_t from : flow_.reads(pc)) {
    uniform = uniform && facts[from].form == kUniform;
    fixed = fixed && facts[from].fixed_by != ptx::kNone;
  }
  switch (instr.kind) {
    case InstrKind::compute: break;
    case InstrKind::param:
    case InstrKind::local_address: return {kUniform, pc};
    case InstrKind::special: return fact_of_special(pc);
    case InstrKind::load: return uniform && loads_one_value(instr) ? Fact{kUniform} : Fact{};
    default: return {};
  }
  if (uniform) return {kUniform, fixed ? pc : ptx::kNone};
  const Step step = step_of_result(facts, pc);
  for (std::uint8_t form = kAscending; step && form < kFormsEnd; ++form) {
    if (*step != 1u << (form - kAscending)) continue;
    return {form, fixed && !widened(facts, pc) ? pc : ptx::kNone};
  }
  return {};
}

UniformRows::Fact UniformRows::fact_of_special(std::uint32_t pc) const {
  const ptx::SpecialRegister special = flow_.program().code[pc].special;
  switch (special) {
    case ptx::SpecialRegister::laneid: return {kAscending, pc};
    case ptx::SpecialRegister::tid_x: return in_row_ ? Fact{kAscending, pc} : Fact{};
    case ptx::SpecialRegister::tid_y:
    case ptx::SpecialRegister::tid_z: return in_row_ ? Fact{kUniform, pc} : Fact{};
    default: return is_fixed(special) ? Fact{kUniform, pc} : Fact{};
  }
}

// Returns the step of an operand, as step_of() does.
UniformRows::Step UniformRows::step(const Facts& facts, std::uint32_t pc, const Ref& ref) const {
  if (ref.bank == Bank::constant) return 0;
  if (ref.bank != Bank::word && ref.bank != Bank::wide) return std::nullopt;
  const std::uint8_t form = facts[flow_.register_of(pc, ref)].form;
  if (form == 0) return std::nullopt;
  return form == kUniform ? 0 : 1u << (form - kAscending);
}

// Returns the step of the product of a and b.
UniformRows::Step UniformRows::step_of_product(const Facts& facts, std::uint32_t pc) const {
  const Instr& instr = flow_.program().code[pc];
  const Ref &a = instr[ComputeOperand::a], &b = instr[ComputeOperand::b];
  const Step of_a = step(facts, pc, a), of_b = step(facts, pc, b);
  if (!of_a || !of_b) return std::nullopt;
  if (*of_a == 0 && *of_b == 0) return 0;
  const Ref& factor = *of_a == 0 ? a : b;
  if (factor.bank != Bank::constant) return std::nullopt;
  const bool wide =
      instr.modifiers.part == ptx::MulPart::lo && instr[ComputeOperand::d].bank == Bank::wide;
  std::uint64_t value = 0;
  std::memcpy(&value, flow_.program().constants.data() + factor.offset, wide ? 8 : 4);
  return (*of_a + *of_b) * value;
}

// Returns the step of the result of a compute instruction that does not have only uniform sources.
UniformRows::Step UniformRows::step_of_result(const Facts& facts, std::uint32_t pc) const {
  const Instr& instr = flow_.program().code[pc];
  const ptx::Modifiers& m = instr.modifiers;
  const Bank bank = instr[ComputeOperand::d].bank;
  if (!is_32_or_64_bits(m.type) || m.sat || m.carry_out || m.vector != 1) return std::nullopt;
  if (bank != Bank::word && bank != Bank::wide) return std::nullopt;
  const auto of = [&](ComputeOperand operand) { return step(facts, pc, instr[operand]); };
  const Step of_a = of(ComputeOperand::a);
  if (!of_a) return std::nullopt;
  switch (instr.opcode) {
    case ptx::Opcode::mov_: return of_a;
    case ptx::Opcode::cvta_:
      return m.space == ptx::Space::shared || m.space == ptx::Space::global ? of_a : std::nullopt;
    case ptx::Opcode::cvt_: return is_32_or_64_bits(m.source_type) && !m.pack ? of_a : std::nullopt;
    case ptx::Opcode::add_:
    case ptx::Opcode::sub_: {
      const Step of_b = of(ComputeOperand::b);
      if (!of_b) return std::nullopt;
      return instr.opcode == ptx::Opcode::add_ ? *of_a + *of_b : *of_a - *of_b;
    }
    case ptx::Opcode::shl_: {
      const Ref& amount = instr[ComputeOperand::b];
      if (amount.bank != Bank::constant) return std::nullopt;
      std::uint32_t bits = 0;
      std::memcpy(&bits, flow_.program().constants.data() + amount.offset, sizeof bits);
      return bits < 32 ? Step(*of_a << bits) : std::nullopt;
    }
    case ptx::Opcode::mul_:
    case ptx::Opcode::mad_: {
      if (m.part != ptx::MulPart::lo && m.part != ptx::MulPart::wide) return std::nullopt;
      const Step product = step_of_product(facts, pc);
      if (!product || instr.opcode == ptx::Opcode::mul_) return product;
      const Step of_c = of(ComputeOperand::c);
      return of_c ? Step(*product + *of_c) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::optional<UniformRows::Widened> UniformRows::widened(const Facts& facts,
                                                         std::uint32_t pc) const {
  const Instr& instr = flow_.program().code[pc];
  const ptx::Modifiers& m = instr.modifiers;
  const bool converts = instr.opcode == ptx::Opcode::cvt_;
  if (converts ? ptx::bytes_of(m.type) != 8 || ptx::bytes_of(m.source_type) != 4
               : m.part != ptx::MulPart::wide) {
    return std::nullopt;
  }
  const bool is_signed = ptx::is_signed(converts ? m.source_type : m.type);
  for (const ComputeOperand operand : {ComputeOperand::a, ComputeOperand::b}) {
    const Step of_operand = step(facts, pc, instr[operand]);
    if (!of_operand || *of_operand == 0) continue;
    return Widened{instr[operand], static_cast<std::uint32_t>(*of_operand), is_signed};
  }
  return std::nullopt;
}

// Finds where lanes meet that may part.  Returns whether there are more such places than before.
bool UniformRows::find_joins() {
  bool changes = false;
  for (std::uint32_t block = 0; block < at_begin_.size(); ++block) {
    if (diverges_[block] || flow_.graph().successors(block).size() < 2) continue;
    const std::uint32_t last = flow_.graph().blocks()[block].end - 1;
    const Facts facts = before(block, last);
    if (facts.empty()) continue;
    diverges_[block] = std::ranges::any_of(
        flow_.reads(last), [&](std::uint32_t from) { return facts[from].form != kUniform; });
    if (!diverges_[block]) continue;
    part_at(block);
    changes = true;
  }
  return changes;
}

// Follows lanes that have parted: those at the lowest place run first, until all are at one place.
void UniformRows::part_at(std::uint32_t block) {
  const std::span<const std::uint32_t> ways = flow_.graph().successors(block);
  std::set<std::uint32_t> waiting(ways.begin(), ways.end()), passed;
  std::vector<bool> written(flow_.registers());
  while (waiting.size() > 1) {
    const std::uint32_t runs = *waiting.begin();
    waiting.erase(waiting.begin());
    passed.insert(runs);
    const BlockGraph::Block& range = flow_.graph().blocks()[runs];
    for (std::uint32_t pc = range.begin; pc < range.end; ++pc) {
      for (const std::uint32_t to : flow_.writes(pc)) written[to] = true;
    }
    for (const std::uint32_t next : flow_.graph().successors(runs)) {
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
    const auto list = [&](const Ref& row) {
      const std::uint32_t number = flow_.register_of(pc, row);
      if (number == ptx::kNone || listed_for[number] == function) return;
      listed_for[number] = function;
      rows_[function].push_back(row);
    };
    // A function reads rows that others write: its parameters, and what it has called gives back.
    roles_of(instr).reads.for_each_in(instr.operands, list);
    roles_of(instr).writes.for_each_in(instr.operands, list);
  }
}

void UniformRows::move_to(std::uint32_t pc) {
  pc_ = pc;
  if (is_known_) now_ = before(flow_.graph().block_of(pc), pc);
}

void UniformRows::move_on() {
  if (!now_.empty()) execute(now_, pc_);
  ++pc_;
}

std::optional<std::uint32_t> UniformRows::step_of(const Ref& ref) const {
  if (now_.empty()) return std::nullopt;
  const Step found = step(now_, pc_, ref);
  return found ? std::optional(static_cast<std::uint32_t>(*found)) : std::nullopt;
}

bool UniformRows::is_uniform(const Ref& ref) const {
  if (ref.bank == Bank::constant) return true;
  if (now_.empty() || ref.bank == Bank::none) return false;
  return now_[flow_.register_of(pc_, ref)].form == kUniform;
}

bool UniformRows::makes_uniform() const {
  return !now_.empty() && fact_of_results(now_, pc_).form == kUniform;
}

std::optional<UniformRows::Widened> UniformRows::widened() const {
  if (now_.empty() || flow_.program().code[pc_].kind != InstrKind::compute) return std::nullopt;
  if (fact_of_results(now_, pc_).form < kAscending) return std::nullopt;
  return widened(now_, pc_);
}

std::vector<UniformRows::Unproven> UniformRows::unproven(std::uint32_t pc) {
  move_to(pc);
  std::vector<Unproven> found;
  if (now_.empty()) return found;
  for (const Ref& row : rows_[flow_.function_of(pc)]) {
    const Fact fact = now_[flow_.register_of(pc, row)];
    if (fact.form == 0 || fact.fixed_by != ptx::kNone || !live_.is_live(pc, row)) continue;
    found.push_back({row, fact.form == kUniform ? 0 : 1u << (fact.form - kAscending)});
  }
  return found;
}

}  // namespace warpcheck::vgpu
