// The compute functions of one instruction set, by family.  Internal to the machine's SIMD files.
#pragma once

#include "vgpu/machine/warp/warp_ops.hpp"
#include "vgpu/program/program.hpp"

#define WARPCHECK_FAMILIES(level)                                                           \
  namespace warpcheck::vgpu::level {                                                        \
  ComputeFn find_compute(const Instr& instr);      /* any family */                         \
  ComputeFn find_integer(const Instr& instr);      /* add sub mul mad div min ... */        \
  ComputeFn find_carry(const Instr& instr);        /* .cc, addc, subc, madc */              \
  ComputeFn find_bits(const Instr& instr);         /* logic, shifts, fields, counts */      \
  ComputeFn find_compare(const Instr& instr);      /* setp set testp selp slct */           \
  ComputeFn find_move(const Instr& instr);         /* mov cvta isspacep, predicate logic */ \
  ComputeFn find_float(const Instr& instr);        /* arithmetic on f32 and f64 */          \
  ComputeFn find_half(const Instr& instr);         /* arithmetic on 16-bit floats */        \
  ComputeFn find_half_compare(const Instr& instr); /* set setp of 16-bit floats */          \
  ComputeFn find_approximate(const Instr& instr);  /* .approx and .full */                  \
  ComputeFn find_convert(const Instr& instr);      /* cvt */                                \
  WarpFn find_warp_op(const Instr& instr);                                                  \
  }

WARPCHECK_FAMILIES(baseline)
WARPCHECK_FAMILIES(avx2)
WARPCHECK_FAMILIES(avx512)

#undef WARPCHECK_FAMILIES

namespace warpcheck::vgpu::portable {
// Conversions that are calculated exactly in integers, with the same code for every instruction
// set.
ComputeFn find_exact(const Instr& instr);
// Approximate functions of 16-bit floats.
ComputeFn find_half_approximate(const Instr& instr);
// Conversions to and from formats without registers of their own: 8-bit floats, tf32, and packed
// integers; arithmetic on pairs of 16-bit integers.
ComputeFn find_packed(const Instr& instr);
// Video instructions.
ComputeFn find_video(const Instr& instr);
}  // namespace warpcheck::vgpu::portable
