// Loads and stores of float4, int2, double2, uchar4 and short3; cache hints; __ldg.
// MUTANT: a float4 is read from an address that is not a multiple of 16.
// expect: misaligned-access
#include "check.hpp"

__global__ void convert(const float* in, int2* pairs, double2* wide, uchar4* colors, short3* odd,
                        int n) {
#ifdef MUTANT
  const float4* const vectors = reinterpret_cast<const float4*>(in + 2);
#else
  const float4* const vectors = reinterpret_cast<const float4*>(in);
#endif
  for (int i = threadIdx.x; i < n / 4 - 1; i += blockDim.x) {
    const float4 v = vectors[i];              //~
    const float4 again = __ldg(vectors + i);  //~
    pairs[i] = make_int2(v.x + v.y, again.z + again.w);
    __stcs(wide + i, make_double2(v.x, -v.w));
    uchar4 color;
    color.x = v.x, color.y = v.y, color.z = v.z, color.w = 255;
    __stwt(colors + i, color);
    odd[i].x = v.y, odd[i].y = __ldcg(in + 4 * i), odd[i].z = -1;
  }
}
__global__ void hints(const int* in, int* out) {
  const int i = threadIdx.x;
  __stcg(out + i, __ldca(in + i) + __ldcs(in + i) + __ldlu(in + i) + __ldcv(in + i));
  __stwb(out + 32 + i, __ldg(in + i));
}

int main() {
  constexpr int n = 256, count = n / 4 - 1;
  float* in;
  int2* pairs;
  double2* wide;
  uchar4* colors;
  short3* odd;
  int *integers, *hinted;
  require(cudaMallocManaged(&in, n * sizeof *in));
  require(cudaMallocManaged(&pairs, count * sizeof *pairs));
  require(cudaMallocManaged(&wide, count * sizeof *wide));
  require(cudaMallocManaged(&colors, count * sizeof *colors));
  require(cudaMallocManaged(&odd, count * sizeof *odd));
  require(cudaMallocManaged(&integers, 32 * sizeof(int)));
  require(cudaMallocManaged(&hinted, 64 * sizeof(int)));
  for (int i = 0; i < n; ++i) in[i] = i % 200;
  for (int i = 0; i < 32; ++i) integers[i] = i * i;
  convert<<<1, 64>>>(in, pairs, wide, colors, odd, n);
  hints<<<1, 32>>>(integers, hinted);
  require(cudaDeviceSynchronize());
  bool is_right = true;
  for (int i = 0; i < count; ++i) {
    const float* const v = in + 4 * i;
    is_right &= pairs[i].x == v[0] + v[1] && pairs[i].y == v[2] + v[3];
    is_right &= wide[i].x == v[0] && wide[i].y == -v[3];
    is_right &= colors[i].x == v[0] && colors[i].z == v[2] && colors[i].w == 255;
    is_right &= odd[i].x == v[1] && odd[i].y == v[0] && odd[i].z == -1;
  }
  for (int i = 0; i < 32; ++i) is_right &= hinted[i] == 4 * i * i && hinted[32 + i] == i * i;
  for (void* each : {(void*)in, (void*)pairs, (void*)wide, (void*)colors, (void*)odd,
                     (void*)integers, (void*)hinted}) {
    require(cudaFree(each));
  }
  return verdict(is_right);
}
