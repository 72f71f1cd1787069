// The vectors of the instruction set that the including file is compiled for
// (warpcheck_simd_sources).
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace warpcheck::vgpu::WARPCHECK_SIMD {

#if defined(__AVX512F__)
inline constexpr unsigned kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr unsigned kVectorBytes = 32;
#else
inline constexpr unsigned kVectorBytes = 16;
#endif

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
