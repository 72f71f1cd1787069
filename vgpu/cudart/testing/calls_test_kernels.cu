#include "vgpu/cudart/testing/calls_test_kernels.hpp"

#include <cuda_runtime.h>

#include <cassert>
#include <cstdarg>
#include <cstdio>

namespace {

using Binary = int (*)(int, int);

__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : factorial(n - 1) * n; }

__device__ __noinline__ bool is_odd(int n);
__device__ __noinline__ bool is_even(int n) { return n == 0 || is_odd(n - 1); }
__device__ __noinline__ bool is_odd(int n) { return n != 0 && is_even(n - 1); }

__global__ void factorial_kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = factorial(i % 8) * 2 + (is_even(i) ? 1 : 0);
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void fibonacci_kernel(int* out) {
  out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x) % 11);
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
__global__ void ackermann_kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = ackermann(i % 3, i % 5);
}

__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Binary device_table[3] = {add, subtract, multiply};
__constant__ Binary constant_table[3] = {multiply, add, subtract};
__device__ Binary device_pointer = subtract;

__global__ void table_kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = device_table[i % 3](i, 7) + 1000 * constant_table[i % 3](i, 3);
}

__global__ void pointer_kernel(int* out, Binary function) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = function(i, 5);
}

struct Shape {
  int size;
  __device__ explicit Shape(int s) : size(s) {}
  __device__ virtual int area(int x) const { return -x; }
  __device__ virtual int twice(int x) const { return 2 * area(x); }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  using Shape::Shape;
  __device__ int area(int x) const override { return size * size + x; }
};
struct Line : Shape {
  using Shape::Shape;
  __device__ int area(int x) const override { return size - x; }
  __device__ int twice(int) const override { return 7; }
};
struct Cube : Square {
  using Square::Square;
  __device__ int area(int x) const override { return size * Square::area(x); }
};

__global__ void virtual_kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  const Shape point(1);
  const Square square(i);
  const Line line(i);
  const Cube cube(2);
  const Shape* const shapes[4] = {&point, &square, &line, &cube};
  out[i] = shapes[i % 4]->twice(i);
}

template <class Function>
__device__ __noinline__ int apply(Function function, int x) {
  return function(x) + function(x + 1);
}
__global__ void lambda_kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int (*const plain)(int) = [](int x) { return 3 * x; };
  int (*const other)(int) = [](int x) { return x - 100; };
  out[i] = apply([=](int x) { return x * i; }, 2) + (i % 2 == 0 ? plain : other)(i);
}

using Unary = int (*)(int);
__device__ int count_down(int n);
__device__ Unary self = count_down;
__device__ int count_down(int n) { return n == 0 ? 0 : self(n - 1) + 2; }
__global__ void recursion_by_pointer_kernel(int* out) {
  out[threadIdx.x] = self(static_cast<int>(threadIdx.x) % 16);
}

struct __attribute__((packed)) Packed {
  char tag;
  int number;
  short part;
  double real;
  char tail[3];
};
struct Large {
  int values[20];
};
__device__ __noinline__ Packed change(Packed p, int i) {
  p.number += i;
  p.part = static_cast<short>(p.part * 2);
  p.real /= 2;
  p.tail[i % 3] = 'x';
  return p;
}
__device__ __noinline__ Large fill(Large from, int i) {
  Large to;
  for (int k = 0; k < 20; ++k) to.values[k] = from.values[(k + i) % 20] + k;
  return to;
}
__global__ void structure_kernel(int* out, Packed packed) {
  const int i = static_cast<int>(threadIdx.x);
  const Packed changed = change(packed, i);
  Large large;
  for (int k = 0; k < 20; ++k) large.values[k] = k * k;
  const Large filled = fill(large, i);
  out[i] = changed.tag + changed.number + changed.part + static_cast<int>(changed.real) +
           changed.tail[0] + changed.tail[2] + 1000 * filled.values[i % 20];
}

__device__ __noinline__ int sum_of(int count, ...) {
  va_list list;
  va_start(list, count);
  int sum = 0;
  for (int i = 0; i < count; ++i)
    sum += i % 2 == 0 ? va_arg(list, int) : static_cast<int>(va_arg(list, double));
  va_end(list);
  return sum;
}
__global__ void variadic_kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = sum_of(1, i) + sum_of(4, i, 2.5, 3, 4.5);
}

__device__ __noinline__ int reversed_sum(int n) {
  int* const values = static_cast<int*>(alloca(static_cast<size_t>(n) * sizeof(int)));
  for (int k = 0; k < n; ++k) values[k] = k * n;
  int sum = 0;
  for (int k = n - 1; k >= 0; --k) sum = sum * 3 + values[k];
  return sum;
}
__global__ void alloca_kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = reversed_sum(i % 9 + 1) + reversed_sum(3);
}

__device__ __noinline__ int walk(int* path, int depth, int n) {
  int here[4];
  for (int k = 0; k < 4; ++k) here[k] = path[k] + k * depth;
  if (depth == n) return here[0] + here[1] + here[2] + here[3];
  return walk(here, depth + 1, n) + here[depth % 4];
}
__global__ void local_kernel(int* out) {
  int start[4] = {1, 2, 3, static_cast<int>(threadIdx.x)};
  out[threadIdx.x] = walk(start, 0, static_cast<int>(threadIdx.x) % 6);
}

struct Node : Line {
  Node* next;
  __device__ Node(int s, Node* n) : Line(s), next(n) {}
  __device__ ~Node() override { delete next; }
};
__global__ void heap_kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  Node* list = nullptr;
  for (int k = 0; k < i % 4; ++k) list = new Node(k, list);
  int sum = 0;
  for (const Node* node = list; node != nullptr; node = node->next) sum += node->area(10);
  delete list;
  out[i] = sum;
}

