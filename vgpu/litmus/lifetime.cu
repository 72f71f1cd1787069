// Memory of the device heap and of the host: used after its end, freed wrongly, never freed.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::release;
using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

// expect: leak global
__global__ void never_deletes(int* out) {
  int* const own = new int[4];               //~ allocate
  own[threadIdx.x & 3] = 1;
  out[threadIdx.x] = own[threadIdx.x & 3];
}
LITMUS(never_deletes) { never_deletes<<<1, 64>>>(zeroed<int>(64)); }

// expect: clean
__global__ void deletes(int* out) {
  int* const own = new int[4];
  own[threadIdx.x & 3] = 1;
  out[threadIdx.x] = own[threadIdx.x & 3];
  delete[] own;
}
LITMUS(deletes) { deletes<<<1, 64>>>(zeroed<int>(64)); }

// A kernel may keep memory for a later one, and any thread may free it.
__device__ int* kept[64];

__global__ void keeps() {
  kept[threadIdx.x] = static_cast<int*>(malloc(16));
  *kept[threadIdx.x] = static_cast<int>(threadIdx.x);
}
__global__ void uses_what_was_kept(int* out) { out[threadIdx.x] = *kept[63 - threadIdx.x]; }
__global__ void frees_what_was_kept() { free(kept[threadIdx.x ^ 1]); }

// expect: clean
LITMUS(kept_until_a_later_launch) {
  int* const out = zeroed<int>(64);
  keeps<<<1, 64>>>();
  uses_what_was_kept<<<1, 64>>>(out);
  frees_what_was_kept<<<1, 64>>>();
  copy_out(out, 64);
}

// expect: leak global
LITMUS(host_never_frees) {                   //~ host allocate
  void* memory = nullptr;
  cudaMalloc(&memory, 16);
}

// expect: clean
LITMUS(host_frees) {
  void* memory = nullptr;
  cudaMalloc(&memory, 16);
  cudaFree(memory);
}

// expect: use-after-free global
__global__ void reads_freed_memory(const int* in, int* out) {
  *out = *in;                                //~ read
}
LITMUS(reads_freed_memory) {
  int* const in = zeroed<int>(1);
  release(in);
  reads_freed_memory<<<1, 1>>>(in, zeroed<int>(1));
}

// expect: clean
__global__ void reads_live_memory(const int* in, int* out) { *out = *in; }
LITMUS(reads_live_memory) {
  int* const in = zeroed<int>(1);
  reads_live_memory<<<1, 1>>>(in, zeroed<int>(1));
  release(in);
}

// expect: use-after-free global
__global__ void reads_after_delete(int* out, int index) {
  int* const own = new int[4];
  own[index] = 1;
  delete[] own;                              //~ free
  out[threadIdx.x] = own[index + 1];         //~ read
}
LITMUS(reads_after_delete) { reads_after_delete<<<1, 32>>>(zeroed<int>(32), 2); }

// expect: clean
__global__ void reads_before_delete(int* out, int index) {
  int* const own = new int[4];
  own[index] = 1;
  own[index + 1] = 2;
  out[threadIdx.x] = own[index + 1];
  delete[] own;
}
LITMUS(reads_before_delete) { reads_before_delete<<<1, 32>>>(zeroed<int>(32), 2); }

// Freed memory is given out again by no later malloc(), so a stale pointer is not taken for it.
// expect: use-after-free global
__global__ void writes_after_another_malloc(int** slot) {
  *slot = static_cast<int*>(malloc(16));
  free(*slot);                               //~ free
  int* const next = static_cast<int*>(malloc(16));
  **slot = 1;                                //~ write
  free(next);
}
LITMUS(writes_after_another_malloc) { writes_after_another_malloc<<<1, 1>>>(zeroed<int*>(1)); }

// expect: clean
__global__ void writes_to_another_malloc(int** slot) {
  *slot = static_cast<int*>(malloc(16));
  free(*slot);
  *slot = static_cast<int*>(malloc(16));
  **slot = 1;
  free(*slot);
}
LITMUS(writes_to_another_malloc) { writes_to_another_malloc<<<1, 1>>>(zeroed<int*>(1)); }

// In a later launch, by another thread.
// expect: use-after-free global
__global__ void frees_all() { free(kept[threadIdx.x]); }  //~ free
__global__ void reads_kept(int* out) {
  out[threadIdx.x] = *kept[threadIdx.x + 1];  //~ read
}
LITMUS(read_in_a_later_launch) {
  keeps<<<1, 64>>>();
  frees_all<<<1, 64>>>();
  reads_kept<<<1, 32>>>(zeroed<int>(32));
}

