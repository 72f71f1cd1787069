#include "vgpu/program/emit/speculated_loads.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/opcode_row.hpp"

namespace warpcheck::vgpu {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;

// Limits: longer chains, and values that live longer, are not followed.
constexpr int kDepthMax = 16, kInstructionsMax = 2'000;

bool is_register(const ptx::Operand& operand, std::uint32_t reg) {
  return operand.kind == Kind::reg && operand.index == reg;
}

// Returns whether the instruction loads from a variable or takes its address.
bool names_variable(const ptx::Instruction& in) {
  if (in.operands.size() != 2) return false;
  const ptx::Operand& source = in.operands[1];
  if (in.opcode == Opcode::mov_) return source.kind == Kind::variable;
  const ptx::Space space = in.modifiers.space;
  return in.opcode == Opcode::ld_ && (space == ptx::Space::shared || space == ptx::Space::global) &&
         source.variable.scope != ptx::VariableRef::Scope::none;
}

// Returns whether the instruction has no effect besides its result, which depends only on its
// sources.
bool is_pure(const ptx::Instruction& in) {
  const ptx::Family family = ptx::row_of(in.opcode).family;
  const bool takes_carry =
      in.opcode == Opcode::addc_ || in.opcode == Opcode::subc_ || in.opcode == Opcode::madc_;
  if (family != ptx::Family::compute && family != ptx::Family::move) return false;
  if (takes_carry || in.modifiers.carry_out || in.guard != ptx::kNone) return false;
  if (!in.unsupported.empty() || in.operands.empty()) return false;
  if (in.operands.front().kind != Kind::reg) return false;
  using enum ptx::SpecialRegister;
  return std::ranges::all_of(in.operands, [](const ptx::Operand& operand) {
    return operand.kind != Kind::special || (operand.special >= tid_x && operand.special <= laneid);
  });
}

// Visits the registers in the first operand: those that the instruction writes, if it writes any.
template <class Visit>
void for_each_first(const ptx::Instruction& in, Visit visit) {
  if (in.operands.empty()) return;
  const ptx::Operand& first = in.operands.front();
  if (first.kind == Kind::reg) visit(first.index);
  for (const ptx::Operand& part : first.parts) {
    if (part.kind == Kind::reg) visit(part.index);
  }
}

bool names(const ptx::Operand& operand, std::uint32_t reg) {
  const bool has_register = operand.kind == Kind::reg || operand.kind == Kind::address;
  return (has_register && operand.index == reg) ||
         std::ranges::any_of(operand.parts,
                             [&](const ptx::Operand& part) { return names(part, reg); });
}

// Returns whether the instruction reads the register; writes do not count.
bool reads(const ptx::Instruction& in, std::uint32_t reg) {
  if (in.guard == reg) return true;
  const bool writes_first = is_pure(in) || in.opcode == Opcode::ld_;
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    if (i == 0 && writes_first && in.operands[0].kind != Kind::address) continue;
    if (names(in.operands[i], reg)) return true;
  }
  return false;
}

bool overwrites(const ptx::Instruction& in, std::uint32_t reg) {
  bool found = false;
  for_each_first(in, [&](std::uint32_t written) { found |= written == reg; });
  return found && in.guard == ptx::kNone;
}

}  // namespace

SpeculatedLoads::SpeculatedLoads(const ptx::Module& module, const ptx::Function& function,
                                 const ControlFlow& flow)
    : module_(module), function_(function), flow_(flow) {
  // Most functions have no candidates.
  const auto has = [&](auto is_one) { return std::ranges::any_of(function.body, is_one); };
  // The entry and the returns of a function also name the registers that are its parameters.
  const auto is_register = [](const ptx::Variable& one) {
    return one.first_register != ptx::kNone;
  };
  has_candidates_ = std::ranges::none_of(function.parameters, is_register) &&
                    std::ranges::none_of(function.results, is_register) &&
                    has([](const ptx::Instruction& in) {
                      return in.opcode == Opcode::selp_ || in.modifiers.type == ptx::Type::pred;
                    }) &&
                    has(names_variable);
  if (has_candidates_) list_occurrences();
}

std::uint32_t SpeculatedLoads::Block::rank(std::uint32_t position) const {
  return static_cast<std::uint32_t>(std::ranges::find(order, position) - order.begin());
}

std::vector<std::uint32_t> SpeculatedLoads::order(std::uint32_t number) {
  const std::uint32_t begin = flow_.begin_of(number), end = flow_.end_of(number);
  Block block{begin, end, std::vector<std::uint32_t>(end - begin)};
  std::iota(block.order.begin(), block.order.end(), begin);
  if (!has_candidates_) return block.order;
  for (std::uint32_t at = begin; at < end; ++at) {
    if (is_candidate(function_.body[at])) restrict(at, block);
  }
  return block.order;
}

const SpeculatedLoads::Condition* SpeculatedLoads::condition_of(std::uint32_t position) const {
  const auto found = conditions_.find(position);
  return found == conditions_.end() ? nullptr : &found->second;
}

