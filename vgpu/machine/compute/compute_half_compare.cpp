// set and setp of 16-bit floats and of pairs of them: PTX ISA 9.0, 9.7.7.
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lane_half.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Opcode;
using ptx::Type;
using Word = std::uint32_t;

bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

Word combined(BoolOp op, Word holds, Word c) {
  switch (op) {
    case BoolOp::none: return holds;
    case BoolOp::and_: return holds & c;
    case BoolOp::or_: return holds | c;
    case BoolOp::xor_: return holds ^ c;
  }
  return holds;
}

// How the elements of a and b that begin at bit `shift` compare: a bit for each lane.
struct Orders {
  Word less, equal, unordered;
};

// Ascends with the value; both zeros are 0.
WARPCHECK_INLINE std::int32_t order(Word half) {
  const auto magnitude = static_cast<std::int32_t>(half & 0x7fff);
  return (half & kHalfSign) != 0 ? -magnitude : magnitude;
}

Orders orders_of(const Word* a, const Word* b, unsigned shift, Word infinity, bool flush) {
  alignas(64) Word less[kWarpLanes];
  alignas(64) Word equal[kWarpLanes];
  alignas(64) Word unordered[kWarpLanes];
  const auto read = [&](Word cell) {
    const Word half = cell >> shift & 0xffff;
    return flush && (half & infinity) == 0 ? 0 : half;
  };
  WARPCHECK_EACH_LANE(lane) {
    const Word x = read(a[lane]);
    const Word y = read(b[lane]);
    less[lane] = order(x) < order(y) ? 0xffffffffu : 0;
    equal[lane] = order(x) == order(y) ? 0xffffffffu : 0;
    unordered[lane] = (x & 0x7fff) > infinity || (y & 0x7fff) > infinity ? 0xffffffffu : 0;
  }
  const Word nan = mask_of(unordered);
  return {mask_of(less) & ~nan, mask_of(equal) & ~nan, nan};
}

Word holds(Compare compare, const Orders& of) {
  const Word greater = ~(of.less | of.equal | of.unordered);
  switch (compare) {
    case Compare::eq: return of.equal;
    case Compare::ne: return of.less | greater;
    case Compare::lt: return of.less;
    case Compare::le: return of.less | of.equal;
    case Compare::gt: return greater;
    case Compare::ge: return greater | of.equal;
    case Compare::equ: return of.equal | of.unordered;
    case Compare::neu: return ~of.equal;
    case Compare::ltu: return of.less | of.unordered;
    case Compare::leu: return ~greater;
    case Compare::gtu: return greater | of.unordered;
    case Compare::geu: return ~of.less;
    case Compare::num: return ~of.unordered;
    case Compare::nan: return of.unordered;
    default: return 0;
  }
}

// Bit l of the result is that of lane l, for the elements that begin at bit `shift`.
Word compared(const LaneBanks& banks, const Instr& instr, Type type, unsigned shift) {
  const ptx::Modifiers& m = instr.modifiers;
  const Word infinity = type == Type::f16 || type == Type::f16x2 ? 0x7c00 : 0x7f80;
  const Orders orders =
      orders_of(row<Word>(banks, instr[CompareOperand::a]),
                row<Word>(banks, instr[CompareOperand::b]), shift, infinity, m.ftz);
  const Word c = m.bool_op == BoolOp::none ? 0 : predicate(banks, instr[CompareOperand::c]);
  return combined(m.bool_op, holds(m.compare, orders), c);
}

// setp p, a, b of single numbers, p|q of pairs: p is the result of the lower halves, q of the upper
// ones.
void setp(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const Type type = instr.modifiers.type;
  const Word low = compared(banks, instr, type, 0);
  const Word high = is_pair(type) ? compared(banks, instr, type, 16) : 0;
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
  const ptx::Modifiers& m = instr.modifiers;
  const bool pair = is_pair(m.source_type);
  const Word yes = pair ? yes_of(m.type) & 0xffff : yes_of(m.type);
  const Word low = compared(banks, instr, m.source_type, 0);
  const Word high = pair ? compared(banks, instr, m.source_type, 16) : 0;
  alignas(64) Word values[kWarpLanes];
  WARPCHECK_EACH_LANE(lane) {
    const Word bit = kLaneBit<Word>.bit[lane];
    values[lane] = ((low & bit) != 0 ? yes : 0) | ((high & bit) != 0 ? yes << 16 : 0);
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

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
