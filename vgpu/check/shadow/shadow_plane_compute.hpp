// ShadowPlane: instructions that compute rows from rows.
#pragma once

#include "vgpu/check/shadow/shadow_plane.hpp"
#include "vgpu/program/multimem.hpp"

namespace warpcheck::vgpu {

// Reports a decision for each lane whose operand is not plain.
template <class Domain>
void ShadowPlane<Domain>::check_lanes(const Ref& ref, std::uint32_t lanes,
                                      ShadowDecision decision) {
  if (ref.bank == Bank::predicate) {
    auto& predicates = current_.warp->registers.predicates(current_.frame.index_of_predicate(ref));
    for_each_lane(predicates.lost & lanes, [&](unsigned lane) {
      domain_.decided(here(lane), decision, predicates.site);
      use_outcome(predicates, lane);
    });
    return;
  }
  if (!is_register(ref) || current_.warp->registers.cells(ref).empty()) return;
  for_each_lane(lanes, [&](unsigned lane) {
    std::uint32_t where = kTorn;
    if (!current_.warp->registers.is_plain(current_.frame, ref, lane, where))
      domain_.decided(here(lane), decision, where);
  });
}

// The guard of an instruction decides for all lanes that are there whether they execute it.
template <class Domain>
void ShadowPlane<Domain>::check_guard() {
  if (current_.instr->guard.bank == Bank::none) return;
  check_lanes(current_.instr->guard, current_.step.mask, ShadowDecision::branch);
}

template <class Domain>
void ShadowPlane<Domain>::use_outcome(ShadowPredicates<Value>& predicates, unsigned lane) {
  if constexpr (kFollowsOutcomes) {
    const auto& [program, pc] = places_[predicates.site];
    if (program != nullptr) domain_.outcome_used(step_at(*program, pc, current_.step.place, lane));
    predicates.make_plain(1u << lane);
  }
}

// The outcomes that an instruction takes for anything but a selection or another predicate.
template <class Domain>
void ShadowPlane<Domain>::use_outcomes() {
  if constexpr (kFollowsOutcomes) {
    const Instr& instr = *current_.instr;
    if (instr.kind == InstrKind::compute) {
      const ShadowRule::Kind kind = rule_of(*current_.step.program, current_.step.pc).kind;
      if (kind == ShadowRule::Kind::select || kind == ShadowRule::Kind::predicates ||
          kind == ShadowRule::Kind::compare) {
        return;
      }
    }
    roles_of(instr).reads.for_each_in(instr.operands, [&](const Ref& ref) {
      if (ref.bank == Bank::predicate)
        check_lanes(ref, current_.step.active, ShadowDecision::operand);
    });
  }
}

template <class Domain>
void ShadowPlane<Domain>::on_step(const InstrStep& step) {
  const Instr& instr = step.program->code[step.pc];
  current_.step = step;
  current_.instr = &instr;
  current_.rule = nullptr;
  current_.frame = {step.registers, step.warp};
  current_.warp = &warp_of(step.place);
  current_.site = kNoSite;
  check_guard();
  if (step.active == 0) return;
  use_outcomes();
  switch (instr.kind) {
    case InstrKind::compute: return begin_compute();
    case InstrKind::warp:
    case InstrKind::warp_sync:
      return current_.warp->meetings.begin(domain_, step, current_.warp->registers, site(),
                                           [&](unsigned lane) { return here(lane); });
    case InstrKind::load:
    case InstrKind::group_load:
    case InstrKind::store:
    case InstrKind::atomic:
    case InstrKind::copy:
    case InstrKind::tensor_copy: return begin_memory();
    case InstrKind::bulk_copy: return is_multimem(instr) ? begin_other() : begin_memory();
    default: return begin_other();
  }
}

template <class Domain>
const ShadowRule& ShadowPlane<Domain>::rule_of(const Program& program, std::uint32_t pc) {
  if (&program != last_program_) {
    std::vector<ShadowRule>& rules = rules_[&program];
    if (rules.empty()) {
      for (const Instr& instr : program.code) {
        rules.push_back(instr.kind == InstrKind::compute ? shadow_rule_of(instr) : ShadowRule{});
      }
      if constexpr (requires { Domain::literal(std::uint64_t{}, ptx::Type{}); }) {
        const std::vector<std::uint8_t> literals = exact_literals_of(program);
        for (std::size_t at = 0; at < rules.size(); ++at) rules[at].exact_literals = literals[at];
      }
    }
    last_program_ = &program;
    last_rules_ = &rules;
  }
  return (*last_rules_)[pc];
}

template <class Domain>
void ShadowPlane<Domain>::begin_compute() {
  const ShadowRule& rule = rule_of(*current_.step.program, current_.step.pc);
  const Instr& instr = *current_.instr;
  switch (rule.kind) {
    case ShadowRule::Kind::move:
      return move_row(instr[ComputeOperand::d], instr[ComputeOperand::a]);
    case ShadowRule::Kind::pack: return pack(false);
    case ShadowRule::Kind::unpack: return pack(true);
    case ShadowRule::Kind::select: return select();
    case ShadowRule::Kind::predicates: return combine_predicates();
    case ShadowRule::Kind::unknown: return lose_results(lanes_with_data(current_.step.active));
    case ShadowRule::Kind::compare:
    case ShadowRule::Kind::set:
    case ShadowRule::Kind::bits:
    case ShadowRule::Kind::calculate: current_.rule = &rule; return gather(rule);
  }
}

// Reads the operands of every lane and element, before the instruction overwrites one.
template <class Domain>
void ShadowPlane<Domain>::gather(const ShadowRule& rule) {
  current_.lost = current_.calculated = {};
  const bool lifts = rule.kind == ShadowRule::Kind::calculate && Domain::lifts(rule.operation);
  const std::uint32_t some = lifts ? current_.step.active : lanes_with_data(current_.step.active);
  for (std::uint32_t element = 0; element < rule.elements; ++element) {
    current_.calculated[element] = some;
    for (std::size_t source = 0; source < rule.sources && some != 0; ++source)
      gather_source(rule, source, some, element);
  }
  current_.moved_parts.clear();
  current_.moved_bits = rule.kind == ShadowRule::Kind::bits && some != 0 ? move_bits(some) : 0;
  const Ref& with = (*current_.instr)[CompareOperand::c];
  if (rule.kind == ShadowRule::Kind::compare && with.bank == Bank::predicate)
    current_.combined = current_.frame.predicate_of(with);
}

template <class Domain>
void ShadowPlane<Domain>::gather_source(const ShadowRule& rule, std::size_t source,
                                        std::uint32_t lanes, std::uint32_t element) {
  const Ref& ref = (*current_.instr)[kComputeSources[rule.packs ? 1 - element : source]];
  const ptx::Type type = rule.types[source];
  const std::uint32_t bytes = std::max(ptx::bytes_of(type), 1u),
                      from = rule.packs ? 0 : element * bytes;
  if (ref.bank == Bank::predicate || bytes > 8) {
    for_each_lane(lanes, [&](unsigned lane) { current_.operands[element][lane][source] = {}; });
    return;
  }
  if (rule.elements == 1 && gather_row(ref, type, source, lanes, element)) return;
  for_each_lane(lanes, [&](unsigned lane) {
    gather_operand(read_operand(ref, lane, from, bytes, type),
                   current_.frame.bits_of(ref, lane, from, bytes), type, source, lane, element);
  });
}

// A bf16 is the upper half of a float, whose other half is 0.
template <class Domain>
typename ShadowPlane<Domain>::Reading ShadowPlane<Domain>::read_operand(
    const Ref& ref, unsigned lane, std::uint32_t from, std::uint32_t bytes, ptx::Type type) const {
  const Reading reading =
      current_.warp->registers.read(current_.frame, ref, lane, from, bytes, kTorn);
  if constexpr (requires(const Value& value) { Domain::widened(value); }) {
    if (type != ptx::Type::f32 || reading.state != ShadowState::lost || !is_register(ref))
      return reading;
    const Cells& cells = current_.warp->registers.cells(ref);
    const std::uint64_t at = (current_.frame.byte_of(ref, lane) + from) / 2;
    const auto low = cells.cell(at), high = cells.cell(at + 1);
    const bool is_upper = low.state == ShadowState::plain && high.state == ShadowState::value &&
                          high.bytes == 2 && current_.frame.bits_of(ref, lane, from, 2) == 0;
    const std::optional<Value> value = is_upper ? Domain::widened(high.value) : std::nullopt;
    if (value) return {.state = ShadowState::value, .value = *value};
  }
  return reading;
}

// Reads whole registers: words, or two words each.  Returns false if the operands are no such.
template <class Domain>
bool ShadowPlane<Domain>::gather_row(const Ref& ref, ptx::Type type, std::size_t source,
                                     std::uint32_t lanes, std::uint32_t element) {
  const std::uint32_t bytes = ptx::bytes_of(type);
  const bool is_wide = ref.bank == Bank::wide || (ref.bank == Bank::constant && bytes == 8);
  if (bytes != (is_wide ? 8 : 4)) return false;
  const std::byte* const bits_row = row_of(*current_.frame.banks, ref);
  const typename Cells::Word* const row =
      is_register(ref) ? current_.warp->registers.cells(ref).row(current_.frame.byte_of(ref, 0))
                       : nullptr;
  for_each_lane(lanes, [&](unsigned lane) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bits_row + lane * std::size_t{bytes}, is_wide ? 8 : 4);
    const typename Cells::Word* const word =
        row == nullptr ? nullptr : row + (is_wide ? std::size_t{2} : std::size_t{1}) * lane;
    if (word != nullptr && !is_wide && Cells::is_whole_word(*word) &&
        is_of_type<Domain>(word->first.value, type)) {
      Operand& operand = current_.operands[element][lane][source];
      operand.is_plain = false;
      operand.bits = bits;
      operand.value = word->first.value;
    } else if (word == nullptr) {
      gather_operand({}, bits, type, source, lane, element);
    } else {
      gather_operand(read_operand(ref, lane, 0, bytes, type), bits, type, source, lane, element);
    }
  });
  return true;
}

