// Measured kernels: a small one of each kind that programs spend their time on.  The argument of
// each: n is 262,144, and `out` has n elements.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

// Quarters of a square matrix of floats change places, in place.
cudaError_t rotation(const int* in, int* out, int n);
// A product of 3 x 3 complex matrices with the vectors of the eight neighbours in a lattice of four
// dimensions.
cudaError_t lattice(const int* in, int* out, int n);
// Keys are put into a table with open addresses by compare-and-swap.
cudaError_t hash_table(const int* in, int* out, int n);
// Structs of 28 bytes, one a thread, that move for some steps.
cudaError_t structs(const int* in, int* out, int n);
// Points against the 48 edges of a polygon; lanes part at each edge.
cudaError_t polygon(const int* in, int* out, int n);
// A block for each row of 4,096: maximum, sum of exponentials, quotients.
cudaError_t softmax(const int* in, int* out, int n);
// (a b) c by tiles: the tile of the first product stays in shared memory.
cudaError_t two_products(const int* in, int* out, int n);
// A ticket lock that lane 0 of each of 512 warps takes; the first holds it until all others wait.
cudaError_t ticket_lock(const int* in, int* out, int n);

}  // namespace bench