// Whether the free comes last is a matter of luck: no barrier says so.
// expect: data-race global
__global__ void frees_without_a_barrier(int* out) {
  __shared__ int* all;
  if (threadIdx.x == 0) {
    all = new int[1];
    *all = 7;
  }
  __syncthreads();
  out[threadIdx.x] = *all;                   //~ read
  if (threadIdx.x == 0) delete[] all;        //~ free
}
LITMUS(frees_without_a_barrier) { frees_without_a_barrier<<<1, 64>>>(zeroed<int>(64)); }

// expect: clean
__global__ void frees_after_a_barrier(int* out) {
  __shared__ int* all;
  if (threadIdx.x == 0) {
    all = new int[1];
    *all = 7;
  }
  __syncthreads();
  out[threadIdx.x] = *all;
  __syncthreads();
  if (threadIdx.x == 0) delete[] all;
}
LITMUS(frees_after_a_barrier) { frees_after_a_barrier<<<1, 64>>>(zeroed<int>(64)); }

// expect: invalid-free global
__global__ void frees_twice(int** slot) {
  *slot = static_cast<int*>(malloc(16));
  free(*slot);                               //~ free
  free(*slot);                               //~ free
}
LITMUS(frees_twice) { frees_twice<<<1, 1>>>(zeroed<int*>(1)); }

// A null pointer may be freed as often as one likes.
// expect: clean
__global__ void frees_once(int** slot) {
  *slot = static_cast<int*>(malloc(16));
  free(*slot);
  *slot = nullptr;
  free(*slot);
}
LITMUS(frees_once) { frees_once<<<1, 1>>>(zeroed<int*>(1)); }

// expect: invalid-free global
// expect: leak global
__global__ void frees_the_middle(int** slot, int offset) {
  *slot = static_cast<int*>(malloc(16));     //~ allocate
  free(*slot + offset);                      //~ free
}
LITMUS(frees_the_middle) { frees_the_middle<<<1, 1>>>(zeroed<int*>(1), 1); }

// expect: clean
LITMUS(frees_the_start) { frees_the_middle<<<1, 1>>>(zeroed<int*>(1), 0); }

// expect: invalid-free global
__global__ void frees_memory_of_the_host(int* in) { free(in); }  //~ free
LITMUS(frees_memory_of_the_host) { frees_memory_of_the_host<<<1, 1>>>(zeroed<int>(4)); }

// expect: clean
LITMUS(frees_nothing) { frees_memory_of_the_host<<<1, 1>>>(nullptr); }

// expect: invalid-free shared
__global__ void frees_shared_memory(int* out) {
  __shared__ int s[4];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x];
  free(s + out[0] - 1);                      //~ free
}
LITMUS(frees_shared_memory) { frees_shared_memory<<<1, 1>>>(zeroed<int>(4)); }

// The host frees memory of the device heap.
// expect: invalid-free global
// expect: leak global
__global__ void gives(int** slot) {
  *slot = static_cast<int*>(malloc(16));     //~ allocate
  **slot = 1;
}

int* given() {
  int** const slot = zeroed<int*>(1);
  gives<<<1, 1>>>(slot);
  int* memory = nullptr;
  cudaMemcpy(&memory, slot, sizeof memory, cudaMemcpyDeviceToHost);
  return memory;
}

LITMUS(host_frees_the_heap) { cudaFree(given()); }  //~ host free

// expect: clean
LITMUS(device_frees_the_heap) { frees_memory_of_the_host<<<1, 1>>>(given()); }

// expect: invalid-free global
LITMUS(host_frees_twice) {                   //~ host free
  int* const memory = zeroed<int>(1);
  release(memory);
  cudaFree(memory);
}

// nvcc makes the destructor that frees the object, which has no source lines.
struct Widget {
  int size = 1;
  __device__ virtual int weight() const { return size; }
  __device__ virtual ~Widget() {}
};
struct HeavyWidget : Widget {
  __device__ int weight() const override { return 2 * size; }
};

// expect: use-after-free global
__global__ void uses_a_deleted_object(int* out, bool early) {
  Widget* const part = threadIdx.x % 2 == 0 ? new Widget : new HeavyWidget;
  if (early) delete part;                    //~ free
  out[threadIdx.x] = part->size;             //~ read
  if (!early) delete part;
}
LITMUS(uses_a_deleted_object) { uses_a_deleted_object<<<1, 64>>>(zeroed<int>(64), true); }

// expect: clean
LITMUS(uses_a_living_object) { uses_a_deleted_object<<<1, 64>>>(zeroed<int>(64), false); }
