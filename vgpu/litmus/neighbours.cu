// Addresses that leave the object they were made from and land in another one; and addresses that
// the code makes from several objects, or in ways that nobody can follow.
#include <cstddef>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

namespace {

// Elements from one allocation to another.
long long between(const int* from, const int* to) { return to - from; }

}  // namespace

// ---- Shared arrays of one block.

// expect: out-of-bounds shared
__global__ void store_into_the_next_array(int* out, int index) {
  __shared__ int a[32], b[32];
  a[threadIdx.x] = b[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) a[index] = 1;        //~ write
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
LITMUS(store_into_the_next_array) { store_into_the_next_array<<<1, 32>>>(zeroed<int>(32), 34); }

// expect: clean
__global__ void store_into_the_last_element(int* out, int index) {
  __shared__ int a[32], b[32];
  a[threadIdx.x] = b[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) a[index] = 1;
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
LITMUS(store_into_the_last_element) {
  store_into_the_last_element<<<1, 32>>>(zeroed<int>(32), 31);
}

// expect: out-of-bounds shared
__global__ void load_before_the_second_array(int* out) {
  __shared__ int a[32], b[32];
  a[threadIdx.x] = b[threadIdx.x] = 0;
  __syncthreads();
  const int* const before = threadIdx.x < 16 ? a : b;  // of two: nothing is known
  out[threadIdx.x] = before[threadIdx.x];
  out[threadIdx.x] = b[static_cast<int>(threadIdx.x) - 1];  //~ read
}
LITMUS(load_before_the_second_array) {
  load_before_the_second_array<<<1, 32>>>(zeroed<int>(32));
}

// A constant index, in a loop that runs one step too far.
// expect: out-of-bounds shared
__global__ void one_step_too_far(float* out) {
  __shared__ float sums[8], counts[8];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 8; ++i) counts[i] = 1;
#pragma unroll 1
    for (int i = 0; i <= 8; ++i) sums[i] = 0;  //~ write
  }
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = sums[threadIdx.x] + counts[threadIdx.x];
}
LITMUS(one_step_too_far) { one_step_too_far<<<1, 32>>>(zeroed<float>(8)); }

