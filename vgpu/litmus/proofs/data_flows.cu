// Data flows into values and decides nothing: proved for all data.  `optimized` where unoptimised
// code branches, as `-G` compiles a choice between two values to a branch.
#include <cstdint>

#include "vgpu/litmus/proofs/proof_data.hpp"

using warpcheck::litmus::data;
using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

namespace data_flows {

// A kernel of one line: what each of 32 threads does.
#define FLOWS(name, Type, ...)                      \
  __global__ void name(const Type* in, Type* out) { \
    const unsigned t = threadIdx.x;                 \
    __VA_ARGS__;                                    \
  }                                                 \
  LITMUS(name) { name<<<1, 32>>>(data<Type>(64), unwritten<Type>(64)); }

// proof: all data
FLOWS(copies, int, out[t] = in[t])
// proof: all data
FLOWS(adds, int, out[t] = in[t] + in[t + 32])
// proof: all data
FLOWS(multiplies, int, out[t] = in[t] * in[t + 32] - 3)
// proof: all data
FLOWS(divides, int, out[t] = in[t] / 7 + in[t] % 5)
// proof: all data
FLOWS(adds_floats, float, out[t] = in[t] * 2.5f + in[t + 32])
// proof: all data optimized
FLOWS(divides_floats, float, out[t] = in[t] / (in[t + 32] + 1.0f))
// proof: all data optimized
FLOWS(takes_roots, float, out[t] = sqrtf(in[t]) + rsqrtf(in[t + 32] + 1.0f))
// proof: all data
FLOWS(takes_exponents, float, out[t] = __expf(in[t]) + __sinf(in[t]))
// proof: all data
FLOWS(adds_doubles, double, out[t] = in[t] * 3.0 + in[t + 32])
// proof: all data
FLOWS(multiplies_wide, long long, out[t] = __mul64hi(in[t], in[t + 32]) + (in[t] << 3))
// proof: all data optimized
FLOWS(takes_the_greater, int, out[t] = in[t] > in[t + 32] ? in[t] + 1 : in[t + 32] * 3)
// proof: all data
FLOWS(takes_the_least, int, out[t] = min(in[t], in[t + 32]))
// proof: all data
FLOWS(takes_the_least_float, float, out[t] = fminf(in[t], in[t + 32]))
// proof: all data optimized
FLOWS(chooses_a_constant, int, out[t] = in[t] > 3 ? 17 : 4)
// proof: all data
FLOWS(reverses_bits, int, out[t] = static_cast<int>(__brev(static_cast<unsigned>(in[t]))))
// proof: all data
FLOWS(counts_zeros, int, out[t] = __clz(in[t]) + __popc(in[t]))
// proof: all data
FLOWS(permutes_bytes, int, out[t] = static_cast<int>(__byte_perm(in[t], in[t + 32], 0x5410)))
// proof: all data
FLOWS(shifts_through, int, out[t] = static_cast<int>(__funnelshift_l(in[t], in[t + 32], 5)))
// proof: all data
FLOWS(shifts_by, int, out[t] = 1 << (in[t] & 7))
// proof: all data
FLOWS(converts, int, out[t] = static_cast<int>(static_cast<float>(in[t]) * 0.5f))
// proof: all data
FLOWS(bytes, std::uint8_t, out[t] = static_cast<std::uint8_t>(in[t] ^ 0x55))
// proof: all data
FLOWS(shorts, short, out[t] = static_cast<short>(in[t] + in[t + 32]))
// proof: all data
FLOWS(masks_an_index_away, int, out[t] = in[(in[t] & 0x400) >> 10 & 0])
// proof: all data
FLOWS(keeps_the_index_beside, int, {
  const unsigned both = t << 16 | (static_cast<unsigned>(in[t]) & 0xffff);
  out[both >> 16] = static_cast<int>(both & 0xffff);
})
// proof: all data
FLOWS(sums_in_a_loop, int, {
  int sum = 0;
  for (unsigned i = 0; i < t; ++i) sum += in[i];
  out[t] = sum;
})
// proof: all data
FLOWS(hashes, int, {
  unsigned hash = 2166136261u;
  for (unsigned i = 0; i < 8; ++i) hash = (hash ^ static_cast<unsigned>(in[t + i])) * 16777619u;
  out[t] = static_cast<int>(hash);
})
// proof: all data
FLOWS(evaluates_a_polynomial, float, {
  float y = 0;
  for (int i = 0; i < 5; ++i) y = y * in[t] + static_cast<float>(i);
  out[t] = y;
})
// proof: all data
FLOWS(compensates, float, {
  float sum = 0;
  float lost = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const float y = in[i] - lost;
    const float next = sum + y;
    lost = (next - sum) - y;
    sum = next;
  }
  out[t] = sum;
})
// proof: all data
FLOWS(goes_through_shared, int, {
  __shared__ int s[32];
  s[t] = in[t];
  __syncthreads();
  out[t] = s[31 - t];
})
// proof: all data
FLOWS(scans, int, {
  __shared__ int s[2][32];
  s[0][t] = in[t];
  int from = 0;
  for (unsigned step = 1; step < 32; step *= 2) {
    __syncthreads();
    s[1 - from][t] = s[from][t] + (t >= step ? s[from][t - step] : 0);
    from = 1 - from;
  }
  out[t] = s[from][t];
})
// proof: all data
FLOWS(goes_through_local, int, {
  int values[4];
  for (unsigned i = 0; i < 4; ++i) values[(i + t) & 3] = in[t + i];
  out[t] = values[t & 3];
})
// proof: all data
FLOWS(shuffles, int, {
  int sum = in[t];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  out[t] = sum;
})
// proof: all data
FLOWS(ballots, int, out[t] = static_cast<int>(__ballot_sync(~0u, in[t] > 3)))
// proof: all data optimized
FLOWS(asks_all, int, out[t] = __all_sync(~0u, in[t] > 3))
// proof: all data
FLOWS(matches, int, out[t] = static_cast<int>(__match_any_sync(~0u, in[t])))
// proof: all data
FLOWS(counts_the_block, int, out[t] = __syncthreads_count(in[t] > 3))
// proof: all data
FLOWS(writes_its_range, int, {
  if (t < 20) out[t] = in[t];
})
// proof: all data
FLOWS(chooses_by_thread, int, out[t] = (t & 1) != 0 ? in[t] : -in[t])
// proof: all data
FLOWS(adds_atomically, int, {
  if (t == 0) out[0] = 0;
  __syncthreads();
  atomicAdd(out, in[t]);
})
// proof: all data
FLOWS(finds_the_greatest, int, {
  __shared__ int greatest;
  if (t == 0) greatest = 0;
  __syncthreads();
  atomicMax(&greatest, in[t]);
  __syncthreads();
  out[t] = greatest;
})
// proof: all data
FLOWS(adds_with_carry, int, {
  unsigned low;
  unsigned high;
  asm("add.cc.u32 %0, %2, 0xfffffff0; addc.u32 %1, %2, 0;" : "=r"(low), "=r"(high) : "r"(in[t]));
  out[t] = static_cast<int>(low ^ high);
})
// proof: all data
FLOWS(reads_a_clock, int, {
  const auto begin = static_cast<int>(clock());
  out[t] = in[t];
  out[t + 32] = static_cast<int>(clock()) - begin;
})

