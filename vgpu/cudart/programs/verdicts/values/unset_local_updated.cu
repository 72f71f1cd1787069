// Local and shared variables that the headers of libcu++ and the toolkit update: a new value that is made from an
// unset one is undefined, and so is the old one.  libcu++ updates bytes and halves by swaps of the aligned word, so
// unset bytes beside them do not count.
//
// build: -arch=compute_75
// case int: | | int 20
// expect int: error uninitialized-read update copy
// case int_g: -G | | int 20
// expect int_g: error uninitialized-read update copy
// case int_80: -arch=compute_80 | | int 20
// expect int_80: error uninitialized-read update copy
// case int_80_g: -arch=compute_80 -G | | int 20
// expect int_80_g: error uninitialized-read update copy
// case int_90: -arch=compute_90 | | int 20
// expect int_90: error uninitialized-read update copy
// case int_90_g: -arch=compute_90 -G | | int 20
// expect int_90_g: error uninitialized-read update copy
// case wide_g: -G | | wide 20
// expect wide_g: error uninitialized-read update copy
// case half: | | half 20
// expect half: error uninitialized-read update copy
// case half_g: -G | | half 20
// expect half_g: error uninitialized-read update copy
// case float_g: -G | | float 20
// expect float_g: error uninitialized-read update copy
// case shared: | | shared 20
// expect shared: error uninitialized-read update_shared copy
// case shared_g: -G | | shared 20
// expect shared_g: error uninitialized-read update_shared copy
// case add_g: -G | | add 20
// expect add_g: error uninitialized-read add copy
// case old: | | old 20
// expect old: error uninitialized-read takes decides
// case old_g: -G | | old 20
// expect old_g: error uninitialized-read takes decides
// case set_int: | | int 32
// expect set_int: clean
// case set_int_g: -G | | int 32
// expect set_int_g: clean
// case set_wide: | | wide 32
// expect set_wide: clean
// case set_half: | | half 32
// expect set_half: clean
// prints set_half: 8
// case set_half_g: -G | | half 32
// expect set_half_g: clean
// prints set_half_g: 8
// case set_half_90_g: -arch=compute_90 -G | | half 32
// expect set_half_90_g: clean
// case stored_byte: | | stored_byte 0
// expect stored_byte: clean
// prints stored_byte: 2
// case stored_byte_g: -G | | stored_byte 0
// expect stored_byte_g: clean
// prints stored_byte_g: 2
// case set_float_g: -G | | float 32
// expect set_float_g: clean
// case set_shared_g: -G | | shared 32
// expect set_shared_g: clean
// case set_add_g: -G | | add 32
// expect set_add_g: clean
// case set_old_g: -G | | old 32
// expect set_old_g: clean
#include <cuda/atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

template <class Value>
__global__ void update(const int* in, int* out, int n) {
  Value value;
  if (threadIdx.x < n) value = static_cast<Value>(in[threadIdx.x]);
  cuda::atomic_ref<Value>(value).fetch_add(1);  //~ update
  out[threadIdx.x] = static_cast<int>(value);
}

__global__ void update_shared(const int* in, int* out, int n) {
  __shared__ int values[32];
  int& value = values[threadIdx.x];
  if (threadIdx.x < n) value = in[threadIdx.x];
  cuda::atomic_ref<int>(value).fetch_add(1);  //~ update_shared
  out[threadIdx.x] = value;
}

// The optimiser makes a trap of it: the guide forbids atomicAdd() on local memory.
__global__ void add(const int* in, int* out, int n) {
  int value;
  if (threadIdx.x < n) value = in[threadIdx.x];
  atomicAdd(&value, 1);  //~ add
  out[threadIdx.x] = value;
}

__global__ void take_old(const int* in, int* out, int n) {
  int value;
  if (threadIdx.x < n) value = in[threadIdx.x];
  const int old = cuda::atomic_ref<int>(value).exchange(5);  //~ takes
  if (old > 3) out[threadIdx.x] = 1;                         //~ decides
}

__global__ void store_byte(int* out) {
  signed char value;
  cuda::atomic_ref<signed char>(value).store(2);
  out[threadIdx.x] = value;
}

int main(int, char** arguments) {
  int *in, *out, host[32];
  for (int& each : host) each = 7;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof host);
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  const int n = std::atoi(arguments[2]);
  if (is("int")) update<int><<<1, 32>>>(in, out, n);
  if (is("wide")) update<unsigned long long><<<1, 32>>>(in, out, n);
  if (is("half")) update<short><<<1, 32>>>(in, out, n);
  if (is("float")) update<float><<<1, 32>>>(in, out, n);
  if (is("shared")) update_shared<<<1, 32>>>(in, out, n);
  if (is("add")) add<<<1, 32>>>(in, out, n);
  if (is("old")) take_old<<<1, 32>>>(in, out, n);
  if (is("stored_byte")) store_byte<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);  //~ copy
  std::printf("%d\n", host[0]);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
