// Emits 16-bit integer instructions, conversions from and to 8 and 16 bits, and moves of parts of
// registers, of all lanes: PTX ISA 9.7.1, 9.7.6, 9.7.8, 9.7.9.
//
// A narrow value is in the low bits of a cell of a row of words.  The other bits of a source may
// hold anything; those of a result are 0, or copies of the sign where `cvt` converts to a signed
// type, or those of the source that `mov` or `selp` copies.
#include <cstring>

#include "vgpu/machine/native/narrow_emitter.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::native {

using ptx::Opcode;
using ptx::Type;

namespace {

bool is_word(const Ref& ref) { return ref.bank == Bank::word || ref.bank == Bank::constant; }
bool is_wide(const Ref& ref) { return ref.bank == Bank::wide || ref.bank == Bank::constant; }

// Returns the number of bits of an integer type of up to 32 bits; 0 for all other types.
unsigned bits_of(Type type) {
  switch (type) {
    case Type::u8:
    case Type::s8:
    case Type::b8: return 8;
    case Type::u16:
    case Type::s16:
    case Type::b16: return 16;
    case Type::u32:
    case Type::s32:
    case Type::b32: return 32;
    default: return 0;
  }
}

}  // namespace

bool NarrowEmitter::is_narrow(Type type) { return bits_of(type) == 16; }

// Returns whether the destination and the first `sources` sources are rows of words.
bool NarrowEmitter::are_words(const Instr& instr, std::uint32_t sources) {
  bool fits = instr[ComputeOperand::d].bank == Bank::word;
  for (std::uint32_t i = 0; i < sources; ++i) fits = fits && is_word(instr[kComputeSources[i]]);
  return fits;
}

// Extends the low `bits` bits of each cell of `from` to the whole cell.
void NarrowEmitter::extend(const x86::Vec& to, const x86::Vec& from, unsigned bits,
                           bool is_signed) {
  if (bits >= 32) {
    if (to.id() != from.id()) a.vmovaps(to, from);
    return;
  }
  a.vpslld(to, from, 32 - bits);
  a.emit(is_signed ? Inst::kIdVpsrad : Inst::kIdVpsrld, to, to, asmjit::Imm(32 - bits));
}

// Returns a part of a source, extended from the instruction's 16-bit type, in vec(scratch).
x86::Vec NarrowEmitter::extended(const Instr& instr, const Ref& ref, std::uint32_t byte,
                                 unsigned scratch) {
  extend(vec(scratch), source(ref, byte, scratch), 16, ptx::is_signed(instr.modifiers.type));
  return vec(scratch);
}

// Sets all bits of vec(0) above the low 16 to 0, and stores it as a part of the result.
void NarrowEmitter::store_narrow(const Ref& ref, std::uint32_t byte) {
  a.emit(is_512_ ? Inst::kIdVpandd : Inst::kIdVpand, vec(0), vec(0),
         table(offsetof(Tables, low_half)));
  store_row(ref, byte, false, vec(0));
}

//   extends: the operation looks at all bits of its sources
bool NarrowEmitter::narrow_binary(const Instr& instr, asmjit::InstId id, bool extends) {
  const Ref& x = instr[ComputeOperand::a];
  const Ref& y = instr[ComputeOperand::b];
  for_each_part(false, [&](std::uint32_t byte) {
    if (extends) {
      const x86::Vec first = extended(instr, x, byte, 0);
      a.emit(id, vec(0), first, extended(instr, y, byte, 1));
    } else {
      a.emit(id, vec(0), source(x, byte, 0), part(y, byte));
    }
    store_narrow(instr[ComputeOperand::d], byte);
  });
  return true;
}

