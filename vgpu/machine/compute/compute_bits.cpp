// Bits: logic, shifts, fields, counts and byte permutation.
//
// PTX ISA 9.0, 9.7.1.12 - 9.7.1.22 (counts, fields), 9.7.8 (logic, shift), 9.7.9.7 (prmt).
// Shift amounts are not taken modulo the width: they are clamped to it.
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::Opcode;
using ptx::PermuteMode;
using ptx::Type;
using Word = std::uint32_t;

template <class T>
constexpr unsigned kBitsOf = 8 * sizeof(T);

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};

struct Cnot {
  template <class T>
  T operator()(T a) const {
    return a == 0 ? 1 : 0;
  }
};

// Selects by the 8-row table of Instr::truth_table, whose index is the bits of a, b, c.
struct Lop3 {
  explicit Lop3(const Instr& instr) {
    for (unsigned index = 0; index < 8; ++index) {
      when[index] = (instr.truth_table >> index & 1) != 0 ? 0xffffffffu : 0;
    }
  }
  Word operator()(Word a, Word b, Word c) const {
    const auto choose = [](Word by, Word one, Word zero) { return zero ^ (by & (one ^ zero)); };
    const Word b0 = choose(b, choose(c, when[3], when[2]), choose(c, when[1], when[0]));
    const Word b1 = choose(b, choose(c, when[7], when[6]), choose(c, when[5], when[4]));
    return choose(a, b1, b0);
  }
  Word when[8];
};

struct Shl {
  template <class T>
  T operator()(T a, Word amount) const {
    return amount >= kBitsOf<T> ? T{0} : static_cast<T>(Bits<T>(a) << (amount % kBitsOf<T>));
  }
};

struct Shr {
  template <class T>
  T operator()(T a, Word amount) const {
    constexpr Word kLast = kBitsOf<T> - 1;
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> (amount > kLast ? kLast : amount));
    } else {
      return amount > kLast ? T{0} : static_cast<T>(a >> (amount & kLast));
    }
  }
};

// shf: 64 bits from b (high) and a (low), shifted by c.
template <bool kLeft, bool kWrap>
struct Funnel {
  Word operator()(Word a, Word b, Word c) const {
    const Word amount = kWrap ? c & 31 : (c > 32 ? 32 : c);
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    return static_cast<Word>(kLeft ? (both << amount) >> 32 : both >> amount);
  }
};

// Sums neighbouring bits, pairs, nibbles ...: vectorises everywhere, as instructions do not.
struct Popc {
  Word operator()(Word a) const {
    a -= a >> 1 & 0x55555555u;
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    a = (a + (a >> 4)) & 0x0f0f0f0fu;
    return a * 0x01010101u >> 24;
  }
  Word operator()(std::uint64_t a) const {
    return (*this)(static_cast<Word>(a)) + (*this)(static_cast<Word>(a >> 32));
  }
};

struct Clz {
  template <class U>
  Word operator()(U a) const {
    for (unsigned shift = 1; shift < kBitsOf<U>; shift *= 2) a |= a >> shift;
    return Popc{}(static_cast<U>(~a));
  }
};

template <bool kShiftAmount>
struct Bfind {
  template <class T>
  Word operator()(T a) const {
    const auto bits = static_cast<Bits<T>>(a < 0 ? ~a : a);
    const Word zeros = Clz{}(bits);
    const Word found = kShiftAmount ? zeros : kBitsOf<T> - 1 - zeros;
    return bits == 0 ? 0xffffffffu : found;
  }
};

struct Brev {
  Word operator()(Word a) const {
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    return a >> 16 | a << 16;
  }
  std::uint64_t operator()(std::uint64_t a) const {
    return std::uint64_t{(*this)(static_cast<Word>(a))} << 32 | (*this)(static_cast<Word>(a >> 32));
  }
};

// The lowest `count` bits; count may be past the width.
template <class U>
U low_bits(Word count) {
  return count >= kBitsOf<U> ? static_cast<U>(~U{0})
                             : static_cast<U>((U{1} << (count % kBitsOf<U>)) - 1);
}

// Positions and lengths of fields are taken modulo 256 in 32 bits.  In 64 bits, the ISA says the
// same, but hardware uses all of their bits (seen on sm_90).
template <class U>
Word field_number(Word x) {
  if constexpr (sizeof(U) == 4) return x & 0xff;
  return x < 0xff ? x : 0xff;
}

struct Bfe {
  template <class T>
  T operator()(T a, Word b, Word c) const {
    using U = Bits<T>;
    const Word position = field_number<U>(b);
    const Word length = field_number<U>(c);
    const U field = Shr{}(static_cast<U>(a), position) & low_bits<U>(length);
    if constexpr (!std::is_signed_v<T>) {
      return field;
    } else {
      // The sign is bit min(position + length - 1, msb) of a; it fills the bits above the field.
      const Word end = position + length;
      const Word sign_at = end > kBitsOf<T> ? kBitsOf<T> - 1 : (end - 1) % kBitsOf<T>;
      const bool negative = length != 0 && (static_cast<U>(a) >> sign_at & 1) != 0;
      const Word inside = position >= kBitsOf<T> ? 0 : kBitsOf<T> - position;
      const U filled = low_bits<U>(length < inside ? length : inside);
      return static_cast<T>(negative ? field | ~filled : field);
    }
  }
};

