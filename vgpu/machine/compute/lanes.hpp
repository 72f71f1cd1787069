// Rows of 32 lanes: how compute instructions read, calculate and write them.
//
// Included only by files that CMake compiles once for every instruction set (WARPCHECK_SIMD names
// the level and is the namespace).  An operation is written for one lane; the loops below run it
// over a row in a form that the compiler turns into vector code of that level.  Nothing here may
// be emitted outside the level's namespace: the linker would keep one copy for all levels.
#pragma once

#ifndef WARPCHECK_SIMD
#error "WARPCHECK_SIMD must name the instruction set: compile by warpcheck_simd_sources()"
#endif

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "vgpu/program/program.hpp"

// A loop over the lanes whose iterations are independent although rows may be the same row.
#if defined(__clang__)
#define WARPCHECK_EACH_LANE(lane) \
  _Pragma("clang loop vectorize(assume_safety)") for (unsigned lane = 0; lane < kWarpLanes; ++lane)
#else
#define WARPCHECK_EACH_LANE(lane) \
  _Pragma("GCC ivdep") for (unsigned lane = 0; lane < kWarpLanes; ++lane)
#endif

#define WARPCHECK_INLINE [[gnu::always_inline]] inline

namespace warpcheck::vgpu::WARPCHECK_SIMD {

// The cell that holds one lane of a value of type T in its row.  Arithmetic on it wraps, without
// promotion to int.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

inline constexpr std::uint32_t kAllLanes = 0xffffffffu;

template <class Int>
struct LaneBitTable {
  alignas(64) Int bit[kWarpLanes];
  constexpr LaneBitTable() : bit{} {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) bit[lane] = Int{1} << lane;
  }
};
// kLaneBit<Int>.bit[l] == 1 << l, in cells as wide as those that it selects.
template <class Int>
inline constexpr LaneBitTable<Int> kLaneBit{};

template <class T>
WARPCHECK_INLINE Bits<T>* row(const LaneBanks& banks, Ref ref) {
  std::byte* base = banks.base[static_cast<std::size_t>(ref.bank)];
  return reinterpret_cast<Bits<T>*>(base + ref.offset);
}

WARPCHECK_INLINE bool present(Ref ref) { return ref.bank != Bank::none; }

WARPCHECK_INLINE std::uint32_t predicate(const LaneBanks& banks, Ref ref) {
  return *row<std::uint32_t>(banks, ref);
}

WARPCHECK_INLINE void write_predicate(const LaneBanks& banks, Ref ref, std::uint32_t bits,
                                      std::uint32_t mask) {
  if (!present(ref)) return;
  std::uint32_t* held = row<std::uint32_t>(banks, ref);
  *held = (*held & ~mask) | (bits & mask);
}

// Returns the value of type T in a cell; for narrow types the higher bits are dropped, because rows
// may hold anything there.
template <class T>
WARPCHECK_INLINE T from_cell(Bits<T> cell) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(cell);
  } else if constexpr (sizeof(T) == sizeof(Bits<T>)) {
    return __builtin_bit_cast(T, cell);
  } else {
    return __builtin_bit_cast(T, static_cast<std::uint16_t>(cell));
  }
}

// Returns the cell for a result; types narrower than the cell are zero-extended.
template <class T>
WARPCHECK_INLINE Bits<T> to_cell(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(value);
  } else if constexpr (sizeof(T) == sizeof(Bits<T>)) {
    return __builtin_bit_cast(Bits<T>, value);
  } else {
    return __builtin_bit_cast(std::uint16_t, value);
  }
}

// Stores the lanes of `mask`; the other lanes stay unchanged.
template <class C>
WARPCHECK_INLINE void blend(C* out, const C* values, std::uint32_t mask) {
  using Int = std::conditional_t<sizeof(C) == 8, std::uint64_t, std::uint32_t>;
  const Int bits = mask;
  WARPCHECK_EACH_LANE(lane) {
    out[lane] = (bits & kLaneBit<Int>.bit[lane]) != 0 ? values[lane] : out[lane];
  }
}

// Operations are function objects.  One that depends on modifiers is constructed from the
// instruction.
template <class Op>
WARPCHECK_INLINE Op make_operation(const Instr& instr) {
  if constexpr (std::is_constructible_v<Op, const Instr&>) {
    return Op(instr);
  } else {
    return Op{};
  }
}

