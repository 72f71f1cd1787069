// Device code that other files are linked with.
// MUTANT: a block more is scaled than there are elements.
// expect: out-of-bounds
#include "library.hpp"

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int calls;
__device__ float half_of(float value) { return value / 2; }

namespace {
class Rectangle : public Shape {
 public:
  __device__ Rectangle(float width, float height) : width_(width), height_(height) {}
  __device__ float area() const override { return width_ * height_; }

 private:
  float width_, height_;
};
}  // namespace

__global__ void make_shapes(Shape** shapes) { shapes[0] = new Rectangle(2, 3); }
__global__ void delete_shapes(Shape** shapes) { delete shapes[0]; }

extern "C" __global__ void scale(float* data, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] *= factor;  //~
  atomicAdd(&calls, 1);
}

extern "C" void launch_scale(float* data, int n) {
#ifdef MUTANT
  scale<<<3, n / 2>>>(data, 3);
#else
  scale<<<2, n / 2>>>(data, 3);
#endif
}