bool NarrowEmitter::narrow_multiply(const Instr& instr) {
  const bool adds = instr.opcode == Opcode::mad_;
  const bool widens = instr.modifiers.part == ptx::MulPart::wide;
  if (!widens && instr.modifiers.part != ptx::MulPart::lo) return false;
  if (adds && !is_word(instr[ComputeOperand::c])) return false;
  const Ref& x = instr[ComputeOperand::a];
  const Ref& y = instr[ComputeOperand::b];
  for_each_part(false, [&](std::uint32_t byte) {
    if (widens) {
      const x86::Vec first = extended(instr, x, byte, 0);
      a.vpmulld(vec(0), first, extended(instr, y, byte, 1));
    } else {
      a.emit(Inst::kIdVpmulld, vec(0), source(x, byte, 0), part(y, byte));
    }
    if (adds) a.emit(Inst::kIdVpaddd, vec(0), vec(0), part(instr[ComputeOperand::c], byte));
    if (widens) {
      store_row(instr[ComputeOperand::d], byte, false, vec(0));
    } else {
      store_narrow(instr[ComputeOperand::d], byte);
    }
  });
  return true;
}

// Emits a shift.  The amount is a row of 32-bit values.  The host's shifts give 0, or the sign, for
// amounts from 32 on; for amounts from 16 on, no bit of the 16-bit value remains, or only its sign.
bool NarrowEmitter::narrow_shift(const Instr& instr) {
  const bool is_left = instr.opcode == Opcode::shl_;
  asmjit::InstId id = ptx::is_signed(instr.modifiers.type) ? Inst::kIdVpsravd : Inst::kIdVpsrlvd;
  if (is_left) id = Inst::kIdVpsllvd;
  for_each_part(false, [&](std::uint32_t byte) {
    const Ref& value = instr[ComputeOperand::a];
    const x86::Vec from = is_left ? source(value, byte, 0) : extended(instr, value, byte, 0);
    a.emit(id, vec(0), from, part(instr[ComputeOperand::b], byte));
    store_narrow(instr[ComputeOperand::d], byte);
  });
  return true;
}

// Emits mov, not and neg.
bool NarrowEmitter::narrow_unary(const Instr& instr) {
  const Ref& to = instr[ComputeOperand::d];
  for_each_part(false, [&](std::uint32_t byte) {
    const x86::Vec from = source(instr[ComputeOperand::a], byte, 0);
    switch (instr.opcode) {
      case Opcode::not_:
        a.emit(is_512_ ? Inst::kIdVpxord : Inst::kIdVpxor, vec(0), from,
               table(offsetof(Tables, low_half)));
        break;
      case Opcode::neg_:
        a.vpxor(x86::xmm1, x86::xmm1, x86::xmm1);
        a.vpsubd(vec(0), vec(1), from);
        break;
      default: return store_row(to, byte, false, from);
    }
    store_narrow(to, byte);
  });
  return true;
}

// Emits an instruction whose type has 16 bits, except comparisons and selections.  Returns false,
// and emits nothing, if there is no code for its form.
bool NarrowEmitter::narrow(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const Opcode opcode = instr.opcode;
  const bool is_unary = opcode == Opcode::mov_ || opcode == Opcode::not_ || opcode == Opcode::neg_;
  if (m.sat || m.relu || m.vector != 1 || !are_words(instr, is_unary ? 1 : 2)) return false;
  const bool is_signed = ptx::is_signed(m.type);
  switch (opcode) {
    case Opcode::add_: return narrow_binary(instr, Inst::kIdVpaddd, false);
    case Opcode::sub_: return narrow_binary(instr, Inst::kIdVpsubd, false);
    case Opcode::and_:
      return narrow_binary(instr, is_512_ ? Inst::kIdVpandd : Inst::kIdVpand, false);
    case Opcode::or_: return narrow_binary(instr, is_512_ ? Inst::kIdVpord : Inst::kIdVpor, false);
    case Opcode::xor_:
      return narrow_binary(instr, is_512_ ? Inst::kIdVpxord : Inst::kIdVpxor, false);
    case Opcode::min_:
      return narrow_binary(instr, is_signed ? Inst::kIdVpminsd : Inst::kIdVpminud, true);
    case Opcode::max_:
      return narrow_binary(instr, is_signed ? Inst::kIdVpmaxsd : Inst::kIdVpmaxud, true);
    case Opcode::mul_:
    case Opcode::mad_: return narrow_multiply(instr);
    case Opcode::shl_:
    case Opcode::shr_: return narrow_shift(instr);
    case Opcode::neg_:
      if (!is_signed) return false;
      [[fallthrough]];
    case Opcode::mov_:
    case Opcode::not_: return narrow_unary(instr);
    default: return false;
  }
}

