// What kernels' signatures and bodies contain, for bench/kernel_command.py.  `// try:` stands
// before a kernel that is tried, with the command's options; `//~ KIND` on a line of which a
// finding is expected.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "offset.cuh"

namespace cg = cooperative_groups;

// try:
__global__ void __launch_bounds__(128)
    bounded(const double* __restrict__ in, double* __restrict__ out, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

// try:
extern "C" __global__ void c_linkage(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __brev(in[i]);
}

namespace image {
namespace filters {
enum class Border { clamp, zero };
struct Size {
  short width, height;
};
struct View {
  const unsigned char* data;
  Size size;
  size_t pitch;
};

// try:
__global__ void blur(View in, unsigned char* out, Border border) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= in.size.width || y >= in.size.height || in.size.width > in.pitch) return;
  int sum = 0;
  for (int d = -1; d <= 1; ++d) {
    int at = x + d;
    if (border == Border::clamp) at = min(max(at, 0), in.size.width - 1);
    if (at >= 0 && at < in.size.width) sum += in.data[y * in.pitch + at];
  }
  out[y * in.size.width + x] = sum / 3;
}
}  // namespace filters
}  // namespace image

namespace {
// try:
__global__ void without_a_name_space(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}
}  // namespace

// try: --instantiate 'add<double>'
template <class T>
__global__ void add(const T* a, const T* b, T* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

template <class T>
struct Plus {
  T bias;
  __device__ T operator()(T a, T b) const { return a + b + bias; }
};

// try: --instantiate 'combine<float, Plus<float>, 4>'
template <class T, class Operation, int per_thread>
__global__ void combine(const T* in, T* out, int n, Operation operation) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
  T sum = 0;
  for (int i = first; i < first + per_thread && i < n; ++i) sum = operation(sum, in[i]);
  if (first < n) out[first / per_thread] = sum;
}

// try:
__global__ void half_pairs(const __half2* x, __half2* y, __half2 a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}

// try: --arch 90
__global__ void brain_floats(const __nv_bfloat16* x, __nv_bfloat16* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hadd(x[i], y[i]);
}

// try:
__global__ void vectors(const float4* a, const int2* b, uchar4* c, double2* d, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  d[i] = make_double2(a[i].x, b[i].y);
  c[i] = make_uchar4(b[i].x, b[i].y, 0, 255);
}

// try:
__global__ void short_types(const char* a, const signed char* b, const short* c,
                            const unsigned short* d, bool* out, unsigned char threshold, long n) {
  const long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + c[i] + d[i] > threshold;
}

// try:
__global__ void wide_stride(unsigned long long* values, unsigned long long n) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    values[i] += i;
}

// try: --block 8,8,4
__global__ void cube(float* volume, int width, int height, int depth) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < width && y < height && z < depth) volume[(z * height + y) * width + x] = x + y + z;
}

// try: --shared 'blockDim.x * 8' --let n=0..2000
__global__ void two_dynamic_arrays(const float* in, float* out, int n) {
  extern __shared__ float parts[];
  float* const sums = parts;
  int* const counts = reinterpret_cast<int*>(parts + blockDim.x);
  const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  sums[t] = i < n ? in[i] : 0;
  counts[t] = i < n;
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    int count = 0;
    for (unsigned k = 0; k < blockDim.x; ++k) {
      sum += sums[k];
      count += counts[k];
    }
    out[blockIdx.x] = count > 0 ? sum / count : 0;
  }
}

// try:
__global__ void groups(const int* in, int* sums, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = i < n ? in[i] : 0;
  for (int d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
  __shared__ int partial[32];
  if (tile.thread_rank() == 0) partial[tile.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) {
    for (unsigned k = 1; k < tile.meta_group_size(); ++k) sum += partial[k];
    sums[blockIdx.x] = sum;
  }
}

// try: --instantiate 'scan_of_cub<128>' --block 128
template <int threads>
__global__ void scan_of_cub(const int* in, int* out, int n) {
  using Scan = cub::BlockScan<int, threads>;
  __shared__ typename Scan::TempStorage storage;
  const int i = blockIdx.x * threads + threadIdx.x;
  int value = i < n ? in[i] : 0;
  Scan(storage).InclusiveSum(value, value);
  if (i < n) out[i] = value;
}

// try: --block 128
__global__ void sum_of_cub(const float* in, float* sums, int n) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ Reduce::TempStorage storage;
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float sum = Reduce(storage).Sum(i < n ? in[i] : 0);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// try:
__global__ void with_a_header(float* matrix, int rows, int columns) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && column < columns) matrix[offset_of(row, column, columns)] *= 2;
}

