// What GPUVerify adds to CUDA: annotations in the code, which other compilers do not know.
//
// __requires() and launches are read from the text (contracts.hpp); an assertion that is computed
// by the code is checked where it stands.  Claims about loops and about what other threads have
// accessed are aids of GPUVerify's own proof, and need no check.
#pragma once

#include <string_view>

namespace warpcheck {

[[nodiscard]] inline bool uses_gpuverify(std::string_view source) {
  for (const std::string_view word :
       {"__requires",          "__assert(",  "__assume(", "__invariant(",
        "__global_invariant(", "__ensures(", "__axiom(",  "__function_wide_invariant(",
        "__candidate_",        "__implies(", "__write(",  "__read(",
        "__no_write(",         "__no_read(", "_implies(", "__distinct_int",
        "__uniform_",          "__enabled(", "__global_", "__barrier_invariant",
        "__return_val",        "__old_",     "__other_",  "__is_pow2"}) {
    if (source.find(word) != std::string_view::npos) return true;
  }
  return false;
}

inline constexpr std::string_view kGpuverifyHeader = R"HEADER(
#pragma once
#include <cuda_runtime.h>
#include <cassert>
#include <cstdio>
#define __requires(condition) ((void)0)
#define __global_requires(condition) ((void)0)
#define __ensures(condition) ((void)0)
#define __global_ensures(condition) ((void)0)
#define __axiom(condition)
#define __invariant(condition) ((void)0)
#define __global_invariant(condition) ((void)0)
#define __function_wide_invariant(condition) ((void)0)
#define __function_wide_candidate_invariant(condition) ((void)0)
#define __candidate_invariant(condition) ((void)0)
#define __candidate_assert(condition) ((void)0)
#define __candidate_global_assert(condition) ((void)0)
#define __global_assert(condition) ((void)0)
#define __barrier_invariant(...) ((void)0)
#define __barrier_invariant_binary(...) ((void)0)
#define __reads_from(...) ((void)0)
#define __writes_to(...) ((void)0)
#define __assert(condition) assert(condition)
#define __assume(condition) ((void)0)
#define __implies(a, b) (!(a) || (b))
#define __is_pow2(x) ((((x) & ((x) - 1)) == 0))
#define __mod_pow2(x, y) (((y) - 1) & (x))
#define __enabled() true
#define __all(condition) (condition)
#define __exclusive(condition) true
#define __at_most_one(condition) true
#define __distinct_int(x) true
#define __distinct_bool(x) true
#define __uniform_int(x) true
#define __uniform_bool(x) true
#define __same_group true
#define __read(array) false
#define __write(array) false
#define __no_read(array) true
#define __no_write(array) true
#define __read_implies(array, condition) true
#define __write_implies(array, condition) true
#define __read_offset(array) 0
#define __write_offset(array) 0
#define __read_offset_bytes(array) 0
#define __write_offset_bytes(array) 0
#define __atomic(array) false
#define __no_atomic(array) true
#define __atomic_implies(array, condition) true
#define __atomic_offset_bytes(array) 0
#define __ptr_offset_bytes(pointer) 0
#define __other_int(x) (x)
#define __other_bool(x) (x)
#define __ite(condition, a, b) ((condition) ? (a) : (b))
#define __add_noovfl(...) true
#define __same_warp true
)HEADER";

}  // namespace warpcheck
