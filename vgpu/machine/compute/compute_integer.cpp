// Integer arithmetic: PTX ISA 9.0, 9.7.1.
//
// The ISA calls the result of a division by zero "machine-specific"; here, as on NVIDIA hardware,
// quotient and remainder are all ones.
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::MulPart;
using ptx::Opcode;
using ptx::Type;

using Product = __int128;

template <class T>
using Wider =
    std::conditional_t<sizeof(T) == 2,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Bits<T>(a) + Bits<T>(b));
  }
};

struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Bits<T>(a) - Bits<T>(b));
  }
};

std::int32_t saturate(std::int64_t value) {
  if (value > INT32_MAX) return INT32_MAX;
  return value < INT32_MIN ? INT32_MIN : static_cast<std::int32_t>(value);
}

struct AddSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return saturate(std::int64_t{a} + b);
  }
};

struct SubSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return saturate(std::int64_t{a} - b);
  }
};

struct MulLo {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Bits<T>(a) * Bits<T>(b));
  }
};

struct MulHi {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (sizeof(T) == 8) {
      using Wide = std::conditional_t<std::is_signed_v<T>, Product, unsigned __int128>;
      return static_cast<T>((Wide{a} * Wide{b}) >> 64);
    } else {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      return static_cast<T>((Wide{a} * Wide{b}) >> (8 * sizeof(T)));
    }
  }
};

struct MulWide {
  template <class T>
  Wider<T> operator()(T a, T b) const {
    return static_cast<Wider<T>>(Bits<Wider<T>>(Wider<T>{a}) * Bits<Wider<T>>(Wider<T>{b}));
  }
};

template <class Multiply>
struct MadOf {
  template <class T, class C>
  C operator()(T a, T b, C c) const {
    return Add{}(C{Multiply{}(a, b)}, c);
  }
};

struct MadHiSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return saturate(std::int64_t{MulHi{}(a, b)} + c);
  }
};

// The 48-bit product of the low 24 bits of both.
std::int64_t product24(std::int32_t a, std::int32_t b) {
  const auto low24 = [](std::int32_t x) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << 8) >> 8;
  };
  return std::int64_t{low24(a)} * low24(b);
}
std::uint64_t product24(std::uint32_t a, std::uint32_t b) {
  return std::uint64_t{a & 0xffffffu} * (b & 0xffffffu);
}

struct Mul24Lo {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(product24(a, b));
  }
};

struct Mul24Hi {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(product24(a, b) >> 16);
  }
};

struct Mad24HiSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return saturate(std::int64_t{Mul24Hi{}(a, b)} + c);
  }
};

struct Sad {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(c, a < b ? Sub{}(b, a) : Sub{}(a, b));
  }
};

template <bool kRemainder>
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    const bool overflow = std::is_signed_v<T> && b == static_cast<T>(-1);
    const T divisor = b == 0 || overflow ? T{1} : b;
    const T quotient = static_cast<T>(a / divisor);
    const T result = kRemainder ? static_cast<T>(a % divisor) : quotient;
    if (b == 0) return static_cast<T>(-1);
    if (overflow) return kRemainder ? T{0} : Sub{}(T{0}, a);
    return result;
  }
  // A quotient of 32-bit integers, rounded to double, never crosses an integer from below, so
  // its integral part is exact; and doubles divide in vectors.
  static double quotient_of(double a, double b) { return a / b; }
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    const auto quotient = static_cast<std::int64_t>(quotient_of(a, b == 0 ? 1 : b));
    const auto low = static_cast<std::uint32_t>(quotient);
    const std::uint32_t result = kRemainder ? std::uint32_t(a) - low * std::uint32_t(b) : low;
    return b == 0 ? -1 : static_cast<std::int32_t>(result);
  }
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    const auto quotient =
        static_cast<std::uint32_t>(static_cast<std::int64_t>(quotient_of(a, b == 0 ? 1 : b)));
    const std::uint32_t result = kRemainder ? a - quotient * b : quotient;
    return b == 0 ? 0xffffffffu : result;
  }
};

