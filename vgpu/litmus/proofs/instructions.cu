// Data through instructions that few kernels use: what it decides there, and where it only flows.
#include <cstdint>

#include "vgpu/litmus/proofs/proof_data.hpp"

using warpcheck::litmus::data;
using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

namespace instructions {

// A kernel of one line: what each of 32 threads does.
#define FLOWS(name, Type, ...)                      \
  __global__ void name(const Type* in, Type* out) { \
    const unsigned t = threadIdx.x;                 \
    __VA_ARGS__;                                    \
  }                                                 \
  LITMUS(name) { name<<<1, 32>>>(data<Type>(64), unwritten<Type>(64)); }

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// ---- what calculates ----

__device__ int extract(int value, int position) {
  int field = 0;
  asm("bfe.s32 %0, %1, %2, 3;" : "=r"(field) : "r"(value), "r"(position));
  return field;
}
__device__ int select_less(int a, int b) {
  int smaller = 0;
  asm("{ .reg .pred p, q; setp.lt.and.s32 p|q, %1, %2, 1; selp.s32 %0, %1, %2, p; }"
      : "=r"(smaller)
      : "r"(a), "r"(b));
  return smaller;
}
__device__ int combine(int a, int b, int c) {
  int bits = 0;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(bits) : "r"(a), "r"(b), "r"(c));
  return bits;
}
__device__ int multiply_halves(int a, int b) {
  int product = 0;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
// A product of 8 x 16 and 16 x 8 bytes.
__device__ int2 multiply_matrices(int a, int b) {
  int2 sum{};
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+r"(sum.x), "+r"(sum.y)
               : "r"(a), "r"(b));
  return sum;
}

// proof: all data
FLOWS(extracts, int, out[t] = extract(in[t], in[t + 32] & 15))
// proof: all data
FLOWS(selects, int, out[t] = select_less(in[t], in[t + 32]))
// proof: all data
FLOWS(combines, int, out[t] = combine(in[t], in[t + 32], 5))
// proof: all data
FLOWS(multiplies_halves, int, out[t] = multiply_halves(in[t], in[t + 32]))
// proof: all data
FLOWS(multiplies_matrices, int, {
  const int2 sum = multiply_matrices(in[t], in[t + 32]);
  out[t] = sum.x;
  out[t + 32] = sum.y;
})
// proof: all data
FLOWS(takes_dot_products, int, out[t] = __dp4a(in[t], in[t + 32], 1))
// proof: all data
FLOWS(takes_differences, int, out[t] = static_cast<int>(__vabsdiffu4(in[t], in[t + 32])))
// proof: all data
FLOWS(sums_a_warp, int, out[t] = __reduce_add_sync(~0u, in[t]))
// proof: all data
FLOWS(sleeps, int, __nanosleep(static_cast<unsigned>(in[t])); out[t] = in[t])

// proof: refused
__global__ void extracts_an_index(const int* in, const int* from, int* out) {
  const int i = extract(0x12345, in[threadIdx.x]) & 7;
  out[threadIdx.x] = from[i];  //~ decides
}
LITMUS(extracts_an_index) {
  extracts_an_index<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32));
}

// proof: refused
__global__ void selects_a_place(const int* in, int* out) {
  out[select_less(in[threadIdx.x], 5) * 32 + threadIdx.x] = 1;  //~ decides
}
LITMUS(selects_a_place) { selects_a_place<<<1, 32>>>(data(32), zeroed<int>(256)); }

// proof: refused
__global__ void combines_to_a_place(const int* in, int* out) {
  out[32 * (combine(in[threadIdx.x], 3, 5) & 7) + threadIdx.x] = 1;  //~ decides
}
LITMUS(combines_to_a_place) { combines_to_a_place<<<1, 32>>>(data(32), zeroed<int>(256)); }

