// Emits comparison, selection and float arithmetic of all lanes: PTX ISA 9.7.6, 9.7.3.
#include <optional>

#include "vgpu/machine/native/compute_emitter.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::native {

using ptx::Compare;
using ptx::Type;

namespace {

// Returns the host's condition for a float comparison.
std::optional<x86::VCmpImm> float_condition(Compare compare) {
  switch (compare) {
    case Compare::eq: return x86::VCmpImm::kEQ_OQ;
    case Compare::ne: return x86::VCmpImm::kNEQ_OQ;
    case Compare::lt: return x86::VCmpImm::kLT_OQ;
    case Compare::le: return x86::VCmpImm::kLE_OQ;
    case Compare::gt: return x86::VCmpImm::kGT_OQ;
    case Compare::ge: return x86::VCmpImm::kGE_OQ;
    case Compare::equ: return x86::VCmpImm::kEQ_UQ;
    case Compare::neu: return x86::VCmpImm::kNEQ_UQ;
    case Compare::ltu: return x86::VCmpImm::kNGE_UQ;
    case Compare::leu: return x86::VCmpImm::kNGT_UQ;
    case Compare::gtu: return x86::VCmpImm::kNLE_UQ;
    case Compare::geu: return x86::VCmpImm::kNLT_UQ;
    case Compare::num: return x86::VCmpImm::kORD_Q;
    case Compare::nan: return x86::VCmpImm::kUNORD_Q;
    default: return std::nullopt;
  }
}

std::optional<x86::VPCmpImm> integer_condition(Compare compare) {
  switch (compare) {
    case Compare::eq: return x86::VPCmpImm::kEQ;
    case Compare::ne: return x86::VPCmpImm::kNE;
    case Compare::lt:
    case Compare::lo: return x86::VPCmpImm::kLT;
    case Compare::le:
    case Compare::ls: return x86::VPCmpImm::kLE;
    case Compare::gt:
    case Compare::hi: return x86::VPCmpImm::kGT;
    case Compare::ge:
    case Compare::hs: return x86::VPCmpImm::kGE;
    default: return std::nullopt;
  }
}

bool is_row(const Ref& ref, bool wide) {
  return ref.bank == (wide ? Bank::wide : Bank::word) || ref.bank == Bank::constant;
}

}  // namespace

struct ComputeEmitter::Comparison {
  const Ref &x, &y;
  bool wide, narrow, is_signed;
  // How the host compares: one of the two.
  std::optional<x86::VCmpImm> of_floats;
  std::optional<x86::VPCmpImm> of_integers;
};

// Puts the bits of a vector, which are in ecx unless it is the first, in their places in eax.
void ComputeEmitter::gather_bits(std::uint32_t first_lane) {
  if (first_lane == 0) return;
  a.shl(x86::ecx, first_lane);
  a.or_(x86::eax, x86::ecx);
}

// The vector to compare, or the part of a row.  Values of 16 bits are compared in the upper halves
// of cells, above zeros.
asmjit::Operand ComputeEmitter::compared(const Comparison& comparison, const Ref& ref,
                                         std::uint32_t byte, unsigned scratch) {
  if (!comparison.narrow) return part(ref, byte);
  a.vpslld(vec(scratch), source(ref, byte, scratch), 16);
  return vec(scratch);
}

// Like compared(), always a vector.
x86::Vec ComputeEmitter::compared_vector(const Comparison& comparison, const Ref& ref,
                                         std::uint32_t byte, unsigned scratch) {
  if (!comparison.narrow) return source(ref, byte, 0);
  return compared(comparison, ref, byte, scratch).as<x86::Vec>();
}

// Compares with mask registers.
void ComputeEmitter::compare_by_masks(const Comparison& comparison) {
  const bool wide = comparison.wide, is_signed = comparison.is_signed;
  const asmjit::InstId of_floats = wide ? Inst::kIdVcmppd : Inst::kIdVcmpps;
  const asmjit::InstId of_integers = is_signed ? (wide ? Inst::kIdVpcmpq : Inst::kIdVpcmpd)
                                               : (wide ? Inst::kIdVpcmpuq : Inst::kIdVpcmpud);
  for_each_part(wide, [&](std::uint32_t byte) {
    const x86::Vec first = compared_vector(comparison, comparison.x, byte, 0);
    if (comparison.of_floats) {
      a.emit(of_floats, x86::k1, first, part(comparison.y, byte),
             asmjit::Imm(*comparison.of_floats));
    } else {
      a.emit(of_integers, x86::k1, first, compared(comparison, comparison.y, byte, 1),
             asmjit::Imm(*comparison.of_integers));
    }
    const std::uint32_t lane = byte / (wide ? 8 : 4);
    a.kmovw(lane == 0 ? x86::eax : x86::ecx, x86::k1);
    if (once_) a.movsx(x86::eax, x86::al);
    gather_bits(lane);
  });
}

