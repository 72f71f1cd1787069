// Integer intrinsics against what the host computes: bits, bytes, funnel shifts, high halves,
// sums of absolute differences, dot products, averages, SIMD within a word, 128 bits.
// MUTANT: a table of bit counts has no entry for all bits.
// expect: out-of-bounds
#include <cstdint>

#include "check.hpp"

constexpr int kResults = 24;

__global__ void calculate(const unsigned* as, const unsigned* bs, const unsigned char* counts,
                          unsigned* results) {
  const unsigned a = as[threadIdx.x], b = bs[threadIdx.x];
  const int x = a, y = b;
  const unsigned long long wide = static_cast<unsigned long long>(a) << 32 | b;
  unsigned* out = results + kResults * threadIdx.x;
  *out++ = __brev(a);
  *out++ = __clz(x) + 100 * __ffs(x) + 10000 * __popc(a);
  *out++ = __clzll(wide) + 100 * __ffsll(wide) + 10000 * __popcll(wide);
  *out++ = __byte_perm(a, b, 0x5140);
  *out++ = __funnelshift_l(a, b, b);
  *out++ = __funnelshift_rc(a, b, b % 64);
  *out++ = __mulhi(x, y);
  *out++ = __umulhi(a, b);
  *out++ = __umul64hi(wide, wide) >> 32;
  *out++ = __sad(x, y, a);
  *out++ = __usad(a, b, 1);
  *out++ = __hadd(x, y);
  *out++ = __urhadd(a, b);
  *out++ = __mul24(x, y);
  *out++ = __dp4a(x, y, 7);
  *out++ = __dp4a(a, b, 7u);
  *out++ = __vadd4(a, b);
  *out++ = __vabsdiffu4(a, b);
  *out++ = __vmaxs2(a, b);
  *out++ = __vcmpgtu4(a, b);
  *out++ = __vsubus4(a, b);
  *out++ = counts[__popc(a)];  //~
  const unsigned __int128 product = static_cast<unsigned __int128>(wide) * wide / 1000003;
  *out++ = static_cast<unsigned>(product >> 40);
  *out++ = static_cast<unsigned>((product % 65537) + (wide % (b + 1ull)));
}

unsigned bytes_of(unsigned a, unsigned b, int (*function)(int, int)) {
  unsigned result = 0;
  for (int i = 0; i < 32; i += 8) result |= (function(a >> i & 255, b >> i & 255) & 255u) << i;
  return result;
}

void expect(unsigned a, unsigned b, unsigned* out) {
  const int64_t x = static_cast<int>(a), y = static_cast<int>(b);
  const uint64_t wide = static_cast<uint64_t>(a) << 32 | b;
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (a >> i & 1) << (31 - i);
  const auto halves = [](unsigned word, int i) { return static_cast<short>(word >> 16 * i); };
  *out++ = reversed;
  *out++ =
      (a == 0 ? 32 : __builtin_clz(a)) + 100 * __builtin_ffs(a) + 10000 * __builtin_popcount(a);
  *out++ = (wide == 0 ? 64 : __builtin_clzll(wide)) + 100 * __builtin_ffsll(wide) +
           10000 * __builtin_popcountll(wide);
  *out++ = (a & 255) | (b & 255) << 8 | (a & 0xff00) << 8 | (b & 0xff00) << 16;
  const uint64_t pair = static_cast<uint64_t>(b) << 32 | a;
  *out++ = pair << b % 32 >> 32;
  *out++ = b % 64 >= 32 ? b : pair >> b % 64;
  *out++ = x * y >> 32;
  *out++ = uint64_t{a} * b >> 32;
  *out++ = static_cast<unsigned __int128>(wide) * wide >> 96;
  *out++ = static_cast<unsigned>(x > y ? x - y : y - x) + a;
  *out++ = (a > b ? a - b : b - a) + 1;
  *out++ = (x + y) >> 1;
  *out++ = (uint64_t{a} + b + 1) >> 1;
  const int low_x = static_cast<int>(a << 8) >> 8, low_y = static_cast<int>(b << 8) >> 8;
  *out++ = static_cast<unsigned>(static_cast<int64_t>(low_x) * low_y);
  int dot = 7;
  unsigned dots = 7;
  for (int i = 0; i < 32; i += 8) {
    dot += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
    dots += (a >> i & 255) * (b >> i & 255);
  }
  *out++ = dot;
  *out++ = dots;
  *out++ = bytes_of(a, b, [](int p, int q) { return p + q; });
  *out++ = bytes_of(a, b, [](int p, int q) { return p > q ? p - q : q - p; });
  unsigned most = 0;
  for (int i = 0; i < 2; ++i) {
    const short p = halves(a, i), q = halves(b, i);
    most |= static_cast<unsigned>(static_cast<unsigned short>(p > q ? p : q)) << 16 * i;
  }
  *out++ = most;
  *out++ = bytes_of(a, b, [](int p, int q) { return p > q ? 255 : 0; });
  *out++ = bytes_of(a, b, [](int p, int q) { return p > q ? p - q : 0; });
  *out++ = __builtin_popcount(a) * 2;
  const unsigned __int128 product = static_cast<unsigned __int128>(wide) * wide / 1000003;
  *out++ = static_cast<unsigned>(product >> 40);
  *out++ = static_cast<unsigned>((product % 65537) + (wide % (b + 1ull)));
}

int main() {
  const int n = 32;
#ifdef MUTANT
  Buffer<unsigned char> counts(32);
#else
  Buffer<unsigned char> counts(33);
#endif
  Buffer<unsigned> a(n), b(n), results(n * kResults);
  for (unsigned i = 0; i < counts.size(); ++i) counts[i] = 2 * i;
  for (unsigned i = 0; i < n; ++i) a[i] = i * 2654435761u, b[i] = ~(i * 40503u) << i % 13;
  a[1] = ~0u, b[2] = 0, a[3] = 1u << 31, b[3] = ~0u;
  calculate<<<1, n>>>(a, b, counts, results);
  finish();
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    unsigned expected[kResults];
    expect(a[i], b[i], expected);
    for (int k = 0; k < kResults; ++k) {
      if (results[i * kResults + k] == expected[k]) continue;
      printf("%d of %x and %x: %x, not %x\n", k, a[i], b[i], results[i * kResults + k],
             expected[k]);
      is_right = false;
    }
  }
  return verdict(is_right);
}
