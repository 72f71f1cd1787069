// The direction numbers of Sobol sequences: those of Joe and Kuo, as cuRAND has them, and scrambled
// ones.
//
// How the vendor scrambles is not documented.  Here a dimension's numbers are multiplied by a
// random lower triangular matrix of bits with ones on its diagonal (Matousek, J. Complexity 14,
// 1998), which keeps what makes the sequence uniform, and its constant is a random number; so
// scrambled sequences are others than the vendor's.
#pragma once

#include <curand.h>

#include <cstdint>

namespace warpcheck::libraries::random {

constexpr std::uint32_t kSobolDimensionsMax = 20000;

// All dimensions; they live as long as the process.
curandDirectionVectors32_t* direction_vectors_32(bool scrambled);
curandDirectionVectors64_t* direction_vectors_64(bool scrambled);
unsigned int* scramble_constants_32();
unsigned long long* scramble_constants_64();

}  // namespace warpcheck::libraries::random