// Compares without mask registers: the host then compares integers only by equal and signed
// greater.
void ComputeEmitter::compare_by_vectors(const Comparison& comparison) {
  const bool wide = comparison.wide;
  const auto& of_integers = comparison.of_integers;
  bool swaps = false, negates = false, equal = false;
  if (of_integers) {
    equal = *of_integers == x86::VPCmpImm::kEQ || *of_integers == x86::VPCmpImm::kNE;
    swaps = *of_integers == x86::VPCmpImm::kLT || *of_integers == x86::VPCmpImm::kGE;
    negates = *of_integers == x86::VPCmpImm::kNE || *of_integers == x86::VPCmpImm::kGE ||
              *of_integers == x86::VPCmpImm::kLE;
  }
  const bool flips = of_integers && !equal && !comparison.is_signed;
  if (flips) {
    load(vec(2), table(wide ? offsetof(Tables, wide_signs) : offsetof(Tables, signs)));
  }
  for_each_part(wide, [&](std::uint32_t byte) {
    const x86::Vec greater =
        compared_vector(comparison, swaps ? comparison.y : comparison.x, byte, 3);
    if (comparison.of_floats) {
      a.emit(wide ? Inst::kIdVcmppd : Inst::kIdVcmpps, vec(0), greater, part(comparison.y, byte),
             asmjit::Imm(*comparison.of_floats));
    } else {
      asmjit::Operand lesser = compared(comparison, swaps ? comparison.x : comparison.y, byte, 4);
      x86::Vec flipped = greater;
      if (flips) {
        a.emit(Inst::kIdVpxor, vec(1), vec(2), lesser);
        a.vpxor(vec(0), greater, vec(2));
        lesser = vec(1);
        flipped = vec(0);
      }
      asmjit::InstId id = wide ? Inst::kIdVpcmpgtq : Inst::kIdVpcmpgtd;
      if (equal) id = wide ? Inst::kIdVpcmpeqq : Inst::kIdVpcmpeqd;
      a.emit(id, vec(0), flipped, lesser);
    }
    const std::uint32_t lane = byte / (wide ? 8 : 4);
    if (once_) {
      a.vmovd(x86::eax, x86::xmm0);
      return;
    }
    a.emit(wide ? Inst::kIdVmovmskpd : Inst::kIdVmovmskps, lane == 0 ? x86::eax : x86::ecx, vec(0));
    gather_bits(lane);
  });
  if (negates) a.not_(x86::eax);
}

// Leaves the result of the comparison in eax, one bit per lane.
bool ComputeEmitter::compare(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool wide = ptx::bytes_of(m.type) == 8, is_float = ptx::is_float(m.type);
  const bool narrow = is_narrow(m.type);
  const bool is_scalar = narrow || m.type == Type::f32 || m.type == Type::f64 ||
                         m.type == Type::b32 || m.type == Type::u32 || m.type == Type::s32 ||
                         m.type == Type::b64 || m.type == Type::u64 || m.type == Type::s64;
  const Ref& x = instr[CompareOperand::a];
  const Ref& y = instr[CompareOperand::b];
  if (!is_scalar || m.ftz || !is_row(x, wide) || !is_row(y, wide)) return false;
  const Comparison comparison{x,
                              y,
                              wide,
                              narrow,
                              ptx::is_signed(m.type),
                              is_float ? float_condition(m.compare) : std::nullopt,
                              is_float ? std::nullopt : integer_condition(m.compare)};
  if (!comparison.of_floats && !comparison.of_integers) return false;
  if (is_512_) {
    compare_by_masks(comparison);
  } else {
    compare_by_vectors(comparison);
  }
  return true;
}