template <class Domain>
void ShadowPlane<Domain>::gather_operand(const Reading& given, std::uint64_t bits, ptx::Type type,
                                         std::size_t source, unsigned lane, std::uint32_t element) {
  const Reading typed = as_type(given, type);
  const bool is_trusted = typed.state == ShadowState::lost && Domain::kTrustsBits;
  const Reading& reading = is_trusted ? kPlainReading : typed;
  Operand& operand = current_.operands[element][lane][source];
  operand.is_plain = reading.state == ShadowState::plain;
  operand.bits = bits;
  if (reading.state == ShadowState::value) {
    operand.value = reading.value;
    return;
  }
  std::optional<Value> value;
  if constexpr (requires { Domain::literal(bits, type); }) {
    if (operand.is_plain && (current_.rule->exact_literals >> source & 1u) != 0)
      value = Domain::literal(bits, type);
  }
  if (!value) value = value_of(reading, bits, type);
  operand.value = value.value_or(Value{});
  if (value) return;
  current_.lost[element] |= 1u << lane;
  const bool is_known = reading.state == ShadowState::lost && reading.site != kTorn;
  current_.lost_at[element][lane] = is_known ? reading.site : site();
}

template <class Domain>
std::optional<typename Domain::Value> ShadowPlane<Domain>::value_of(const Reading& reading,
                                                                    std::uint64_t bits,
                                                                    ptx::Type type) {
  switch (as_type(reading, type).state) {
    case ShadowState::plain: return domain_.constant(bits, type);
    case ShadowState::value: return reading.value;
    case ShadowState::lost: return std::nullopt;
  }
  return std::nullopt;
}

