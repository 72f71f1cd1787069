// Emits arithmetic instructions as sequences of other instructions with the same result: sums and
// products of 16-bit floats in f32, whose operands are widened without loss, min and max of three
// operands, and conversions to four narrow floats.
// Source: PTX ISA 9.0, 9.7.3.11, 9.7.3.12 (min, max), 9.7.5 (mixed precision add, sub,
// fma), 9.7.9.21 (cvt).
#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::Opcode;
using ptx::Type;

namespace {

bool is_extreme(const ptx::Instruction& in) {
  return in.opcode == Opcode::min_ || in.opcode == Opcode::max_;
}

bool is_of_mixed_precision(const ptx::Instruction& in) {
  const bool sums = in.opcode == Opcode::add_ || in.opcode == Opcode::sub_;
  return (sums || in.opcode == Opcode::fma_) && in.modifiers.source_type != Type::none;
}

void emit_mixed_precision(Emission& e, const ptx::Instruction& in, Instr& out) {
  const Type narrow = in.modifiers.source_type;
  const std::size_t last = in.operands.size() - 1;
  ptx::Modifiers widen;
  widen.type = Type::f32;
  widen.source_type = narrow;
  for (std::size_t at = 1; at < last; ++at) {
    const Ref source = e.source(in, in.operands[at], narrow);
    out[kComputeSources[at - 1]] = calculate(e, in, Opcode::cvt_, widen, {source}, Bank::word);
  }
  out[kComputeSources[last - 1]] = e.source(in, in.operands[last], Type::f32);
  out.modifiers.source_type = Type::none;
  out[ComputeOperand::d] = e.destination(in, in.operands[0]);
  e.push(out);
}

void emit_extreme_of_three(Emission& e, const ptx::Instruction& in, Instr& out) {
  if (in.modifiers.type != Type::f32) e.refuse(in, "three operands of another type than f32");
  if (in.operands.size() != 4) e.refuse(in, ".abs of two operands");
  if (in.modifiers.xorsign) e.refuse(in, ".xorsign of three operands");
  out.modifiers.absolute = false;
  const auto source = [&](std::size_t at) {
    const Ref given = e.source(in, in.operands[at], Type::f32);
    return in.modifiers.absolute ? calculate(e, in, Opcode::abs_, Type::f32, {given}) : given;
  };
  const Ref a = source(1);
  const Ref b = source(2);
  out[ComputeOperand::a] = calculate(e, in, in.opcode, out.modifiers, {a, b}, Bank::word);
  out[ComputeOperand::b] = source(3);
  out[ComputeOperand::d] = e.destination(in, in.operands[0]);
  e.push(out);
}

bool is_of_four(const ptx::Instruction& in) {
  return in.opcode == Opcode::cvt_ && in.operands.size() == 3 &&
         in.operands[1].kind == ptx::Operand::Kind::vector;
}

// cvt.rs to four floats of 4, 6 or 8 bits: two times two of them.  a and b have the upper half of
// the random bits, e and f the lower one; of .e2m1x4 they have the upper, or the lower, byte of
// each half (9.7.9.21).
void emit_four_narrow_floats(Emission& e, const ptx::Instruction& in, Instr& out) {
  const std::vector<ptx::Operand>& parts = in.operands[1].parts;
  if (parts.size() != 4) e.refuse(in, "a vector of another length");
  const bool in_bytes = in.modifiers.type != Type::e2m1x2;
  const std::uint32_t upper = in_bytes ? 0x4432 : 0x4431, lower = in_bytes ? 0x4410 : 0x4420;
  const Ref random = e.source(in, in.operands[2], Type::b32);
  ptx::Modifiers to_pair = in.modifiers;
  const auto pair = [&](std::size_t first, std::uint32_t bytes) {
    const Ref bits = calculate(e, in, Opcode::prmt_, Type::b32,
                               {random, e.constants.word(0), e.constants.word(bytes)});
    return calculate(
        e, in, Opcode::cvt_, to_pair,
        {e.source(in, parts[first], Type::f32), e.source(in, parts[first + 1], Type::f32), bits},
        Bank::word);
  };
  const Ref high = pair(0, upper);
  const Ref low = pair(2, lower);
  const std::uint32_t bits = in_bytes ? 16 : 8;
  push_compute(e, out, Opcode::bfi_, Type::b32, Type::none,
               {.d = e.destination(in, in.operands[0]),
                .a = high,
                .b = low,
                .c = e.constants.word(bits),
                .f = e.constants.word(bits)});
}

}  // namespace

bool is_composed(const ptx::Instruction& in) {
  const bool absolute = in.modifiers.absolute && !in.modifiers.xorsign;
  return is_of_four(in) || is_of_mixed_precision(in) ||
         (is_extreme(in) && (in.operands.size() == 4 || absolute));
}

void emit_composed(Emission& e, const ptx::Instruction& in, Instr& out) {
  if (is_of_four(in)) return emit_four_narrow_floats(e, in, out);
  is_extreme(in) ? emit_extreme_of_three(e, in, out) : emit_mixed_precision(e, in, out);
}

}  // namespace warpcheck::vgpu