// Emits conversions between integers of 8, 16 and 32 bits, from 8 and 16 bits to 64 bits, and from
// 8 and 16 bits to floats.
bool NarrowEmitter::convert_narrow(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const Ref& from = instr[ComputeOperand::a];
  const Ref& to = instr[ComputeOperand::d];
  const unsigned source_bits = bits_of(m.source_type);
  const unsigned bits = bits_of(m.type);
  const bool from_signed = ptx::is_signed(m.source_type);
  if (source_bits == 0 || !is_word(from)) return false;
  if (bits != 0 && to.bank == Bank::word && m.rounding == ptx::Rounding::none) {
    const bool narrows = bits < 32;
    for_each_part(false, [&](std::uint32_t byte) {
      x86::Vec value = source(from, byte, 0);
      if (!narrows || source_bits < bits) {
        extend(vec(0), value, source_bits, from_signed);
        value = vec(0);
      }
      if (narrows) extend(vec(0), value, bits, ptx::is_signed(m.type));
      store_row(to, byte, false, vec(0));
    });
    return true;
  }
  if (source_bits == 32) return false;
  if (m.type == Type::f32 && m.rounding != ptx::Rounding::none && to.bank == Bank::word) {
    for_each_part(false, [&](std::uint32_t byte) {
      extend(vec(0), source(from, byte, 0), source_bits, from_signed);
      a.emit(Inst::kIdVcvtdq2ps, vec(0), vec(0));
      store_row(to, byte, false, vec(0));
    });
    return true;
  }
  const bool is_integer = m.type == Type::u64 || m.type == Type::s64 || m.type == Type::b64;
  if (!is_integer || m.rounding != ptx::Rounding::none || to.bank != Bank::wide) return false;
  for_each_part(true, [&](std::uint32_t byte) {
    a.emit(is_512_ ? Inst::kIdVmovdqu32 : Inst::kIdVmovdqu, half(0), half_part(from, byte / 2, 0));
    extend(half(0), half(0), source_bits, from_signed);
    a.emit(from_signed ? Inst::kIdVpmovsxdq : Inst::kIdVpmovzxdq, vec(0), half(0));
    store_row(to, byte, true, vec(0));
  });
  return true;
}

// Stores the low or high words of a row of wide cells as a row of words.
void NarrowEmitter::store_words_of(const Ref& to, const Ref& from, bool high) {
  if (is_512_) {
    for_each_part(true, [&](std::uint32_t byte) {
      x86::Vec value = source(from, byte, 0);
      if (high) {
        a.vpsrlq(vec(0), value, 32);
        value = vec(0);
      }
      a.emit(Inst::kIdVpmovqd, half(0), value);
      store_half_row(to, byte / 2, half(0));
    });
    return;
  }
  for_each_part(false, [&](std::uint32_t byte) {
    const x86::Vec first = source(from, 2 * byte, 0);
    const x86::Vec second = source(from, 2 * byte + vector_bytes(), 1);
    a.vshufps(vec(0), first, second, high ? 0xdd : 0x88);
    a.vpermq(vec(0), vec(0), 0xd8);
    store_row(to, byte, false, vec(0));
  });
}

