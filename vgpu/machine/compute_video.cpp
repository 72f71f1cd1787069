// Video instructions: PTX ISA 9.0, 9.7.18 (scalar), 9.7.19 (on two halves or four bytes).
//
// Operands are whole registers: forms that select bytes or mask the result (`d.h0`, `a.b3`) do not
// get past the parser.  Compiled once: they are rare, software on today's GPUs too.
#define WARPCHECK_SIMD portable

#include <algorithm>

#include "vgpu/machine/compute_families.hpp"
#include "vgpu/machine/lanes.hpp"

namespace warpcheck::vgpu::portable {
namespace {

using ptx::AtomOp;
using ptx::Compare;
using ptx::Opcode;
using ptx::Type;
using Word = std::uint32_t;
using Int = std::int64_t;

enum class Operation : std::uint8_t { none, add, sub, average, difference, min, max, set };

struct Shape {
  Operation operation = Operation::none;
  unsigned elements = 0;  // 1, 2 or 4 in a register
};

Shape shape_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::vadd_: return {Operation::add, 1};
    case Opcode::vsub_: return {Operation::sub, 1};
    case Opcode::vabsdiff_: return {Operation::difference, 1};
    case Opcode::vmin_: return {Operation::min, 1};
    case Opcode::vmax_: return {Operation::max, 1};
    case Opcode::vadd2_: return {Operation::add, 2};
    case Opcode::vsub2_: return {Operation::sub, 2};
    case Opcode::vavrg2_: return {Operation::average, 2};
    case Opcode::vabsdiff2_: return {Operation::difference, 2};
    case Opcode::vmin2_: return {Operation::min, 2};
    case Opcode::vmax2_: return {Operation::max, 2};
    case Opcode::vset2_: return {Operation::set, 2};
    case Opcode::vadd4_: return {Operation::add, 4};
    case Opcode::vsub4_: return {Operation::sub, 4};
    case Opcode::vavrg4_: return {Operation::average, 4};
    case Opcode::vabsdiff4_: return {Operation::difference, 4};
    case Opcode::vmin4_: return {Operation::min, 4};
    case Opcode::vmax4_: return {Operation::max, 4};
    case Opcode::vset4_: return {Operation::set, 4};
    default: return {};
  }
}

bool holds(Compare compare, Int a, Int b) {
  switch (compare) {
    case Compare::eq: return a == b;
    case Compare::ne: return a != b;
    case Compare::lt: return a < b;
    case Compare::le: return a <= b;
    case Compare::gt: return a > b;
    default: return a >= b;
  }
}

struct Video {
  explicit Video(const Instr& instr)
      : shape(shape_of(instr.opcode)),
        bits(32 / shape.elements),
        saturates(instr.modifiers.sat),
        second(instr.modifiers.atom_op),
        compare(instr.modifiers.compare) {
    const ptx::Modifiers& m = instr.modifiers;
    const bool set = shape.operation == Operation::set;  // vset4.atype.btype: u32 result
    signed_result = !set && ptx::is_signed(m.type);
    signed_a = ptx::is_signed(set ? m.type : m.source_type);
    signed_b = ptx::is_signed(set ? m.source_type : m.third_type);
  }

  [[nodiscard]] Int element(Word x, unsigned index, bool is_signed) const {
    const Word top = x << (32 - bits * (index + 1));
    if (is_signed) return static_cast<std::int32_t>(top) >> (32 - bits);
    return top >> (32 - bits);
  }

  [[nodiscard]] Int calculated(Int a, Int b) const {
    switch (shape.operation) {
      case Operation::add: return a + b;
      case Operation::sub: return a - b;
      // Halves are rounded away from zero.
      case Operation::average: return (a + b >= 0 ? a + b + 1 : a + b) >> 1;
      case Operation::difference: return a < b ? b - a : a - b;
      case Operation::min: return std::min(a, b);
      case Operation::max: return std::max(a, b);
      default: return holds(compare, a, b) ? 1 : 0;
    }
  }

  // Of a whole register, unsigned, only what is negative is clamped; what is too large wraps,
  // though the ISA says otherwise (seen on sm_90).
  [[nodiscard]] Int clamped(Int x) const {
    if (bits == 32 && !signed_result) return std::max(x, Int{0});
    const Int lowest = signed_result ? -(Int{1} << (bits - 1)) : 0;
    const Int highest = (Int{1} << (signed_result ? bits - 1 : bits)) - 1;
    return std::clamp(x, lowest, highest);
  }

  // c combined with the result, by the scalar forms' second operation.
  [[nodiscard]] Word combined(Word result, Word c) const {
    const Int x = element(result, 0, signed_result);
    const Int y = element(c, 0, signed_result);
    switch (second) {
      case AtomOp::min: return static_cast<Word>(std::min(x, y));
      case AtomOp::max: return static_cast<Word>(std::max(x, y));
      default: return result + c;
    }
  }

  Word operator()(Word a, Word b, Word c = 0) const {
    Word packed = 0;
    Word sum = c;
    for (unsigned i = 0; i < shape.elements; ++i) {
      Int x = calculated(element(a, i, signed_a), element(b, i, signed_b));
      if (saturates) x = clamped(x);
      const auto field = static_cast<Word>(static_cast<std::uint64_t>(x) & ((Int{1} << bits) - 1));
      packed |= field << (bits * i);
      sum += static_cast<Word>(x);
    }
    if (second == AtomOp::none) return packed;
    return shape.elements == 1 ? combined(packed, c) : sum;
  }

  Shape shape;
  unsigned bits;
  bool saturates;
  AtomOp second;
  Compare compare;
  bool signed_result, signed_a, signed_b;
};

bool is_word(Type type) { return type == Type::u32 || type == Type::s32; }

}  // namespace

ComputeFn find_video(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const Shape shape = shape_of(instr.opcode);
  if (shape.operation == Operation::none || !is_word(m.type) || !is_word(m.source_type)) {
    return nullptr;
  }
  const bool scalar = shape.elements == 1;
  const bool set = shape.operation == Operation::set;
  if (!set && !is_word(m.third_type)) return nullptr;
  if (set && (m.compare < Compare::eq || m.compare > Compare::ge)) return nullptr;
  const bool known_second = m.atom_op == AtomOp::none || m.atom_op == AtomOp::add ||
                            (scalar && (m.atom_op == AtomOp::min || m.atom_op == AtomOp::max));
  if (!known_second || (!scalar && m.sat && m.atom_op != AtomOp::none)) return nullptr;
  const bool has_c = present(instr.refs[3]);
  if (has_c != (!scalar || m.atom_op != AtomOp::none)) return nullptr;
  return has_c ? lanewise<Video, Word, Word, Word, Word> : lanewise<Video, Word, Word, Word>;
}

}  // namespace warpcheck::vgpu::portable