struct Particle {
  float3 position, velocity;
  int kind;
};

// try:
__global__ void move_particles(Particle* particles, int count, float3 gravity, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || particles[i].kind == 0) return;
  particles[i].velocity.x += step * gravity.x;
  particles[i].position.x += step * particles[i].velocity.x;
}

struct Layers {
  float* weights[3];
  int sizes[3];
};

// try:
__global__ void three_layers(Layers layers, float rate) {
  for (int layer = 0; layer < 3; ++layer) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < layers.sizes[layer];
         i += gridDim.x * blockDim.x) {
      layers.weights[layer][i] *= rate;
    }
  }
}

struct Matrix {
  float* data;
  int rows, columns;
  __device__ float& at(int row, int column) { return data[row * columns + column]; }
};

// try:
__global__ void add_matrices(Matrix a, Matrix b, Matrix c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= c.rows || column >= c.columns || row >= a.rows || column >= a.columns) return;
  if (row < b.rows && column < b.columns) c.at(row, column) = a.at(row, column) + b.at(row, column);
}

// try:
__global__ void bytes_of_anything(const void* in, void* out, size_t bytes) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < bytes) static_cast<char*>(out)[i] = static_cast<const char*>(in)[i];
}

__constant__ float weights[9];

// try:
__global__ void convolve(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < 9; ++k) {
    const int at = i + k - 4;
    if (at >= 0 && at < n) sum += weights[k] * in[at];
  }
  out[i] = sum;
}

__device__ unsigned long long total;

// try:
__global__ void count_all(const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) atomicAdd(&total, 1ULL);
}

// try:
__global__ void no_parameters() {
  __shared__ int t[64];
  if (threadIdx.x < 64) t[threadIdx.x] = threadIdx.x;
}

// try: --grid '(n + 255) / 256'
__global__ void launch_of_its_own(int* launch, int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + launch[i];
}

// try: --instantiate 'pointer_member<int>'
template <class T>
struct Span {
  T* begin;
  int size;
};
template <class T>
__global__ void pointer_member(Span<T> span, T value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < span.size) span.begin[i] = value;
}

// try:
__global__ void overloaded(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}

// try: --let color.x=0..255
__global__ void paint(uchar4* image, uchar4 color, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) image[i] = color;
}

// try:
__global__ void out_and_class(float* output, int* input, int int_, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) output[i] = input[i] + int_;
}

// refuse: a pointer to pointers
__global__ void pointers(float** rows, int n) {
  if (threadIdx.x < n) rows[threadIdx.x][0] = 1;
}

struct Table {
  const int* const* rows;
  int count;
};

// refuse: a pointer to pointers
__global__ void pointers_in_a_struct(Table table, int* out) {
  if (threadIdx.x < table.count) out[threadIdx.x] = table.rows[threadIdx.x][0];
}

// refuse: cudaTextureObject_t
__global__ void textured(cudaTextureObject_t texture, float* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

// refuse: cudaSurfaceObject_t
__global__ void on_a_surface(cudaSurfaceObject_t surface, int n) {
  if (threadIdx.x < n) surf1Dwrite(1.0f, surface, threadIdx.x * 4);
}

union Number {
  int whole;
  float real;
};

// refuse: union
__global__ void with_a_union(Number number, float* out) { out[threadIdx.x] = number.real; }

struct Bits {
  unsigned low : 4, high : 4;
};

// refuse: bit fields
__global__ void with_bit_fields(Bits bits, int* out) { out[threadIdx.x] = bits.low; }

using Function = float (*)(float);

// refuse: a function
__global__ void with_a_function(Function function, float* out) { out[threadIdx.x] = function(1); }
