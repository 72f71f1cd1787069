// Called functions, also by address, values of many types, and a race whose sides differ in size.
#include <cstdio>

enum class Color : unsigned char { red = 1, green };
enum Mode { kPlain, kScaled = 5 };
struct Bits {
  unsigned low : 3;
  int middle : 7;
};

struct Part {
  int id;
  __device__ virtual int size() const { return id; }
};
struct Whole : Part {
  float side;
};

template <typename T, int N>
struct Ring {
  T items[N];
  int head;
  __device__ __noinline__ void push(T value) {
    const int where = head % N;
    items[where] = value;
    ++head;
  }
};

__device__ __noinline__ int leaf(int value, Bits& bits) {
  bits.middle = value;
  return value * 2 + static_cast<int>(bits.low);
}
__device__ __noinline__ int twice(int value) { return value * 2; }
template <typename T>
__device__ __noinline__ T outer(T value, Bits& bits) {
  return static_cast<T>(leaf(static_cast<int>(value), bits)) + value;
}

__device__ __forceinline__ int nudged(int value) {
  const int more = value + 1;
  return more;
}

__global__ void shapes(int* out, Mode mode) {
  __shared__ alignas(16) float tile[8];
  const int t = static_cast<int>(threadIdx.x);
  Color color = Color::green;
  Bits bits{5, -3};
  Ring<int, 4> ring{};
  Whole whole;
  whole.id = 3;
  whole.side = 2;
  if (t < 8) tile[t] = 0.5f;
  __syncthreads();
  ring.push(t);
  const float seen = t == 33 ? tile[2] : 0;
  if (t == 0) {
    const auto place = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    asm volatile("st.shared.v4.f32 [%0], {%1, %1, %1, %1};" ::"r"(place), "f"(4.0f) : "memory");
  }
  const Part* part = &whole;
  out[t] = part->size() + outer<long long>(t, bits) + static_cast<int>(seen) +
           static_cast<int>(color) + mode + nudged(t) + twice(t);
}

__device__ __noinline__ int halved(int value) { return value / 2; }

__global__ void narrow(int* out, short value) {
  short below;
  asm("neg.s16 %0, %1;" : "=h"(below) : "h"(value));
  int (*change)(int) = value > 0 ? twice : halved;
  out[0] = change(below);
}

int main() {
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  shapes<<<1, 64>>>(out, kScaled);
  narrow<<<1, 1>>>(out, 1);
  cudaDeviceSynchronize();
  cudaFree(out);
  std::printf("done\n");
}
