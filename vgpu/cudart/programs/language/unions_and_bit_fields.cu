// Unions, bit fields, packed and aligned structs, enums, as kernels pass them and store them.
// MUTANT: a packed field is accessed as if it were aligned.
// expect: misaligned-access
#include <cstring>
#include <vector>

#include "check.hpp"

union Word {
  float value;
  unsigned bits;
  unsigned char bytes[4];
};
struct Flags {
  unsigned kind : 3;
  unsigned count : 12;
  int level : 7;
  bool is_last : 1;
};
struct __attribute__((packed)) Packed {
  char tag;
  int value;
  double weight;
};
struct alignas(16) Aligned {
  float x, y, z;
};
enum class Color : unsigned char { kRed, kGreen, kBlue };

__global__ void convert(const float* in, Word* words, Flags* flags, Packed* packed,
                        Aligned* aligned, Color* colors) {
  const int i = threadIdx.x;
  Word word;
  word.value = in[i];
  word.bytes[3] ^= 0x80;
  words[i] = word;
  Flags flag = {};
  flag.kind = i;
  flag.count = 3 * i;
  flag.level = -i;
  flag.is_last = i == 31;
  flags[i] = flag;
  packed[i].tag = 'a' + i;
  packed[i].weight = in[i];
#ifdef MUTANT
  int* const value = reinterpret_cast<int*>(reinterpret_cast<char*>(packed + i) + 1);
  *value = i;  //~
#else
  packed[i].value = i;
#endif
  aligned[i] = {in[i], in[i], word.value};
  colors[i] = static_cast<Color>(i % 3);
}

int main() {
  constexpr int n = 32;
  float* in;
  Word* words;
  Flags* flags;
  Packed* packed;
  Aligned* aligned;
  Color* colors;
  require(cudaMallocManaged(&in, n * sizeof *in));
  require(cudaMallocManaged(&words, n * sizeof *words));
  require(cudaMallocManaged(&flags, n * sizeof *flags));
  require(cudaMallocManaged(&packed, n * sizeof *packed));
  require(cudaMallocManaged(&aligned, n * sizeof *aligned));
  require(cudaMallocManaged(&colors, n * sizeof *colors));
  for (int i = 0; i < n; ++i) in[i] = i + 0.5f;
  convert<<<1, n>>>(in, words, flags, packed, aligned, colors);
  require(cudaDeviceSynchronize());
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    is_right &= words[i].value == -in[i] && flags[i].kind == i % 8 && flags[i].count == 3 * i;
    is_right &= flags[i].level == -i && flags[i].is_last == (i == 31);
    is_right &= packed[i].tag == static_cast<char>('a' + i) && packed[i].weight == in[i];
    is_right &= aligned[i].x == in[i] && aligned[i].z == -in[i];
    is_right &= colors[i] == static_cast<Color>(i % 3);
  }
  for (void* each :
       {(void*)in, (void*)words, (void*)flags, (void*)packed, (void*)aligned, (void*)colors}) {
    require(cudaFree(each));
  }
  return verdict(is_right);
}
