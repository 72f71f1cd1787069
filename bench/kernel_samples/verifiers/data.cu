//== fields
//pass
//--blockDim=64 --gridDim=4
struct Particle {
  float x, y, z, mass;
};
__global__ void fields(Particle* p, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) {
    p[i].x += p[i].mass;  //~ data-race //twin: p[i].x += p[n - 1 - i].x;
    p[i].y = 0;
  }
}
//== different_fields
//pass
//--blockDim=64 --gridDim=1
struct Cell {
  int value, next;
};
__global__ void different_fields(Cell* c) {
  c[threadIdx.x].value = c[(threadIdx.x + 1) % 64].next;  //~ data-race //twin: c[threadIdx.x].value = c[(threadIdx.x + 1) % 64].value;
}
//== nested_struct
//pass
//--blockDim=32 --gridDim=1
struct Inner {
  short a[3];
  char b;
};
struct Outer {
  Inner in[2];
  double d;
};
__global__ void nested_struct(Outer* o, int k) {
  __requires(k >= 0 & k < 3);
  o[threadIdx.x].in[1].a[k] = 5;  //~ data-race //twin: o[threadIdx.x / 2].in[1].a[k] = threadIdx.x;
}
//== struct_by_value
//pass
//--blockDim=64 --gridDim=4
struct Job {
  int* to;
  const int* from;
  int n, shift;
};
__global__ void struct_by_value(Job job) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < job.n) job.to[i] = job.from[i] + job.shift;  //~ data-race //twin: if (i < job.n) job.to[i / 2] = job.from[i] + i;
}
//== float4_copy
//pass
//--blockDim=64 --gridDim=4
__global__ void float4_copy(float4* to, const float4* from) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float4 v = from[i];
  v.w += v.x;
  to[i] = v;  //~ data-race //twin: to[i / 2] = v;
}
//== float4_part
//pass
//--blockDim=64 --gridDim=1
__global__ void float4_part(float4* a, float f) {
  a[threadIdx.x].y = f;  //~ data-race //twin: a[threadIdx.x].y = a[threadIdx.x ^ 1].y;
}
//== double2_access
//pass
//--blockDim=32 --gridDim=1
__global__ void double2_access(double2* a) {
  a[threadIdx.x] = make_double2( threadIdx.x, 0);  //~ data-race //twin: a[threadIdx.x / 3] = make_double2(threadIdx.x, 0);
}
//== half_sums
//pass
//--blockDim=64 --gridDim=1
#include <cuda_fp16.h>
__global__ void half_sums(__half* a, const __half* b) {
  a[threadIdx.x] = __hadd( a[threadIdx.x], b[threadIdx.x]);  //~ data-race //twin: a[threadIdx.x & 15] = b[threadIdx.x];
}
//== constant_table
//pass
//--blockDim=64 --gridDim=1
__constant__ int order[4] = {3, 2, 1, 0};
__global__ void constant_table(int* a) {
  a[4 * (threadIdx.x / 4) + order[threadIdx.x % 4]] = threadIdx.x;  //~ data-race //twin: a[4 * (threadIdx.x / 8) + order[threadIdx.x % 4]] = threadIdx.x;
}
//== constant_values
//pass
//--blockDim=64 --gridDim=2
__constant__ float scale[8];
__global__ void constant_values(float* a) {
  a[blockIdx.x * 64 + threadIdx.x] *= scale[threadIdx.x % 8];  //~ data-race //twin: a[threadIdx.x] *= scale[threadIdx.x % 8];
}
//== global_array
//pass
//--blockDim=64 --gridDim=1
__device__ int table[128];
__global__ void global_array(int n) {
  table[threadIdx.x + 64] = table[threadIdx.x] + n;  //~ data-race //twin: table[threadIdx.x + 32] = table[threadIdx.x] + n;
}
//== volatile_flags
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void volatile_flags(volatile int* flag, int* out) {
  if (threadIdx.x == 0) *flag = 1;  //~ data-race
  out[threadIdx.x] = *flag;  //~ data-race
}
//== bits
//pass
//--blockDim=64 --gridDim=1
__global__ void bits(int* a) {
  a[threadIdx.x ^ 21] = threadIdx.x;  //~ data-race //twin: a[threadIdx.x & 21] = threadIdx.x;
}
//== swapped_bits
//pass
//--blockDim=64 --gridDim=1
__global__ void swapped_bits(int* a) {
  unsigned t = threadIdx.x;
  a[(t & 7) << 3 | t >> 3] = t;  //~ data-race //twin: a[(t & 7) << 2 | t >> 3] = t;
}
//== complement
//pass
//--blockDim=64 --gridDim=1
__global__ void complement(int* a) {
  a[~threadIdx.x & 63] = threadIdx.x;  //~ data-race //twin: a[~threadIdx.x & 62] = threadIdx.x;
}
//== reversed_bits
//pass
//--blockDim=64 --gridDim=1
__global__ void reversed_bits(int* a) {
  a[__brev(threadIdx.x) >> 26] = threadIdx.x;  //~ data-race //twin: a[__brev(threadIdx.x) >> 27] = threadIdx.x;
}
//== remainder_of_sum
//pass
//--blockDim=64 --gridDim=1
__global__ void remainder_of_sum(int* a, int shift) {
  __requires(shift >= 0);
  __requires(shift < 1000);
  a[(threadIdx.x + shift) % 64] = threadIdx.x;  //~ data-race //twin: a[(threadIdx.x + shift) % 63] = threadIdx.x;
}
//== switch_of_thread
//pass
//--blockDim=64 --gridDim=1
__global__ void switch_of_thread(int* a) {
  int i = threadIdx.x / 4 * 4;
  switch (threadIdx.x % 4) {
    case 0: i += 3; break;
    case 1: i += 2; break;
    case 2: i += 1; break;  //twin: case 2: i += 2; break;
    default: break;
  }
  a[i] = threadIdx.x;  //~ data-race
}
//== long_switch
//pass
//--blockDim=64 --gridDim=1
__global__ void long_switch(int* a, int mode) {
  switch (mode) {
    case 0: a[threadIdx.x] = 5; break;
    case 1: a[threadIdx.x] *= 7; break;
    case 2: a[threadIdx.x] += mode; break;
    case 3: a[63 - threadIdx.x] = 1; break;
    case 4: a[threadIdx.x ^ 1] = 2; break;
    case 5: a[threadIdx.x] = a[threadIdx.x] / 3; break;
    case 6: a[threadIdx.x] = -a[threadIdx.x]; break;  //~ data-race //twin: case 6: a[threadIdx.x / 2] = threadIdx.x; break;
    default: a[threadIdx.x] = 9;
  }
}
//== ternaries
//pass
//--blockDim=64 --gridDim=1
__global__ void ternaries(int* a) {
  a[threadIdx.x < 32 ? threadIdx.x + 32 : threadIdx.x - 32] = 1;  //~ data-race //twin: a[threadIdx.x < 32 ? threadIdx.x + 31 : threadIdx.x - 32] = threadIdx.x;
}
//== casts
//pass
//--blockDim=64 --gridDim=1
__global__ void casts(float* a, const int* b) {
  unsigned char c = threadIdx.x;
  a[c] = (float)b[(short)threadIdx.x];  //~ data-race //twin: a[(unsigned char)(c << 3)] = c;
}
//== float_comparison
//pass
//--blockDim=64 --gridDim=1
__global__ void float_comparison(float* a, float x) {
  float v = a[threadIdx.x];
  if (v < x || v != v) a[threadIdx.x] = x;  //~ data-race //twin: if (v < x || v != v) a[0] = v;
}
//== float_index
//undecided
//--blockDim=64 --gridDim=1
__global__ void float_index(int* a) {
  a[(int)(threadIdx.x * 1.0f)] = threadIdx.x;  //~ data-race //twin: a[(int)(threadIdx.x * 0.5f)] = threadIdx.x;
}
//== data_decides
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void data_decides(const unsigned char* where, int* a) {
  a[where[threadIdx.x]] = threadIdx.x;  //~ data-race
}
//== long_index
//pass
//--blockDim=64 --gridDim=4
__global__ void long_index(char* a, size_t pitch) {
  __requires(pitch >= 64);
  __requires(pitch <= 4096);
  a[blockIdx.x * pitch + threadIdx.x] = 1;  //~ data-race //twin: a[blockIdx.x * (pitch - 1) + threadIdx.x] = blockIdx.x;
}
//== same_value
//pass
//--blockDim=64 --gridDim=4
__global__ void same_value(int* done, const int* in) {
  if (in[blockIdx.x * 64 + threadIdx.x] > 3) *done = 1;  //~ data-race //twin: if (in[blockIdx.x * 64 + threadIdx.x] > 3) *done = threadIdx.x;
}
//== same_value_read
//pass: a note, because each thread that reads the value has stored it, too
//--blockDim=64 --gridDim=1
__global__ void same_value_read(int* a, int* b) {
  *a = 7;
  b[threadIdx.x] = *a;
}
//== random_numbers
//pass
//--blockDim=64 --gridDim=2
#include <curand_kernel.h>
__global__ void random_numbers(curandStateXORWOW_t* states, float* out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = curand_uniform(&states[i]);  //twin: out[i] = curand_uniform(&states[threadIdx.x]);
}
//== volatile_flag_pair
//pass
//--blockDim=64 --gridDim=1
__global__ void volatile_flag_pair(int* out, const int* in) {
  volatile __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();  //twin:
  out[threadIdx.x] = s[threadIdx.x ^ 32];  //~ data-race
}
//== symmetric_write
//pass: each place gets one value
//--blockDim=[8,8] --gridDim=1
__global__ void symmetric_write(int* a) {
  int x = threadIdx.x, y = threadIdx.y;
  a[y * 8 + x] = x;  //~ data-race
  a[x * 8 + y] = y;  //~ data-race //twin: a[x * 8 + y] = x;
}
//== symmetric_write_of_floats
//pass: each place gets one value
//--blockDim=[8,8] --gridDim=1
__global__ void symmetric_write_of_floats(float* a) {
  int x = threadIdx.x, y = threadIdx.y;
  a[y * 8 + x] = x;  //~ data-race
  a[x * 8 + y] = y;  //~ data-race //twin: a[x * 8 + y] = x;
}
//== gather_then_scatter
//pass
//--blockDim=128 --gridDim=4
// values: index = 0..1023
__global__ void gather_then_scatter(const float* in, const int* index, float* out) {
  int i = blockIdx.x * 128 + threadIdx.x;
  out[i] = in[index[i]];  //~ data-race //twin: out[index[i]] = i;
}
//== count_then_write
//pass
//--blockDim=64 --gridDim=1
__global__ void count_then_write(const int* in, int* out, int width) {
  __requires(width > 0);
  __requires(width <= 256);
  int row = threadIdx.x * width, kept = 0;
  for (int k = 0; k < width; ++k)
    if (in[row + k] > 0) out[row + kept++] = in[row + k];  //~ data-race //twin: if (in[row + k] > 0) out[row + 2 * kept++] = row;
}
//== flags_of_bool
//pass
//--blockDim=64 --gridDim=1
__global__ void flags_of_bool(const int* in, int* out) {
  __shared__ bool seen[64];
  seen[threadIdx.x] = false;
  __syncthreads();
  seen[in[threadIdx.x] & 63] = true;
  __syncthreads();  //twin:
  out[threadIdx.x] = seen[threadIdx.x];  //~ data-race
}
//== mersenne_state
//pass
//--blockDim=128 --gridDim=32
__global__ void mersenne_state(float* random, int per_thread) {
  const int t = blockDim.x * blockIdx.x + threadIdx.x;
  int state1, i1 = 0, iM = 9 + 1, out, M;
  unsigned mti, mti1, mtiM, x, mt[19];
  mt[0] = t;
  for (state1 = 1; state1 < 19; ++state1) mt[state1] = (1812433253U * (mt[state1 - 1] ^ (mt[state1 - 1] >> 30)) + state1);
  mti1 = mt[0];
  for (out = 0; out < per_thread; ++out) {
    state1 = i1 + 1;
    M = i1 + 9;
    if (state1 >= 19) state1 -= 19;
    if (M >= 19) M -= 19;
    mti = mti1;
    mti1 = mt[state1];
    mtiM = mt[M];
    x = (mti & 0x80000000U) | (mti1 & 0x7fffffffU);
    x = mtiM ^ (x >> 1);
    mt[i1] = x;
    i1 = state1;
    random[t + out * 4096] = x;  //~ data-race //twin: random[t + out * 4095] = x;
  }
  (void)iM;
}
//== quasirandom_table
//pass
//--blockDim=[128,3] --gridDim=4
__constant__ unsigned table[3][31];
__global__ void quasirandom_table(float* out, unsigned seed, unsigned n) {
  unsigned y = threadIdx.y, step = blockDim.x * gridDim.x;
  for (unsigned pos = blockDim.x * blockIdx.x + threadIdx.x; pos < n; pos += step) {
    unsigned result = 0, data = seed + pos;
    for (int bit = 0; bit < 31; ++bit, data >>= 1)
      if (data & 1) result ^= table[y][bit];
    out[y * n + pos] = result;  //~ data-race //twin: out[y * (n - 1) + pos] = y;
  }
}
//== cells_begin_and_end
//pass
//--blockDim=64 --gridDim=4
// values: hash = 0..63
__global__ void cells_begin_and_end(const unsigned* hash, unsigned* begin, unsigned* end, unsigned n) {
  __shared__ unsigned s[65];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, h = 0;
  if (i < n) {
    h = hash[i];
    s[threadIdx.x + 1] = h;
    if (i > 0 && threadIdx.x == 0) s[0] = hash[i - 1];
  }
  __syncthreads();  //twin:
  if (i < n && (i == 0 || h != s[threadIdx.x])) begin[h & 63] = h;  //~ data-race
}
//== texture_of_numbers
//pass
//--blockDim=64 --gridDim=4
#include "cuda.h"
texture<float, 1, cudaReadModeElementType> table;
__global__ void texture_of_numbers(float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = tex1Dfetch(table, i);  //~ data-race //twin: out[i / 2] = tex1Dfetch(table, i) + i;
}
//== texture_of_a_plane
//pass
//--blockDim=[16,16] --gridDim=[2,2]
texture<unsigned char, 2> image;
__global__ void texture_of_a_plane(unsigned char* out, int w) {
  __requires(w == 32);
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[y * w + x] = x + tex2D(image, (float)x - 1, (float)y);  //~ data-race //twin: out[y * 16 + x] = x + tex2D(image, (float)x - 1, (float)y);
}
//== texture_of_fractions
//pass
//--blockDim=64 --gridDim=2
texture<uchar4, 2, cudaReadModeNormalizedFloat> colours;
__global__ void texture_of_fractions(float4* out) {
  unsigned i = blockIdx.x * 64 + threadIdx.x;
  float4 c = tex2D(colours, i % 16 + 0.5f, i / 16 + 0.5f);
  out[i] = make_float4(c.y, c.x, c.w, i);  //~ data-race //twin: out[i % 64] = make_float4(c.y, c.x, c.w, i);
}
void bind(uchar4* image) { cudaBindTexture(0, colours, image, 64); }
