// The C++ library executes atomics on bytes and shorts in the aligned word around them.  Where that
// word ends behind the allocation, nothing is wrong: the other bytes are not changed.  An atomic on
// a word at the address of the last bytes is an overrun.
//
// build: -arch=compute_80
// case bytes: | | 0
// expect bytes: clean
// prints bytes: 1 byte: 5 8 8
// prints bytes: 2 bytes: 5 8 8
// prints bytes: 3 bytes: 5 8 8
// prints bytes: 5 bytes: 5 8 8
// prints bytes: shared: 7
// case shorts: | | 1
// expect shorts: clean
// prints shorts: 5 8 9 9 1
// case threads: | | 2
// expect threads: clean
// prints threads: 0 192
// case own: | | 3
// expect own: clean
// prints own: 9
// case whole: | | 4
// expect whole: error out-of-bounds whole
// case swap: | | 5
// expect swap: error out-of-bounds swap
// case plain: | | 6
// expect plain: error out-of-bounds plain
// case next: | | 7
// expect next: error out-of-bounds next
// case race: | | 8
// expect race: error data-race race
// case debug: -G | | 0
// expect debug: clean
// prints debug: 5 bytes: 5 8 8
// case debug_shorts: -G | | 1
// expect debug_shorts: clean
// prints debug_shorts: 5 8 9 9 1
// case debug_whole: -G | | 4
// expect debug_whole: error out-of-bounds whole
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>

template <class T>
using device_ref = cuda::atomic_ref<T, cuda::thread_scope_device>;

__global__ void add_byte(signed char* p, int* out) {
  device_ref<signed char> a(*p);
  out[0] = a.fetch_add(3);
  out[1] = a.load();
}

__global__ void add_shared(int* out) {
  __shared__ unsigned char last;
  if (threadIdx.x == 0) last = 5;
  __syncthreads();
  cuda::atomic_ref<unsigned char, cuda::thread_scope_block> a(last);
  a.fetch_add(1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = last;
}

__global__ void shorts(short* p, int* out) {
  device_ref<short> a(*p);
  out[0] = a.fetch_add(3);
  out[1] = a.exchange(9);
  short expected = 9;
  out[4] = a.compare_exchange_strong(expected, 9);
  out[2] = expected;
  out[3] = a.load();
}

__global__ void threads(unsigned char* p) {
  const unsigned byte = threadIdx.x % 3;
  if (byte != 2) device_ref<unsigned char>(p[byte]).fetch_xor(1);
  device_ref<unsigned char>(p[2]).fetch_add(1);
}

// As a program may write it itself.
__global__ void own(unsigned char* p) {
  const size_t at = (size_t)p;
  atomicAdd((unsigned*)(at & ~(size_t)3), 4u << 8 * (at & 3));
}

__global__ void whole(unsigned char* p) {
  atomicAdd((unsigned*)p, 4u);  //~ whole
}

__global__ void swap(unsigned char* p, int* out) {
  out[0] = atomicCAS((unsigned*)p, 0u, 1u);  //~ swap
}

__global__ void plain(unsigned char* p, int* out) {
  out[0] = *(unsigned*)((size_t)p & ~(size_t)3);  //~ plain
}

// The word behind the last one.
__global__ void next(unsigned char* p) {
  atomicAdd((unsigned*)(((size_t)p & ~(size_t)3) + 4), 4u);  //~ next
}

__global__ void race(unsigned char* p) {
  if (threadIdx.x == 0) {
    device_ref<unsigned char>(p[0]).fetch_add(1);  //~ race
  } else if (threadIdx.x == 32) {
    p[0] = 1;  //~ race
  }
}

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  int *o, h[5] = {};
  cudaMalloc(&o, sizeof h);
  unsigned char* p;
  if (kind == 0) {
    for (const int bytes : {1, 2, 3, 5}) {
      cudaMalloc(&p, bytes);
      cudaMemset(p, 5, bytes);
      add_byte<<<1, 1>>>((signed char*)p + bytes - 1, o);
      signed char byte = 0;
      cudaMemcpy(h, o, 8, cudaMemcpyDeviceToHost);
      cudaMemcpy(&byte, p + bytes - 1, 1, cudaMemcpyDeviceToHost);
      printf("%d byte%s: %d %d %d\n", bytes, bytes == 1 ? "" : "s", h[0], h[1], byte);
      cudaFree(p);
    }
    add_shared<<<1, 2>>>(o);
    cudaMemcpy(h, o, 4, cudaMemcpyDeviceToHost);
    printf("shared: %d\n", h[0]);
    return 0;
  }
  const int bytes = kind == 1 ? 6 : kind == 2 ? 3 : kind == 3 ? 2 : 1;
  cudaMalloc(&p, bytes);
  cudaMemset(p, 0, bytes);
  if (kind == 1) {
    const short five = 5;
    cudaMemcpy(p + 4, &five, 2, cudaMemcpyHostToDevice);
    shorts<<<1, 1>>>((short*)(p + 4), o);
    cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d\n", h[0], h[1], h[2], h[3], h[4]);
  } else if (kind == 2) {
    threads<<<2, 96>>>(p);
    unsigned char found[3];
    cudaMemcpy(found, p, 3, cudaMemcpyDeviceToHost);
    printf("%d %d\n", found[0], found[2]);
  } else if (kind == 3) {
    const unsigned char five = 5;
    cudaMemcpy(p + 1, &five, 1, cudaMemcpyHostToDevice);
    own<<<1, 1>>>(p + 1);
    unsigned char found;
    cudaMemcpy(&found, p + 1, 1, cudaMemcpyDeviceToHost);
    printf("%d\n", found);
  }
  if (kind == 4) whole<<<1, 1>>>(p);
  if (kind == 5) swap<<<1, 1>>>(p, o);
  if (kind == 6) plain<<<1, 1>>>(p, o);
  if (kind == 7) next<<<1, 1>>>(p);
  if (kind == 8) race<<<1, 64>>>(p);
  cudaDeviceSynchronize();
  return 0;
}