// proof: refused
__global__ void branches_on_halves(const int* in, int* out) {
  if (multiply_halves(in[threadIdx.x], 0x3c003c00) > 9) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(branches_on_halves) { branches_on_halves<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void branches_on_a_product(const int* in, int* out) {
  const int2 sum = multiply_matrices(in[threadIdx.x], in[threadIdx.x + 32]);
  if (sum.y > 500) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(branches_on_a_product) { branches_on_a_product<<<1, 32>>>(data(64), zeroed<int>(32)); }

// proof: refused
__global__ void branches_on_differences(const int* in, int* out) {
  if (__vabsdiffu4(in[threadIdx.x], 7) > 9) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(branches_on_differences) { branches_on_differences<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void takes_the_sum_of_a_warp(const int* in, int* out) {
  out[__reduce_add_sync(~0u, in[threadIdx.x]) & 31] = 1;  //~ decides
}
LITMUS(takes_the_sum_of_a_warp) { takes_the_sum_of_a_warp<<<1, 1>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void permutes_by_data(const int* in, const int* from, int* out) {
  const unsigned i = __byte_perm(0x07060504, 0x03020100, in[threadIdx.x] & 7) & 7;
  out[threadIdx.x] = from[i];  //~ decides
}
LITMUS(permutes_by_data) {
  permutes_by_data<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32));
}

// The ticket is 0 here, and so is each bit of data that it masks.
// proof: refused
__global__ void masks_a_ticket(const int* in, int* next, int* out) {
  const int ticket = atomicAdd(next, 1);
  if (blockIdx.x == 0) out[ticket & in[0]] = 1;  //~ decides
}
LITMUS(masks_a_ticket) { masks_a_ticket<<<2, 1>>>(data(32), zeroed<int>(1), zeroed<int>(2)); }

// proof: refused
__global__ void asks_which_space(const int* in, int* out) {
  unsigned is_global = 0;
  asm("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(is_global)
      : "l"(static_cast<std::uint64_t>(in[threadIdx.x])));
  if (is_global != 0) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(asks_which_space) { asks_which_space<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void jumps_by_index(const int* in, int* out) {
  int value = 0;
  asm volatile(
      "{ .reg .u32 way; and.b32 way, %1, 1; places: .branchtargets even, odd;\n"
      "brx.idx way, places;\n even: mov.s32 %0, 7; bra.uni done;\n"
      "odd: mov.s32 %0, 9;\n done: }"
      : "=r"(value)
      : "r"(in[threadIdx.x]));  //~ decides
  out[threadIdx.x] = value;
}
LITMUS(jumps_by_index) { jumps_by_index<<<1, 32>>>(data(32), zeroed<int>(32)); }

// ---- what moves ----

// proof: all data
FLOWS(copies_asynchronously, int, {
  __shared__ int s[32];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(s + t)),
               "l"(__cvta_generic_to_global(in + t)));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[t] = s[31 - t];
})
// proof: all data
FLOWS(loads_a_matrix, int, {
  __shared__ int s[32];
  s[t] = in[t];
  __syncthreads();
  int fragment;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(fragment)
               : "r"(shared_address(s + 4 * (t & 7))));
  out[t] = fragment;
})

// proof: refused
__global__ void copies_asynchronously_then_branches(const int* in, int* out) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(s + t)),
               "l"(__cvta_generic_to_global(in + t)));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  if (s[31 - t] > 9) out[t] = 1;  //~ decides
}
LITMUS(copies_asynchronously_then_branches) {
  copies_asynchronously_then_branches<<<1, 32>>>(data(32), zeroed<int>(32));
}

// proof: refused
__global__ void copies_as_much_as_data_says(const int* in, const int* from, int* out) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(s + t)),
               "l"(__cvta_generic_to_global(from + t)), "r"(in[t] & 4));  //~ decides
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = s[t];
}
LITMUS(copies_as_much_as_data_says) {
  copies_as_much_as_data_says<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32));
}

// proof: refused
__global__ void copies_from_where_data_says(const int* in, const int* from, int* out) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(s + t)),
               "l"(__cvta_generic_to_global(from + in[t])));  //~ decides
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = s[t];
}
LITMUS(copies_from_where_data_says) {
  copies_from_where_data_says<<<1, 32>>>(data(32), zeroed<int>(32), zeroed<int>(32));
}

// proof: refused
__global__ void loads_a_matrix_by_data(const int* in, int* out) {
  __shared__ int s[64];
  const unsigned t = threadIdx.x;
  s[t] = s[t + 32] = 1;
  __syncthreads();
  int fragment;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(fragment)
               : "r"(shared_address(s + 4 * (in[t] & 7))));  //~ decides
  out[t] = fragment;
}
LITMUS(loads_a_matrix_by_data) { loads_a_matrix_by_data<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void branches_on_a_fragment(const int* in, int* out) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  int fragment;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(fragment)
               : "r"(shared_address(s + 4 * (t & 7))));
  if (fragment > 9) out[t] = 1;  //~ decides
}
LITMUS(branches_on_a_fragment) { branches_on_a_fragment<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void adds_where_data_says(const int* in, int* out) {
  asm volatile("red.global.add.s32 [%0], 1;" ::"l"(
      __cvta_generic_to_global(out + in[threadIdx.x])));  //~ decides
}
LITMUS(adds_where_data_says) { adds_where_data_says<<<1, 32>>>(data(32), zeroed<int>(32)); }

// proof: refused
__global__ void counts_in_shared(const int* in, int* out) {
  __shared__ int bins[32];
  bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x]], 1);  //~ decides
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x];
}
LITMUS(counts_in_shared) { counts_in_shared<<<1, 32>>>(data(32), zeroed<int>(32)); }