// proof: all data
__global__ void loads_vectors(const int4* in, int4* out) {
  const int4 four = in[threadIdx.x];
  out[threadIdx.x] = {four.w, four.x + four.y, four.z, 1};
}
LITMUS(loads_vectors) {
  loads_vectors<<<1, 8>>>(reinterpret_cast<int4*>(data(32)),
                          reinterpret_cast<int4*>(unwritten<int>(32)));
}

struct Item {
  char tag;
  int number;
};
// proof: all data
__global__ void moves_structs(const Item* in, Item* out) {
  out[threadIdx.x].tag = in[threadIdx.x].tag;
  out[threadIdx.x].number = in[threadIdx.x].number + 1;
}
LITMUS(moves_structs) {
  moves_structs<<<1, 16>>>(reinterpret_cast<Item*>(data(32)),
                           reinterpret_cast<Item*>(unwritten<int>(32)));
}

__constant__ int settings[4];
// proof: all data
__global__ void takes_constants(int* out) { out[threadIdx.x] = settings[threadIdx.x & 3]; }
LITMUS(takes_constants) {
  const int values[4] = {1, 2 + static_cast<int>(warpcheck::litmus::data_number()), 3, 4};
  cudaMemcpyToSymbol(settings, values, sizeof values);
  takes_constants<<<1, 32>>>(zeroed<int>(32));
}

// proof: all data
__global__ void takes_texels(cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, static_cast<int>(threadIdx.x));
}
LITMUS(takes_texels) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {data(32), cudaCreateChannelDesc<int>(), 32 * sizeof(int)};
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  takes_texels<<<1, 32>>>(texture, zeroed<int>(32));
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
}

__global__ void doubles(int* values) { values[threadIdx.x] *= 2; }
// proof: all data
__global__ void multiplies_tiles(const float* a, const float* b, float* c) {
  __shared__ float tile[2][8][8];
  const unsigned x = threadIdx.x;
  const unsigned y = threadIdx.y;
  tile[0][y][x] = a[8 * y + x];
  tile[1][y][x] = b[8 * y + x];
  __syncthreads();
  float sum = 0;
  for (unsigned k = 0; k < 8; ++k) sum += tile[0][y][k] * tile[1][k][x];
  c[8 * y + x] = sum;
}
LITMUS(multiplies_tiles) {
  multiplies_tiles<<<1, dim3(8, 8)>>>(data<float>(64), data<float>(64), unwritten<float>(64));
}

// proof: all data
__global__ void goes_on_with_results(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;
}
LITMUS(goes_on_with_results) {
  int* const values = data(32);
  int* const copy = unwritten<int>(32);
  doubles<<<1, 32>>>(values);
  cudaMemcpy(copy, values, 128, cudaMemcpyDeviceToDevice);
  goes_on_with_results<<<1, 32>>>(copy, values);
  warpcheck::litmus::copy_out(values, 32);
}

}  // namespace data_flows
