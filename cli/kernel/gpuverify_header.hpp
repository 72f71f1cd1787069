// What GPUVerify adds to CUDA: annotations in the code, which other compilers do not know.
//
// __requires() and launches are read from the text (contracts.hpp).  An assertion or invariant that
// the thread itself can compute is checked where it stands.  A claim about other threads, or about
// what has been accessed, has a type of its own, which spreads over the condition that it is part
// of: such a condition is not checked, and contracts_of() names it.
//
// Its kernels are older than independent lanes: a shuffle or vote without a mask is one of the
// lanes that are there.
#pragma once

#include <string_view>

namespace warpcheck {

[[nodiscard]] inline bool uses_gpuverify(std::string_view source) {
  for (const std::string_view word : {"__requires",
                                      "__assert(",
                                      "__assume(",
                                      "__invariant(",
                                      "__global_invariant(",
                                      "__ensures(",
                                      "__axiom(",
                                      "__function_wide_invariant(",
                                      "__candidate_",
                                      "__implies(",
                                      "__write(",
                                      "__read(",
                                      "__no_write(",
                                      "__no_read(",
                                      "_implies(",
                                      "__distinct_int",
                                      "__uniform_",
                                      "__enabled(",
                                      "__global_assert(",
                                      "__global_requires(",
                                      "__global_ensures(",
                                      "__barrier_invariant",
                                      "__return_val",
                                      "__old_",
                                      "__other_",
                                      "__is_pow2"}) {
    if (source.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// Whether there are shuffles or votes without a mask.  Their names are those of functions in the
// toolkit's headers, too, so only files that have them get them as macros.
[[nodiscard]] inline bool has_operations_without_masks(std::string_view source) {
  for (const std::string_view word :
       {"__shfl(", "__shfl_up(", "__shfl_down(", "__shfl_xor(", "__any(", "__ballot("}) {
    if (source.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// Whether an invariant reads memory, or converts a claim to a number: then invariants are not
// computed, because a read of an annotation is none of the program.
[[nodiscard]] bool has_invariants_to_compute(std::string_view source);

inline constexpr std::string_view kGpuverifyHeader = R"HEADER(
#pragma once
#include <cuda_runtime.h>
#include <cassert>
#include <cstdio>
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
}  // namespace warpcheck
#define __requires(...) ((void)0)
#define __global_requires(...) ((void)0)
#define __ensures(...) ((void)0)
#define __global_ensures(...) ((void)0)
#define __axiom(...)
#ifdef WARPCHECK_COMPUTES_INVARIANTS
#define __invariant(...) assert(warpcheck::holds(__VA_ARGS__))
#define __global_assert(...) assert(warpcheck::holds(__VA_ARGS__))
#else
#define __invariant(...) ((void)0)
#define __global_assert(...) ((void)0)
#endif
#define __global_invariant(...) ((void)0)
#define __function_wide_invariant(...) ((void)0)
#define __function_wide_candidate_invariant(...) ((void)0)
#define __candidate_invariant(...) ((void)0)
#define __candidate_assert(...) ((void)0)
#define __candidate_global_assert(...) ((void)0)
#define __barrier_invariant(...) ((void)0)
#define __barrier_invariant_binary(...) ((void)0)
#define __reads_from(...) ((void)0)
#define __writes_to(...) ((void)0)
#define __assert(...) assert(warpcheck::holds(__VA_ARGS__))
#define __assume(...) ((void)0)
#define __implies(a, b) (!(a) || (b))
#define __is_pow2(x) ((((x) & ((x) - 1)) == 0))
#define __mod_pow2(x, y) (((y) - 1) & (x))
#define __enabled() true
#define __all(condition) (condition)
#define __exclusive(...) warpcheck::Claim()
#define __at_most_one(...) warpcheck::Claim()
#define __distinct_int(...) warpcheck::Claim()
#define __distinct_bool(...) warpcheck::Claim()
#define __uniform_int(...) warpcheck::Claim()
#define __uniform_bool(...) warpcheck::Claim()
#define __same_group warpcheck::Claim()
#define __same_warp warpcheck::Claim()
#define __read(...) warpcheck::Claim()
#define __write(...) warpcheck::Claim()
#define __no_read(...) warpcheck::Claim()
#define __no_write(...) warpcheck::Claim()
#define __read_implies(...) warpcheck::Claim()
#define __write_implies(...) warpcheck::Claim()
#define __read_offset(...) warpcheck::Claim()
#define __write_offset(...) warpcheck::Claim()
#define __read_offset_bytes(...) warpcheck::Claim()
#define __write_offset_bytes(...) warpcheck::Claim()
#define __atomic(...) warpcheck::Claim()
#define __no_atomic(...) warpcheck::Claim()
#define __atomic_implies(...) warpcheck::Claim()
#define __atomic_offset_bytes(...) warpcheck::Claim()
#define __ptr_offset_bytes(...) warpcheck::Claim()
#define __other_int(...) warpcheck::Claim()
#define __other_bool(...) warpcheck::Claim()
#define __old_int(...) warpcheck::Claim()
#define __old_bool(...) warpcheck::Claim()
#define __return_val_int() warpcheck::Claim()
#define __return_val_bool() warpcheck::Claim()
#ifdef WARPCHECK_HAS_NO_MASKS
#define __shfl(...) __shfl_sync(__activemask(), __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(__activemask(), __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(__activemask(), __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(__activemask(), __VA_ARGS__)
#define __any(...) __any_sync(__activemask(), __VA_ARGS__)
#define __ballot(...) __ballot_sync(__activemask(), __VA_ARGS__)
#endif
#define __ite(condition, a, b) ((condition) ? (a) : (b))
#define __add_noovfl(...) warpcheck::Claim()
)HEADER";

}  // namespace warpcheck