bool ComputeEmitter::set_predicate(const Instr& instr) {
  const ptx::BoolOp op = instr.modifiers.bool_op;
  const Ref& p = instr[CompareOperand::p];
  const Ref& q = instr[CompareOperand::q];
  const Ref& c = instr[CompareOperand::c];
  const auto is_known = [](const Ref& ref) {
    return ref.bank == Bank::predicate || ref.bank == Bank::none;
  };
  if (!is_known(p) || !is_known(q)) return false;
  if (op != ptx::BoolOp::none && c.bank != Bank::predicate && c.bank != Bank::constant)
    return false;
  if (!compare(instr)) return false;
  if (q.bank != Bank::none) {
    a.mov(x86::ecx, x86::eax);
    a.not_(x86::ecx);
  }
  if (op != ptx::BoolOp::none) {
    a.mov(x86::edx, predicate(c));
    for (const x86::Gp& bits : {x86::eax, x86::ecx}) {
      if (bits == x86::ecx && q.bank == Bank::none) continue;
      if (op == ptx::BoolOp::and_) a.and_(bits, x86::edx);
      if (op == ptx::BoolOp::or_) a.or_(bits, x86::edx);
      if (op == ptx::BoolOp::xor_) a.xor_(bits, x86::edx);
    }
  }
  if (p.bank != Bank::none) store_predicate(p, x86::eax);
  if (q.bank != Bank::none) store_predicate(q, x86::ecx);
  return true;
}

bool ComputeEmitter::select(const Instr& instr) {
  const Ref& by = instr[CompareOperand::c];
  const bool narrow = is_narrow(instr.modifiers.type);
  if (by.bank != Bank::predicate || (narrow && !are_words(instr, 2))) return false;
  const Width width = narrow ? Width::word : width_of(instr, 2);
  if (width == Width::neither) return false;
  const bool wide = width == Width::wide;
  const x86::Mem bits = predicate(by);
  if (is_512_) {
    a.kmovd(x86::k1, bits);
  } else {
    a.vpbroadcastd(wide ? half(2) : vec(2), bits);
    if (wide) a.vpmovzxdq(vec(2), half(2));
  }
  for_each_part(wide, [&](std::uint32_t byte) {
    const asmjit::Operand first = part(instr[CompareOperand::a], byte);
    const asmjit::Operand second = part(instr[CompareOperand::b], byte);
    if (is_512_) {
      a.emit(Inst::kIdVmovups, vec(0), second);
      a.k(x86::k1).emit(wide ? Inst::kIdVmovdqu64 : Inst::kIdVmovdqu32, vec(0), first);
      if (wide) {
        a.kshiftrd(x86::k1, x86::k1, 8);
      } else {
        a.kshiftrd(x86::k1, x86::k1, 16);
      }
    } else {
      const x86::Mem lanes =
          table((wide ? offsetof(Tables, wide_bits) : offsetof(Tables, word_bits)) + byte);
      load(vec(1), lanes);
      a.vpand(vec(3), vec(2), vec(1));
      a.emit(wide ? Inst::kIdVpcmpeqq : Inst::kIdVpcmpeqd, vec(3), vec(3), vec(1));
      a.emit(Inst::kIdVmovups, vec(0), second);
      a.emit(Inst::kIdVpblendvb, vec(0), vec(0), first, vec(3));
    }
    store_row(instr[CompareOperand::d], byte, wide, vec(0));
  });
  return true;
}