struct Abs {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? Sub{}(T{0}, a) : a;
  }
};

struct Neg {
  template <class T>
  T operator()(T a) const {
    return Sub{}(T{0}, a);
  }
};

struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class Choose>
struct NotNegative {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const { return Max{}(Choose{}(a, b), 0); }
};

// c + the dot product of four bytes with four bytes, or of two halves with two bytes.
template <bool kSignedA, bool kSignedB, unsigned kTerms, unsigned kFirstByteOfB>
struct DotProduct {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    constexpr unsigned kBitsA = 32 / kTerms;
    std::uint32_t sum = c;
    for (unsigned term = 0; term < kTerms; ++term) {
      sum += part<kSignedA, kBitsA>(a, term) * part<kSignedB, 8>(b, kFirstByteOfB + term);
    }
    return sum;
  }

 private:
  template <bool kSigned, unsigned kBits>
  static std::uint32_t part(std::uint32_t x, unsigned index) {
    const std::uint32_t top = x << (32 - kBits * (index + 1));
    return kSigned ? static_cast<std::uint32_t>(static_cast<std::int32_t>(top) >> (32 - kBits))
                   : top >> (32 - kBits);
  }
};

template <unsigned kTerms, unsigned kFirstByteOfB>
ComputeFn find_dot_product(const ptx::Modifiers& modifiers) {
  using W = std::uint32_t;
  const auto is_word = [](Type type) { return type == Type::u32 || type == Type::s32; };
  if (!is_word(modifiers.type) || !is_word(modifiers.source_type)) return nullptr;
  const bool a = ptx::is_signed(modifiers.type);
  const bool b = ptx::is_signed(modifiers.source_type);
  if (a && b) return lanewise<DotProduct<true, true, kTerms, kFirstByteOfB>, W, W, W, W>;
  if (a) return lanewise<DotProduct<true, false, kTerms, kFirstByteOfB>, W, W, W, W>;
  if (b) return lanewise<DotProduct<false, true, kTerms, kFirstByteOfB>, W, W, W, W>;
  return lanewise<DotProduct<false, false, kTerms, kFirstByteOfB>, W, W, W, W>;
}

template <template <class> class Shape>
ComputeFn for_any_integer(Type type) {
  return for_type<Shape, std::uint16_t, std::uint32_t, std::uint64_t, std::int16_t, std::int32_t,
                  std::int64_t>(type);
}

// Operations that do not depend on the sign: one function for both types.
template <template <class> class Shape>
ComputeFn for_any_width(Type type) {
  const ComputeFn found = for_type<Shape, std::uint16_t, std::uint32_t, std::uint64_t>(type);
  if (found != nullptr) return found;
  switch (type) {
    case Type::s16: return Shape<std::uint16_t>::fn;
    case Type::s32: return Shape<std::uint32_t>::fn;
    case Type::s64: return Shape<std::uint64_t>::fn;
    default: return nullptr;
  }
}

template <template <class> class Shape>
ComputeFn for_word(Type type) {
  return for_type<Shape, std::uint32_t, std::int32_t>(type);
}

template <class T>
struct MulWideShape {
  static constexpr ComputeFn fn = lanewise<MulWide, Wider<T>, T, T>;
};
template <class T>
struct MadWideShape {
  static constexpr ComputeFn fn = lanewise<MadOf<MulWide>, Wider<T>, T, T, Wider<T>>;
};

ComputeFn find_mul(const ptx::Modifiers& m) {
  using U16 = std::uint16_t;
  switch (m.part) {
    case MulPart::lo: return for_any_width<Of<MulLo>::Binary>(m.type);
    case MulPart::hi: return for_any_integer<Of<MulHi>::Binary>(m.type);
    case MulPart::wide:
      return for_type<MulWideShape, U16, std::uint32_t, std::int16_t, std::int32_t>(m.type);
    case MulPart::none: return nullptr;
  }
  return nullptr;
}

