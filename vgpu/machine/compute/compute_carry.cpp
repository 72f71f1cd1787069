// Extended-precision integer arithmetic: PTX ISA 9.0, 9.7.2.
//
// The carry flag of a lane is an ordinary predicate here: see CarryOperand.  There is one flag, and
// it is always the carry of an addition (seen on sm_90): a - b is a + ~b + 1, so sub.cc leaves 1 if
// there was no borrow, and subc is a + ~b + CC.CF.  The ISA agrees for code that reads the flag of
// sub.cc only by subc, and says nothing about code that mixes the two.
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::MulPart;
using ptx::Opcode;
using ptx::Type;

template <class U>
struct Sum {
  U value;
  U carry;  // 0 or 1
};

struct AddStep {
  static constexpr bool kCarriesFirst = false;  // there is no carry to read
  template <class U>
  Sum<U> operator()(U a, U b, U carry_in) const {
    const U partial = a + b;
    const U total = partial + carry_in;
    return {total, U{partial < a} | U{total < partial}};
  }
};

struct SubStep {
  static constexpr bool kCarriesFirst = true;
  template <class U>
  Sum<U> operator()(U a, U b, U carry_in) const {
    return AddStep{}(a, static_cast<U>(~b), carry_in);
  }
};

// The first addend from the sources before the last: the source itself, or their product.
struct First {
  template <class U>
  U operator()(U a) const {
    return a;
  }
};

struct ProductLow {
  template <class U>
  U operator()(U a, U b) const {
    return a * b;
  }
};

template <bool kSigned>
struct ProductHigh {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    if constexpr (kSigned) {
      return static_cast<std::uint32_t>(
          (std::int64_t{static_cast<std::int32_t>(a)} * static_cast<std::int32_t>(b)) >> 32);
    } else {
      return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
    }
  }
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    using Product = std::conditional_t<kSigned, __int128, unsigned __int128>;
    using Narrow = std::conditional_t<kSigned, std::int64_t, std::uint64_t>;
    return static_cast<std::uint64_t>(
        (Product{static_cast<Narrow>(a)} * Product{static_cast<Narrow>(b)}) >> 64);
  }
};

template <class Combine, class Step, class U>
void with_carry(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  constexpr bool kProduct = !std::is_same_v<Combine, First>;
  const std::uint32_t without = Step::kCarriesFirst ? ~0u : 0;
  const U carry_in = present(instr[CarryOperand::carry_in])
                         ? predicate(banks, instr[CarryOperand::carry_in])
                         : without;
  const Bits<U>* a = row<U>(banks, instr[CarryOperand::a]);
  const Bits<U>* b = row<U>(banks, instr[CarryOperand::b]);
  const Bits<U>* last = row<U>(banks, instr[kProduct ? CarryOperand::c : CarryOperand::b]);
  alignas(64) U values[kWarpLanes];
  alignas(64) std::uint32_t carries[kWarpLanes];
  WARPCHECK_EACH_LANE(lane) {
    const U one = (carry_in & kLaneBit<U>.bit[lane]) != 0 ? 1 : 0;
    U first = a[lane];
    if constexpr (kProduct) first = Combine{}(static_cast<U>(a[lane]), static_cast<U>(b[lane]));
    const Sum<U> sum = Step{}(first, static_cast<U>(last[lane]), one);
    values[lane] = sum.value;
    carries[lane] = 0 - static_cast<std::uint32_t>(sum.carry);
  }
  blend<Bits<U>>(row<U>(banks, instr[CarryOperand::d]), values, mask);
  write_predicate(banks, instr[CarryOperand::carry_out], mask_of(carries), mask);
}

template <class Combine, class Step>
ComputeFn for_width(Type type) {
  switch (type) {
    case Type::u32:
    case Type::s32:
    case Type::b32: return with_carry<Combine, Step, std::uint32_t>;
    case Type::u64:
    case Type::s64:
    case Type::b64: return with_carry<Combine, Step, std::uint64_t>;
    default: return nullptr;
  }
}

ComputeFn find_product(const ptx::Modifiers& m) {
  if (m.part == MulPart::lo) return for_width<ProductLow, AddStep>(m.type);
  if (m.part != MulPart::hi) return nullptr;
  return ptx::is_signed(m.type) ? for_width<ProductHigh<true>, AddStep>(m.type)
                                : for_width<ProductHigh<false>, AddStep>(m.type);
}

}  // namespace

ComputeFn find_carry(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  switch (instr.opcode) {
    case Opcode::add_:
    case Opcode::sub_:
    case Opcode::mad_:
      if (!m.carry_out) return nullptr;
      break;
    default: break;
  }
  switch (instr.opcode) {
    case Opcode::add_:
    case Opcode::addc_: return for_width<First, AddStep>(m.type);
    case Opcode::sub_:
    case Opcode::subc_: return for_width<First, SubStep>(m.type);
    case Opcode::mad_:
    case Opcode::madc_: return find_product(m);
    default: return nullptr;
  }
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