const ptx::Variable* SpeculatedLoads::variable_of(const ptx::VariableRef& ref) const {
  switch (ref.scope) {
    case ptx::VariableRef::Scope::module: return &module_.variables.at(ref.index);
    case ptx::VariableRef::Scope::local: return &function_.locals.at(ref.index);
    default: return nullptr;
  }
}

// Returns whether it is a weak load of one element of a variable, at an address that is known to be
// in the variable.
bool SpeculatedLoads::is_candidate(const ptx::Instruction& in) const {
  if (in.opcode != Opcode::ld_ || in.guard != ptx::kNone || !in.unsupported.empty()) return false;
  if (in.modifiers.order != ptx::Order::weak || in.modifiers.vector != 1) return false;
  if (in.modifiers.space != ptx::Space::shared && in.modifiers.space != ptx::Space::global) {
    return false;
  }
  if (in.operands.size() != 2 || in.operands[0].kind != Kind::reg) return false;
  const ptx::Operand& address = in.operands[1];
  if (address.kind != Kind::address) return false;
  ptx::VariableRef ref = address.variable;
  std::int64_t offset = address.offset;
  if (address.index != ptx::kNone) {
    const auto definition = definition_of(address.index);
    if (!definition) return false;
    const ptx::Instruction& mov = function_.body[*definition];
    if (mov.opcode != Opcode::mov_ || mov.operands.size() != 2) return false;
    if (mov.operands[1].kind != Kind::variable) return false;
    ref = mov.operands[1].variable;
    offset += mov.operands[1].offset;
  }
  const ptx::Variable* variable = variable_of(ref);
  return variable != nullptr && offset >= 0 &&
         static_cast<std::uint64_t>(offset) + ptx::bytes_of(in.modifiers.type) <= variable->bytes;
}

void SpeculatedLoads::list_occurrences() {
  occurrences_.resize(function_.registers.size());
  for (std::uint32_t at = 0; at < function_.body.size(); ++at) {
    const ptx::Instruction& in = function_.body[at];
    if (in.guard != ptx::kNone) occurrences_[in.guard].push_back({at, false});
    for (std::size_t i = 0; i < in.operands.size(); ++i) {
      add_occurrences(in.operands[i], at, i == 0);
    }
  }
}

// The first operand is the written one, if the instruction writes.  An instruction that only reads
// it counts as a second definition, so its register is not changed.
void SpeculatedLoads::add_occurrences(const ptx::Operand& operand, std::uint32_t position,
                                      bool is_first) {
  const bool has_register = operand.kind == Kind::reg || operand.kind == Kind::address;
  if (has_register && operand.index != ptx::kNone) {
    occurrences_[operand.index].push_back({position, is_first && operand.kind == Kind::reg});
  }
  for (const ptx::Operand& part : operand.parts) add_occurrences(part, position, is_first);
}

std::optional<std::uint32_t> SpeculatedLoads::definition_of(std::uint32_t reg) const {
  std::optional<std::uint32_t> definition;
  for (const Occurrence& occurrence : occurrences_[reg]) {
    if (!occurrence.is_written) continue;
    if (definition) return std::nullopt;
    definition = occurrence.position;
  }
  return definition;
}

std::uint32_t SpeculatedLoads::block_of(std::uint32_t position) const {
  std::uint32_t block = 0;
  while (flow_.end_of(block) <= position) ++block;
  return block;
}

std::size_t SpeculatedLoads::count_reads(std::uint32_t reg) const {
  std::set<std::uint32_t> positions;
  for (const Occurrence& occurrence : occurrences_[reg]) {
    if (reads(function_.body[occurrence.position], reg)) positions.insert(occurrence.position);
  }
  return positions.size();
}

bool SpeculatedLoads::is_live(std::uint32_t reg, std::uint32_t block) const {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> open{block};
  while (!open.empty()) {
    const std::uint32_t one = open.back();
    open.pop_back();
    if (flow_.is_end(one) || !seen.insert(one).second) continue;
    bool is_over = false;
    for (std::uint32_t at = flow_.begin_of(one); at < flow_.end_of(one) && !is_over; ++at) {
      if (reads(function_.body[at], reg)) return true;
      is_over = overwrites(function_.body[at], reg);
    }
    if (is_over) continue;
    const std::vector<std::uint32_t>& next = flow_.successors()[one];
    open.insert(open.end(), next.begin(), next.end());
  }
  return false;
}

