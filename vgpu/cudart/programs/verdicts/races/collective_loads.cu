// A warp loads a matrix by ldmatrix or wmma.load, and its lanes then overwrite it: no lane leaves the load
// before all lanes have executed it, so no store can come before it.  Nothing orders the memory, so it is
// a note.  The other way round, a lane's store need not be visible to the load of other lanes: an error.
// build: -arch=compute_80
// case overwrite: | | overwrite
// expect overwrite: note data-race load store
// says overwrite: (1) is a load by the whole warp
// case overwrite_fenced: | | overwrite_fenced
// expect overwrite_fenced: note data-race load store
// case overwrite_held: | --strategy random --runs 8 | overwrite
// expect overwrite_held: note data-race load store
// case copy: | | copy
// expect copy: note data-race load copy
// case store_first: | | store_first
// expect store_first: error data-race fill load
// case store_first_fenced: | | store_first_fenced
// expect store_first_fenced: error data-race fill load
// case synchronised: | | synchronised
// expect synchronised: clean
// case other_warp: | | other_warp
// expect other_warp: error data-race load store
// case plain_too: | | plain_too
// expect plain_too: error data-race plain store
// expect plain_too: note data-race load store
// case wmma: | | wmma
// expect wmma: note data-race wmma_load wmma_overwrite
// case wmma_store_first: | | wmma_store_first
// expect wmma_store_first: error data-race wmma_fill wmma_load
// case wmma_synchronised: | | wmma_synchronised
// expect wmma_synchronised: clean
// case overwrite_unoptimized: -G | | overwrite
// expect overwrite_unoptimized: note data-race load store
// case store_first_unoptimized: -G | | store_first
// expect store_first_unoptimized: error data-race fill load
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdio>
#include <cstring>

enum Kind { overwrite, copy, store_first, synchronised, other_warp, plain_too };

__global__ void rows(unsigned* out, const unsigned* in, Kind kind, bool fenced) {
  __shared__ alignas(16) unsigned tile[8 * 4];
  const int t = threadIdx.x, lane = t % 32;
  if (t < 32) tile[31 - lane] = t;  //~ fill
  if (kind != store_first) __syncthreads();
  if (fenced) __threadfence_block();
  unsigned value = 0;
  if (kind == plain_too && t == 7) out[40] = tile[30];  //~ plain
  if (t < 32) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(tile + lane % 8 * 4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(value) : "r"(at) : "memory");  //~ load
  }
  if (kind == synchronised || kind == store_first) __syncthreads();
  if (kind == copy) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(tile + (lane + 5) % 32);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n\tcp.async.wait_all;" ::"r"(at), "l"(in + lane) : "memory");  //~ copy
  } else if (t / 32 == (kind == other_warp)) {
    tile[(lane + 5) % 32] = value;  //~ store
  }
  __syncthreads();
  out[t] = tile[lane];
}

__global__ void fragments(half* out, bool store_first, bool waits) {
  __shared__ alignas(32) half tile[16 * 16];
  for (int i = 0; i < 8; ++i) tile[8 * (31 - threadIdx.x) + i] = threadIdx.x;  //~ wmma_fill
  if (!store_first) __syncwarp();
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a;
  nvcuda::wmma::load_matrix_sync(a, tile, 16);  //~ wmma_load
  if (waits || store_first) __syncwarp();
  for (int i = 0; i < 8; ++i) tile[8 * ((threadIdx.x + 5) % 32) + i] = a.x[i];  //~ wmma_overwrite
  __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x];
}

int main(int, char** arguments) {
  const char* const name = arguments[1];
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  unsigned *out = nullptr, *in = nullptr;
  cudaMalloc(&out, 64 * sizeof(unsigned));
  cudaMalloc(&in, 64 * sizeof(unsigned));
  cudaMemset(in, 0, 64 * sizeof(unsigned));
  if (is("overwrite")) rows<<<1, 32>>>(out, in, overwrite, false);
  if (is("overwrite_fenced")) rows<<<1, 32>>>(out, in, overwrite, true);
  if (is("copy")) rows<<<1, 32>>>(out, in, copy, false);
  if (is("store_first")) rows<<<1, 32>>>(out, in, store_first, false);
  if (is("store_first_fenced")) rows<<<1, 32>>>(out, in, store_first, true);
  if (is("synchronised")) rows<<<1, 32>>>(out, in, synchronised, false);
  if (is("other_warp")) rows<<<1, 64>>>(out, in, other_warp, false);
  if (is("plain_too")) rows<<<1, 32>>>(out, in, plain_too, false);
  if (is("wmma")) fragments<<<1, 32>>>((half*)out, false, false);
  if (is("wmma_store_first")) fragments<<<1, 32>>>((half*)out, true, true);
  if (is("wmma_synchronised")) fragments<<<1, 32>>>((half*)out, false, true);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(in);
  return 0;
}
