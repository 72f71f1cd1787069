// Classes on the device: operators, copies and moves, static members, friends, inheritance,
// references returned, const overloads, std::array-like containers with iterators, constexpr
// functions, namespaces.
// MUTANT: a vector is asked for one element more than it has.
// expect: out-of-bounds
#include "check.hpp"

namespace geometry {
struct Vector {
  float x, y, z;
  __host__ __device__ Vector operator+(const Vector& o) const {
    return {x + o.x, y + o.y, z + o.z};
  }
  __host__ __device__ friend Vector operator*(float a, const Vector& v) {
    return {a * v.x, a * v.y, a * v.z};
  }
  __host__ __device__ bool operator==(const Vector& o) const {
    return x == o.x && y == o.y && z == o.z;
  }
};
__host__ __device__ constexpr int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
}  // namespace geometry

template <typename T, int kCapacity>
class List {
 public:
  __device__ List() {}
  __device__ List(List&& other) : size_(other.size_) {
    for (int i = 0; i < size_; ++i) elements_[i] = other.elements_[i];
    other.size_ = 0;
  }
  __device__ void push(const T& value) { elements_[size_++] = value; }  //~
  __device__ T& operator[](int i) { return elements_[i]; }
  __device__ const T* begin() const { return elements_; }
  __device__ const T* end() const { return elements_ + size_; }
  __device__ int size() const { return size_; }

 private:
  T elements_[kCapacity];
  int size_ = 0;
};

struct Base {
  __device__ explicit Base(int v) : value(v) {}
  __device__ int doubled() const { return 2 * value; }
  int value;
};
struct Derived : Base {
  using Base::Base;
  static constexpr int kShift = geometry::factorial(4);
  __device__ int shifted() const { return doubled() + kShift; }
};

__global__ void calculate(const geometry::Vector* vectors, int n, geometry::Vector* sums,
                          int* sizes) {
  List<geometry::Vector, 16> list;
  for (int i = threadIdx.x; i < n; i += blockDim.x) list.push(0.5f * vectors[i]);
  List<geometry::Vector, 16> moved(static_cast<List<geometry::Vector, 16>&&>(list));
#ifdef MUTANT
  moved.push(vectors[n]);
#endif
  geometry::Vector sum = {};
  for (const geometry::Vector& each : moved) sum = sum + each;
  moved[0] = sum;
  sums[threadIdx.x] = moved[0];
  sizes[threadIdx.x] = Derived(moved.size()).shifted() + list.size();
}

int main() {
  constexpr int n = 100, threads = 10;
  geometry::Vector *vectors, *sums;
  int* sizes;
  require(cudaMallocManaged(&vectors, n * sizeof *vectors));
  require(cudaMallocManaged(&sums, threads * sizeof *sums));
  require(cudaMallocManaged(&sizes, threads * sizeof *sizes));
  for (int i = 0; i < n; ++i) vectors[i] = {float(i), 1, -float(i)};
  calculate<<<1, threads>>>(vectors, n, sums, sizes);
  require(cudaDeviceSynchronize());
  bool is_right = true;
  for (int thread = 0; thread < threads; ++thread) {
    geometry::Vector sum = {};
    for (int i = thread; i < n; i += threads) sum = sum + 0.5f * vectors[i];
    is_right &= sums[thread] == sum && sizes[thread] == 2 * (n / threads) + 24;
  }
  require(cudaFree(sizes));
  require(cudaFree(sums));
  require(cudaFree(vectors));
  return verdict(is_right);
}