// A pointer that walks.
// expect: out-of-bounds shared
__global__ void pointer_walks_too_far(int* out, int count) {
  __shared__ int first[16], second[16];
  if (threadIdx.x < 16) first[threadIdx.x] = second[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (const int* at = first; count > 0; --count, ++at) {
    sum += *at;                              //~ read
  }
  out[0] = sum + second[3];
}
LITMUS(pointer_walks_too_far) { pointer_walks_too_far<<<1, 32>>>(zeroed<int>(1), 17); }

// expect: clean
__global__ void pointer_walks_to_the_end(int* out, int count) {
  __shared__ int first[16], second[16];
  if (threadIdx.x < 16) first[threadIdx.x] = second[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (const int* at = first; at != first + count; ++at) sum += *at;
  for (const int* at = second + count; at != second;) sum += *--at;
  out[0] = sum;
}
LITMUS(pointer_walks_to_the_end) { pointer_walks_to_the_end<<<1, 32>>>(zeroed<int>(1), 16); }

// Every caller has its own copy of the function, and the pointer is followed into it.
// expect: out-of-bounds shared
__device__ __noinline__ int element(const int* values, int index) {
  return values[index];                      //~ read
}
__global__ void in_a_function(int* out, int index) {
  __shared__ int a[32], b[32];
  a[threadIdx.x] = b[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = element(a, threadIdx.x) + element(b, threadIdx.x);
  if (threadIdx.x == 0) out[0] = element(a, index);
}
LITMUS(in_a_function) { in_a_function<<<1, 32>>>(zeroed<int>(32), 40); }

__device__ __noinline__ int* place_of(int* values, int index) { return values + index; }

// expect: out-of-bounds shared
__global__ void from_a_function(int* out, int index) {
  __shared__ int a[32], b[32];
  a[threadIdx.x] = b[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) *place_of(a, index) = 7;  //~ write
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
LITMUS(from_a_function) { from_a_function<<<1, 32>>>(zeroed<int>(32), 40); }

// expect: out-of-bounds shared
__global__ void atomic_in_the_next_array(int* out, int bin) {
  __shared__ int bins[16], total[4];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  if (threadIdx.x < 4) total[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[bin + threadIdx.x % 2], 1);  //~ atomic
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x] + total[threadIdx.x % 4];
}
LITMUS(atomic_in_the_next_array) { atomic_in_the_next_array<<<1, 32>>>(zeroed<int>(16), 15); }

// From an array of known size into what the launch has added, and back.
// expect: out-of-bounds shared
__global__ void static_array_into_dynamic(int* out, int index) {
  __shared__ int fixed[8];
  extern __shared__ int dynamic[];
  if (threadIdx.x < 8) fixed[threadIdx.x] = 0;
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) fixed[index] = 2;    //~ write
  if (threadIdx.x == 0) out[0] = dynamic[-index] + fixed[0];  //~ read
}
LITMUS(static_array_into_dynamic) {
  static_array_into_dynamic<<<1, 32, 128>>>(zeroed<int>(1), 8);
}

// ---- Allocations.

// expect: out-of-bounds global
__global__ void load_from_another_allocation(const int* in, int* out, long long index) {
  out[threadIdx.x] = in[index + threadIdx.x];  //~ read
}
LITMUS(load_from_another_allocation) {
  int* const in = zeroed<int>(32);
  int* const out = zeroed<int>(32);
  load_from_another_allocation<<<1, 32>>>(in, out, between(in, zeroed<int>(64)));
}

// expect: clean
__global__ void load_from_the_same_allocation(const int* in, int* out, long long index) {
  out[threadIdx.x] = in[index + threadIdx.x];
}
LITMUS(load_from_the_same_allocation) {
  int* const in = zeroed<int>(96);
  load_from_the_same_allocation<<<1, 32>>>(in + 32, zeroed<int>(32), -32);
  load_from_the_same_allocation<<<1, 32>>>(in + 96, zeroed<int>(32), -64);
}

// An index from memory.
// expect: out-of-bounds global
__global__ void store_to_another_allocation(const int* index, int* a, int* b) {
  b[threadIdx.x] = 1;
  a[index[threadIdx.x]] = 2;                 //~ write
}
LITMUS(store_to_another_allocation) {
  int* const a = zeroed<int>(32);
  int* const b = zeroed<int>(32);
  std::vector<int> where(32);
  for (int i = 0; i < 32; ++i) where[i] = i;
  where[31] = static_cast<int>(between(a, b)) + 40;
  where[30] = static_cast<int>(between(a, b)) + 3;
  int* const index = unwritten<int>(32);
  cudaMemcpy(index, where.data(), 128, cudaMemcpyHostToDevice);
  store_to_another_allocation<<<1, 32>>>(index, a, b);
}

struct View {
  int* data;
  int size;
  __host__ __device__ int& at(int i) const { return data[i]; }
};

// expect: out-of-bounds global
__global__ void member_of_a_parameter(View a, View b, int index) {
  b.data[threadIdx.x] = 1;
  a.data[index + threadIdx.x] = 2;           //~ write
}
LITMUS(member_of_a_parameter) {
  const View a{zeroed<int>(32), 32}, b{zeroed<int>(64), 64};
  member_of_a_parameter<<<1, 32>>>(a, b, static_cast<int>(between(a.data, b.data)) + 32);
}

__device__ int few[16];
__device__ int many[4096];

// expect: out-of-bounds global
__global__ void variable_into_another(int index) {
  many[threadIdx.x] = 1;
  few[index] = 2;                            //~ write
}
LITMUS(variable_into_another) {
  void *from = nullptr, *to = nullptr;
  cudaGetSymbolAddress(&from, few);
  cudaGetSymbolAddress(&to, many);
  variable_into_another<<<1, 32>>>(
      static_cast<int>(between(static_cast<int*>(from), static_cast<int*>(to))) + 100);
}

// ---- Nothing is known, or all is well.

struct Pair {
  int first[16], second[16];
};

// One variable is one object.
// expect: clean
__global__ void arrays_of_one_struct(int* out, int index) {
  __shared__ Pair pair;
  __shared__ int other[32];
  (threadIdx.x < 16 ? pair.first : pair.second)[threadIdx.x % 16] = 1;
  other[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = pair.first[index + threadIdx.x % 16] + other[threadIdx.x];
}
LITMUS(arrays_of_one_struct) { arrays_of_one_struct<<<1, 32>>>(zeroed<int>(32), 16); }

// expect: clean
__global__ void array_that_is_chosen(int* out, const int* c, const int* d, int n) {
  __shared__ int a[32], b[32];
  a[threadIdx.x] = b[threadIdx.x] = 1;
  __syncthreads();
  const int* from = threadIdx.x % 2 == 0 ? a : b;
  if (n > 3) from = threadIdx.x % 3 == 0 ? c : d;
  out[threadIdx.x] = from[threadIdx.x];
}
LITMUS(array_that_is_chosen) {
  array_that_is_chosen<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32), zeroed<int>(32), 3);
  array_that_is_chosen<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32), zeroed<int>(32), 4);
}