ComputeFn find_mad(const ptx::Modifiers& m) {
  using S32 = std::int32_t;
  switch (m.part) {
    case MulPart::lo: return for_any_width<Of<MadOf<MulLo>>::Ternary>(m.type);
    case MulPart::hi:
      if (m.sat) return m.type == Type::s32 ? lanewise<MadHiSat, S32, S32, S32, S32> : nullptr;
      return for_any_integer<Of<MadOf<MulHi>>::Ternary>(m.type);
    case MulPart::wide:
      return for_type<MadWideShape, std::uint16_t, std::uint32_t, std::int16_t, S32>(m.type);
    case MulPart::none: return nullptr;
  }
  return nullptr;
}

ComputeFn find_24(const Instr& instr) {
  using S32 = std::int32_t;
  const ptx::Modifiers& m = instr.modifiers;
  const bool high = m.part == MulPart::hi;
  if (!high && m.part != MulPart::lo) return nullptr;
  if (instr.opcode == Opcode::mul24_) {
    return high ? for_word<Of<Mul24Hi>::Binary>(m.type) : for_word<Of<Mul24Lo>::Binary>(m.type);
  }
  if (m.sat) {
    return high && m.type == Type::s32 ? lanewise<Mad24HiSat, S32, S32, S32, S32> : nullptr;
  }
  return high ? for_word<Of<MadOf<Mul24Hi>>::Ternary>(m.type)
              : for_word<Of<MadOf<Mul24Lo>>::Ternary>(m.type);
}

template <class Choose>
ComputeFn find_choice(const Instr& instr) {
  using S32 = std::int32_t;
  const ptx::Modifiers& m = instr.modifiers;
  if (m.relu) {
    return m.type == Type::s32 ? lanewise<NotNegative<Choose>, S32, S32, S32> : nullptr;
  }
  return for_any_integer<Of<Choose>::template Binary>(m.type);
}

template <class Op, class Saturating>
ComputeFn find_sum(const ptx::Modifiers& m) {
  using S32 = std::int32_t;
  if (m.sat) return m.type == Type::s32 ? lanewise<Saturating, S32, S32, S32> : nullptr;
  return for_any_width<Of<Op>::template Binary>(m.type);
}

}  // namespace

ComputeFn find_integer(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (ptx::is_float(m.type)) return nullptr;
  switch (instr.opcode) {
    case Opcode::add_: return find_sum<Add, AddSat>(m);
    case Opcode::sub_: return find_sum<Sub, SubSat>(m);
    case Opcode::mul_: return find_mul(m);
    case Opcode::mad_: return find_mad(m);
    case Opcode::mul24_:
    case Opcode::mad24_: return find_24(instr);
    case Opcode::sad_: return for_any_integer<Of<Sad>::Ternary>(m.type);
    case Opcode::div_: return for_any_integer<Of<Divide<false>>::Binary>(m.type);
    case Opcode::rem_: return for_any_integer<Of<Divide<true>>::Binary>(m.type);
    case Opcode::abs_:
      return for_type<Of<Abs>::Unary, std::int16_t, std::int32_t, std::int64_t>(m.type);
    case Opcode::neg_:
      return for_type<Of<Neg>::Unary, std::int16_t, std::int32_t, std::int64_t>(m.type);
    case Opcode::min_: return find_choice<Min>(instr);
    case Opcode::max_: return find_choice<Max>(instr);
    case Opcode::dp4a_: return find_dot_product<4, 0>(m);
    case Opcode::dp2a_:
      if (m.part == MulPart::lo) return find_dot_product<2, 0>(m);
      return m.part == MulPart::hi ? find_dot_product<2, 2>(m) : nullptr;
    default: return nullptr;
  }
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
