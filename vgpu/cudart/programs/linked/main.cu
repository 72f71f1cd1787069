// A program of several files: relocatable device code with a device function, a constant, a
// variable and a class of another file, which lie in a static library; a host file in C that
// calls a function of the library; a kernel with C linkage.
#include "../check.hpp"
#include "library.hpp"

extern "C" int run_scaling(float* data, int n);

__global__ void combine(const Shape* const* shapes, float* data) {
  const int i = threadIdx.x;
  data[i] += half_of(weights[i % 4]) + shapes[0]->area();
  atomicAdd(&calls, 1);
}

int main() {
  constexpr int n = 64;
  Buffer<float> data(n);
  for (int i = 0; i < n; ++i) data[i] = i;
  if (run_scaling(data, n) != 0) return verdict(false);
  Buffer<Shape*> shapes(1);
  make_shapes<<<1, 1>>>(shapes);
  combine<<<1, n>>>(shapes, data);
  delete_shapes<<<1, 1>>>(shapes);
  finish();
  int called;
  require(cudaMemcpyFromSymbol(&called, calls, sizeof called));
  bool is_right = called == 2 * n;
  for (int i = 0; i < n; ++i) is_right &= data[i] == 3 * i + (i % 4 + 1) / 2.0f + 6;
  return verdict(is_right);
}