struct Table {
  int entries[32];
};
// proof: refused
__global__ void indexes_parameters(const int* in, const __grid_constant__ Table table, int* out) {
  out[threadIdx.x] = table.entries[in[threadIdx.x]];  //~ decides
}
LITMUS(indexes_parameters) { indexes_parameters<<<1, 32>>>(data(32), Table{}, zeroed<int>(32)); }

// ---- textures and surfaces ----

struct Image {
  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;

  Image() {
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &channels, 8, 8, cudaArraySurfaceLoadStore);
    const std::vector<float> texels(64, 0.5f);
    cudaMemcpy2DToArray(array, 0, 0, texels.data(), 32, 32, 8, cudaMemcpyHostToDevice);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description{};
    description.filterMode = cudaFilterModeLinear;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
  }
  ~Image() {
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
};

// proof: all data
__global__ void filters(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, 0.25f * static_cast<float>(threadIdx.x), 2.5f);
}
LITMUS(filters) {
  const Image image;
  filters<<<1, 32>>>(image.texture, unwritten<float>(32));
}

// proof: refused
__global__ void samples_by_data(const float* in, cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, 1.5f, in[threadIdx.x]);  //~ decides
}
LITMUS(samples_by_data) {
  const Image image;
  samples_by_data<<<1, 32>>>(data<float>(32), image.texture, unwritten<float>(32));
}

// proof: refused
__global__ void samples_a_level_by_data(const float* in, cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2DLod<float>(texture, 1.5f, 2.5f, in[threadIdx.x]);  //~ decides
}
LITMUS(samples_a_level_by_data) {
  const Image image;
  samples_a_level_by_data<<<1, 32>>>(data<float>(32), image.texture, unwritten<float>(32));
}

// proof: refused
__global__ void writes_a_surface_by_data(const int* in, cudaSurfaceObject_t surface) {
  surf2Dwrite(1.0f, surface, 4 * (in[0] & 7), 2);  //~ decides
}
LITMUS(writes_a_surface_by_data) {
  const Image image;
  writes_a_surface_by_data<<<1, 1>>>(data(32), image.surface);
}

// ---- what newer devices have ----

// proof: refused
__global__ void initialises_by_data(const int* in) {
  __shared__ std::uint64_t object;
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&object)),
               "r"(in[0] + 1));  //~ decides
}
LITMUS(initialises_by_data) { initialises_by_data<<<1, 1>>>(data(32)); }

// proof: refused
__global__ void copies_in_bulk_by_data(const int* in, int* out) {
  __shared__ alignas(16) int s[64];
  for (int i = 0; i < 64; ++i) s[i] = i;
  const int bytes = 16 * (in[0] & 7) + 16;
  asm volatile("fence.proxy.async;");
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(out)),
               "r"(shared_address(s)), "r"(bytes));  //~ decides
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");  //~ decides? both
}
LITMUS(copies_in_bulk_by_data) { copies_in_bulk_by_data<<<1, 1>>>(data(32), zeroed<int>(64)); }

__device__ void meet_as_cluster() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ unsigned of_block(const void* pointer, unsigned rank) {
  unsigned address = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(shared_address(pointer)), "r"(rank));
  return address;
}

// proof: all data
__global__ void __cluster_dims__(2) gives_to_its_neighbour(const int* in, int* out) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  meet_as_cluster();
  asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(of_block(s + t, blockIdx.x ^ 1)), "r"(in[t])
               : "memory");
  meet_as_cluster();
  out[32 * blockIdx.x + t] = s[31 - t];
}
LITMUS(gives_to_its_neighbour) {
  gives_to_its_neighbour<<<2, 32>>>(data(32), unwritten<int>(64));
}

// proof: refused
__global__ void __cluster_dims__(2) takes_what_its_neighbour_gives(const int* in, int* out) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  meet_as_cluster();
  asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(of_block(s + t, blockIdx.x ^ 1)), "r"(in[t])
               : "memory");
  meet_as_cluster();
  if (s[31 - t] > 9) out[32 * blockIdx.x + t] = 1;  //~ decides
}
LITMUS(takes_what_its_neighbour_gives) {
  takes_what_its_neighbour_gives<<<2, 32>>>(data(32), zeroed<int>(64));
}

// proof: refused
__global__ void __cluster_dims__(2) asks_a_block_by_data(const int* in, int* out) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  s[t] = 5;
  meet_as_cluster();
  int got = 0;
  asm volatile("ld.shared::cluster.s32 %0, [%1];"
               : "=r"(got)
               : "r"(of_block(s + t, in[t] & 1)));  //~ decides
  meet_as_cluster();
  out[32 * blockIdx.x + t] = got;
}
LITMUS(asks_a_block_by_data) { asks_a_block_by_data<<<2, 32>>>(data(32), zeroed<int>(64)); }

}  // namespace instructions
