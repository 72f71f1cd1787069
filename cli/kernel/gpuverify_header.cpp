#include "cli/kernel/gpuverify_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace warpcheck {
namespace {

constexpr std::array<std::string_view, 40> kClaims{"__exclusive",
                                                   "__at_most_one",
                                                   "__distinct_int",
                                                   "__distinct_bool",
                                                   "__distinct_ptr_base",
                                                   "__uniform_int",
                                                   "__uniform_bool",
                                                   "__uniform_ptr_base",
                                                   "__read",
                                                   "__write",
                                                   "__no_read",
                                                   "__no_write",
                                                   "__read_implies",
                                                   "__write_implies",
                                                   "__read_offset",
                                                   "__write_offset",
                                                   "__read_offset_bytes",
                                                   "__write_offset_bytes",
                                                   "__atomic",
                                                   "__no_atomic",
                                                   "__atomic_implies",
                                                   "__atomic_offset",
                                                   "__atomic_offset_bytes",
                                                   "__atomic_has_taken_value",
                                                   "__accessed",
                                                   "__not_accessed",
                                                   "__ptr_base",
                                                   "__ptr_offset",
                                                   "__ptr_offset_bytes",
                                                   "__points_to",
                                                   "__other_int",
                                                   "__other_bool",
                                                   "__other_ptr_base",
                                                   "__old_int",
                                                   "__old_bool",
                                                   "__return_val",
                                                   "__return_val_int",
                                                   "__return_val_bool",
                                                   "__return_val_ptr",
                                                   "__add_noovfl"};

constexpr std::array<std::string_view, 18> kAids{"__ensures",
                                                 "__global_ensures",
                                                 "__global_invariant",
                                                 "__function_wide_invariant",
                                                 "__function_wide_candidate_invariant",
                                                 "__candidate_invariant",
                                                 "__candidate_global_invariant",
                                                 "__candidate_assert",
                                                 "__candidate_global_assert",
                                                 "__barrier_invariant",
                                                 "__barrier_invariant_binary",
                                                 "__binary_barrier_invariant",
                                                 "__array_snapshot",
                                                 "__read_permission",
                                                 "__non_temporal_loads_begin",
                                                 "__non_temporal_loads_end",
                                                 "__reads_from",
                                                 "__writes_to"};

// The other annotations that a source is known by.
constexpr std::array<std::string_view, 11> kOthers{
    "__requires", "__global_requires", "__assert",  "__global_assert", "__assume",  "__invariant",
    "__axiom",    "__implies",         "__enabled", "__is_pow2",       "__mod_pow2"};

constexpr std::string_view kFixedPart = R"HEADER(
#pragma once
#include <cuda_runtime.h>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <type_traits>
namespace warpcheck {
struct Claim {};
#define WARPCHECK_CLAIM(op)                                                                  \
  template <class T> __device__ constexpr Claim operator op(Claim, T) { return {}; }          \
  template <class T> __device__ constexpr Claim operator op(T, Claim) { return {}; }          \
  __device__ constexpr Claim operator op(Claim, Claim) { return {}; }
WARPCHECK_CLAIM(&&) WARPCHECK_CLAIM(||) WARPCHECK_CLAIM(&) WARPCHECK_CLAIM(|) WARPCHECK_CLAIM(^)
WARPCHECK_CLAIM(==) WARPCHECK_CLAIM(!=) WARPCHECK_CLAIM(<) WARPCHECK_CLAIM(<=) WARPCHECK_CLAIM(>)
WARPCHECK_CLAIM(>=) WARPCHECK_CLAIM(+) WARPCHECK_CLAIM(-) WARPCHECK_CLAIM(*) WARPCHECK_CLAIM(/)
WARPCHECK_CLAIM(%) WARPCHECK_CLAIM(<<) WARPCHECK_CLAIM(>>)
#undef WARPCHECK_CLAIM
__device__ constexpr Claim operator!(Claim) { return {}; }
__device__ constexpr Claim operator-(Claim) { return {}; }
__device__ constexpr Claim operator~(Claim) { return {}; }
template <class T> __device__ constexpr bool holds(T condition) { return static_cast<bool>(condition); }
__device__ constexpr bool holds(Claim) { return true; }
template <class T> __device__ __forceinline__ void assume(T condition) {
  if (holds(condition)) return;
  asm volatile("exit;");
  __builtin_unreachable();
}
}  // namespace warpcheck
#ifdef WARPCHECK_COMPUTES_REQUIREMENTS
#define __requires(...) warpcheck::assume(__VA_ARGS__)
#define __global_requires(...) warpcheck::assume(__VA_ARGS__)
#define __assume(...) warpcheck::assume(__VA_ARGS__)
#else
#define __requires(...) ((void)0)
#define __global_requires(...) ((void)0)
#define __assume(...) ((void)0)
#endif
#ifdef WARPCHECK_COMPUTES_INVARIANTS
#define __invariant(...) assert(warpcheck::holds(__VA_ARGS__))
#define __global_assert(...) assert(warpcheck::holds(__VA_ARGS__))
#else
#define __invariant(...) ((void)0)
#define __global_assert(...) ((void)0)
#endif
#define __assert(...) assert(warpcheck::holds(__VA_ARGS__))
#define __axiom(...)
#define __implies(a, b) (!(a) || (b))
#define __is_pow2(x) ((((x) & ((x) - 1)) == 0))
#define __mod_pow2(x, y) (((y) - 1) & (x))
#define __enabled() true
#define __all(condition) (condition)
#define __ite(condition, a, b) ((condition) ? (a) : (b))
#define __same_group warpcheck::Claim()
#define __same_warp warpcheck::Claim()
using ptr_base_t = int;
#define __add(a, b) ((a) + (b))
#define __add_noovfl_char(a, b) ((a) + (b))
#define __add_noovfl_short(a, b) ((a) + (b))
#define __add_noovfl_int(a, b) ((a) + (b))
#define __add_noovfl_long(a, b) ((a) + (b))
#define __add_noovfl_unsigned(a, b) ((a) + (b))
#define __add_noovfl_unsigned_char(a, b) ((a) + (b))
#define __add_noovfl_unsigned_short(a, b) ((a) + (b))
#define __add_noovfl_unsigned_int(a, b) ((a) + (b))
#define __add_noovfl_unsigned_long(a, b) ((a) + (b))
)HEADER";

