#include "vgpu/program/instr_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/program/emit/frame.hpp"
#include "vgpu/program/layout.hpp"
#include "vgpu/program/matrix.hpp"
#include "vgpu/program/operand_roles.hpp"
#include "vgpu/program/unpacking.hpp"
#include "vgpu/text/half.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Type;

constexpr std::uint64_t kHexFrom = 1u << 16;  // greater numbers of no arithmetic type are in hex

// Of a float of 2 bytes.
std::string text_of_narrow(Type type, std::uint64_t bits) {
  const auto half = static_cast<std::uint16_t>(bits);
  const bool is_half = type == Type::f16 || type == Type::f16x2;
  return fmt::format("{}", is_half ? float_of_half(half) : float_of_bfloat16(half));
}

// Of a value in a register, or a constant, of so many bytes.
std::string text_of_bits(Type type, std::uint64_t bits, std::uint32_t row_bytes) {
  const std::uint32_t bytes = ptx::bytes_of(type);
  if (type == Type::pred) return (bits & 1) != 0 ? "true" : "false";
  if (type == Type::f32 && row_bytes == 4) {
    return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  if ((type == Type::f16 || type == Type::bf16) && row_bytes == 2) {
    return text_of_narrow(type, bits);
  }
  if ((type == Type::f16x2 || type == Type::bf16x2) && row_bytes == 4) {
    return fmt::format("{{{}, {}}}", text_of_narrow(type, bits), text_of_narrow(type, bits >> 16));
  }
  if (type == Type::f64 && row_bytes == 8) return fmt::format("{}", std::bit_cast<double>(bits));
  if (ptx::is_signed(type) && bytes != 0) {
    const unsigned unused = 64 - 8 * std::min(bytes, row_bytes);
    const std::int64_t number = static_cast<std::int64_t>(bits << unused) >> unused;
    const bool may_be_address = number > INT64_C(0xffffffff);
    return may_be_address ? fmt::format("0x{:x}", number) : fmt::format("{}", number);
  }
  const bool is_number = type == Type::u8 || type == Type::u16 || type == Type::u32;
  return is_number || bits < kHexFrom ? fmt::format("{}", bits) : fmt::format("0x{:x}", bits);
}

std::uint32_t row_bytes(const Ref& row) { return row.bank == Bank::wide ? 8 : 4; }

// The type of a source: the second one, if the mnemonic has two.
Type source_type(const Instr& instr) {
  const ptx::Modifiers& modifiers = instr.modifiers;
  return modifiers.source_type != Type::none ? modifiers.source_type : modifiers.type;
}

bool is_memory(InstrKind kind) {
  return kind == InstrKind::load || kind == InstrKind::store || kind == InstrKind::atomic ||
         kind == InstrKind::async_store;
}

bool compares(const Instr& instr) {
  return instr.opcode == ptx::Opcode::setp_ && instr.kind == InstrKind::compute;
}

void drop_absent(std::vector<Ref>& rows) {
  std::erase_if(rows, [](const Ref& row) { return row.bank == Bank::none; });
}

std::vector<Ref> elements_of(const Instr& instr) {
  std::vector<Ref> rows;
  for (std::size_t i = 0; i < kElementsMax; ++i) rows.push_back(instr[MemoryOperand::value + i]);
  drop_absent(rows);
  return rows;
}

// The registers that are read and those that are written, as far as they are rows of the frame.
struct Rows {
  std::vector<Ref> reads, writes;
};

Rows rows_of(const Program& program, const Instr& instr) {
  Rows rows;
  if (is_matrix_product(instr)) return rows;
  if (compares(instr)) {
    rows.writes = {instr[CompareOperand::p], instr[CompareOperand::q]};
    rows.reads = {instr[CompareOperand::a], instr[CompareOperand::b], instr[CompareOperand::c]};
  } else {
    roles_of(instr).reads.for_each_in(instr.operands,
                                      [&](const Ref& row) { rows.reads.push_back(row); });
    rows.writes = destinations_of(program, instr);
  }
  drop_absent(rows.reads);
  drop_absent(rows.writes);
  return rows;
}

}  // namespace

const InstrText::Names& InstrText::names_of(std::uint32_t function) {
  const auto [at, is_new] = names_.try_emplace(function);
  const FunctionCode& code = program_.functions[function];
  if (!is_new || code.text == nullptr) return at->second;
  const Frame frame(*code.text, code.param_rows);
  for (std::uint32_t i = 0; i < code.text->registers.size(); ++i) {
    const Ref row = frame.row_of(i);
    const ptx::Register& one = code.text->registers[i];
    at->second.try_emplace({row.bank, row.offset}, Named{one.name, ptx::bytes_of(one.type)});
  }
  return at->second;
}

