// Data decides something: none of these is proved for all data, and the line that says where is
// marked.
#include <cuda.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "vgpu/cudart/libraries/library_interface.hpp"
#include "vgpu/litmus/proofs/proof_data.hpp"

using warpcheck::litmus::data;
using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

namespace data_decides {

// ---- branches ----

// proof: refused
__global__ void branches(const int* in, int* out) {
  if (in[threadIdx.x] > 3) {  //~ decides
    for (int i = 0; i < 4; ++i) out[i * 32 + threadIdx.x] = i;
  }
}
LITMUS(branches) { branches<<<1, 32>>>(data(32), zeroed<int>(128)); }

// proof: refused
__global__ void bounds_a_loop(const int* in, int* out) {
  int sum = 0;
  for (int i = 0; i < in[0]; ++i) sum += i ^ sum << 1;  //~ decides
  out[threadIdx.x] = sum;
}
LITMUS(bounds_a_loop) { bounds_a_loop<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void loops_until(const int* in, int* out) {
  unsigned value = static_cast<unsigned>(in[threadIdx.x]) + 1;
  int rounds = 0;
  while (value != 1) {                                     //~ decides
    value = (value & 1) != 0 ? 3 * value + 1 : value / 2;  //~ decides? unoptimized
    ++rounds;
  }
  out[threadIdx.x] = rounds;
}
LITMUS(loops_until) { loops_until<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void returns_early(const int* in, int* out) {
  if (in[threadIdx.x] == 7) return;  //~ decides
  out[threadIdx.x] = 1;
}
LITMUS(returns_early) { returns_early<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void compares_floats(const float* in, float* out) {
  if (in[threadIdx.x] * 0.5f < 4.0f) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(compares_floats) { compares_floats<<<1, 32>>>(data<float>(32), zeroed<float>(32)); }

// proof: refused
__global__ void compares_doubles(const double* in, int* out) {
  if (in[threadIdx.x] != in[0]) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(compares_doubles) { compares_doubles<<<1, 32>>>(data<double>(32), zeroed<int>(32)); }

// proof: refused
__global__ void counts_bits(const int* in, int* out) {
  if (__popc(in[threadIdx.x]) > 2) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(counts_bits) { counts_bits<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void asks_for_both(const int* in, int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n && in[i] > 5) out[i] = 1;  //~ decides
}
LITMUS(asks_for_both) { asks_for_both<<<1, 32>>>(data(32), zeroed<int>(32), 30); }

// proof: refused
__global__ void guards_a_store(const int* in, int* out) {
  asm volatile(
      "{ .reg .pred p; setp.gt.s32 p, %1, 3; @p st.global.u32 [%0], 1; }" ::"l"(out + threadIdx.x),
      "r"(in[threadIdx.x]));  //~ decides
}
LITMUS(guards_a_store) { guards_a_store<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void guards_a_sum(const int* in, int* out) {
  int sum = 1;
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 3; @p add.s32 %0, %0, 1; }"
               : "+r"(sum)
               : "r"(in[threadIdx.x]));  //~ decides
  out[sum] = 1;                          //~ decides? both
}
LITMUS(guards_a_sum) { guards_a_sum<<<1, 1>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void jumps_by_table(const int* in, int* out) {
  int* const at = out + threadIdx.x;
  switch (in[threadIdx.x] & 7) {  //~ decides
    case 0: at[0] = 7; break;
    case 1: at[32] = 5; break;
    case 2: at[64] = 9; break;
    case 3: at[96] = 1; break;
    case 4: at[128] = 2; break;
    case 5: at[160] = 3; break;
    default: break;
  }
}
LITMUS(jumps_by_table) { jumps_by_table<<<1, 32>>>(data(32), zeroed<int>(192)); }

__device__ __noinline__ int depth_of(int value) {
  return value <= 0 ? 0 : 1 + depth_of(value / 2 - (value & 1));  //~ decides
}
// proof: refused
__global__ void recurses(const int* in, int* out) { out[threadIdx.x] = depth_of(in[threadIdx.x]); }
LITMUS(recurses) { recurses<<<1, 32>>>(data(32), zeroed<int>(32)); }

// ---- addresses ----

// proof: refused
__global__ void gathers(const int* in, const int* from, int* out) {
  out[threadIdx.x] = from[in[threadIdx.x]];  //~ decides
}
LITMUS(gathers) { gathers<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32)); }

// proof: refused
__global__ void scatters(const int* in, int* out) {
  out[in[threadIdx.x]] = 1;  //~ decides
}
LITMUS(scatters) { scatters<<<1, 1>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void indexes_shared(const int* in, int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = s[in[threadIdx.x]];  //~ decides
}
LITMUS(indexes_shared) { indexes_shared<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void indexes_local(const int* in, int* out) {
  int values[32];
  for (int i = 0; i < 32; ++i) values[i] = i * i;
  out[threadIdx.x] = values[in[threadIdx.x]];  //~ decides
}
LITMUS(indexes_local) { indexes_local<<<1, 32>>>(data(32), zeroed<int>(32)); }

__constant__ int table[32] = {1, 2, 3};
// proof: refused
__global__ void indexes_constants(const int* in, int* out) {
  out[threadIdx.x] = table[in[threadIdx.x]];  //~ decides
}
LITMUS(indexes_constants) { indexes_constants<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void counts_into_bins(const int* in, int* bins) {
  atomicAdd(&bins[in[threadIdx.x]], 1);  //~ decides
}
LITMUS(counts_into_bins) { counts_into_bins<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void follows_links(const int* next, int* out) {
  int at = 0;
  for (int i = 0; i < 4; ++i) at = next[at];  //~ decides
  out[threadIdx.x] = at;
}
LITMUS(follows_links) { follows_links<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void selects_an_index(const int* in, const int* from, int* out) {
  const int i = max(min(in[threadIdx.x], 9), 2);
  out[threadIdx.x] = from[i];  //~ decides
}
LITMUS(selects_an_index) {
  selects_an_index<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32));
}

// proof: refused
__global__ void chooses_an_index(const int* in, const int* from, int* out) {
  const int i = in[threadIdx.x] > 3 ? 5 : 9;  //~ decides? unoptimized
  out[threadIdx.x] = from[i];                 //~ decides? optimized
}
LITMUS(chooses_an_index) {
  chooses_an_index<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32));
}

// proof: refused
__global__ void shifts_by_data(const int* in, const int* from, int* out) {
  const int i = (1 << (in[threadIdx.x] & 3)) + 1;
  out[threadIdx.x] = from[i];  //~ decides
}
LITMUS(shifts_by_data) { shifts_by_data<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32)); }

// proof: refused
__global__ void takes_a_bit_field(const int* in, const int* from, int* out) {
  const unsigned i = static_cast<unsigned>(in[threadIdx.x]) >> 1 & 7;
  out[threadIdx.x] = from[i];  //~ decides
}
LITMUS(takes_a_bit_field) {
  takes_a_bit_field<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32));
}

// proof: refused
__global__ void takes_a_high_product(const int* in, const int* from, int* out) {
  const unsigned i = __umulhi(static_cast<unsigned>(in[threadIdx.x]) << 27, 16);
  out[threadIdx.x] = from[i];  //~ decides
}
LITMUS(takes_a_high_product) {
  takes_a_high_product<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32));
}