// What bits are that are read as a number of a type.
template <class Domain>
typename ShadowPlane<Domain>::Reading ShadowPlane<Domain>::as_type(const Reading& reading,
                                                                   ptx::Type type) {
  const bool is_other =
      reading.state == ShadowState::value && !is_of_type<Domain>(reading.value, type);
  return is_other ? Reading{ShadowState::lost, {}, kTorn} : reading;
}

template <class Domain>
void ShadowPlane<Domain>::on_step_end(const InstrStep& step) {
  if (current_.rule == nullptr || step.active == 0) return;
  const ShadowRule& rule = *current_.rule;
  current_.frame = {step.registers, step.warp};
  switch (rule.kind) {
    case ShadowRule::Kind::compare: compare(rule); break;
    case ShadowRule::Kind::set: set_numbers(rule); break;
    default: calculate(rule); break;
  }
  current_.rule = nullptr;
}

template <class Domain>
void ShadowPlane<Domain>::calculate(const ShadowRule& rule) {
  const Ref& to = (*current_.instr)[ComputeOperand::d];
  ShadowRegisters<Value>& registers = current_.warp->registers;
  if (!is_register(to)) return;
  const std::uint32_t bytes = ptx::bytes_of(rule.operation.result),
                      row_bytes = ShadowRegisters<Value>::bytes_of(to);
  const bool fits = bytes >= 2 && bytes <= 8, is_row = rule.elements == 1 && bytes == row_bytes;
  const std::uint32_t lanes = current_.step.active & ~current_.moved_bits;
  const std::uint32_t calculated = current_.calculated[0] | current_.calculated[1];
  for_each_lane(is_row ? lanes & ~calculated : lanes,
                [&](unsigned lane) { registers.make_plain(current_.frame, to, lane); });
  typename Cells::Word* words = nullptr;  // of the result, if it is words
  for (std::uint32_t element = 0; element < rule.elements; ++element) {
    for_each_lane(lanes & current_.calculated[element], [&](unsigned lane) {
      const std::span<const Operand> operands(current_.operands[element][lane].data(),
                                              rule.sources);
      const bool is_lost = (current_.lost[element] >> lane & 1u) != 0;
      const std::uint64_t at = current_.frame.byte_of(to, lane) + element * bytes;
      std::optional<Value> value;
      if (!is_lost && fits) {
        const std::uint64_t result = current_.frame.bits_of(to, lane, element * bytes, bytes);
        value = domain_.apply(here(lane), rule.operation, operands, &result);
      }
      if (value && is_row && bytes == Cells::kWordBytes) {
        if (words == nullptr)
          words = registers.cells(to).writable_row(current_.frame.byte_of(to, 0));
        words[lane] = Cells::word_of(*value, bytes, 0);
      } else if (value) {
        registers.cells(to).set(at, bytes, *value);
      } else if (const auto parts = current_.moved_parts.find(lane);
                 parts != current_.moved_parts.end()) {
        put_parts(to, lane, parts->second);
      } else if (depends_on_data(operands, is_lost)) {
        const std::uint32_t where = is_lost ? current_.lost_at[element][lane] : kTorn;
        registers.cells(to).lose(at, fits ? bytes : row_bytes, where != kTorn ? where : site());
      } else if (is_row) {
        registers.make_plain(current_.frame, to, lane);
      }
    });
  }
}