std::string InstrText::constant(const Ref& row, Type type) const {
  for (const AddressPatch& patch : program_.patches) {
    if (patch.constant_offset != row.offset) continue;
    const std::string name = demangled_variable(patch.name);
    return patch.addend == 0 ? name : fmt::format("{}+{}", name, patch.addend);
  }
  std::uint32_t words[4]{};
  if (row.offset + sizeof words > program_.constants.size()) return "?";
  std::memcpy(words, program_.constants.data() + row.offset, sizeof words);
  if (type == Type::pred) return words[0] != 0 ? "true" : "false";
  // All words of a 32-bit row are equal, and hardly ever those of a 64-bit row, except of -1.
  const bool is_word = words[0] == words[1] && words[1] == words[2] && words[2] == words[3];
  const bool may_be_wide = ptx::bytes_of(type) == 8 && words[0] == UINT32_MAX;
  if (is_word && !may_be_wide) return text_of_bits(type, words[0], 4);
  return text_of_bits(type, std::uint64_t{words[1]} << 32 | words[0], 8);
}

std::string InstrText::name_of(std::uint32_t pc, const Ref& row, Type type) {
  if (row.bank == Bank::none) return "_";
  if (row.bank == Bank::constant) return constant(row, type);
  const Names& names = names_of(program_.function_of(pc));
  const auto known = names.find({row.bank, row.offset});
  if (known != names.end()) return known->second.name;
  switch (row.bank) {
    case Bank::wide: return fmt::format("%x{}", row.offset / kWideRowBytes);
    case Bank::predicate: return fmt::format("%q{}", row.offset / 4);
    default: return fmt::format("%w{}", row.offset / kWordRowBytes);
  }
}

std::uint32_t InstrText::bytes_of(std::uint32_t pc, const Ref& row) {
  const Names& names = names_of(program_.function_of(pc));
  const auto known = names.find({row.bank, row.offset});
  const bool is_declared = known != names.end() && known->second.bytes != 0;
  return std::min(is_declared ? known->second.bytes : 8, row_bytes(row));
}

std::string InstrText::list(std::uint32_t pc, const std::vector<Ref>& rows, Type type) {
  std::string text;
  for (const Ref& row : rows) {
    text += (text.empty() ? "" : ", ") + name_of(pc, row, type);
  }
  return rows.size() > 1 ? "{" + text + "}" : text;
}

std::string InstrText::address(std::uint32_t pc, const Ref& row) {
  const std::int64_t displacement = program_.code[pc].displacement;
  const std::string base = name_of(pc, row, Type::none);
  return displacement == 0 ? fmt::format("[{}]", base) : fmt::format("[{}+{}]", base, displacement);
}

std::string InstrText::parameter(std::uint32_t pc) const {
  const auto offset = static_cast<std::uint64_t>(program_.code[pc].parameter_offset);
  for (std::size_t i = program_.parameters.size(); i-- > 0;) {
    const Parameter& one = program_.parameters[i];
    if (offset < one.offset) continue;
    const std::uint64_t within = offset - one.offset;
    return within == 0 ? fmt::format("[parameter {}]", i)
                       : fmt::format("[parameter {}+{}]", i, within);
  }
  return fmt::format("[parameters+{}]", offset);
}

// The operands behind the mnemonic.
std::string InstrText::rest_of(std::uint32_t pc) {
  const Instr& instr = program_.code[pc];
  const Type type = instr.modifiers.type;
  switch (instr.kind) {
    case InstrKind::special:
      return fmt::format("{}, {}", name_of(pc, instr[ScalarOperand::result], type),
                         ptx::name_of(instr.special));
    case InstrKind::param:
      return fmt::format("{}, {}", name_of(pc, instr[ScalarOperand::result], type), parameter(pc));
    case InstrKind::local_address:
      return fmt::format("{}, local+{}", name_of(pc, instr[ScalarOperand::result], type),
                         instr.local_offset);
    case InstrKind::load:
      return fmt::format("{}, {}", list(pc, elements_of(instr), type),
                         address(pc, instr[MemoryOperand::address]));
    case InstrKind::store:
      return fmt::format("{}, {}", address(pc, instr[MemoryOperand::address]),
                         list(pc, elements_of(instr), type));
    case InstrKind::atomic: {
      std::string text = address(pc, instr[AtomicOperand::address]);
      const Ref& old = instr[AtomicOperand::old];
      if (old.bank != Bank::none) text = name_of(pc, old, type) + ", " + text;
      for (const AtomicOperand one : {AtomicOperand::value, AtomicOperand::swap}) {
        if (instr[one].bank != Bank::none) text += ", " + name_of(pc, instr[one], type);
      }
      return text;
    }
    case InstrKind::branch:
    case InstrKind::jump: return fmt::format("-> {}", instr.target);
    case InstrKind::jump_table: {
      std::string text = name_of(pc, instr[TargetOperand::index], Type::u32) + " ->";
      for (const std::uint32_t to : program_.jump_tables[instr.table]) {
        text += fmt::format(" {}", to);
      }
      return text;
    }
    case InstrKind::call:
      return fmt::format("{} -> {}", demangled_variable(program_.functions[instr.function].name),
                         program_.functions[instr.function].entry);
    case InstrKind::refusal:
      return "(cannot be executed: " + program_.refusals[instr.refusal] + ")";
    default:
      if (!roles_of(instr).opaque) return results_and_sources(pc);
  }
  std::string text;
  for (const Ref& row : instr.operands) {
    if (row.bank != Bank::none) text += (text.empty() ? "" : ", ") + name_of(pc, row, type);
  }
  return text;
}

