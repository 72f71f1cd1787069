// The direction numbers of Sobol sequences: those of Joe and Kuo, as in cuRAND, and scrambled ones.
//
// The vendor's scrambling is not documented.  Here a dimension's numbers are multiplied by a random
// lower triangular bit matrix with ones on its diagonal (Matousek, J.  Complexity 14, 1998), which
// preserves the uniformity of the sequence, and its constant is a random number.  So scrambled
// sequences differ from the vendor's.
#pragma once

#include <curand.h>

#include <cstdint>

namespace warpcheck::libraries::random {

constexpr std::uint32_t kSobolDimensionsMax = 20000;

// Return the numbers of all dimensions; they live as long as the process.
curandDirectionVectors32_t* direction_vectors_32(bool scrambled);
curandDirectionVectors64_t* direction_vectors_64(bool scrambled);
unsigned int* scramble_constants_32();
unsigned long long* scramble_constants_64();

}  // namespace warpcheck::libraries::random