// Returns whether a result of these operands may depend on data.
//   is_lost: one of them has no value
template <class Domain>
bool ShadowPlane<Domain>::depends_on_data(std::span<const Operand> operands, bool is_lost) {
  return std::ranges::any_of(operands, [&](const Operand& one) {
    if constexpr (requires { Domain::is_data(one.value); }) {
      return !one.is_plain && (is_lost || Domain::is_data(one.value));
    } else {
      return !one.is_plain;
    }
  });
}

template <class Domain>
void ShadowPlane<Domain>::move_row(const Ref& to, const Ref& from) {
  ShadowRegisters<Value>& registers = current_.warp->registers;
  if (!is_register(to)) return;
  const bool is_plain = !is_register(from) || registers.cells(from).empty();
  if (is_plain && registers.cells(to).empty()) return;
  for_each_lane(current_.step.active, [&](unsigned lane) {
    if (!is_register(from)) return registers.make_plain(current_.frame, to, lane);
    const std::uint64_t target = current_.frame.byte_of(to, lane);
    const std::uint64_t source = current_.frame.byte_of(from, lane);
    const std::uint32_t bytes = ShadowRegisters<Value>::bytes_of(to);
    if (to.bank == from.bank && target == source) return;
    if (to.bank != from.bank) registers.make_plain(current_.frame, to, lane);
    registers.cells(to).copy(target, registers.cells(from), source,
                             std::min(bytes, ShadowRegisters<Value>::bytes_of(from)));
  });
}