// "d|p, a, b"; of a mov that packs or unpacks: "{d, e}, a".
std::string InstrText::results_and_sources(std::uint32_t pc) {
  const Instr& instr = program_.code[pc];
  const Type type = instr.modifiers.type, from = source_type(instr);
  const Rows rows = rows_of(program_, instr);
  std::string text = unpacks(instr) ? list(pc, rows.writes, type) : "";
  if (text.empty()) {
    for (const Ref& row : rows.writes) {
      text += (text.empty() ? "" : "|") + name_of(pc, row, compares(instr) ? Type::pred : type);
    }
  }
  const bool packs = instr.opcode == ptx::Opcode::mov_ && instr.modifiers.vector != 1;
  if (packs && !unpacks(instr)) return text + ", " + list(pc, rows.reads, Type::none);
  for (const Ref& row : rows.reads) text += (text.empty() ? "" : ", ") + name_of(pc, row, from);
  return text;
}

std::string InstrText::of(std::uint32_t pc) {
  const Instr& instr = program_.code[pc];
  std::string text;
  if (instr.guard.bank != Bank::none) {
    text =
        fmt::format("@{}{} ", instr.guard_negated ? "!" : "", name_of(pc, instr.guard, Type::pred));
  }
  text += program_.source_of(pc).text;
  const std::string rest = rest_of(pc);
  return rest.empty() ? text : text + " " + rest;
}

std::vector<InstrText::Operand> InstrText::operands_of(std::uint32_t pc) {
  const Instr& instr = program_.code[pc];
  std::vector<Operand> operands;
  const auto add = [&](const Ref& row, bool is_written, bool is_address, Type type) {
    if (row.bank == Bank::none || row.bank == Bank::constant) return;
    const auto is_known = [&](const Operand& one) {
      return one.row == row && one.is_written == is_written;
    };
    if (std::ranges::any_of(operands, is_known)) return;
    if (row.bank == Bank::predicate) type = Type::pred;
    operands.push_back(
        {row, name_of(pc, row, type), is_written, is_address, type, bytes_of(pc, row)});
  };
  add(instr.guard, false, false, Type::pred);
  const Rows rows = rows_of(program_, instr);
  bool may_be_address = is_memory(instr.kind);
  for (const Ref& row : rows.reads) {
    const bool is_address = std::exchange(may_be_address, false);
    add(row, false, is_address, source_type(instr));
  }
  for (const Ref& row : rows.writes) add(row, true, false, instr.modifiers.type);
  return operands;
}

std::string InstrText::value(const LaneBanks& registers, const Operand& operand, unsigned lane) {
  const std::byte* const row =
      registers.base[static_cast<std::size_t>(operand.row.bank)] + operand.row.offset;
  if (operand.row.bank == Bank::predicate) {
    std::uint32_t lanes = 0;
    std::memcpy(&lanes, row, sizeof lanes);
    return (lanes >> lane & 1u) != 0 ? "true" : "false";
  }
  const std::uint32_t bytes = row_bytes(operand.row);
  std::uint64_t bits = 0;
  std::memcpy(&bits, row + std::size_t{lane} * bytes, bytes);
  bits &= ~std::uint64_t{0} >> (64 - 8 * operand.bytes);
  if (operand.is_address) return fmt::format("0x{:x}", bits);
  // The result of mul.wide.s16 has 32 bits, and ld.s8 extends a byte by its sign.
  const bool is_wider = operand.is_written && ptx::is_signed(operand.type) &&
                        ptx::bytes_of(operand.type) < operand.bytes;
  const Type type = !is_wider            ? operand.type
                    : operand.bytes == 8 ? Type::s64
                    : operand.bytes == 4 ? Type::s32
                                         : Type::s16;
  return text_of_bits(type, bits, operand.bytes);
}

}  // namespace warpcheck::vgpu