constexpr std::string_view kUnknownValues = R"HEADER(
namespace warpcheck {
// Any value; the same one for the same place.
template <class T> __device__ T unknown(unsigned at) {
  T value;
  if constexpr (std::is_arithmetic_v<T>) {
    value = static_cast<T>(unknown_words[at % 64]);
  } else {
    memcpy(&value, &unknown_words[at % 32], sizeof(T));
  }
  return value;
}
}  // namespace warpcheck
#define DECLARE_UF_UNARY(name, A, R) \
  __device__ inline R name(A a) { return warpcheck::unknown<R>(static_cast<unsigned>(a)); }
#define DECLARE_UF_BINARY(name, A, B, R)                                                   \
  __device__ inline R name(A a, B b) {                                                     \
    return warpcheck::unknown<R>(static_cast<unsigned>(a) * 5 + static_cast<unsigned>(b)); \
  }
#define DECLARE_UF_TERNARY(name, A, B, C, R)                                                     \
  __device__ inline R name(A a, B b, C c) {                                                      \
    return warpcheck::unknown<R>(static_cast<unsigned>(a) * 25 + static_cast<unsigned>(b) * 5 + \
                                 static_cast<unsigned>(c));                                      \
  }
)HEADER";

constexpr std::string_view kOperationsWithoutMasks = R"HEADER(
#define __shfl(...) __shfl_sync(__activemask(), __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(__activemask(), __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(__activemask(), __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(__activemask(), __VA_ARGS__)
#define __any(...) __any_sync(__activemask(), __VA_ARGS__)
#define __ballot(...) __ballot_sync(__activemask(), __VA_ARGS__)
)HEADER";