struct Bfi {
  template <class U>
  U operator()(U a, U b, Word c, Word d) const {
    const Word position = field_number<U>(c);
    const U field = Shl{}(low_bits<U>(field_number<U>(d)), position);
    return static_cast<U>((Shl{}(a, position) & field) | (b & ~field));
  }
};

template <bool kClamp>
struct Bmsk {
  Word operator()(Word a, Word b) const {
    if (kClamp && a > 31) return 0;
    const Word first = a & 31;
    const Word count = kClamp && b > 31 ? 32 : b & 31;
    return low_bits<Word>(count) << first;
  }
};

template <bool kClamp>
struct Szext {
  template <class T>
  T operator()(T a, Word b) const {
    const Word width = b & 31;
    if (kClamp && b > 31) return a;
    const Word unused = (32 - width) & 31;
    const T top = static_cast<T>(static_cast<Word>(a) << unused);
    return width == 0 ? T{0} : static_cast<T>(top >> unused);
  }
};

struct Fns {
  Word operator()(Word bits, Word base, std::int32_t offset) const {
    if (offset == INT32_MIN) return 0;  // it has no magnitude (seen on sm_90)
    const std::int32_t step = offset < 0 ? -1 : 1;
    const Word wanted =
        offset < 0 ? Word{0} - static_cast<Word>(offset) : static_cast<Word>(offset);
    Word seen = offset == 0 ? 0 : 1;
    auto position = static_cast<std::int64_t>(base);
    for (; position >= 0 && position < 32; position += step) {
      const bool set = (bits >> position & 1) != 0;
      if (set && seen == (offset == 0 ? 0 : wanted)) return static_cast<Word>(position);
      if (offset == 0) break;
      if (set) ++seen;
    }
    return 0xffffffffu;
  }
};

// prmt: which of the eight bytes {b, a} goes to each place.  Four 4-bit selectors; the mode's
// table gives those of the special forms from the two low bits of c.
struct Permute {
  explicit Permute(const Instr& instr) {
    static constexpr Word kTable[][4] = {
        {0, 0, 0, 0},
        {0x3210, 0x4321, 0x5432, 0x6543},  // f4e: forward four, extract
        {0x5670, 0x6701, 0x7012, 0x0123},  // b4e: backward four, extract
        {0x0000, 0x1111, 0x2222, 0x3333},  // rc8: replicate 8 bits
        {0x3210, 0x3211, 0x3222, 0x3333},  // ecl: edge clamp left
        {0x0000, 0x1110, 0x2210, 0x3210},  // ecr: edge clamp right
        {0x1010, 0x3232, 0x1010, 0x3232},  // rc16: replicate 16 bits
    };
    generic = instr.modifiers.permute == PermuteMode::none;
    for (unsigned low = 0; low < 4; ++low) {
      table[low] = kTable[static_cast<unsigned>(instr.modifiers.permute)][low];
    }
  }
  Word operator()(Word a, Word b, Word c) const {
    const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
    const Word special =
        (c & 2) != 0 ? ((c & 1) != 0 ? table[3] : table[2]) : ((c & 1) != 0 ? table[1] : table[0]);
    const Word selectors = generic ? c : special;
    Word result = 0;
    for (unsigned place = 0; place < 4; ++place) {
      const Word selector = selectors >> (4 * place);
      const auto byte = static_cast<Word>(bytes >> (8 * (selector & 7))) & 0xff;
      const Word sign = (byte & 0x80) != 0 ? 0xff : 0;
      result |= ((selector & 8) != 0 ? sign : byte) << (8 * place);
    }
    return result;
  }
  bool generic;
  Word table[4];
};

// lop3 with a BoolOp: also p = (d != 0) BoolOp q.
void lop3_with_predicate(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const Lop3 op(instr);
  const Word* a = row<Word>(banks, instr[Lop3Operand::a]);
  const Word* b = row<Word>(banks, instr[Lop3Operand::b]);
  const Word* c = row<Word>(banks, instr[Lop3Operand::c]);
  alignas(64) Word values[kWarpLanes];
  alignas(64) Word flags[kWarpLanes];
  WARPCHECK_EACH_LANE(lane) {
    values[lane] = op(a[lane], b[lane], c[lane]);
    flags[lane] = values[lane] != 0 ? 0xffffffffu : 0;
  }
  const Word q = predicate(banks, instr[Lop3Operand::q]);
  const Word not_zero = mask_of(flags);
  const bool conjunction = instr.modifiers.bool_op == ptx::BoolOp::and_;
  if (present(instr[Lop3Operand::d]))
    blend<Word>(row<Word>(banks, instr[Lop3Operand::d]), values, mask);
  write_predicate(banks, instr[Lop3Operand::p], conjunction ? not_zero & q : not_zero | q, mask);
}