// proof: refused
__global__ void carries_over(const int* in, const int* from, int* out) {
  unsigned carry = 0;
  asm("{ .reg .u32 t; add.cc.u32 t, %1, 0xfffffff0; addc.u32 %0, 0, 0; }"
      : "=r"(carry)
      : "r"(in[threadIdx.x]));
  out[threadIdx.x] = from[carry];  //~ decides
}
LITMUS(carries_over) { carries_over<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32)); }

// proof: refused
__global__ void rounds_a_float(const float* in, const int* from, int* out) {
  out[threadIdx.x] = from[__float2int_rn(in[threadIdx.x])];  //~ decides
}
LITMUS(rounds_a_float) {
  rounds_a_float<<<1, 32>>>(data<float>(32), zeroed<int>(32), zeroed<int>(32));
}

// ---- through memory ----

// proof: refused
__global__ void comes_through_shared(const int* in, int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = in[threadIdx.x] & 31;
  __syncthreads();
  if (s[threadIdx.x ^ 1] > 4) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(comes_through_shared) { comes_through_shared<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void comes_through_local(const int* in, int* out, int n) {
  int values[8];
  for (int i = 0; i < 8; ++i) values[i] = in[i];
  if (values[n] > 4) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(comes_through_local) { comes_through_local<<<1, 32>>>(data(32), zeroed<int>(32), 3); }

__global__ void copies(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }
// proof: refused
__global__ void comes_from_a_kernel(const int* in, int* out) {
  if (in[threadIdx.x] > 4) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(comes_from_a_kernel) {
  int* const between = unwritten<int>(32);
  copies<<<1, 32>>>(data(32), between);
  comes_from_a_kernel<<<1, 32>>>(between, zeroed<int>(32));
}

// proof: refused
__global__ void comes_from_a_copy(const int* in, int* out) {
  if (in[threadIdx.x] > 4) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(comes_from_a_copy) {
  int* const between = unwritten<int>(32);
  cudaMemcpy(between, data(32), 128, cudaMemcpyDeviceToDevice);
  comes_from_a_copy<<<1, 32>>>(between, zeroed<int>(32));
}

// proof: refused
__global__ void takes_bytes_of_words(const std::uint8_t* in, int* out) {
  if (in[4 * threadIdx.x] > 4) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(takes_bytes_of_words) {
  takes_bytes_of_words<<<1, 32>>>(reinterpret_cast<std::uint8_t*>(data(32)), zeroed<int>(32));
}

// proof: refused
__global__ void loads_vectors(const int4* in, int* out) {
  const int4 four = in[threadIdx.x];
  if (four.z > 4) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(loads_vectors) {
  loads_vectors<<<1, 8>>>(reinterpret_cast<int4*>(data(32)), zeroed<int>(32));
}

__constant__ int settings[4];
// proof: refused
__global__ void comes_through_constants(int* out) {
  if (settings[1] > 2) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(comes_through_constants) {
  const int values[4] = {1, 2 + static_cast<int>(warpcheck::litmus::data_number()), 3, 4};
  cudaMemcpyToSymbol(settings, values, sizeof values);
  comes_through_constants<<<1, 32>>>(zeroed<int>(32));
}

// ---- operations of a warp and of a block ----

// proof: refused
__global__ void shuffles_then_branches(const int* in, int* out) {
  if (__shfl_xor_sync(~0u, in[threadIdx.x], 1) > 4) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(shuffles_then_branches) { shuffles_then_branches<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void shuffles_by_data(const int* in, int* out) {
  out[threadIdx.x] = __shfl_sync(~0u, 5, in[threadIdx.x]);  //~ decides
}
LITMUS(shuffles_by_data) { shuffles_by_data<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void votes(const int* in, int* out) {
  if (__any_sync(~0u, in[threadIdx.x] > 30)) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(votes) { votes<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void ballots_for_a_place(const int* in, int* out) {
  const unsigned who = __ballot_sync(~0u, in[threadIdx.x] > 9);
  out[32 * __popc(who & 0xff) + threadIdx.x] = 1;  //~ decides
}
LITMUS(ballots_for_a_place) { ballots_for_a_place<<<1, 32>>>(data(32), zeroed<int>(32 * 9)); }

// proof: refused
__global__ void matches(const int* in, int* out) {
  if (__match_any_sync(~0u, in[threadIdx.x]) != 1) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(matches) { matches<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void meets_by_data(const int* in, int* out) {
  const unsigned all = static_cast<unsigned>(in[threadIdx.x]) | ~0u << 5 | 31u;
  asm volatile("bar.warp.sync %0;" ::"r"(in[0] - in[0] + static_cast<int>(all)));  //~ decides? both
  out[in[0] & 1] = 1;                                                              //~ decides
}
LITMUS(meets_by_data) { meets_by_data<<<1, 1>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void counts_the_block(const int* in, int* out) {
  if (__syncthreads_count(in[threadIdx.x] > 4) > 9) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(counts_the_block) { counts_the_block<<<1, 64>>>(data(64), zeroed<int>(64)); }

// proof: refused
__global__ void asks_the_block(const int* in, int* out) {
  out[__syncthreads_or(in[threadIdx.x] > 4) != 0 ? 64 + threadIdx.x : threadIdx.x] = 1;  //~ decides
}
LITMUS(asks_the_block) { asks_the_block<<<1, 64>>>(data(64), zeroed<int>(128)); }

// proof: refused
__global__ void counts_arrivals_by_data(const int* in, int* out) {
  const int threads = 64 + (in[0] & 0) + 32 * (in[1] / 32);
  asm volatile("barrier.sync 1, %0;" ::"r"(threads) : "memory");  //~ decides
  out[threadIdx.x] = 1;
}
LITMUS(counts_arrivals_by_data) { counts_arrivals_by_data<<<1, 64>>>(data(64), zeroed<int>(64)); }

// ---- atomic operations ----

// proof: refused
__global__ void takes_a_ticket(const int* in, int* next, int* out) {
  const int at = atomicAdd(next, in[threadIdx.x] > 99 ? 2 : 1);  //~ decides? unoptimized
  out[at] = 1;                                                   //~ decides
}
LITMUS(takes_a_ticket) { takes_a_ticket<<<1, 32>>>(data(32), zeroed<int>(1), zeroed<int>(64)); }

// proof: refused
__global__ void finds_the_greatest(const int* in, int* out) {
  __shared__ int greatest;
  if (threadIdx.x == 0) greatest = 0;
  __syncthreads();
  atomicMax(&greatest, in[threadIdx.x]);
  __syncthreads();
  if (greatest > 30) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(finds_the_greatest) { finds_the_greatest<<<1, 64>>>(data(64), zeroed<int>(64)); }

// proof: refused
__global__ void swaps(const int* in, int* place, int* out) {
  int* const own = place + threadIdx.x;
  atomicExch(own, in[threadIdx.x]);
  if (atomicExch(own, 1) > 4) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(swaps) { swaps<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32)); }

// ---- textures ----

cudaTextureObject_t texture_over(const int* values) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {const_cast<int*>(values), cudaCreateChannelDesc<int>(), 32 * sizeof(int)};
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  return texture;
}

// proof: refused
__global__ void fetches_by_data(const int* in, cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, in[threadIdx.x]);  //~ decides
}
LITMUS(fetches_by_data) {
  const cudaTextureObject_t texture = texture_over(zeroed<int>(32));
  fetches_by_data<<<1, 32>>>(data(32), texture, zeroed<int>(32));
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
}

// proof: refused
__global__ void branches_on_a_texel(cudaTextureObject_t texture, int* out) {
  const int texel = tex1Dfetch<int>(texture, static_cast<int>(threadIdx.x));
  if (texel > 4) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(branches_on_a_texel) {
  const cudaTextureObject_t texture = texture_over(data(32));
  branches_on_a_texel<<<1, 32>>>(texture, zeroed<int>(32));
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
}

// ---- calls, traps, memory ----

__device__ __noinline__ int adds_one(int value) { return value + 1; }
__device__ __noinline__ int doubles(int value) { return value * 2; }
using Function = int (*)(int);
__device__ Function functions[2] = {adds_one, doubles};
// proof: refused
__global__ void calls_by_data(const int* in, int* out) {
  out[threadIdx.x] = functions[in[threadIdx.x] & 1](3);  //~ decides
}
LITMUS(calls_by_data) { calls_by_data<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void traps(const int* in, int* out) {
  if (in[threadIdx.x] > 99) __trap();  //~ decides
  out[threadIdx.x] = 1;
}
LITMUS(traps) { traps<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void asserts(const int* in, int* out) {
  assert(in[threadIdx.x] < 99);  //~ decides
  out[threadIdx.x] = 1;
}
LITMUS(asserts) { asserts<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void exits(const int* in, int* out) {
  asm volatile(
      "{ .reg .pred p; setp.gt.s32 p, %0, 30; @p exit; }" ::"r"(in[threadIdx.x]));  //~ decides
  out[threadIdx.x] = 1;
}
LITMUS(exits) { exits<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void allocates(const int* in, int* out) {
  char* const memory = static_cast<char*>(malloc(static_cast<std::size_t>(in[0]) + 1));  //~ decides
  *out = 1;
  free(memory);  //~ decides
}
LITMUS(allocates) { allocates<<<1, 1>>>(data(32), zeroed<int>(1)); }

// proof: refused
__global__ void grows_its_stack(const int* in, int* out) {
  char* const memory =
      static_cast<char*>(__builtin_alloca(static_cast<std::size_t>(in[0]) + 16));  //~ decides
  for (int i = 0; i < 16; ++i) memory[i] = static_cast<char>(i);
  *out = memory[*out & 15];  //~ decides? both
}
LITMUS(grows_its_stack) { grows_its_stack<<<1, 1>>>(data(32), zeroed<int>(1)); }

// proof: refused
__global__ void prints(const int* in) {
  printf("%d\n", in[0]);  //~ decides
}
LITMUS(prints) { prints<<<1, 1>>>(data(1)); }

// ---- the host ----

// proof: refused by the host
// because the host has read results before it launches data_decides::doubles_all
__global__ void doubles_all(int* values) { values[threadIdx.x] *= 2; }
LITMUS(doubles_all) {
  int* const values = data(32);
  doubles_all<<<1, 32>>>(values);
  int first = 0;
  cudaMemcpy(&first, values, sizeof first, cudaMemcpyDeviceToHost);
  if (first < 1000) doubles_all<<<1, 32>>>(values);
}

// proof: refused
__global__ void shares_with_the_host(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  //~ decides
}
LITMUS(shares_with_the_host) {
  int* in = nullptr;
  cudaMallocManaged(&in, 128);
  for (int i = 0; i < 32; ++i) in[i] = i;
  shares_with_the_host<<<1, 32>>>(in, zeroed<int>(32));
  cudaDeviceSynchronize();
  cudaFree(in);
}

// The host computes, with bytes of the device.
// proof: refused by the host
// because an operation whose values are not followed: libraryMoves
__global__ void takes_what_a_library_moved(const int* from, int* out) {
  if (*from > 4) *out = 1;
}
LITMUS(takes_what_a_library_moved) {
  using namespace warpcheck::cudart;
  int* const to = unwritten<int>(1);
  const LibraryRegion regions[] = {
      {.name = "x", .pointer = data(1), .element_bytes = 4, .width = 1, .reads = true},
      {.name = "y", .pointer = to, .element_bytes = 4, .width = 1, .writes = true}};
  LibraryRequest request;
  request.function = "libraryMoves";
  request.regions = regions;
  request.region_count = 2;
  request.compute = [](void*, const LibraryView* views) {
    std::memcpy(views[1].data, views[0].data, 4);
  };
  request.release = [](void*) {};
  warpcheck_library_services()->enqueue(&request);
  takes_what_a_library_moved<<<1, 1>>>(to, zeroed<int>(1));
}

// proof: refused by the host
// because an operation whose values are not followed: cuStreamWaitValue32
__global__ void runs_after_a_wait(int* out) { out[threadIdx.x] = 1; }
LITMUS(runs_after_a_wait) {
  using Wait = decltype(&cuStreamWaitValue32);
  void* wait = nullptr;
  cudaDriverEntryPointQueryResult found{};
  cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &wait, 12000, cudaEnableDefault, &found);
  reinterpret_cast<Wait>(wait)(nullptr, reinterpret_cast<CUdeviceptr>(data(1)), 0,
                               CU_STREAM_WAIT_VALUE_GEQ);
  runs_after_a_wait<<<1, 32>>>(zeroed<int>(32));
}

}  // namespace data_decides
