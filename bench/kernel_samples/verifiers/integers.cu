//== unsigned_char_index
//pass
//--blockDim=256 --gridDim=1
__global__ void unsigned_char_index(int* a) {
  unsigned char i = threadIdx.x + 10;
  a[i] = i;  //~ data-race //twin: a[(unsigned char)(i * 2)] = i;
}
//== short_index
//pass
//--blockDim=128 --gridDim=2
__global__ void short_index(int* a) {
  short i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;  //~ data-race //twin: a[(short)(i / 3)] = i;
}
//== signed_char_wraps
//xfail:BOOGIE_ERROR
//--blockDim=256 --gridDim=1
__global__ void signed_char_wraps(int* a) {
  signed char i = threadIdx.x;
  a[i] = 1;  //~ out-of-bounds
}
//== long_long_stride
//pass
//--blockDim=64 --gridDim=8
__global__ void long_long_stride(int* a, long long n) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (long long)gridDim.x * blockDim.x)
    a[i] = 1;  //~ data-race //twin: a[i / 2] = i;
}
//== size_t_stride
//pass
//--blockDim=64 --gridDim=8
__global__ void size_t_stride(double* a, size_t n) {
  size_t step = blockDim.x * gridDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) a[i] *= 0.5;  //~ data-race //twin: for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i + 1 < n; i += step) a[i] = a[i + 1];
}
//== unsigned_stride
//pass
//--blockDim=64 --gridDim=8
__global__ void unsigned_stride(unsigned* a, unsigned n) {
  unsigned step = blockDim.x * gridDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) a[i] ^= i;  //~ data-race //twin: for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) a[i ^ (i >> 1) & 1] ^= i; a[0] = threadIdx.x;
}
//== bytes_of_words
//pass
//--blockDim=64 --gridDim=4
__global__ void bytes_of_words(unsigned* words) {
  unsigned char* bytes = (unsigned char*)words;
  int i = blockIdx.x * 64 + threadIdx.x;
  for (int k = 0; k < 4; ++k) bytes[4 * i + k] = k;
  words[i] = __byte_perm(words[i], 0, 0x0123);  //~ data-race //twin: words[i / 2] = i;
}
//== halves_of_words
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void halves_of_words(unsigned* words) {
  unsigned short* halves = (unsigned short*)words;
  halves[threadIdx.x] = threadIdx.x;  //~ data-race
  words[threadIdx.x] = 5;             //~ data-race
}
//== quotient_and_remainder
//pass
//--blockDim=[64] --gridDim=[8]
__global__ void quotient_and_remainder(int* a, int columns) {
  __requires(columns > 0);
  __requires(columns <= 1000);
  int i = blockIdx.x * 64 + threadIdx.x;
  int row = i / columns, column = i % columns;
  a[row * columns + column] = i;  //~ data-race //twin: a[row + column] = i;
}
//== shifted_and_masked
//pass
//--blockDim=256 --gridDim=4
__global__ void shifted_and_masked(int* a) {
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  a[(i >> 5) * 32 + (31 - (i & 31))] = i;  //~ data-race //twin: a[(i >> 5) * 16 + (31 - (i & 31))] = i;
}
//== swapped_bits
//pass
//--blockDim=64 --gridDim=1
__global__ void swapped_bits(int* a) {
  unsigned t = threadIdx.x;
  a[(t & 7) * 8 + (t >> 3)] = t;  //~ data-race //twin: a[(t & 7) * 7 + (t >> 3)] = t;
}
//== reversed_bits
//pass
//--blockDim=64 --gridDim=1
__global__ void reversed_bits(int* a) {
  unsigned t = threadIdx.x, r = 0;
  for (int k = 0; k < 6; ++k) r |= ((t >> k) & 1) << (5 - k);
  a[r] = t;  //~ data-race //twin: a[r & ~1] = t;
}
//== bit_reversal
//pass
//--blockDim=256 --gridDim=1
__global__ void bit_reversal(int* a) {
  a[__brev(threadIdx.x) >> 24] = 1;  //~ data-race //twin: a[__brev(threadIdx.x) >> 25] = threadIdx.x;
}
//== flipped_by_or
//pass
//--blockDim=64 --gridDim=1
__global__ void flipped_by_or(int* a) {
  if (!(threadIdx.x & 1)) {
    a[threadIdx.x | 1] = 1;
    a[threadIdx.x] = 2;  //~ data-race //twin: a[threadIdx.x | 2] = threadIdx.x;
  }
}
//== minimum_of_index
//pass
//--blockDim=64 --gridDim=4
__global__ void minimum_of_index(const int* in, int* out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  int clamped = min(max(i, 0), n - 1);
  if (n > 0 && i < n) out[clamped] = in[clamped];  //~ data-race //twin: if (n > 0) out[clamped] = i;
}
//== negative_steps
//pass
//--blockDim=64 --gridDim=1
__global__ void negative_steps(int* a) {
  int* end = a + 511;
  for (int k = 0; k < 8; ++k) end[-(int)threadIdx.x - 64 * k] = k;  //~ data-race //twin: for (int k = 0; k < 8; ++k) end[-(int)threadIdx.x - 63 * k] = k;
}
//== padded_index
//pass
//--blockDim=128 --gridDim=1
#define PAD(i) ((i) + ((i) >> 5))
__global__ void padded_index(int* a) {
  __shared__ int s[PAD(255) + 1];
  int t = threadIdx.x;
  s[PAD(t)] = a[t];
  s[PAD(t + 128)] = a[t + 128];
  __syncthreads();  //twin:
  a[2 * t] = s[PAD(2 * t)];  //~ data-race
  a[2 * t + 1] = s[PAD(2 * t + 1)];
}
//== products_of_extents
//pass
//--blockDim=[8,8] --gridDim=[4,4]
__global__ void products_of_extents(int* a) {
  unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  a[block * (blockDim.x * blockDim.y) + thread] = 1;  //~ data-race //twin: a[block * blockDim.x + thread] = block;
}
//== unsigned_below_zero
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void unsigned_below_zero(int* a, const int* b) {
  unsigned i = threadIdx.x - 1;
  a[threadIdx.x] = b[i];  //~ out-of-bounds
}
//== modulus_of_ring
//pass
//--blockDim=100 --gridDim=1
__global__ void modulus_of_ring(int* a) {
  __shared__ int s[100];
  s[(threadIdx.x + 37) % 100] = threadIdx.x;
  __syncthreads();  //twin:
  a[threadIdx.x] = s[(threadIdx.x + 99) % 100];  //~ data-race
}
//== multiplicative_permutation
//pass
//--blockDim=64 --gridDim=1
__global__ void multiplicative_permutation(int* a) {
  a[(threadIdx.x * 5 + 3) % 64] = threadIdx.x;  //~ data-race //twin: a[(threadIdx.x * 6 + 3) % 64] = threadIdx.x;
}
//== char_bytes_of_word
//pass
//--blockDim=64 --gridDim=2
__global__ void char_bytes_of_word(unsigned char* bytes, const unsigned* words) {
  int i = blockIdx.x * 64 + threadIdx.x;
  unsigned w = words[i];
  for (int k = 0; k < 4; ++k) bytes[i * 4 + k] = w >> (8 * k);  //~ data-race //twin: for (int k = 0; k < 5; ++k) bytes[i * 4 + k] = i + k;
}
//== short_in_both_halves
//pass
//--blockDim=64 --gridDim=2
__global__ void short_in_both_halves(short2* pairs) {
  int i = blockIdx.x * 64 + threadIdx.x;
  short* half = (short*)pairs;
  half[2 * i] = i;
  half[2 * i + 1] = -i;  //~ data-race //twin: half[2 * i + 2] = -i;
}
//== masked_thread_number
//pass
//--blockDim=256 --gridDim=1
__global__ void masked_thread_number(int* a) {
  int t = threadIdx.x;
  a[(t & 0xf0) >> 4 | (t & 0x0f) << 4] = t;  //~ data-race //twin: a[(t & 0xf0) >> 4 | (t & 0x07) << 4] = t;
}
//== gray_code
//pass
//--blockDim=256 --gridDim=1
__global__ void gray_code(int* a) {
  unsigned t = threadIdx.x;
  a[t ^ t >> 1] = t;  //~ data-race //twin: a[(t ^ t >> 1) & 127] = t;
}
