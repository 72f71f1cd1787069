// Atomics that the hardware does not have, made of compare-and-swap as the programming guide
// does: a sum of doubles, maxima of floats, a product, a byte; the first read is a plain one.
// notes: data-race
// MUTANT: the new value is stored without asking whether it is still the next one.
// expect: data-race
#include "check.hpp"

__device__ double add(double* address, double value) {
  unsigned long long* const bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}

__device__ float maximum(float* address, float value) {
  int* const bits = reinterpret_cast<int*>(address);
  int old = *bits;
  while (__int_as_float(old) < value) {
    const int assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(value));
    if (old == assumed) break;
  }
  return __int_as_float(old);
}

__device__ void multiply(int* address, int factor) {
#ifdef MUTANT
  *address = *address * factor;  //~
#else
  int old = *address, assumed;
  do {
    assumed = old;
    old = atomicCAS(address, assumed, assumed * factor);
  } while (assumed != old);
#endif
}

__device__ void add_to_byte(unsigned char* address, unsigned char value) {
  const size_t offset = reinterpret_cast<size_t>(address) & 3;
  unsigned* const word = reinterpret_cast<unsigned*>(address - offset);
  unsigned old = *word, assumed;
  do {
    assumed = old;
    const unsigned sum = __byte_perm(assumed, 0, 0x4440 + offset) + value;
    const unsigned selectors[] = {0x3214, 0x3240, 0x3410, 0x4210};
    old = atomicCAS(word, assumed, __byte_perm(assumed, sum, selectors[offset]));
  } while (assumed != old);
}

__global__ void all(const float* data, double* sum, float* most, int* product,
                    unsigned char* bytes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  add(sum, data[i]);
  maximum(most, data[i]);
  multiply(product, i % 5 == 0 ? 3 : -1);
  add_to_byte(bytes + i % 7, i % 3);
}

int main() {
  const int n = 128;
  Buffer<float> data(n), most(1, -1e30f);
  Buffer<double> sum(1);
  Buffer<int> product(1, 1);
  Buffer<unsigned char> bytes(8);
  double expected_sum = 0;
  int expected_product = 1;
  unsigned char expected_bytes[8] = {};
  for (int i = 0; i < n; ++i) {
    expected_sum += data[i] = i * 29 % 64 - 20;
    expected_product = static_cast<int>(expected_product * (i % 5 == 0 ? 3u : -1u));
    expected_bytes[i % 7] += i % 3;
  }
  all<<<2, n / 2>>>(data, sum, most, product, bytes);
  finish();
  bool is_right = sum[0] == expected_sum && most[0] == 43 && product[0] == expected_product;
  for (int i = 0; i < 8; ++i) is_right &= bytes[i] == expected_bytes[i];
  return verdict(is_right);
}