template <class Op, class D, class... S, std::size_t... I>
WARPCHECK_INLINE void lanewise_over(const LaneBanks& banks, const Instr& instr, std::uint32_t mask,
                                    std::index_sequence<I...>) {
  const Op op = make_operation<Op>(instr);
  Bits<D>* destination = row<D>(banks, instr[ComputeOperand::d]);
  alignas(64) Bits<D> values[kWarpLanes];
  const bool whole = mask == kAllLanes;
  Bits<D>* out = whole ? destination : values;
  [&](const Bits<S>*... in) {
    WARPCHECK_EACH_LANE(lane) { out[lane] = to_cell<D>(op(from_cell<S>(in[lane])...)); }
  }(row<S>(banks, instr[kComputeSources[I]])...);
  if (!whole) blend(destination, values, mask);
}

// A compute function: D op(S...) for each lane.
template <class Op, class D, class... S>
void lanewise(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  lanewise_over<Op, D, S...>(banks, instr, mask, std::index_sequence_for<S...>{});
}

// Bit l of the result says whether flags[l] is not 0.  Flags are 0 or all ones, 64-byte aligned.
WARPCHECK_INLINE std::uint32_t mask_of(const std::uint32_t* flags) {
#if defined(__AVX512DQ__)
  const std::uint32_t low = _mm512_movepi32_mask(_mm512_load_si512(flags));
  const std::uint32_t high = _mm512_movepi32_mask(_mm512_load_si512(flags + 16));
  return low | high << 16;
#elif defined(__AVX2__)
  std::uint32_t bits = 0;
  for (unsigned part = 0; part < 4; ++part) {
    const __m256i eight = _mm256_load_si256(reinterpret_cast<const __m256i*>(flags) + part);
    bits |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(eight)))
            << (8 * part);
  }
  return bits;
#else
  const auto* four = reinterpret_cast<const __m128i*>(flags);
  std::uint32_t bits = 0;
  for (unsigned half = 0; half < 2; ++half, four += 4) {
    const __m128i low = _mm_packs_epi32(_mm_load_si128(four), _mm_load_si128(four + 1));
    const __m128i high = _mm_packs_epi32(_mm_load_si128(four + 2), _mm_load_si128(four + 3));
    bits |= static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)))
            << (16 * half);
  }
  return bits;
#endif
}

// Whether T is the C++ type for values of the PTX type.
template <class T>
constexpr bool holds(ptx::Type type) {
  using ptx::Type;
  if constexpr (std::is_same_v<T, std::uint8_t>) return type == Type::u8 || type == Type::b8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return type == Type::u16 || type == Type::b16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return type == Type::u32 || type == Type::b32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return type == Type::u64 || type == Type::b64;
  if constexpr (std::is_same_v<T, std::int8_t>) return type == Type::s8;
  if constexpr (std::is_same_v<T, std::int16_t>) return type == Type::s16;
  if constexpr (std::is_same_v<T, std::int32_t>) return type == Type::s32;
  if constexpr (std::is_same_v<T, std::int64_t>) return type == Type::s64;
  if constexpr (std::is_same_v<T, float>) return type == Type::f32;
  if constexpr (std::is_same_v<T, double>) return type == Type::f64;
  return false;
}

// Returns the member `fn` of Shape<T>, for the T of the list that holds values of `type`; otherwise
// nullptr.
template <template <class> class Shape, class... Ts>
ComputeFn for_type(ptx::Type type) {
  ComputeFn found = nullptr;
  (void)((holds<Ts>(type) && (found = Shape<Ts>::fn, true)) || ...);
  return found;
}

// Shapes: D and S of lanewise() from one type.
template <class Op>
struct Of {
  template <class T>
  struct Unary {
    static constexpr ComputeFn fn = lanewise<Op, T, T>;
  };
  template <class T>
  struct Binary {
    static constexpr ComputeFn fn = lanewise<Op, T, T, T>;
  };
  template <class T>
  struct Ternary {
    static constexpr ComputeFn fn = lanewise<Op, T, T, T, T>;
  };
};

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
