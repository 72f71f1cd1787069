// One kernel with variables of every type that the debugger shows, for its tests.  They find places
// of the code by the marks in comments.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum Color { red, green = 5, blue };
enum class Mode : unsigned char { off, on = 3 };
struct Base {
  int id;
};
struct Point : Base {
  float x, y;
  double weights[3];
  Color color;
  unsigned flags : 3, rest : 7;
};
union Word {
  unsigned bits;
  float value;
};
struct Link {
  int value;
  Link* next;
};

struct Steps {
  int taken;
  __device__ __noinline__ int take(int more) {
    taken += more;
    return taken;  // mark: method
  }
};

__device__ int counter = 7;
__constant__ float table[4] = {1, 2, 3, 4};
namespace deep {
__device__ long long total;
struct Pair {
  short a, b;
};
}  // namespace deep

__device__ __noinline__ int twice(int value) {
  const int result = value * 2;
  return result;  // mark: callee
}

__device__ __forceinline__ int inlined(int base) {
  int grown = base + 1;
  grown *= 3;  // mark: inlined
  return grown;
}

template <class T>
__device__ T sum_of(const T& a, T b) {
  const T sum = a + b;
  return sum;
}

__global__ void kernel(Point* points, const float* input, int n, __half scale, float4 quad,
                       Point by_value) {
  __shared__ float share[64];
  extern __shared__ int dynamic[];
  const int t = threadIdx.x;
  int local[8];
  Point p = points[t];
  Word word;
  word.value = 1.5f;
  __half h = scale;
  __nv_bfloat16 brain = __float2bfloat16(2.5f);
  char letter = 'A';
  Mode mode = Mode::on;
  float grid[2][3];
  Link link{4, nullptr};
  deep::Pair pair{-1, 2};
  int (*change)(int) = twice;
  for (int i = 0; i < 8; ++i) {
    int square = i * i;
    local[i] = square + twice(i);  // mark: loop
  }
  grid[1][2] = inlined(t);
  share[t] = input[t] + local[t % 8];
  __syncthreads();
  {
    int t = 99;
    counter += t;  // mark: hidden
  }
  const int& alias = local[3];
  int* where = &local[2];
  link.next = &link;
  Steps steps{t};
  counter += steps.take(n);
  p.x = sum_of(p.x, share[63 - t]) + grid[1][2] + quad.x + by_value.y;  // mark: all
  if (n > 3) points[t] = p;
  dynamic[t] = letter + alias + *where + static_cast<int>(mode) + word.bits + link.next->value +
               static_cast<int>(__half2float(h)) + static_cast<int>(__bfloat162float(brain)) +
               pair.a + change(t);
  deep::total += table[t % 4];  // mark: end
}