// expect: clean
__global__ void buffers_that_are_swapped(int* a, int* b, int rounds) {
  __shared__ int c[32], d[32];
  c[threadIdx.x] = d[threadIdx.x] = 1;
  int *from = a, *to = b, *near = c, *far = d;
  for (int i = 0; i < rounds; ++i) {
    to[threadIdx.x] = from[threadIdx.x] + 1;
    far[threadIdx.x] = near[threadIdx.x] + 1;
    int* const swapped = from;
    from = to;
    to = swapped;
    int* const swapped_near = near;
    near = far;
    far = swapped_near;
  }
  a[threadIdx.x] = near[threadIdx.x];
}
LITMUS(buffers_that_are_swapped) {
  buffers_that_are_swapped<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32), 5);
}

// expect: clean
__global__ void distance_of_two_objects(const int* p, const int* q, long long* distance, int* out) {
  __shared__ int a[32], b[32];
  a[threadIdx.x] = b[threadIdx.x] = 1;
  const long long between = q - p;
  const int near = b - a;
  distance[threadIdx.x] = between;
  out[threadIdx.x] = p[between + threadIdx.x] + a[near + threadIdx.x];
  out[threadIdx.x] += p[distance[threadIdx.x]];
}
LITMUS(distance_of_two_objects) {
  distance_of_two_objects<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32), unwritten<long long>(32),
                                     zeroed<int>(32));
}

// expect: clean
__global__ void pointers_as_numbers(int* p, int* q, int* out) {
  const auto mix =
      reinterpret_cast<unsigned long long>(p) ^ reinterpret_cast<unsigned long long>(q);
  auto at = reinterpret_cast<unsigned long long>(p);
  for (int i = 0; i < 2; ++i) {
    reinterpret_cast<int*>(at)[threadIdx.x] = i;
    at ^= mix;
  }
  const auto low = reinterpret_cast<unsigned long long>(q) & 0xffffffffu;
  const auto high = reinterpret_cast<unsigned long long>(q) >> 32;
  out[threadIdx.x] = reinterpret_cast<int*>(high << 32 | low)[threadIdx.x];
}
LITMUS(pointers_as_numbers) {
  pointers_as_numbers<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32), zeroed<int>(32));
}

