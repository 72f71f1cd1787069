// Emits integer arithmetic, logic, shifts, moves and conversions of all lanes, with the results of
// compute/: PTX ISA 9.7.1, 9.7.8, 9.7.9.
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/native/compute_emitter.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::native {

using ptx::Opcode;
using ptx::Type;

namespace {

bool is_row(const Ref& ref, Bank bank) { return ref.bank == bank || ref.bank == Bank::constant; }

// Returns 4 or 8; 0 for narrow and packed types.
std::uint32_t bytes_of_scalar(Type type) {
  switch (type) {
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32: return 4;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64: return 8;
    default: return 0;
  }
}

}  // namespace

// Returns the width of the destination and the first `sources` sources, if all have the
// instruction's type.
ComputeEmitter::Width ComputeEmitter::width_of(const Instr& instr, std::uint32_t sources) {
  const std::uint32_t bytes = bytes_of_scalar(instr.modifiers.type);
  if (bytes == 0) return Width::neither;
  const Bank bank = bytes == 8 ? Bank::wide : Bank::word;
  if (instr[ComputeOperand::d].bank != bank) return Width::neither;
  for (std::uint32_t i = 0; i < sources; ++i) {
    if (!is_row(instr[kComputeSources[i]], bank)) return Width::neither;
  }
  return bytes == 8 ? Width::wide : Width::word;
}

bool ComputeEmitter::binary(const Instr& instr, Pair of_avx2, Pair of_avx512) {
  const Width width = width_of(instr, 2);
  const Pair pair = is_512_ ? of_avx512 : of_avx2;
  const asmjit::InstId id = width == Width::wide ? pair.second : pair.first;
  if (width == Width::neither || id == 0) return false;
  for_each_part(width == Width::wide, [&](std::uint32_t byte) {
    const x86::Vec to = result(instr[ComputeOperand::d], byte, 0);
    a.emit(id, to, source(instr[ComputeOperand::a], byte, 0), part(instr[ComputeOperand::b], byte));
    store_row(instr[ComputeOperand::d], byte, width == Width::wide, to);
  });
  return true;
}

// Emits the product of one vector, for mul and mad.
void ComputeEmitter::multiply_part(const Instr& instr, std::uint32_t byte, const x86::Vec& to) {
  const Ref& x = instr[ComputeOperand::a];
  const Ref& y = instr[ComputeOperand::b];
  if (instr.modifiers.part == ptx::MulPart::wide) {
    const bool is_signed = ptx::is_signed(instr.modifiers.type);
    const asmjit::InstId extend = is_signed ? Inst::kIdVpmovsxdq : Inst::kIdVpmovzxdq;
    a.emit(extend, vec(0), half_part(x, byte / 2, 0));
    a.emit(extend, vec(1), half_part(y, byte / 2, 1));
    a.emit(is_signed ? Inst::kIdVpmuldq : Inst::kIdVpmuludq, to, vec(0), vec(1));
    return;
  }
  const x86::Vec first = source(x, byte, 0);
  if (ptx::bytes_of(instr.modifiers.type) == 4) {
    a.emit(Inst::kIdVpmulld, to, first, part(y, byte));
  } else if (is_512_) {
    a.emit(Inst::kIdVpmullq, to, first, part(y, byte));
  } else {
    const x86::Vec second = source(y, byte, 1);
    a.vpsrlq(vec(2), first, 32);
    a.vpmuludq(vec(2), vec(2), second);  // high half of one, low half of the other
    a.vpsrlq(vec(3), second, 32);
    a.vpmuludq(vec(3), vec(3), first);
    a.vpaddq(vec(2), vec(2), vec(3));
    a.vpsllq(vec(2), vec(2), 32);
    a.vpmuludq(vec(3), first, second);
    a.vpaddq(to, vec(3), vec(2));
  }
}

bool ComputeEmitter::multiply(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool adds = instr.opcode == Opcode::mad_;
  const bool widens = m.part == ptx::MulPart::wide;
  if (m.sat || (!widens && m.part != ptx::MulPart::lo)) return false;
  bool wide = widens;
  if (widens) {
    const bool fits = (m.type == Type::u32 || m.type == Type::s32) &&
                      instr[ComputeOperand::d].bank == Bank::wide &&
                      is_row(instr[ComputeOperand::a], Bank::word) &&
                      is_row(instr[ComputeOperand::b], Bank::word) &&
                      (!adds || is_row(instr[ComputeOperand::c], Bank::wide));
    if (!fits) return false;
  } else {
    const Width width = width_of(instr, adds ? 3 : 2);
    if (width == Width::neither) return false;
    wide = width == Width::wide;
  }
  for_each_part(wide, [&](std::uint32_t byte) {
    const x86::Vec to = result(instr[ComputeOperand::d], byte, 0);
    multiply_part(instr, byte, adds ? vec(0) : to);
    if (adds) {
      a.emit(wide ? Inst::kIdVpaddq : Inst::kIdVpaddd, to, vec(0),
             part(instr[ComputeOperand::c], byte));
    }
    store_row(instr[ComputeOperand::d], byte, wide, to);
  });
  return true;
}

// Like PTX, the host's shifts by a vector of amounts give 0, or the sign, for amounts from the
// width on.
bool ComputeEmitter::shift(const Instr& instr) {
  const Width width = width_of(instr, 1);
  if (width == Width::neither || !is_row(instr[ComputeOperand::b], Bank::word)) return false;
  const bool wide = width == Width::wide;
  const bool is_left = instr.opcode == Opcode::shl_;
  const bool keeps_sign = !is_left && ptx::is_signed(instr.modifiers.type);
  if (wide && keeps_sign && !is_512_) return false;
  asmjit::InstId id = wide ? Inst::kIdVpsrlvq : Inst::kIdVpsrlvd;
  if (is_left) id = wide ? Inst::kIdVpsllvq : Inst::kIdVpsllvd;
  if (keeps_sign) id = wide ? Inst::kIdVpsravq : Inst::kIdVpsravd;
  for_each_part(wide, [&](std::uint32_t byte) {
    const x86::Vec to = result(instr[ComputeOperand::d], byte, 0);
    const x86::Vec from = source(instr[ComputeOperand::a], byte, 0);
    if (wide) {
      a.emit(Inst::kIdVpmovzxdq, vec(1), half_part(instr[ComputeOperand::b], byte / 2, 1));
      a.emit(id, to, from, vec(1));
    } else {
      a.emit(id, to, from, part(instr[ComputeOperand::b], byte));
    }
    store_row(instr[ComputeOperand::d], byte, wide, to);
  });
  return true;
}

bool ComputeEmitter::minimum(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (ptx::is_float(m.type)) return float_extreme(instr);
  if (m.relu) return false;
  const bool is_signed = ptx::is_signed(m.type);
  if (instr.opcode == Opcode::min_) {
    return is_signed ? binary(instr, {Inst::kIdVpminsd, 0}, {Inst::kIdVpminsd, Inst::kIdVpminsq})
                     : binary(instr, {Inst::kIdVpminud, 0}, {Inst::kIdVpminud, Inst::kIdVpminuq});
  }
  return is_signed ? binary(instr, {Inst::kIdVpmaxsd, 0}, {Inst::kIdVpmaxsd, Inst::kIdVpmaxsq})
                   : binary(instr, {Inst::kIdVpmaxud, 0}, {Inst::kIdVpmaxud, Inst::kIdVpmaxuq});
}

bool ComputeEmitter::negate(const Instr& instr) {
  const Width width = width_of(instr, 1);
  if (width == Width::neither) return false;
  const bool wide = width == Width::wide;
  const bool is_not = instr.opcode == Opcode::not_;
  if (!is_not && !ptx::is_signed(instr.modifiers.type)) return false;
  for_each_part(wide, [&](std::uint32_t byte) {
    const asmjit::Operand from = part(instr[ComputeOperand::a], byte);
    const x86::Vec to = result(instr[ComputeOperand::d], byte, 0);
    if (is_not && is_512_) {
      a.emit(Inst::kIdVmovups, vec(0), from);
      a.vpternlogd(vec(0), vec(0), vec(0), 0x55);
      store_row(instr[ComputeOperand::d], byte, wide, vec(0));
      return;
    }
    if (is_not) {
      a.vpcmpeqd(vec(0), vec(0), vec(0));
      a.emit(Inst::kIdVpxor, to, vec(0), from);
    } else {
      a.vpxor(x86::xmm0, x86::xmm0, x86::xmm0);
      a.emit(wide ? Inst::kIdVpsubq : Inst::kIdVpsubd, to, vec(0), from);
    }
    store_row(instr[ComputeOperand::d], byte, wide, to);
  });
  return true;
}

// Emits mov, and cvta, which adds or subtracts the base of an address window.
bool ComputeEmitter::move(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool converts = instr.opcode == Opcode::cvta_;
  if (m.vector != 1) return !converts && move_parts(instr);
  if (converts && m.type != Type::u64) return false;
  if (converts && m.cluster) return false;
  const bool is_shared = converts && m.space == ptx::Space::shared;
  if (converts && !is_shared && m.space != ptx::Space::global && m.space != ptx::Space::constant) {
    return false;
  }
  const Width width = width_of(instr, 1);
  if (width == Width::neither) return false;
  if (!converts && instr[ComputeOperand::a].bank == Bank::constant &&
      keep_constant(instr[ComputeOperand::d], instr[ComputeOperand::a]))
    return true;
  for_each_part(width == Width::wide, [&](std::uint32_t byte) {
    x86::Vec from = source(instr[ComputeOperand::a], byte, 0);
    if (is_shared) {
      a.emit(m.to ? Inst::kIdVpsubq : Inst::kIdVpaddq, vec(0), from,
             table(offsetof(Tables, window)));
      from = vec(0);
    }
    store_row(instr[ComputeOperand::d], byte, width == Width::wide, from);
  });
  return true;
}

// Emits conversions between integers of 32 and 64 bits, and from signed 32-bit integers to floats.
bool ComputeEmitter::convert(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (m.sat || m.ftz || m.pack || instr[ComputeOperand::b].bank != Bank::none) return false;
  const Ref& from = instr[ComputeOperand::a];
  const Ref& to = instr[ComputeOperand::d];
  const std::uint32_t bytes = bytes_of_scalar(m.type);
  const std::uint32_t source_bytes = bytes_of_scalar(m.source_type);
  const bool to_float = (m.type == Type::f32 || m.type == Type::f64) &&
                        m.source_type == Type::s32 && m.rounding == ptx::Rounding::rn;
  const bool integers =
      !ptx::is_float(m.type) && !ptx::is_float(m.source_type) && m.rounding == ptx::Rounding::none;
  const auto holds = [](const Ref& ref, std::uint32_t size) {
    return size == 8 ? is_row(ref, Bank::wide) : size == 4 && is_row(ref, Bank::word);
  };
  const bool truncates = m.type == Type::s32 && m.source_type == Type::f32;
  if (truncates && m.rounding == ptx::Rounding::rzi) return truncate_float(instr);
  if (bytes == 0 || source_bytes == 0) return convert_narrow(instr);
  if ((!to_float && !integers) || !holds(from, source_bytes) || !holds(to, bytes)) return false;
  if (bytes == 8 && source_bytes == 4) {
    asmjit::InstId id = ptx::is_signed(m.source_type) ? Inst::kIdVpmovsxdq : Inst::kIdVpmovzxdq;
    if (to_float) id = Inst::kIdVcvtdq2pd;
    for_each_part(true, [&](std::uint32_t byte) {
      a.emit(id, vec(0), half_part(from, byte / 2, 0));
      store_row(to, byte, true, vec(0));
    });
    return true;
  }
  if (bytes == 4 && source_bytes == 8) {
    if (is_512_ && guarded_) return false;
    store_words_of(to, from, false);
    return true;
  }
  for_each_part(bytes == 8, [&](std::uint32_t byte) {
    if (to_float) {
      a.emit(Inst::kIdVcvtdq2ps, vec(0), part(from, byte));
      store_row(to, byte, false, vec(0));
    } else {
      store_row(to, byte, bytes == 8, source(from, byte, 0));
    }
  });
  return true;
}

bool ComputeEmitter::logic_of_predicates(const Instr& instr) {
  const Ref& to = instr[ComputeOperand::d];
  if (to.bank != Bank::predicate) return false;
  const auto is_source = [](const Ref& ref) {
    return ref.bank == Bank::predicate || ref.bank == Bank::constant;
  };
  const bool is_unary = instr.opcode == Opcode::mov_ || instr.opcode == Opcode::not_;
  if (!is_source(instr[ComputeOperand::a])) return false;
  if (!is_unary && !is_source(instr[ComputeOperand::b])) return false;
  a.mov(x86::eax, predicate(instr[ComputeOperand::a]));
  switch (instr.opcode) {
    case Opcode::mov_: break;
    case Opcode::not_: a.not_(x86::eax); break;
    case Opcode::and_: a.and_(x86::eax, predicate(instr[ComputeOperand::b])); break;
    case Opcode::or_: a.or_(x86::eax, predicate(instr[ComputeOperand::b])); break;
    default: a.xor_(x86::eax, predicate(instr[ComputeOperand::b])); break;
  }
  store_predicate(to, x86::eax);
  return true;
}

bool ComputeEmitter::lop3(const Instr& instr) {
  if (!is_512_ || instr[Lop3Operand::p].bank != Bank::none || width_of(instr, 3) != Width::word) {
    return false;
  }
  for_each_part(false, [&](std::uint32_t byte) {
    a.emit(Inst::kIdVmovups, vec(0), part(instr[ComputeOperand::a], byte));
    a.emit(Inst::kIdVpternlogd, vec(0), source(instr[ComputeOperand::b], byte, 1),
           part(instr[ComputeOperand::c], byte),
           asmjit::Imm(static_cast<std::uint8_t>(instr.truth_table)));
    store_row(instr[ComputeOperand::d], byte, false, vec(0));
  });
  return true;
}

bool ComputeEmitter::emit(const Instr& instr, std::uint32_t pc) {
  const ptx::Modifiers& m = instr.modifiers;
  if (rows_ && !rows_->has_reader(pc)) return true;
  if (m.carry_out) return false;
  const bool is_float = ptx::is_float(m.type);
  if (is_narrow(m.type) && narrow(instr)) return true;
  switch (instr.opcode) {
    case Opcode::add_:
      if (is_float) return float_arithmetic(instr, pc);
      return !m.sat &&
             binary(instr, {Inst::kIdVpaddd, Inst::kIdVpaddq}, {Inst::kIdVpaddd, Inst::kIdVpaddq});
    case Opcode::sub_:
      if (is_float) return float_arithmetic(instr, pc);
      return !m.sat &&
             binary(instr, {Inst::kIdVpsubd, Inst::kIdVpsubq}, {Inst::kIdVpsubd, Inst::kIdVpsubq});
    case Opcode::mul_:
    case Opcode::mad_: return is_float ? float_arithmetic(instr, pc) : multiply(instr);
    case Opcode::fma_: return float_arithmetic(instr, pc);
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_: {
      if (m.type == Type::pred) return logic_of_predicates(instr);
      Pair vex{Inst::kIdVpxor, Inst::kIdVpxor}, evex{Inst::kIdVpxord, Inst::kIdVpxord};
      if (instr.opcode == Opcode::and_) {
        vex = {Inst::kIdVpand, Inst::kIdVpand};
        evex = {Inst::kIdVpandd, Inst::kIdVpandd};
      } else if (instr.opcode == Opcode::or_) {
        vex = {Inst::kIdVpor, Inst::kIdVpor};
        evex = {Inst::kIdVpord, Inst::kIdVpord};
      }
      return binary(instr, vex, evex);
    }
    case Opcode::not_: return m.type == Type::pred ? logic_of_predicates(instr) : negate(instr);
    case Opcode::neg_: return is_float ? float_sign(instr) : negate(instr);
    case Opcode::abs_: return is_float && float_sign(instr);
    case Opcode::shl_:
    case Opcode::shr_: return shift(instr);
    case Opcode::min_:
    case Opcode::max_: return minimum(instr);
    case Opcode::mov_: return m.type == Type::pred ? logic_of_predicates(instr) : move(instr);
    case Opcode::cvta_: return move(instr);
    case Opcode::cvt_: return convert(instr);
    case Opcode::lop3_: return lop3(instr);
    case Opcode::prmt_: return permute_bytes(instr);
    case Opcode::setp_: return set_predicate(instr);
    case Opcode::selp_: return select(instr);
    default: return false;
  }
}

bool ComputeEmitter::emit_any(const Instr& instr, std::uint32_t pc) {
  switch (instr.kind) {
    case InstrKind::compute: return emit(instr, pc);
    case InstrKind::param: return parameter(instr);
    case InstrKind::special: return special(instr);
    default: return false;
  }
}

// Computes for all lanes, and keeps the results of those in r8d.
bool ComputeEmitter::emit_guarded(const Instr& instr, std::uint32_t pc) {
  if (rows_) {
    for (const CachedRow& uniform : rows_->take_uniform_results()) store_cached(uniform);
  }
  if (is_512_) {
    a.kmovd(lanes_at(0), x86::r8d);
    spread_masks();
  }
  guarded_ = true;
  const bool is_computed = emit(instr, pc);
  guarded_ = false;
  load_lanes();
  return is_computed;
}

}  // namespace warpcheck::vgpu::native