// Of two words that are put together, the lower one may be that of a value whose exponent the code
// has changed in the upper one.
template <class Domain>
void ShadowPlane<Domain>::put_together(Cells& words, unsigned lane) const {
  if constexpr (requires(const Value& value) { Domain::rescaled(value, std::uint64_t{}); }) {
    const auto low = words.cell(0), next = words.cell(1);
    const bool is_lower = low.state == ShadowState::value && low.bytes == 8 && low.part == 0 &&
                          next.state == ShadowState::value && next.part == 1 &&
                          next.value == low.value;
    if (!is_lower || words.read(0, 8, kTorn).state == ShadowState::value) return;
    const auto bits_of = [&](ComputeOperand operand) {
      return current_.frame.bits_of((*current_.instr)[operand], lane, 0, 4);
    };
    const std::optional<Value> value =
        Domain::rescaled(low.value, bits_of(ComputeOperand::b) << 32 | bits_of(ComputeOperand::a));
    if (value) words.set(0, 8, *value);
  }
}

// mov d, {a, b ...} and mov {d, e ...}, a: parts are of equal size.
template <class Domain>
void ShadowPlane<Domain>::pack(bool unpacks) {
  const Instr& instr = *current_.instr;
  ShadowRegisters<Value>& registers = current_.warp->registers;
  const std::uint32_t count = std::max<std::uint32_t>(instr.modifiers.vector, 1);
  const std::uint32_t part = ptx::bytes_of(instr.modifiers.type) / count;
  if (part * count > 8) return lose_results(lanes_with_data(current_.step.active));
  const Ref& whole = instr[unpacks ? ComputeOperand::a : ComputeOperand::d];
  for_each_lane(current_.step.active, [&](unsigned lane) {
    Cells moved;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Ref& one = unpacks ? whole : instr[kComputeSources[i]];
      if (!is_register(one)) continue;
      const std::uint64_t from = current_.frame.byte_of(one, lane) + (unpacks ? i * part : 0);
      moved.copy(std::uint64_t{i} * part, registers.cells(one), from, part);
    }
    if (!unpacks) {
      put_together(moved, lane);
      registers.make_plain(current_.frame, whole, lane);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const Ref& one = unpacks ? instr[kUnpackedParts[i]] : whole;
      if (!is_register(one)) continue;
      if (unpacks) registers.make_plain(current_.frame, one, lane);
      const std::uint64_t to = current_.frame.byte_of(one, lane) + (unpacks ? 0 : i * part);
      registers.cells(one).copy(to, moved, std::uint64_t{i} * part, part);
    }
  });
}

// Returns the type of one side of a selection: as the instruction says, or as that of the other
// side, whatever was compared.
template <class Domain>
ptx::Type ShadowPlane<Domain>::selected_type(const Reading& other,
                                             const ShadowComparison<Value>& comparison) const {
  const ptx::Type type = current_.instr->modifiers.type;
  if (ptx::is_float(type) || other.state == ShadowState::plain) return type;
  if constexpr (requires { Domain::type_of(other.value); }) {
    if (other.state == ShadowState::value && Domain::type_of(other.value) != ptx::Type::none)
      return Domain::type_of(other.value);
  }
  return comparison.type;
}

// Returns the value of a selection by a predicate that is lost; nothing: it has none.
template <class Domain>
auto ShadowPlane<Domain>::selected(const ShadowPredicates<Value>& predicates, unsigned lane)
    -> std::optional<Value> {
  if (predicates.compared == nullptr || !(*predicates.compared)[lane].is_known) return std::nullopt;
  const Instr& instr = *current_.instr;
  const ShadowComparison<Value>& comparison = (*predicates.compared)[lane];
  const bool is_float = ptx::is_float(instr.modifiers.type);
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  const auto reading_of = [&](const Ref& ref) {
    return current_.warp->registers.read(current_.frame, ref, lane, 0, bytes, kTorn);
  };
  const std::array<Reading, 2> readings{reading_of(instr[ComputeOperand::a]),
                                        reading_of(instr[ComputeOperand::b])};
  // Integers that a comparison of floats selects are no values of such a domain.
  const bool has_value = std::ranges::any_of(
      readings, [](const Reading& one) { return one.state == ShadowState::value; });
  if (kFollowsOutcomes && !has_value && !is_float) return std::nullopt;
  const auto value_in = [&](std::size_t i, ComputeOperand operand) {
    const Reading& reading = readings[i];
    const bool trusts = Domain::kTrustsBits && reading.state == ShadowState::lost;
    return value_of(trusts ? kPlainReading : reading,
                    current_.frame.bits_of(instr[operand], lane, 0, bytes),
                    selected_type(readings[1 - i], comparison));
  };
  const std::optional<Value> if_true = value_in(0, ComputeOperand::a),
                             if_false = value_in(1, ComputeOperand::b);
  if (!if_true || !if_false) return std::nullopt;
  return domain_.select(here(lane), comparison, *if_true, *if_false);
}

