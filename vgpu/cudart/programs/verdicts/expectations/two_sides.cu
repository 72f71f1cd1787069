// A missing barrier, its twin, and a race of equal values: what verdicts_test.py must tell apart.
// verdicts_self_test.py changes these comments, one at a time, and every change must fail.
// case right: | | right
// expect right: clean
// prints right: right
// case missing: | | missing
// expect missing: error data-race store load
// says missing: no barrier orders (1) and (2)
// case unoptimized: -G | | missing
// expect unoptimized: error data-race store load
// case same: | | same
// expect same: note data-race equal
#include <cstdio>
#include <cstring>

__global__ void neighbours(int* out, bool is_missing) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  values[t] = t;  //~ store
  if (!is_missing) __syncthreads();
  out[t] = values[(t + 32) % 64];  //~ load
}

__global__ void set(int* out) {
  out[0] = 1;  //~ equal
}

int main(int, char** arguments) {
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  if (std::strcmp(arguments[1], "same") == 0) {
    set<<<2, 32>>>(out);
  } else {
    neighbours<<<1, 64>>>(out, std::strcmp(arguments[1], "missing") == 0);
  }
  const bool is_right = cudaDeviceSynchronize() == cudaSuccess && cudaFree(out) == cudaSuccess;
  std::puts(is_right ? "right" : "wrong");
  return 0;
}