// Emits f64 arithmetic with rounding to nearest.  Which NaN results depends on the operands, so
// NaNs are left to the called function.
bool ComputeEmitter::double_arithmetic(const Instr& instr, std::uint32_t pc) {
  const bool fuses = instr.opcode == ptx::Opcode::fma_ || instr.opcode == ptx::Opcode::mad_;
  if (guarded_ || width_of(instr, fuses ? 3 : 2) != Width::wide) return false;
  asmjit::InstId id = Inst::kIdVaddpd;
  if (instr.opcode == ptx::Opcode::sub_) id = Inst::kIdVsubpd;
  if (instr.opcode == ptx::Opcode::mul_) id = Inst::kIdVmulpd;
  // The vector registers of cached rows are needed here.
  const std::uint32_t end = is_512_ ? 0 : put_rows_away_for_one(pc);
  // No result is stored before all results are known to be numbers.
  const auto result_at = [&](std::uint32_t byte) { return vec(4 + byte / vector_bytes()); };
  for_each_part(true, [&](std::uint32_t byte) {
    const x86::Vec result = result_at(byte);
    if (fuses) {
      a.emit(Inst::kIdVmovups, result, part(instr[ComputeOperand::a], byte));
      a.emit(Inst::kIdVfmadd213pd, result, source(instr[ComputeOperand::b], byte, 1),
             part(instr[ComputeOperand::c], byte));
    } else {
      a.emit(id, result, source(instr[ComputeOperand::a], byte, 0),
             part(instr[ComputeOperand::b], byte));
    }
    const bool is_first = byte == 0;
    if (is_512_) {
      a.vcmppd(is_first ? x86::k1 : x86::k2, result, result, asmjit::Imm(x86::VCmpImm::kUNORD_Q));
      if (!is_first) a.korw(x86::k1, x86::k1, x86::k2);
    } else {
      a.vcmppd(is_first ? vec(2) : vec(3), result, result, asmjit::Imm(x86::VCmpImm::kUNORD_Q));
      if (!is_first) a.vpor(vec(2), vec(2), vec(3));
    }
  });
  if (is_512_) {
    a.kortestw(x86::k1, x86::k1);
  } else {
    a.vptest(vec(2), vec(2));
  }
  const asmjit::Label nan = a.newLabel(), done = a.newLabel();
  a.jnz(nan);
  for_each_part(true, [&](std::uint32_t byte) {
    store_row(instr[ComputeOperand::d], byte, true, result_at(byte));
  });
  a.bind(done);
  later_with_rows([this, nan, done, &instr, pc] {
    a.bind(nan);
    move_lanes(x86::edx);
    call_compute(instr, pc);
    load_results();
    a.jmp(done);
  });
  if (!is_512_) end_one(end);
  return true;
}

// Emits f32 arithmetic with rounding to nearest, whose NaN is always the canonical one; and f64.
bool ComputeEmitter::float_arithmetic(const Instr& instr, std::uint32_t pc) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool is_nearest = m.rounding == ptx::Rounding::none || m.rounding == ptx::Rounding::rn;
  const bool fuses = instr.opcode == ptx::Opcode::fma_ || instr.opcode == ptx::Opcode::mad_;
  const bool is_plain = !m.ftz && !m.sat && !m.relu && !m.out_of_bounds;
  if (!is_nearest || !is_plain) return false;
  if (m.type == Type::f64) return double_arithmetic(instr, pc);
  if (m.type != Type::f32) return false;
  if (width_of(instr, fuses ? 3 : 2) != Width::word) return false;
  asmjit::InstId id = Inst::kIdVaddps;
  if (instr.opcode == ptx::Opcode::sub_) id = Inst::kIdVsubps;
  if (instr.opcode == ptx::Opcode::mul_) id = Inst::kIdVmulps;
  load(vec(3), table(offsetof(Tables, nan)));
  for_each_part(false, [&](std::uint32_t byte) {
    if (fuses) {
      a.emit(Inst::kIdVmovups, vec(0), part(instr[ComputeOperand::a], byte));
      a.emit(Inst::kIdVfmadd213ps, vec(0), source(instr[ComputeOperand::b], byte, 1),
             part(instr[ComputeOperand::c], byte));
    } else {
      a.emit(id, vec(0), source(instr[ComputeOperand::a], byte, 0),
             part(instr[ComputeOperand::b], byte));
    }
    make_nan_canonical();
    store_row(instr[ComputeOperand::d], byte, false, vec(0));
  });
  return true;
}

// Replaces NaNs in vec(0) by the canonical NaN, which is in vec(3).
void ComputeEmitter::make_nan_canonical() {
  if (is_512_) {
    a.vcmpps(x86::k1, vec(0), vec(0), asmjit::Imm(x86::VCmpImm::kUNORD_Q));
    a.k(x86::k1).vmovdqu32(vec(0), vec(3));
  } else {
    a.vcmpps(vec(2), vec(0), vec(0), asmjit::Imm(x86::VCmpImm::kUNORD_Q));
    a.vblendvps(vec(0), vec(0), vec(3), vec(2));
  }
}

// Emits abs and neg of f32.
bool ComputeEmitter::float_sign(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (m.type != Type::f32 || m.ftz || width_of(instr, 1) != Width::word) return false;
  const bool is_abs = instr.opcode == ptx::Opcode::abs_;
  load(vec(3), table(offsetof(Tables, nan)));
  for_each_part(false, [&](std::uint32_t byte) {
    const x86::Vec from = source(instr[ComputeOperand::a], byte, 0);
    if (is_abs) {
      a.emit(is_512_ ? Inst::kIdVpandd : Inst::kIdVpand, vec(0), from, vec(3));
    } else {
      a.emit(is_512_ ? Inst::kIdVpxord : Inst::kIdVpxor, vec(0), from,
             table(offsetof(Tables, signs)));
    }
    make_nan_canonical();
    store_row(instr[ComputeOperand::d], byte, false, vec(0));
  });
  return true;
}

