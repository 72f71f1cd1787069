#include "vgpu/check/numerics/value_rules.hpp"

#include "vgpu/program/matrix.hpp"
#include "vgpu/program/multimem.hpp"
#include "vgpu/program/unpacking.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;

// Two floats of a byte or less each.
bool is_of_bytes(Type type) {
  return type == Type::e4m3x2 || type == Type::e5m2x2 || type == Type::e2m1x2 ||
         type == Type::e2m3x2 || type == Type::e3m2x2;
}

ValueRule rule_of_conversion(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool from_float = float_format_of(m.source_type) != FloatFormat::none;
  const bool to_float = float_format_of(m.type) != FloatFormat::none;
  if (from_float && to_float) return ValueRule::computes;
  if (is_of_bytes(m.type) || is_of_bytes(m.source_type)) return ValueRule::moves;
  if (from_float)
    return ptx::is_integer(m.type) ? ValueRule::rounds_to_integer : ValueRule::replaces;
  if (m.pack) return ValueRule::replaces;
  if (to_float) return ValueRule::moves;
  return ValueRule::adds_integers;
}

ValueRule rule_of_compute(const Instr& instr) {
  const bool is_float = float_format_of(instr.modifiers.type) != FloatFormat::none;
  switch (instr.opcode) {
    case Opcode::cvt_: return rule_of_conversion(instr);
    case Opcode::add_:
    case Opcode::sub_:
    case Opcode::mul_:
    case Opcode::mad_:
    case Opcode::fma_:
    case Opcode::div_:
    case Opcode::neg_:
    case Opcode::abs_:
      if (is_float) return ValueRule::computes;
      if (instr.opcode == Opcode::div_) return ValueRule::moves;
      return instr.opcode == Opcode::abs_ ? ValueRule::replaces : ValueRule::adds_integers;
    case Opcode::rem_: return ValueRule::moves;
    case Opcode::rcp_:
    case Opcode::sqrt_:
    case Opcode::rsqrt_:
    case Opcode::sin_:
    case Opcode::cos_:
    case Opcode::lg2_:
    case Opcode::ex2_:
    case Opcode::tanh_:
    case Opcode::copysign_: return ValueRule::computes;
    case Opcode::min_:
    case Opcode::max_:
      if (is_float) return ValueRule::extremes;
      return ptx::is_integer(instr.modifiers.type) ? ValueRule::extremes_of_integers
                                                   : ValueRule::replaces;
    case Opcode::shl_: return ValueRule::adds_integers;
    case Opcode::cvta_:
    case Opcode::mov_:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::prmt_:
    case Opcode::lop3_:
    case Opcode::shf_:
    case Opcode::bfe_:
    case Opcode::bfi_:
    case Opcode::shr_: return ValueRule::moves;
    case Opcode::selp_:
    case Opcode::slct_: return ValueRule::selects;
    case Opcode::setp_:
    case Opcode::set_:
      if (float_format_of(instr.modifiers.type) != FloatFormat::none) return ValueRule::compares;
      return instr.opcode == Opcode::setp_ && ptx::is_integer(instr.modifiers.type) &&
                     ptx::bytes_of(instr.modifiers.type) >= 4
                 ? ValueRule::compares_integers
                 : ValueRule::replaces;
    default: return ValueRule::replaces;
  }
}

}  // namespace

ValueRule rule_of(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::compute: return rule_of_compute(instr);
    case InstrKind::warp_sync:
      if (is_matrix_product(instr)) return ValueRule::multiplies_matrices;
      return instr.opcode == Opcode::shfl_ ? ValueRule::shuffles : ValueRule::replaces;
    case InstrKind::warp:
      return instr.opcode == Opcode::shfl_ ? ValueRule::shuffles : ValueRule::replaces;
    case InstrKind::load: return ValueRule::loads;
    case InstrKind::store: return ValueRule::stores;
    case InstrKind::atomic: return ValueRule::updates;
    case InstrKind::copy:
    case InstrKind::tensor_copy: return ValueRule::copies;
    case InstrKind::bulk_copy: return is_multimem(instr) ? ValueRule::replaces : ValueRule::copies;
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address:
    case InstrKind::texture:
    case InstrKind::tensor_memory:
    case InstrKind::device_call:
    case InstrKind::heap_allocate:
    case InstrKind::barrier:
    case InstrKind::barrier_object:
    case InstrKind::stack: return ValueRule::replaces;
    case InstrKind::print: return ValueRule::prints;
    default: return ValueRule::nothing;
  }
}

bool is_quotient_of_integers(const Instr& instr) {
  const bool divides = instr.opcode == Opcode::div_ || instr.opcode == Opcode::rem_;
  return divides && ptx::is_integer(instr.modifiers.type) &&
         instr[ComputeOperand::b].bank != Bank::constant;
}

FloatFormat result_format_of(const Instr& instr) {
  if (!is_matrix_product(instr)) return float_format_of(instr.modifiers.type);
  const Type type = product_of(instr).d;
  return type == Type::f16 ? FloatFormat::f16x2 : float_format_of(type);
}

FloatFormat source_format_of(const Instr& instr) {
  const bool has_second = instr.opcode == Opcode::cvt_;
  return float_format_of(has_second ? instr.modifiers.source_type : instr.modifiers.type);
}

}  // namespace warpcheck::vgpu