// expect: clean
__global__ void aligned_down(int* out) {
  __shared__ char a[5];
  __shared__ char b[27];
  if (threadIdx.x < 5) a[threadIdx.x] = 1;
  if (threadIdx.x < 27) b[threadIdx.x] = 2;
  __syncthreads();
  const auto at = reinterpret_cast<unsigned long long>(&b[threadIdx.x % 4]) & ~3ull;
  out[threadIdx.x] = *reinterpret_cast<const char*>(at) + a[threadIdx.x % 5];
}
LITMUS(aligned_down) { aligned_down<<<1, 32>>>(zeroed<int>(32)); }

struct Node {
  int key;
  int link;
};

// From a member back to what holds it.
// expect: clean
__global__ void container_of_a_member(int* out, Node* nodes) {
  __shared__ Node near[32], far[32];
  near[threadIdx.x] = far[threadIdx.x] = {1, 2};
  int* const link = threadIdx.x % 2 == 0 ? &near[threadIdx.x].link : &nodes[threadIdx.x].link;
  const auto* const node =
      reinterpret_cast<const Node*>(reinterpret_cast<char*>(link) - offsetof(Node, link));
  const int* const own = &far[threadIdx.x].link;
  out[threadIdx.x] = node->key + own[-1];
}
LITMUS(container_of_a_member) {
  container_of_a_member<<<1, 32>>>(zeroed<int>(32), zeroed<Node>(32));
}

// expect: clean
__global__ void dynamic_memory_cut_by_hand(double* out, int n) {
  extern __shared__ double first[];
  auto* const second = reinterpret_cast<float*>(first + n);
  auto* const third = reinterpret_cast<short*>(second + n);
  __shared__ int fixed[4];
  if (threadIdx.x < 4) fixed[threadIdx.x] = 1;
  first[threadIdx.x] = 1;
  second[threadIdx.x] = 2;
  third[threadIdx.x] = 3;
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x] + third[threadIdx.x] + fixed[0];
}
LITMUS(dynamic_memory_cut_by_hand) {
  dynamic_memory_cut_by_hand<<<1, 32, 32 * 14>>>(zeroed<double>(32), 32);
}

// expect: clean
__global__ void pointers_from_memory(int** table, int* p) {
  table[threadIdx.x][threadIdx.x] = 1;
  int* const swapped = table[1];
  __syncwarp();
  if (threadIdx.x == 0) table[1] = p;
  __syncwarp();
  table[1][threadIdx.x] = 2;
  swapped[threadIdx.x] = 3;
}
LITMUS(pointers_from_memory) {
  std::vector<int*> pointers;
  for (int i = 0; i < 32; ++i) pointers.push_back(zeroed<int>(32));
  int** const table = unwritten<int*>(32);
  cudaMemcpy(table, pointers.data(), 32 * sizeof(int*), cudaMemcpyHostToDevice);
  pointers_from_memory<<<1, 32>>>(table, zeroed<int>(32));
}

// One allocation that somebody has cut into several; and a pointer that the host has moved to where
// another allocation is, as those do who begin to count elsewhere.
// expect: clean
__global__ void pool_cut_by_hand(const int* a, int* b, int count, const int* shifted,
                                 long long first) {
  b[threadIdx.x] = a[count + threadIdx.x] + shifted[first + threadIdx.x];
}
LITMUS(pool_cut_by_hand) {
  int* const pool = zeroed<int>(96);
  int* const elsewhere = zeroed<int>(2048);
  int* const last = zeroed<int>(32);
  const long long first = between(elsewhere + 7, last);
  pool_cut_by_hand<<<1, 32>>>(pool, pool + 32, 64, last - first, first);
}

// expect: clean
__global__ void managed_memory(int* a, int* b, const int* end) {
  for (int* at = a; at != end; ++at) *at = *b;
}
LITMUS(managed_memory) {
  int *a = nullptr, *b = nullptr;
  cudaMallocManaged(&a, 128);
  cudaMallocManaged(&b, 128);
  b[0] = 1;
  managed_memory<<<1, 1>>>(a, b, a + 32);
  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(b);
}
