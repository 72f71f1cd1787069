// set and setp of 16-bit floats and of pairs of them: PTX ISA 9.0, 9.7.7.
//
// Compiled once, like compute_exact.cpp.
#define WARPCHECK_SIMD portable

#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/compute/lanes.hpp"

namespace warpcheck::vgpu::portable {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Opcode;
using ptx::Type;
using Word = std::uint32_t;

bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

bool combined(BoolOp op, bool holds, bool c) {
  switch (op) {
    case BoolOp::none: return holds;
    case BoolOp::and_: return holds && c;
    case BoolOp::or_: return holds || c;
    case BoolOp::xor_: return holds != c;
  }
  return holds;
}

// Compares the element of a and b that begins at bit `shift`.
class Comparison {
 public:
  explicit Comparison(const Instr& instr)
      : type_(instr.opcode == Opcode::set_ ? instr.modifiers.source_type : instr.modifiers.type),
        format_(exact::format_of(type_)),
        compare_(instr.modifiers.compare),
        flush_(instr.modifiers.ftz) {}

  [[nodiscard]] bool operator()(Word a, Word b, unsigned shift) const {
    const Word x = flushed(a >> shift & 0xffff);
    const Word y = flushed(b >> shift & 0xffff);
    const bool unordered = is_nan(x) || is_nan(y);
    const int left = order(x);
    const int right = order(y);
    switch (compare_) {
      case Compare::eq: return !unordered && left == right;
      case Compare::ne: return !unordered && left != right;
      case Compare::lt: return !unordered && left < right;
      case Compare::le: return !unordered && left <= right;
      case Compare::gt: return !unordered && left > right;
      case Compare::ge: return !unordered && left >= right;
      case Compare::equ: return unordered || left == right;
      case Compare::neu: return unordered || left != right;
      case Compare::ltu: return unordered || left < right;
      case Compare::leu: return unordered || left <= right;
      case Compare::gtu: return unordered || left > right;
      case Compare::geu: return unordered || left >= right;
      case Compare::num: return !unordered;
      case Compare::nan: return unordered;
      default: return false;
    }
  }

 private:
  [[nodiscard]] Word flushed(Word bits) const {
    return flush_ && (bits & format_.infinity()) == 0 ? bits & 0x8000 : bits;
  }
  [[nodiscard]] bool is_nan(Word bits) const { return (bits & 0x7fff) > format_.infinity(); }
  // Ascends with the value; both zeros are 0.
  static int order(Word bits) {
    const int magnitude = static_cast<int>(bits & 0x7fff);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }

  Type type_;
  const exact::Format& format_;
  Compare compare_;
  bool flush_;
};

// setp p, a, b of single numbers, p|q of pairs: p is the result of the lower halves, q of the upper
// ones.
void setp(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const Comparison holds(instr);
  const BoolOp op = instr.modifiers.bool_op;
  const Word* a = row<Word>(banks, instr[CompareOperand::a]);
  const Word* b = row<Word>(banks, instr[CompareOperand::b]);
  const Word c = op == BoolOp::none ? 0 : predicate(banks, instr[CompareOperand::c]);
  Word low = 0;
  Word high = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const bool third = (c >> lane & 1) != 0;
    low |= Word{combined(op, holds(a[lane], b[lane], 0), third)} << lane;
    high |= Word{combined(op, holds(a[lane], b[lane], 16), third)} << lane;
  }
  write_predicate(banks, instr[CompareOperand::p], low, mask);
  write_predicate(banks, instr[CompareOperand::q], high, mask);
}

// The value that set writes if the comparison is true.
Word yes_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2: return 0x3c00;
    case Type::bf16:
    case Type::bf16x2: return 0x3f80;
    case Type::u32:
    case Type::s32: return 0xffffffff;
    default: return 0xffff;
  }
}

void set(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const Comparison holds(instr);
  const ptx::Modifiers& m = instr.modifiers;
  const bool pair = is_pair(m.source_type);
  const Word yes = pair ? yes_of(m.type) & 0xffff : yes_of(m.type);
  const Word* a = row<Word>(banks, instr[CompareOperand::a]);
  const Word* b = row<Word>(banks, instr[CompareOperand::b]);
  const Word c = m.bool_op == BoolOp::none ? 0 : predicate(banks, instr[CompareOperand::c]);
  alignas(64) Word values[kWarpLanes];
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const bool third = (c >> lane & 1) != 0;
    values[lane] = combined(m.bool_op, holds(a[lane], b[lane], 0), third) ? yes : 0;
    const bool upper = pair && combined(m.bool_op, holds(a[lane], b[lane], 16), third);
    if (upper) values[lane] |= yes << 16;
  }
  blend(row<Word>(banks, instr[CompareOperand::d]), values, mask);
}

bool compares_floats(Compare compare) {
  switch (compare) {
    case Compare::none:
    case Compare::lo:
    case Compare::ls:
    case Compare::hi:
    case Compare::hs: return false;
    default: return true;
  }
}

// Returns whether `set` has this destination type for the source type.
bool set_has(Type type, Type source) {
  if (type == source || type == Type::u32 || type == Type::s32) return true;
  return !is_pair(source) && (type == Type::u16 || type == Type::s16);
}

}  // namespace

ComputeFn find_half_compare(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (instr.opcode != Opcode::set_ && instr.opcode != Opcode::setp_) return nullptr;
  const Type type = instr.opcode == Opcode::set_ ? m.source_type : m.type;
  const bool single = type == Type::f16 || type == Type::bf16;
  if ((!single && !is_pair(type)) || !compares_floats(m.compare)) return nullptr;
  if (instr.opcode == Opcode::set_) return set_has(m.type, type) ? set : nullptr;
  return single && present(instr[CompareOperand::q]) ? nullptr : setp;
}

}  // namespace warpcheck::vgpu::portable