__global__ void switch_kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 0;
  switch (i % 10) {
    case 0: value = out[i] + 5; break;
    case 1: value = i * 3; break;
    case 2: value = i * i; break;
    case 3:
      out[i] = 8;
      value = out[i] * i;
      break;
    case 4: value = -i; break;
    case 5: value = i ^ 21; break;
    case 6: value = i << 3; break;
    case 7: value = 1000 / (i + 1); break;
    default: value = 99;
  }
  out[i] = value;
}

__global__ void print_kernel(int* out, const char* text) {
  out[0] = printf("plain\n");
  out[1] = printf("%d|%5d|%-5d|%05d|%+d|% d|%i\n", -3, 42, 42, 42, 42, 42, -1);
  out[2] = printf("%u %x %X %#x %o %c%c\n", 4000000000u, 255u, 255u, 255u, 8u, 'o', 'k');
  out[3] = printf("%lld %llu %lx %hd %zu\n", -5000000000ll, 18446744073709551615ull, 1l << 40,
                  static_cast<short>(-7), sizeof(int));
  out[4] = printf("%f %.3f %8.2f %e %g %G %a\n", 1.5, 3.14159, 2.5, 12345.678, 0.0001, 1e20, 1.0);
  out[5] = printf("%s|%8s|%-8s|%.2s|%*d|%.*f\n", text, "right", "left", "cut", 6, 77, 2, 2.71828);
  out[6] = printf("100%% %p %d\n", static_cast<void*>(nullptr), 1);
}

__global__ void print_much_kernel(int lines) {
  for (int i = 0; i < lines; ++i) printf("line %d\n", i);
}

__global__ void print_threads_kernel() {
  if (threadIdx.x % 3 == 0) printf("thread %d of block %d\n", threadIdx.x, blockIdx.x);
}

__global__ void assert_kernel(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }

__global__ void break_kernel() { __brkpt(); }

__global__ void call_address_kernel(int* out, Binary function) {
  out[threadIdx.x] = function(1, 2);
}

__device__ Unary wrong = count_down;
__global__ void call_another_shape_kernel(int* out) {
  const auto function = reinterpret_cast<Binary>(wrong);
  out[threadIdx.x] = function(1, 2) + device_pointer(1, 2);
}

__global__ void dereference_kernel(int* out) {
  out[threadIdx.x] = *reinterpret_cast<const int*>(device_pointer);
}

__device__ __noinline__ int endless(int n) { return endless(n + 1) + n; }
__global__ void endless_kernel(int* out) { out[threadIdx.x] = endless(0); }

using warpcheck::cudart::calls_test::kThreads;

// What the threads of one block leave.
template <class Launch>
std::vector<int> results_of(Launch launch) {
  int* device = nullptr;
  cudaMalloc(&device, kThreads * sizeof(int));
  cudaMemset(device, 0, kThreads * sizeof(int));
  launch(device);
  std::vector<int> results(kThreads);
  cudaMemcpy(results.data(), device, kThreads * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return results;
}

std::vector<int> results_of(void (*kernel)(int*)) {
  return results_of([&](int* out) { kernel<<<1, kThreads>>>(out); });
}

}  // namespace

namespace warpcheck::cudart::calls_test {

std::vector<int> factorials_and_parities() { return results_of(factorial_kernel); }
std::vector<int> fibonacci_numbers() { return results_of(fibonacci_kernel); }
std::vector<int> ackermann_numbers() { return results_of(ackermann_kernel); }
std::vector<int> table_entries() { return results_of(table_kernel); }
std::vector<int> virtual_calls() { return results_of(virtual_kernel); }
std::vector<int> lambdas() { return results_of(lambda_kernel); }
std::vector<int> recursion_by_pointer() { return results_of(recursion_by_pointer_kernel); }
std::vector<int> variadic_sums() { return results_of(variadic_kernel); }
std::vector<int> stack_arrays() { return results_of(alloca_kernel); }
std::vector<int> local_arrays_of_recursion() { return results_of(local_kernel); }
std::vector<int> heap_nodes() { return results_of(heap_kernel); }
std::vector<int> switches() { return results_of(switch_kernel); }
void calls_another_shape() { results_of(call_another_shape_kernel); }
void dereferences_a_function() { results_of(dereference_kernel); }
void recurses_for_ever() { results_of(endless_kernel); }

std::vector<int> pointer_from_host() {
  Binary function = nullptr;
  cudaMemcpyFromSymbol(&function, device_pointer, sizeof function);
  return results_of([&](int* out) { pointer_kernel<<<1, kThreads>>>(out, function); });
}

void calls_address(std::uint64_t address) {
  results_of([&](int* out) {
    call_address_kernel<<<1, kThreads>>>(out, reinterpret_cast<Binary>(address));
  });
}

std::vector<int> structures_by_value() {
  return results_of([](int* out) {
    structure_kernel<<<1, kThreads>>>(out, Packed{1, 20, 300, 4000.5, {'a', 'b', 'c'}});
  });
}

std::vector<int> prints() {
  return results_of([](int* out) {
    char* text = nullptr;
    cudaMalloc(&text, 16);
    cudaMemcpy(text, "device text", 12, cudaMemcpyHostToDevice);
    print_kernel<<<1, 1>>>(out, text);
    cudaFree(text);
  });
}

void prints_much(int lines) { print_much_kernel<<<1, 1>>>(lines); }
void prints_from_threads() { print_threads_kernel<<<2, 8>>>(); }
void asserts(int limit) { assert_kernel<<<1, kThreads>>>(limit); }
void breaks() { break_kernel<<<1, 1>>>(); }

}  // namespace warpcheck::cudart::calls_test
