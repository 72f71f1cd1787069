// ex2.approx and tanh.approx of 16-bit floats: PTX ISA 9.0, 9.7.4.
//
// Calculated in double and rounded once.  Compiled once, like compute_exact.cpp.
#define WARPCHECK_SIMD portable

#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/compute/lane_math.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::portable {
namespace {

using ptx::Opcode;
using ptx::Type;
using Word = std::uint32_t;

// Outside this range every result is 0 or infinite.
constexpr double kExponentMax = 200.0;

struct HalfFunction {
  explicit HalfFunction(const Instr& instr)
      : format(exact::format_of(instr.modifiers.type)),
        opcode(instr.opcode),
        flush(instr.modifiers.ftz),
        pair(instr.modifiers.type == Type::f16x2 || instr.modifiers.type == Type::bf16x2) {}

  [[nodiscard]] Word flushed(Word bits) const {
    return flush && (bits & format.infinity()) == 0 ? bits & 0x8000 : bits;
  }

  [[nodiscard]] double calculated(double x) const {
    if (opcode == Opcode::tanh_) return tanh_of(x);
    const double low = x > -kExponentMax ? x : -kExponentMax;
    return exp2_of(low < kExponentMax ? low : kExponentMax);
  }

  [[nodiscard]] Word one(Word half) const {
    const exact::Number x = exact::unpack(format, flushed(half & 0xffff));
    if (x.kind == exact::Number::Kind::nan) return static_cast<Word>(format.nan);
    const std::uint64_t wide = exact::pack(exact::kF64, x, ptx::Rounding::rn);
    const std::uint64_t result = bits_of(calculated(float_of<double>(wide)));
    const exact::Number rounded = exact::unpack(exact::kF64, result);
    return flushed(static_cast<Word>(exact::pack(format, rounded, ptx::Rounding::rn)));
  }

  Word operator()(Word a) const { return pair ? one(a >> 16) << 16 | one(a) : one(a); }

  const exact::Format& format;
  Opcode opcode;
  bool flush, pair;
};

}  // namespace

ComputeFn find_half_approximate(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool f16 = m.type == Type::f16 || m.type == Type::f16x2;
  const bool bf16 = m.type == Type::bf16 || m.type == Type::bf16x2;
  const bool ftz = bf16 && instr.opcode == Opcode::ex2_;  // this form always flushes
  const bool known = instr.opcode == Opcode::ex2_ || instr.opcode == Opcode::tanh_;
  if (!known || (!f16 && !bf16) || !m.approx || m.ftz != ftz) return nullptr;
  return lanewise<HalfFunction, Word, Word>;
}

}  // namespace warpcheck::vgpu::portable