SpeculatedLoads::Condition SpeculatedLoads::matters(std::uint32_t reg, std::uint32_t position,
                                                    int depth) {
  if (depth > kDepthMax) return {};
  std::optional<Condition> all;
  // Follows all paths from here until the value is read no more.
  std::set<std::uint32_t> seen, uses;
  const std::size_t uses_of_register = count_reads(reg);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{block_of(position), position + 1}};
  while (!open.empty()) {
    const auto [block, begin] = open.back();
    open.pop_back();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> written;
    bool is_over = false;
    for (std::uint32_t at = begin; at < flow_.end_of(block) && !is_over; ++at) {
      const ptx::Instruction& in = function_.body[at];
      if (++looked_at_ > kInstructionsMax) return {};
      if (reads(in, reg)) {
        written_.insert(written.begin(), written.end());
        const Condition one = matters_to(in, at, reg, depth);
        // The value matters if it matters to one of the uses.
        if (all) {
          Condition both;
          std::ranges::set_intersection(*all, one, std::back_inserter(both));
          *all = std::move(both);
        } else {
          all = one;
        }
        uses.insert(at);
        if (all->empty() || uses.size() == uses_of_register) return *all;
      }
      for_each_first(in, [&](std::uint32_t other) { written.emplace_back(other, at); });
      is_over = overwrites(in, reg);
    }
    if (is_over) continue;
    for (const std::uint32_t next : flow_.successors()[block]) {
      if (!is_live(reg, next)) continue;
      written_.insert(written.begin(), written.end());
      if (seen.insert(next).second) open.emplace_back(next, flow_.begin_of(next));
    }
  }
  return all.value_or(Condition{});
}

SpeculatedLoads::Condition SpeculatedLoads::matters_to(const ptx::Instruction& use,
                                                       std::uint32_t position, std::uint32_t reg,
                                                       int depth) {
  if (!is_pure(use)) return {};
  Condition condition = matters(use.operands[0].index, position, depth + 1);
  const auto add = [&](const ptx::Operand& other, bool negated) {
    if (other.kind != Kind::reg || is_register(other, reg) || other.negated) return;
    const Literal literal{other.index, negated};
    const auto at = std::ranges::lower_bound(condition, literal);
    if (at == condition.end() || *at != literal) condition.insert(at, literal);
  };
  const std::vector<ptx::Operand>& operands = use.operands;
  const bool is_or = use.opcode == Opcode::or_;
  if ((is_or || use.opcode == Opcode::and_) && use.modifiers.type == ptx::Type::pred) {
    add(is_register(operands[1], reg) ? operands[2] : operands[1], is_or);
  } else if (use.opcode == Opcode::selp_ && !is_register(operands[3], reg)) {
    const bool is_a = is_register(operands[1], reg);
    if (is_a != is_register(operands[2], reg)) add(operands[3], !is_a);
  }
  return condition;
}

bool SpeculatedLoads::stands_between(std::uint32_t reg, bool is_written, std::uint32_t load,
                                     std::uint32_t position, const Block& block) const {
  const std::uint32_t first = block.rank(load), last = block.rank(position);
  return std::ranges::any_of(occurrences_[reg], [&](const Occurrence& occurrence) {
    if (is_written && !occurrence.is_written) return false;
    if (occurrence.position < block.begin || occurrence.position >= block.end) return false;
    const std::uint32_t rank = block.rank(occurrence.position);
    return first <= rank && rank < last;
  });
}

bool SpeculatedLoads::collect(std::uint32_t reg, std::uint32_t use, std::uint32_t load,
                              const Block& block, std::vector<std::uint32_t>& moved) const {
  if (!stands_between(reg, true, load, use, block)) return true;
  const auto definition = definition_of(reg);
  if (!definition || *definition == load) return false;
  if (std::ranges::find(moved, *definition) != moved.end()) return true;
  const ptx::Instruction& in = function_.body[*definition];
  if (!is_pure(in) || stands_between(reg, false, load, *definition, block)) return false;
  if (moved.size() >= kDepthMax) return false;
  for (std::size_t i = 1; i < in.operands.size(); ++i) {
    const ptx::Operand& source = in.operands[i];
    if (!source.parts.empty()) return false;
    if (source.kind == Kind::reg && !collect(source.index, *definition, load, block, moved)) {
      return false;
    }
  }
  moved.push_back(*definition);
  return true;
}

void SpeculatedLoads::move_above(std::uint32_t load, const std::vector<std::uint32_t>& moved,
                                 Block& block) const {
  for (const std::uint32_t position : moved) {
    const auto from = std::ranges::find(block.order, position);
    const auto to = std::ranges::find(block.order, load);
    std::rotate(to, from, from + 1);
  }
}

// Returns whether the register has the same value wherever the load's value is used, and is known,
// or can be computed, before the load.
bool SpeculatedLoads::is_known_in(const Literal& literal, std::uint32_t load,
                                  const Block& block) const {
  if (!definition_of(literal.reg)) return false;
  for (auto at = written_.lower_bound({literal.reg, 0});
       at != written_.end() && at->first == literal.reg; ++at) {
    const bool is_behind = at->second >= block.begin && at->second < block.end &&
                           block.rank(at->second) > block.rank(load);
    if (!is_behind) return false;
  }
  return true;
}

void SpeculatedLoads::restrict(std::uint32_t load, Block& block) {
  written_.clear();
  looked_at_ = 0;
  Condition condition;
  for (const Literal& literal : matters(function_.body[load].operands[0].index, load, 0)) {
    std::vector<std::uint32_t> moved;
    if (!is_known_in(literal, load, block)) continue;
    if (!collect(literal.reg, block.order.back(), load, block, moved)) continue;
    move_above(load, moved, block);
    condition.push_back(literal);
  }
  if (!condition.empty()) conditions_[load] = std::move(condition);
}

}  // namespace warpcheck::vgpu