// selp: d is a where the predicate c holds, else b.
template <class Domain>
void ShadowPlane<Domain>::select() {
  const Instr& instr = *current_.instr;
  ShadowRegisters<Value>& registers = current_.warp->registers;
  const Ref &to = instr[ComputeOperand::d], &by = instr[ComputeOperand::c];
  const Ref &yes = instr[ComputeOperand::a], &no = instr[ComputeOperand::b];
  if (!is_register(to)) return;
  const std::uint32_t holds = by.bank == Bank::predicate ? current_.frame.predicate_of(by) : ~0u;
  auto* const predicates = by.bank == Bank::predicate
                               ? &registers.predicates(current_.frame.index_of_predicate(by))
                               : nullptr;
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  for_each_lane(current_.step.active, [&](unsigned lane) {
    const bool is_known = predicates == nullptr || (predicates->lost >> lane & 1u) == 0;
    const std::optional<Value> value = is_known ? std::nullopt : selected(*predicates, lane);
    if (value) {
      registers.make_plain(current_.frame, to, lane);
      return registers.cells(to).set(current_.frame.byte_of(to, lane), bytes, *value);
    }
    if (!is_known && !Domain::kTrustsBits) {
      registers.make_plain(current_.frame, to, lane);
      return registers.lose(current_.frame, to, lane, predicates->site);
    }
    const bool has_same_bits =
        current_.frame.bits_of(yes, lane, 0, bytes) == current_.frame.bits_of(no, lane, 0, bytes);
    if (!is_known && !has_same_bits) use_outcome(*predicates, lane);
    Cells moved;
    const Ref& chosen = (holds >> lane & 1u) != 0 ? yes : no;
    const std::uint32_t row = ShadowRegisters<Value>::bytes_of(to);
    if (is_register(chosen))
      moved.copy(0, registers.cells(chosen), current_.frame.byte_of(chosen, lane), row);
    registers.cells(to).copy(current_.frame.byte_of(to, lane), moved, 0, row);
  });
}

// Returns the lanes of which an operand is not plain.
template <class Domain>
std::uint32_t ShadowPlane<Domain>::lanes_with_data(std::uint32_t lanes) {
  const Instr& instr = *current_.instr;
  ShadowRegisters<Value>& registers = current_.warp->registers;
  std::uint32_t found = 0;
  roles_of(instr).reads.for_each_in(instr.operands, [&](const Ref& ref) {
    if (ref.bank == Bank::predicate) {
      found |= registers.predicates(current_.frame.index_of_predicate(ref)).lost;
    } else if (is_register(ref)) {
      const auto* const row = registers.cells(ref).row(current_.frame.byte_of(ref, 0));
      const std::size_t words = ref.bank == Bank::wide ? 2 : 1;
      for_each_lane(row == nullptr ? 0 : lanes & ~found, [&](unsigned lane) {
        const auto* const word = row + words * lane;
        const auto is_plain = [](const auto& one) {
          return !one.is_split && one.first.state == ShadowState::plain;
        };
        if (!is_plain(word[0]) || !is_plain(word[words - 1])) found |= 1u << lane;
      });
    }
  });
  return found & lanes;
}

// The results of these lanes are lost, those of others plain.
template <class Domain>
void ShadowPlane<Domain>::lose_results(std::uint32_t lanes) {
  ShadowRegisters<Value>& registers = current_.warp->registers;
  for (const Ref& ref : destinations_of(*current_.step.program, *current_.instr)) {
    if (ref.bank == Bank::predicate) {
      auto& predicates = registers.predicates(current_.frame.index_of_predicate(ref));
      predicates.make_plain(current_.step.active);
      predicates.lose(lanes, site());
    } else if (is_register(ref)) {
      for_each_lane(current_.step.active, [&](unsigned lane) {
        (lanes >> lane & 1u) != 0 ? registers.lose(current_.frame, ref, lane, site())
                                  : registers.make_plain(current_.frame, ref, lane);
      });
    }
  }
}

}  // namespace warpcheck::vgpu
