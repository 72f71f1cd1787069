//== shared_in_function
//pass
//--blockDim=64 --gridDim=1
__device__ int rotated(int v) {
  __shared__ int s[64];
  s[threadIdx.x] = v;
  __syncthreads();  //twin:
  return s[(threadIdx.x + 1) % 64];  //~ data-race
}
__global__ void shared_in_function(int* a) { a[threadIdx.x] = rotated(a[threadIdx.x]); }
//== shared_in_called_function
//pass
//--blockDim=64 --gridDim=1
__device__ __noinline__ int rotated(int v) {
  __shared__ int s[64];
  s[threadIdx.x] = v;
  __syncthreads();  //twin:
  return s[(threadIdx.x + 1) % 64];  //~ data-race
}
__global__ void shared_in_called_function(int* a) { a[threadIdx.x] = rotated(a[threadIdx.x]); }
//== called_twice
//pass
//--blockDim=64 --gridDim=1
__device__ __noinline__ int rotated(int v) {
  __shared__ int s[64];
  __syncthreads();  //twin:
  s[threadIdx.x] = v;  //~ data-race
  __syncthreads();
  return s[(threadIdx.x + 1) % 64];  //~ data-race
}
__global__ void called_twice(int* a) {
  int v = rotated(a[threadIdx.x]);
  a[threadIdx.x] = rotated(v + 1);
}
//== by_reference
//pass
//--blockDim=64 --gridDim=2
__device__ __noinline__ void advance(int& index, int by) { index += by; }
__global__ void by_reference(int* a) {
  int i = blockIdx.x * 64;
  advance(i, threadIdx.x);  //twin: advance(i, threadIdx.x / 2);
  a[i] = threadIdx.x;  //~ data-race
}
//== template_width
//pass
//--blockDim=64 --gridDim=2
template <int Width>
__device__ int place(int row, int column) {
  return row * Width + column;
}
__global__ void template_width(int* a) {
  a[place<64>(blockIdx.x, threadIdx.x)] = 1;  //~ data-race //twin: a[place<32>(blockIdx.x, threadIdx.x)] = threadIdx.x;
}
//== instantiated --instantiate 'instantiated<int, 128>'
//pass
//--blockDim=128 --gridDim=1
template <class T, int N>
__global__ void instantiated(T* a) {
  __shared__ T s[N];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();  //twin:
  a[threadIdx.x] = s[N - 1 - threadIdx.x];  //~ data-race
}
//== pointer_to_function
//pass
//--blockDim=64 --gridDim=1
typedef int (*Operation)(int);
__device__ int twice(int v) { return 2 * v; }
__device__ int negated(int v) { return -v; }
__global__ void pointer_to_function(int* a, int which) {
  Operation f = which ? twice : negated;
  a[threadIdx.x] = f(a[threadIdx.x]);  //~ data-race //twin: a[threadIdx.x / 2] = f(a[threadIdx.x]);
}
//== table_of_functions
//pass
//--blockDim=64 --gridDim=1
typedef int (*Operation)(int, int);
__device__ int sum(int a, int b) { return a + b; }
__device__ int least(int a, int b) { return a < b ? a : b; }
__device__ int most(int a, int b) { return a > b ? a : b; }
__constant__ Operation operations[3] = {sum, least, most};
__global__ void table_of_functions(int* a, int which) {
  __requires(which >= 0);
  __requires(which < 3);
  a[threadIdx.x] = operations[which]( a[threadIdx.x], 3);  //~ data-race //twin: a[threadIdx.x / 2] = operations[which](a[threadIdx.x], 3);
}
//== writing_function_pointer
//pass
//--blockDim=64 --gridDim=1
typedef void (*Store)(int*, int);
__device__ __noinline__ void store_own(int* a, int v) { a[threadIdx.x] = v; }  //~ data-race //twin: __device__ __noinline__ void store_own(int* a, int v) { a[threadIdx.x / 2] = v + threadIdx.x; }
__device__ __noinline__ void store_after(int* a, int v) { a[threadIdx.x + 64] = v; }
__global__ void writing_function_pointer(int* a, int v) {
  Store f = v > 5 ? store_own : store_after;
  f(a, v);
}
//== passed_function
//pass
//--blockDim=64 --gridDim=1
__device__ int index_of(int t) { return t; }  //twin: __device__ int index_of(int t) { return t / 2; }
__device__ void apply(int* a, int (*f)(int)) { a[f(threadIdx.x)] = threadIdx.x; }  //~ data-race
__global__ void passed_function(int* a) { apply(a, index_of); }
//== recursive
//pass
//--blockDim=32 --gridDim=1
__device__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
__global__ void recursive(int* a) { a[threadIdx.x] = factorial(threadIdx.x % 8); }  //~ data-race //twin: __global__ void recursive(int* a) { a[threadIdx.x / 2] = factorial(threadIdx.x % 8); }
//== lambda
//pass
//--blockDim=64 --gridDim=1
__global__ void lambda(int* a) {
  auto at = [](int t) { return 63 - t; };  //twin: auto at = [](int t) { return t | 1; };
  a[at(threadIdx.x)] = threadIdx.x;  //~ data-race
}
//== methods
//pass
//--blockDim=64 --gridDim=1
struct View {
  int* base;
  int offset;
  __device__ int& operator[](int i) { return base[offset + i]; }
};
__global__ void methods(int* a, int offset) {
  View view{a, offset};
  view[threadIdx.x] = 1;  //~ data-race //twin: view[threadIdx.x / 2] = threadIdx.x;
}
//== virtual_method
//pass
//--blockDim=64 --gridDim=1
struct Shape {
  __device__ virtual int area() const { return 1; }
};
struct Square : Shape {
  int side = 2;
  __device__ int area() const override { return side * side; }
};
__global__ void virtual_method(int* a) {
  Square square;
  Shape* shape = &square;
  a[threadIdx.x] = shape->area();  //~ data-race //twin: a[threadIdx.x / 2] = shape->area() + threadIdx.x;
}
//== inherited_arrays
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
struct Base {
  int* data;
};
struct Derived : Base {
  int* more;
};
__global__ void inherited_arrays(Derived d) {
  d.data[threadIdx.x] = 1;  //~ data-race
  d.more[threadIdx.x] = d.data[63 - threadIdx.x];  //~ data-race
}
//== function_with_barrier_argument
//pass
//--blockDim=64 --gridDim=2
__device__ __noinline__ int neighbour_of(int* s, int v) {
  s[threadIdx.x] = v;
  __syncthreads();
  int r = s[(threadIdx.x + 1) & 63];  //~ data-race
  __syncthreads();  //twin:
  return r;
}
__global__ void function_with_barrier_argument(int* a) {
  __shared__ int s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  int v = neighbour_of(s, a[i]);
  a[i] = neighbour_of(s, v);
}
//== constant_arguments_loop
//pass
//--blockDim=64 --gridDim=64 --no-inline
__global__ void constant_arguments_loop(int* out) {
  int temp[4];
  for (int i = 0; i < 4; ++i) temp[i] = i * threadIdx.x;
  for (int i = 0; i < 4; ++i) out[(blockIdx.x * 64 + threadIdx.x) * 4 + i] = temp[3 - i];  //~ data-race //twin: for (int i = 0; i < 4; ++i) out[(blockIdx.x * 64 + threadIdx.x) * 3 + i] = temp[3 - i];
}