// Emits min and max of f32 (PTX ISA 9.7.3).  The host's instructions return the second operand if
// both are zeros or one is NaN; PTX orders zeros by their signs, and returns the number if one
// operand is NaN.
bool ComputeEmitter::float_extreme(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool is_plain = !m.ftz && !m.nan && !m.xorsign && !m.relu;
  if (!is_plain || instr[ComputeOperand::c].bank != Bank::none) return false;
  if (m.type != Type::f32 || width_of(instr, 2) != Width::word) return false;
  const bool is_max = instr.opcode == ptx::Opcode::max_;
  const asmjit::InstId id = is_max ? Inst::kIdVmaxps : Inst::kIdVminps;
  asmjit::InstId combine = is_max ? Inst::kIdVpand : Inst::kIdVpor;
  if (is_512_) combine = is_max ? Inst::kIdVpandd : Inst::kIdVpord;
  load(vec(3), table(offsetof(Tables, nan)));
  for_each_part(false, [&](std::uint32_t byte) {
    a.emit(Inst::kIdVmovups, vec(1), part(instr[ComputeOperand::a], byte));
    a.emit(Inst::kIdVmovups, vec(4), part(instr[ComputeOperand::b], byte));
    a.emit(id, vec(0), vec(1), vec(4));
    a.emit(id, vec(2), vec(4), vec(1));
    a.emit(combine, vec(0), vec(0), vec(2));
    // If an operand is NaN, the result is the other one.
    const auto choose = [&](const x86::Vec& operand, const x86::Vec& other) {
      if (is_512_) {
        a.vcmpps(x86::k1, operand, operand, asmjit::Imm(x86::VCmpImm::kUNORD_Q));
        a.k(x86::k1).vmovdqu32(vec(0), other);
      } else {
        a.vcmpps(vec(2), operand, operand, asmjit::Imm(x86::VCmpImm::kUNORD_Q));
        a.vblendvps(vec(0), vec(0), other, vec(2));
      }
    };
    choose(vec(1), vec(4));
    choose(vec(4), vec(1));
    make_nan_canonical();
    store_row(instr[ComputeOperand::d], byte, false, vec(0));
  });
  return true;
}

// Emits cvt.rzi.s32.f32: values beyond the range are clamped, NaN becomes 0.
bool ComputeEmitter::truncate_float(const Instr& instr) {
  const Ref& from = instr[ComputeOperand::a];
  const bool is_row = from.bank == Bank::word || from.bank == Bank::constant;
  if (!is_row || instr[ComputeOperand::d].bank != Bank::word) return false;
  a.mov(x86::eax, 0x4f000000);  // 2^31
  a.vmovd(x86::xmm4, x86::eax);
  a.vpbroadcastd(vec(4), x86::xmm4);
  for_each_part(false, [&](std::uint32_t byte) {
    const x86::Vec value = source(from, byte, 1);
    a.vcvttps2dq(vec(0), value);  // gives -2^31 where there is no result
    if (is_512_) {
      a.vcmpps(x86::k1, value, vec(4), asmjit::Imm(x86::VCmpImm::kGE_OQ));
      a.vpternlogd(vec(2), vec(2), vec(2), 0xff);
      a.k(x86::k1).vpxord(vec(0), vec(0), vec(2));
      a.vcmpps(x86::k1, value, value, asmjit::Imm(x86::VCmpImm::kORD_Q));
      a.k(x86::k1).z().vmovdqu32(vec(0), vec(0));
    } else {
      a.vcmpps(vec(2), value, vec(4), asmjit::Imm(x86::VCmpImm::kGE_OQ));
      a.vpxor(vec(0), vec(0), vec(2));
      a.vcmpps(vec(2), value, value, asmjit::Imm(x86::VCmpImm::kORD_Q));
      a.vpand(vec(0), vec(0), vec(2));
    }
    store_row(instr[ComputeOperand::d], byte, false, vec(0));
  });
  return true;
}

}  // namespace warpcheck::vgpu::native