ComputeFn find_lop3(const Instr& instr) {
  using ptx::BoolOp;
  switch (instr.modifiers.bool_op) {
    case BoolOp::none: return lanewise<Lop3, Word, Word, Word, Word>;
    case BoolOp::and_:
    case BoolOp::or_: return present(instr[Lop3Operand::q]) ? lop3_with_predicate : nullptr;
    case BoolOp::xor_: return nullptr;
  }
  return nullptr;
}

template <class T>
struct ShlShape {
  static constexpr ComputeFn fn = lanewise<Shl, T, T, Word>;
};
template <class T>
struct ShrShape {
  static constexpr ComputeFn fn = lanewise<Shr, T, T, Word>;
};
template <class Op>
struct Count {
  template <class T>
  struct Shape {
    static constexpr ComputeFn fn = lanewise<Op, Word, T>;
  };
};
template <class T>
struct BfeShape {
  static constexpr ComputeFn fn = lanewise<Bfe, T, T, Word, Word>;
};
template <class T>
struct BfiShape {
  static constexpr ComputeFn fn = lanewise<Bfi, T, T, T, Word, Word>;
};
template <class Op>
struct Extend {
  template <class T>
  struct Shape {
    static constexpr ComputeFn fn = lanewise<Op, T, T, Word>;
  };
};

template <template <class> class Shape>
ComputeFn for_width(Type type) {
  return for_type<Shape, std::uint16_t, std::uint32_t, std::uint64_t>(type);
}

template <template <class> class Shape>
ComputeFn for_word_or_wide(Type type) {
  return for_type<Shape, std::uint32_t, std::uint64_t>(type);
}

template <template <class> class Shape>
ComputeFn for_signed_or_not(Type type) {
  return for_type<Shape, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t>(type);
}

ComputeFn find_funnel(const ptx::Modifiers& m) {
  if (m.left == m.right || m.wrap == m.clamp) return nullptr;
  if (m.left) {
    return m.wrap ? lanewise<Funnel<true, true>, Word, Word, Word, Word>
                  : lanewise<Funnel<true, false>, Word, Word, Word, Word>;
  }
  return m.wrap ? lanewise<Funnel<false, true>, Word, Word, Word, Word>
                : lanewise<Funnel<false, false>, Word, Word, Word, Word>;
}

ComputeFn find_field(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  switch (instr.opcode) {
    case Opcode::bfe_: return for_signed_or_not<BfeShape>(m.type);
    case Opcode::bfi_: return for_word_or_wide<BfiShape>(m.type);
    case Opcode::bmsk_:
      if (m.wrap == m.clamp || m.type != Type::b32) return nullptr;
      return m.clamp ? lanewise<Bmsk<true>, Word, Word, Word>
                     : lanewise<Bmsk<false>, Word, Word, Word>;
    case Opcode::szext_:
      if (m.wrap == m.clamp) return nullptr;
      return m.clamp ? for_type<Extend<Szext<true>>::Shape, Word, std::int32_t>(m.type)
                     : for_type<Extend<Szext<false>>::Shape, Word, std::int32_t>(m.type);
    default: return nullptr;
  }
}

}  // namespace

ComputeFn find_bits(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  switch (instr.opcode) {
    case Opcode::and_: return for_width<Of<And>::Binary>(m.type);
    case Opcode::or_: return for_width<Of<Or>::Binary>(m.type);
    case Opcode::xor_: return for_width<Of<Xor>::Binary>(m.type);
    case Opcode::not_: return for_width<Of<Not>::Unary>(m.type);
    case Opcode::cnot_: return for_width<Of<Cnot>::Unary>(m.type);
    case Opcode::lop3_: return m.type == Type::b32 ? find_lop3(instr) : nullptr;
    case Opcode::shl_: return for_width<ShlShape>(m.type);
    case Opcode::shr_:
      return for_type<ShrShape, std::uint16_t, std::uint32_t, std::uint64_t, std::int16_t,
                      std::int32_t, std::int64_t>(m.type);
    case Opcode::shf_: return m.type == Type::b32 ? find_funnel(m) : nullptr;
    case Opcode::popc_: return for_word_or_wide<Count<Popc>::Shape>(m.type);
    case Opcode::clz_: return for_word_or_wide<Count<Clz>::Shape>(m.type);
    case Opcode::bfind_:
      return m.shift_amount ? for_signed_or_not<Count<Bfind<true>>::Shape>(m.type)
                            : for_signed_or_not<Count<Bfind<false>>::Shape>(m.type);
    case Opcode::brev_: return for_word_or_wide<Of<Brev>::Unary>(m.type);
    case Opcode::fns_:
      return m.type == Type::b32 ? lanewise<Fns, Word, Word, Word, std::int32_t> : nullptr;
    case Opcode::prmt_:
      return m.type == Type::b32 ? lanewise<Permute, Word, Word, Word, Word> : nullptr;
    default: return find_field(instr);
  }
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
