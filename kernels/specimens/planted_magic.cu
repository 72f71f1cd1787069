// Shows that feedback from branches guides the input: each byte that is right takes one branch
// more, so a search that sees branches needs some hundreds of tries a byte, and a blind one 2^32.
#include "kernels/specimens/planted_magic.hpp"

__global__ void planted_magic_kernel(const std::uint8_t* in, std::uint8_t* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = in[i];
  if (i != 0 || n < 4) return;
  if (in[0] != 0xa7) return;
  if (in[1] != 0x3c) return;
  if (in[2] != 0x5e) return;
  if (in[3] != 0x91) return;
  out[n] = 0;
}

cudaError_t planted_magic(const std::uint8_t* in, std::uint8_t* out, int n, dim3 grid, dim3 block) {
  planted_magic_kernel<<<grid, block>>>(in, out, n);
  return cudaGetLastError();
}