// Emits d = {a, b} and {d, e} = a, of two halves of a word or two words.
bool NarrowEmitter::move_parts(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const std::uint32_t bytes = ptx::bytes_of(m.type);
  if (m.vector != 2 || (bytes != 4 && bytes != 8)) return false;
  const bool wide = bytes == 8;
  if (instr[ComputeOperand::b].bank != Bank::none) return pack_parts(instr, wide);
  const Ref& from = instr[ComputeOperand::a];
  if (wide ? !is_wide(from) : !is_word(from)) return false;
  if (wide && is_512_ && guarded_) return false;
  for (const auto part_of : {kUnpackedParts[0], kUnpackedParts[1]}) {
    if (instr[part_of].bank != Bank::none && instr[part_of].bank != Bank::word) return false;
  }
  for (const bool high : {false, true}) {
    const Ref& to = instr[kUnpackedParts[high ? 1 : 0]];
    if (to.bank == Bank::none) continue;
    if (wide) {
      store_words_of(to, from, high);
      continue;
    }
    for_each_part(false, [&](std::uint32_t byte) {
      if (high) {
        a.vpsrld(vec(0), source(from, byte, 0), 16);
      } else {
        extend(vec(0), source(from, byte, 0), 16, false);
      }
      store_row(to, byte, false, vec(0));
    });
  }
  return true;
}

bool NarrowEmitter::pack_parts(const Instr& instr, bool wide) {
  const Ref& to = instr[ComputeOperand::d];
  const Ref& low = instr[ComputeOperand::a];
  const Ref& high = instr[ComputeOperand::b];
  if (to.bank != (wide ? Bank::wide : Bank::word) || !is_word(low) || !is_word(high)) return false;
  const asmjit::InstId combine = is_512_ ? Inst::kIdVpord : Inst::kIdVpor;
  for_each_part(wide, [&](std::uint32_t byte) {
    if (wide) {
      a.emit(Inst::kIdVpmovzxdq, vec(0), half_part(low, byte / 2, 0));
      a.emit(Inst::kIdVpmovzxdq, vec(1), half_part(high, byte / 2, 1));
      a.vpsllq(vec(1), vec(1), 32);
    } else {
      extend(vec(0), source(low, byte, 0), 16, false);
      a.vpslld(vec(1), source(high, byte, 1), 16);
    }
    a.emit(combine, vec(0), vec(0), vec(1));
    store_row(to, byte, wide, vec(0));
  });
  return true;
}

// Emits prmt if its selectors are constant and none of them replicates a sign.
bool NarrowEmitter::permute_bytes(const Instr& instr) {
  const Ref& selectors = instr[ComputeOperand::c];
  if (instr.modifiers.type != Type::b32 || instr.modifiers.permute != ptx::PermuteMode::none ||
      selectors.bank != Bank::constant || !are_words(instr, 2)) {
    return false;
  }
  std::uint32_t chosen = 0;
  std::memcpy(&chosen, constants_ + selectors.offset, sizeof chosen);
  // The control bytes of vpshufb: the byte of the cell for each place, or 0x80, which gives 0.
  std::uint32_t of_first = 0, of_second = 0;
  for (unsigned place = 0; place < 4; ++place) {
    const std::uint32_t selector = chosen >> (4 * place) & 0xf;
    if (selector >= 8) return false;
    const bool is_first = selector < 4;
    of_first |= (is_first ? selector : 0x80u) << (8 * place);
    of_second |= (is_first ? 0x80u : selector - 4) << (8 * place);
  }
  const auto fill = [&](unsigned number, std::uint32_t places) {
    a.mov(x86::eax, places);
    a.vmovd(x86::Xmm(number), x86::eax);
    a.vpbroadcastd(vec(number), x86::Xmm(number));
    a.emit(Inst::kIdVpaddd, vec(number), vec(number), table(offsetof(Tables, cell_bytes)));
  };
  fill(2, of_first);
  fill(3, of_second);
  for_each_part(false, [&](std::uint32_t byte) {
    a.vpshufb(vec(0), source(instr[ComputeOperand::a], byte, 0), vec(2));
    a.vpshufb(vec(1), source(instr[ComputeOperand::b], byte, 1), vec(3));
    a.emit(is_512_ ? Inst::kIdVpord : Inst::kIdVpor, vec(0), vec(0), vec(1));
    store_row(instr[ComputeOperand::d], byte, false, vec(0));
  });
  return true;
}

}  // namespace warpcheck::vgpu::native
