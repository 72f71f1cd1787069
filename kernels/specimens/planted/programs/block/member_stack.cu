// data-race: __syncthreads()
#include "planted_program.hpp"

struct Stack {
  int count;
  int items[kElements];
  __device__ void clear() {
    if (threadIdx.x == 0) count = 0;  //@
  }
  __device__ void push(int value) { items[atomicAdd(&count, 1)] = value; }  //@
  __device__ int sum() const {
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += items[i];
    return sum;
  }
};

__global__ void member_stack(const int* in, int* out) {
  __shared__ Stack stack;
  stack.clear();
  if (in[threadIdx.x] % 2 == 1) stack.push(in[threadIdx.x]);
  out[threadIdx.x] = stack.sum();
}

int main() {
  Buffers buffers;
  member_stack<<<1, kElements>>>(buffers.in, buffers.out);
  int sum = 0;
  for (int i = 0; i < kElements; ++i) sum += input_at(i) % 2 == 1 ? input_at(i) : 0;
  return buffers.status([&](int) { return sum; });
}
