// Matrices of 8 and 16 rows between shared memory and a warp, and their transposition: ldmatrix,
// stmatrix, movmatrix.
// Source: PTX ISA 9.0, 9.7.14.5.15 - 9.7.14.5.17; 4-bit elements are placed in bytes as mma
// expects.
#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/matrix_steps.hpp"
#include "vgpu/program/emit/matrix_words.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Instruction = ptx::Instruction;

namespace {

// Returns the address, of 32 or 64 bits, that another lane has.
Ref shuffled_address(Emission& e, const Instruction& in, Ref address, Ref lane) {
  if (address.bank == Bank::word) return shuffled(e, in, address, lane);
  ptx::Modifiers halves;
  halves.type = Type::b64;
  halves.vector = 2;
  const Ref low = e.frame.temporary(Bank::word);
  const Ref high = e.frame.temporary(Bank::word);
  Instr unpack = e.begin(in);
  unpack.kind = InstrKind::compute;
  unpack.opcode = Opcode::mov_;
  unpack.modifiers = halves;
  unpack.guard = {};
  unpack.operands = ComputeRows{.d = low, .a = address, .e = high};
  e.push(unpack);
  const Ref low_there = shuffled(e, in, low, lane);
  const Ref high_there = shuffled(e, in, high, lane);
  return calculate(e, in, Opcode::mov_, halves, {low_there, high_there}, Bank::wide);
}

// Returns the address plus a number of bytes.
Ref moved_by(Emission& e, const Instruction& in, Ref address, Ref bytes) {
  if (address.bank == Bank::word) {
    return calculate(e, in, Opcode::add_, Type::u32, {address, bytes});
  }
  ptx::Modifiers wide;
  wide.type = Type::u32;
  wide.part = ptx::MulPart::wide;
  return calculate(e, in, Opcode::mad_, wide, {bytes, e.constants.word(1), address}, Bank::wide);
}

// For targets up to sm_75, the address of every lane must be valid, also of those whose address no
// matrix needs (PTX ISA 9.0, 9.7.14.5.15).  An access of these lanes checks it: it has no value,
// and the machine reports only its faults.
void check_other_addresses(Emission& e, const Instruction& in, Space space, const Instr& address,
                           Ref own, Ref lane, std::uint32_t rows) {
  constexpr std::string_view kOldTargets[] = {"sm_70", "sm_72", "sm_75"};
  const std::string_view target = e.layout.module->target;
  if (rows == kWarpLanes || std::ranges::find(kOldTargets, target) == std::end(kOldTargets)) return;
  ptx::Modifiers above;
  above.type = Type::u32;
  above.compare = ptx::Compare::ge;
  Instr out = e.begin(in);
  Ref others =
      calculate(e, in, Opcode::setp_, above, {lane, e.constants.word(rows)}, Bank::predicate);
  if (out.guard.bank != Bank::none) {
    ptx::Modifiers pred;
    pred.type = Type::pred;
    const Ref guard = out.guard_negated
                          ? calculate(e, in, Opcode::not_, pred, {out.guard}, Bank::predicate)
                          : out.guard;
    others = calculate(e, in, Opcode::and_, pred, {others, guard}, Bank::predicate);
  }
  out.kind = InstrKind::load;
  out.guard = others;
  out.guard_negated = false;
  out.modifiers = {};
  out.modifiers.type = Type::b128;
  out.modifiers.space = space;
  out.displacement = address.displacement;
  out[MemoryOperand::address] = own;
  e.push(out);
}

// ldmatrix and stmatrix: lane 8 i + r has the address of row r of matrix i; each lane holds two
// neighbours of row lane / 4, or of a column if transposed.
void emit_rows_of_halves(Emission& e, const Instruction& in) {
  const bool is_load = in.opcode == Opcode::ldmatrix_;
  const std::vector<std::string_view> words = words_of(in.text);
  const bool transposed = has(words, "trans");
  const Space space = space_of(words);
  std::vector<ptx::Operand> single;
  if (in.operands.size() != 2) e.refuse(in, "expected an address and registers");
  const std::vector<ptx::Operand>& parts = parts_of(in.operands[is_load ? 0 : 1], single);
  const std::size_t count = has(words, "x4") ? 4 : has(words, "x2") ? 2 : 1;
  if (parts.size() != count) e.refuse(in, fmt::format("expected {} registers", count));
  Instr scratch;
  const Ref own = e.address(in, in.operands[is_load ? 1 : 0], {space}, scratch);
  const Ref lane = lane_number(e, in);
  const auto rows = static_cast<std::uint32_t>(8 * count);
  if (is_load) check_other_addresses(e, in, space, scratch, own, lane, rows);
  const Ref group = shifted_down(e, in, lane, 2);
  const Ref in_group = calculate(e, in, Opcode::and_, Type::b32, {lane, e.constants.word(3)});
  const Ref pair = calculate(e, in, Opcode::shl_, Type::b32, {in_group, e.constants.word(1)});
  // The byte offset in the row.
  const Ref place =
      transposed ? calculate(e, in, Opcode::shl_, Type::b32, {group, e.constants.word(1)})
                 : calculate(e, in, Opcode::shl_, Type::b32, {in_group, e.constants.word(2)});
  const auto address_in_row = [&](Ref row, std::uint32_t matrix, std::uint32_t next) {
    const Ref from =
        calculate(e, in, Opcode::add_, Type::u32, {row, e.constants.word(8 * matrix + next)});
    return moved_by(e, in, shuffled_address(e, in, own, from), place);
  };
  for (std::uint32_t matrix = 0; matrix < count; ++matrix) {
    Ref value = is_load ? Ref{} : e.source(in, parts[matrix], Type::b32);
    if (!transposed) {
      if (is_load) value = e.frame.temporary(Bank::word);
      access_element(e, in, space, Type::b32, address_in_row(group, matrix, 0),
                     scratch.displacement, value, is_load);
    }
    for (std::uint32_t part = 0; transposed && part < 2; ++part) {
      const Ref one =
          is_load ? e.frame.temporary(Bank::word) : shifted_down(e, in, value, 16 * part);
      access_element(e, in, space, Type::b16, address_in_row(pair, matrix, part),
                     scratch.displacement, one, is_load);
      if (is_load) value = joined(e, in, value, one, 16 * part);
    }
    if (!is_load) continue;
    const Ref to = e.destination(in, parts[matrix]);
    if (to.bank != Bank::none) copy_row(e, in, to, value, true);
  }
}

// movmatrix: element (r, c) of a becomes element (c, r) of d.
void emit_transposition(Emission& e, const Instruction& in) {
  if (in.operands.size() != 2) e.refuse(in, "expected two registers");
  const Ref a = e.source(in, in.operands[1], Type::b32);
  const Ref lane = lane_number(e, in);
  const Ref group = shifted_down(e, in, lane, 2);
  const Ref in_group = calculate(e, in, Opcode::and_, Type::b32, {lane, e.constants.word(3)});
  // Row 2 * in_group is in lanes 8 * in_group and up, column `group` in the half group & 1.
  const Ref first = calculate(e, in, Opcode::shl_, Type::b32, {in_group, e.constants.word(3)});
  const Ref from =
      calculate(e, in, Opcode::add_, Type::u32, {first, shifted_down(e, in, group, 1)});
  const Ref below = calculate(e, in, Opcode::add_, Type::u32, {from, e.constants.word(4)});
  const Ref odd = calculate(e, in, Opcode::and_, Type::b32, {group, e.constants.word(1)});
  // Bytes 0 1 of both words, or bytes 2 3.
  ptx::Modifiers low;
  low.type = Type::u32;
  low.part = ptx::MulPart::lo;
  const Ref selector =
      calculate(e, in, Opcode::mad_, low, {odd, e.constants.word(0x2222), e.constants.word(0x5410)},
                Bank::word);
  const Ref result = calculate(e, in, Opcode::prmt_, Type::b32,
                               {shuffled(e, in, a, from), shuffled(e, in, a, below), selector});
  const Ref to = e.destination(in, in.operands[0]);
  if (to.bank != Bank::none) copy_row(e, in, to, result, true);
}

// The place of a lane in a matrix of bytes, and the addresses that the lanes provide.
struct ByteRows {
  Space space = Space::generic;
  std::int64_t displacement = 0;
  Ref own{}, group{}, in_group{};
};

Ref times(Emission& e, const Instruction& in, Ref x, std::uint32_t factor) {
  ptx::Modifiers low;
  low.type = Type::u32;
  low.part = ptx::MulPart::lo;
  return calculate(e, in, Opcode::mul_, low, {x, e.constants.word(factor)}, Bank::word);
}

// Returns an element at its place in a byte: 6-bit elements at its lowest bits, 4-bit elements in
// its middle.
Ref placed(Emission& e, const Instruction& in, Ref element, std::uint32_t bits) {
  if (bits == 6) return element;
  return calculate(e, in, Opcode::shl_, Type::b32, {element, e.constants.word(2)});
}

// Loads the element of `bits` bits, 4 or 6, in a column of a row of 16 elements.
Ref load_bits(Emission& e, const Instruction& in, const ByteRows& rows, Ref start, Ref column,
              std::uint32_t bits) {
  const Ref first = times(e, in, column, bits);
  const Ref byte = shifted_down(e, in, first, 3);
  const Ref next = calculate(e, in, Opcode::add_, Type::u32, {byte, e.constants.word(1)});
  // The last element ends with the last byte that has data.
  const Ref last = e.constants.word(2 * bits - 1);
  Ref whole{};
  for (const Ref& place : {byte, calculate(e, in, Opcode::min_, Type::u32, {next, last})}) {
    const Ref one = e.frame.temporary(Bank::word);
    access_element(e, in, rows.space, Type::b8, moved_by(e, in, start, place), rows.displacement,
                   one, true);
    whole = joined(e, in, whole, one, whole.bank == Bank::none ? 0 : 8);
    if (bits == 4) break;
  }
  const Ref shift = calculate(e, in, Opcode::and_, Type::b32, {first, e.constants.word(7)});
  const Ref shifted = calculate(e, in, Opcode::shr_, Type::u32, {whole, shift});
  return calculate(e, in, Opcode::and_, Type::b32, {shifted, e.constants.word((1u << bits) - 1)});
}

// Loads four bytes of a column of a 16 x 16 matrix, one from each of four rows.
//   bits: of an element; those of fewer than eight are unpacked
Ref load_column(Emission& e, const Instruction& in, const ByteRows& rows, std::uint32_t first_row,
                std::uint32_t first_column, std::uint32_t bits) {
  const Ref column =
      calculate(e, in, Opcode::add_, Type::u32, {rows.group, e.constants.word(first_column)});
  const Ref row = times(e, in, rows.in_group, 4);
  Ref whole{};
  for (std::uint32_t part = 0; part < 4; ++part) {
    const Ref lane =
        calculate(e, in, Opcode::add_, Type::u32, {row, e.constants.word(first_row + part)});
    const Ref start = shuffled_address(e, in, rows.own, lane);
    Ref byte = e.frame.temporary(Bank::word);
    if (bits == 8) {
      access_element(e, in, rows.space, Type::b8, moved_by(e, in, start, column), rows.displacement,
                     byte, true);
    } else {
      byte = placed(e, in, load_bits(e, in, rows, start, column, bits), bits);
    }
    whole = joined(e, in, whole, byte, 8 * part);
  }
  return whole;
}

// stmatrix of bytes, m16n8 transposed: lane 8 i + r has the address of row r of matrix i, of 16
// bytes; a register of a lane holds two bytes of each of two neighbouring rows, 8 bytes apart.
void store_bytes(Emission& e, const Instruction& in, const ByteRows& rows,
                 const std::vector<ptx::Operand>& parts) {
  const Ref pair = times(e, in, rows.in_group, 2);
  for (std::uint32_t matrix = 0; matrix < parts.size(); ++matrix) {
    const Ref value = e.source(in, parts[matrix], Type::b32);
    for (std::uint32_t part = 0; part < 4; ++part) {
      const Ref lane = calculate(e, in, Opcode::add_, Type::u32,
                                 {pair, e.constants.word(8 * matrix + part % 2)});
      const Ref place =
          calculate(e, in, Opcode::add_, Type::u32, {rows.group, e.constants.word(part / 2 * 8)});
      access_element(e, in, rows.space, Type::b8,
                     moved_by(e, in, shuffled_address(e, in, rows.own, lane), place),
                     rows.displacement, shifted_down(e, in, value, 8 * part), false);
    }
  }
}

// Loads four elements of `bits` bits from a row, each to a byte.
Ref load_unpacked(Emission& e, const Instruction& in, const ByteRows& rows, std::uint32_t first_row,
                  std::uint32_t bits) {
  const Ref lane =
      calculate(e, in, Opcode::add_, Type::u32, {rows.group, e.constants.word(first_row)});
  const std::uint32_t bytes = bits / 2;  // bytes of four elements
  const Ref place =
      moved_by(e, in, shuffled_address(e, in, rows.own, lane), times(e, in, rows.in_group, bytes));
  Ref packed{};
  for (std::uint32_t part = 0; part < bytes; ++part) {
    const Ref byte = e.frame.temporary(Bank::word);
    access_element(e, in, rows.space, Type::b8, place, rows.displacement + part, byte, true);
    packed = joined(e, in, packed, byte, 8 * part);
  }
  Ref whole{};
  for (std::uint32_t part = 0; part < 4; ++part) {
    const Ref element =
        calculate(e, in, Opcode::and_, Type::b32,
                  {shifted_down(e, in, packed, bits * part), e.constants.word((1u << bits) - 1)});
    whole = joined(e, in, whole, placed(e, in, element, bits), 8 * part);
  }
  return whole;
}

// ldmatrix of bytes: m16n16 transposed, where lane 16 i + r has the address of row r of matrix i,
// and two registers hold one matrix; or m8n16.  Elements may be packed more tightly.
void emit_rows_of_bytes(Emission& e, const Instruction& in) {
  const std::vector<std::string_view> words = words_of(in.text);
  const bool is_square = has(words, "m16n16");
  const bool is_load = in.opcode == Opcode::ldmatrix_;
  const std::uint32_t bits = has(words, "b6x16_p32") ? 6 : has(words, "b4x16_p64") ? 4 : 8;
  const std::uint32_t matrices = has(words, "x4") ? 4 : has(words, "x2") ? 2 : 1;
  std::vector<ptx::Operand> single;
  if (in.operands.size() != 2) e.refuse(in, "expected an address and registers");
  const std::vector<ptx::Operand>& parts = parts_of(in.operands[is_load ? 0 : 1], single);
  const std::uint32_t count = is_square ? 2 * matrices : matrices;
  if (parts.size() != count) e.refuse(in, fmt::format("expected {} registers", count));
  Instr scratch;
  ByteRows rows{.space = space_of(words)};
  rows.own = e.address(in, in.operands[is_load ? 1 : 0], {rows.space}, scratch);
  rows.displacement = scratch.displacement;
  const Ref lane = lane_number(e, in);
  rows.group = shifted_down(e, in, lane, 2);
  rows.in_group = calculate(e, in, Opcode::and_, Type::b32, {lane, e.constants.word(3)});
  if (!is_load) return store_bytes(e, in, rows, parts);
  for (std::uint32_t reg = 0; reg < count; ++reg) {
    const Ref value = is_square ? load_column(e, in, rows, 16 * (reg / 2), 8 * (reg % 2), bits)
                                : load_unpacked(e, in, rows, 8 * reg, bits);
    const Ref to = e.destination(in, parts[reg]);
    if (to.bank != Bank::none) copy_row(e, in, to, value, true);
  }
}

}  // namespace

void emit_matrix_rows(Emission& e, const Instruction& in) {
  if (in.opcode == Opcode::movmatrix_) return emit_transposition(e, in);
  const std::vector<std::string_view> words = words_of(in.text);
  if (has(words, "m8n8")) return emit_rows_of_halves(e, in);
  emit_rows_of_bytes(e, in);
}

}  // namespace warpcheck::vgpu
