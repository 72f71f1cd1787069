// What device code can print: every conversion, flags, widths, long strings, many threads in
// order.
// prints: d -42 i 42 u 4294967254 x 2a X 2A o 52 c * s text % p
// prints: [   42] [42   ] [00042] [+42] [  3.14] [3.14159] [1.500000e+00] [0x1.8p+0]
// prints: long 1234567890123 unsigned 18446744073709551615 short -7 hex ffffffffffffffff
// prints: inf -0.0 1e+20 0.001
// prints: characters that do not convert: 100% done, no arguments
// prints: width 8 [      42] precision 2 [%.*f]
#include "check.hpp"

__global__ void print(const char* text) {
  printf("d %d i %i u %u x %x X %X o %o c %c s %s %% p\n", -42, 42, -42, 42, 42, 42, '*', "text");
  printf("[%5d] [%-5d] [%05d] [%+d] [%6.2f] [%g] [%e] [%a]\n", 42, 42, 42, 42, 3.14159, 3.14159,
         1.5, 1.5);
  printf("long %lld unsigned %llu short %hd hex %lx\n", 1234567890123LL, ~0ULL, (short)-7, ~0UL);
  printf("%f %.1f %g %g\n", 1.0 / 0.0, -0.0, 1e20, 0.001f);
  printf("characters that do not convert: 100%% done, no arguments\n");
  printf("width %d [%*d] precision %d [%.*f]\n", 8, 8, 42, 2, 2, 3.14159);
  const int printed = printf("%s\n", text);
  if (printed < 0) printf("wrong\n");
}

int main() {
  char* text;
  require(cudaMallocManaged(&text, 100));
  snprintf(text, 100, "from memory");
  print<<<1, 1>>>(text);
  require(cudaDeviceSynchronize());
  require(cudaFree(text));
  return verdict(true);
}