// A reference is a variable of the host, so a fetch names no more of it than its type.
constexpr std::string_view kTextureReferences = R"HEADER(
template <class T, int dims = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct texture {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
namespace warpcheck {
template <class T> struct Texel;
template <class T, int dims> struct Texel<texture<T, dims, cudaReadModeElementType>> {
  using type = T;
};
#define WARPCHECK_TEXEL(T, F)                                                       \
  template <int dims> struct Texel<texture<T, dims, cudaReadModeNormalizedFloat>> { \
    using type = F;                                                                 \
  };
#define WARPCHECK_TEXELS(T, V)                                                       \
  WARPCHECK_TEXEL(T, float) WARPCHECK_TEXEL(V##1, float1) WARPCHECK_TEXEL(V##2, float2) \
  WARPCHECK_TEXEL(V##4, float4)
WARPCHECK_TEXELS(signed char, char) WARPCHECK_TEXELS(unsigned char, uchar)
WARPCHECK_TEXELS(short, short) WARPCHECK_TEXELS(unsigned short, ushort)
template <class T, class... At>
__device__ typename Texel<std::remove_cv_t<T>>::type fetched(At... at) {
  unsigned place = 0;
  ((place = place * 5 + static_cast<unsigned>(static_cast<int>(at))), ...);
  return unknown<typename Texel<std::remove_cv_t<T>>::type>(place);
}
}  // namespace warpcheck
#define tex1Dfetch(reference, ...) warpcheck::fetched<decltype(reference)>(__VA_ARGS__)
#define tex1D(reference, ...) warpcheck::fetched<decltype(reference)>(__VA_ARGS__)
#define tex2D(reference, ...) warpcheck::fetched<decltype(reference)>(__VA_ARGS__)
#define tex3D(reference, ...) warpcheck::fetched<decltype(reference)>(__VA_ARGS__)
template <class... Given> cudaError_t cudaBindTexture(Given&&...) { return cudaSuccess; }
template <class... Given> cudaError_t cudaBindTexture2D(Given&&...) { return cudaSuccess; }
template <class... Given> cudaError_t cudaBindTextureToArray(Given&&...) { return cudaSuccess; }
template <class... Given> cudaError_t cudaUnbindTexture(Given&&...) { return cudaSuccess; }
)HEADER";

// Whether a function or macro of that name is used, or one that begins so.
bool is_called(std::string_view source, std::string_view name) {
  for (std::size_t at = 0; (at = source.find(name, at)) != std::string_view::npos; ++at) {
    std::size_t end = at + name.size();
    while (end < source.size() &&
           (std::isalnum(static_cast<unsigned char>(source[end])) != 0 || source[end] == '_')) {
      ++end;
    }
    if (end < source.size() && (source[end] == '(' || source[end] == ' ')) return true;
  }
  return false;
}

bool has_texture_references(std::string_view source) {
  return source.find("texture<") != std::string_view::npos ||
         source.find("texture <") != std::string_view::npos;
}

bool uses_gpuverify(std::string_view source) {
  const auto calls = [&](std::string_view name) { return is_called(source, name); };
  return std::ranges::any_of(kClaims, calls) || std::ranges::any_of(kAids, calls) ||
         std::ranges::any_of(kOthers, calls) ||
         source.find("DECLARE_UF_") != std::string_view::npos;
}

// Numbers that are as good as any: small ones, that may be indices.
std::string unknown_words() {
  std::string text = "namespace warpcheck { static __device__ unsigned unknown_words[64] = {";
  for (unsigned i = 0; i < 64; ++i) text += fmt::format("{},", (i * 37 + i / 5 + 11) % 64);
  return text + "}; }\n";
}

}  // namespace

std::span<const std::string_view> names_of_claims() { return kClaims; }

// Barrier invariants have numbered names, too: by how many threads they speak of.
const std::vector<std::string>& names_of_aids() {
  static const std::vector<std::string> names = [] {
    constexpr int kInvariantThreadsMax = 20;
    std::vector<std::string> all(kAids.begin(), kAids.end());
    for (int threads = 1; threads <= kInvariantThreadsMax; ++threads) {
      all.push_back(fmt::format("__barrier_invariant_{}", threads));
      all.push_back(fmt::format("__binary_barrier_invariant_{}", threads));
    }
    return all;
  }();
  return names;
}

bool has_operations_without_masks(std::string_view source) {
  return std::ranges::any_of(
      std::array<std::string_view, 6>{"__shfl(", "__shfl_up(", "__shfl_down(", "__shfl_xor(",
                                      "__any(", "__ballot("},
      [&](std::string_view word) { return source.find(word) != std::string_view::npos; });
}

std::string gpuverify_header(std::string_view source) {
  const bool has_no_masks = has_operations_without_masks(source);
  const bool has_textures = has_texture_references(source);
  if (!has_no_masks && !has_textures && !uses_gpuverify(source)) return {};
  std::string text;
  if (has_requirements_to_compute(source)) text += "#define WARPCHECK_COMPUTES_REQUIREMENTS\n";
  if (has_invariants_to_compute(source)) text += "#define WARPCHECK_COMPUTES_INVARIANTS\n";
  text += kFixedPart;
  for (const std::string_view name : kClaims) {
    text += fmt::format("#define {}(...) warpcheck::Claim()\n", name);
  }
  for (const std::string& name : names_of_aids()) {
    text += fmt::format("#define {}(...) ((void)0)\n", name);
  }
  if (has_textures || source.find("DECLARE_UF_") != std::string_view::npos) {
    text += unknown_words();
    text += kUnknownValues;
  }
  if (has_no_masks) text += kOperationsWithoutMasks;
  if (has_textures) text += kTextureReferences;
  return text;
}

}  // namespace warpcheck
