// Objects with virtual functions, made, used and deleted on the device.
// MUTANT: the objects are not deleted.
// expect: leak
#include "check.hpp"

struct Shape {
  __device__ virtual ~Shape() = default;
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  __device__ explicit Square(int side) : side(side) {}
  __device__ int area() const override { return side * side; }
  int side;
};
struct Rectangle : Shape {
  __device__ Rectangle(int width, int height) : width(width), height(height) {}
  __device__ int area() const override { return width * height; }
  int width, height;
};

__global__ void make(Shape** shapes) {
  const int i = threadIdx.x;
  if (i % 2 == 0) {
    shapes[i] = new Square(i);  //~
  } else {
    shapes[i] = new Rectangle(i, i + 1);  //~
  }
}

__global__ void areas(Shape** shapes, int* area) {
  const int i = threadIdx.x;
  area[i] = shapes[i]->area();
#ifndef MUTANT
  delete shapes[i];
#endif
}

int main() {
  constexpr int kShapes = 40;
  int out[kShapes];
  Shape** shapes;
  int* area;
  require(cudaMalloc(&shapes, kShapes * sizeof(Shape*)));
  require(cudaMalloc(&area, sizeof out));
  make<<<1, kShapes>>>(shapes);
  areas<<<1, kShapes>>>(shapes, area);
  require(cudaMemcpy(out, area, sizeof out, cudaMemcpyDeviceToHost));

  bool is_right = true;
  for (int i = 0; i < kShapes; ++i) is_right &= out[i] == (i % 2 == 0 ? i * i : i * (i + 1));
  require(cudaFree(area));
  require(cudaFree(shapes));
  return verdict(is_right);
}
