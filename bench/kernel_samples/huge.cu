// Indices of 32 bits in launches for more than 2^31 elements or bytes.  With Index = int each
// kernel has a defect there, and is right below; with long long it is right.  The comments say for
// which numbers the kernels are meant.  bench/huge_kernels.py runs all of them.

using Wide = long long;

template <class Index>
__device__ Index thread_of_grid() {
  return static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// lengths: out = n
template <class Index>
__global__ void thread_number(float* out, Wide n) {
  const Index i = thread_of_grid<Index>();
  if (i < n) out[i] = 1;
}

// lengths: out = n
template <class Index>
__global__ void grid_stride(float* out, Wide n) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = thread_of_grid<Index>(); i < n; i += step) out[i] = 1;
}

// lengths: out = rows * pitch
// values: rows = 1..60000, pitch = 1..60000
template <class Index>
__global__ void row_times_pitch(float* out, Index rows, Index pitch) {
  const Index x = thread_of_grid<Index>(), y = blockIdx.y;
  if (x < pitch && y < rows) out[y * pitch + x] = 1;
}

// lengths: out = rows * columns
// values: rows = 1..60000, columns = 1..60000
template <class Index>
__global__ void column_major(float* out, Index rows, Index columns) {
  const Index x = thread_of_grid<Index>(), y = blockIdx.y;
  if (x < columns && y < rows) out[x * rows + y] = 1;
}

// lengths: out = n * 8
template <class Index>
__global__ void byte_offset(char* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) *reinterpret_cast<double*>(out + static_cast<Index>(i) * static_cast<Index>(8)) = 1;
}

// lengths: out = n * 4
template <class Index>
__global__ void four_each(short* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i >= n) return;
  const Index first = static_cast<Index>(i) * 4;
  for (Index k = 0; k < 4; ++k) out[first + k] = 1;
}

// lengths: out = n
template <class Index>
__global__ void reversed(float* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) out[static_cast<Index>(n) - 1 - static_cast<Index>(i)] = 1;
}

// lengths: in = n, out = n
template <class Index>
__global__ void neighbours(const float* in, float* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i > 0 && i < n) out[i] = in[static_cast<Index>(i) - 1];
}

// lengths: out = 2 * n
template <class Index>
__global__ void odd_places(float* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) out[2 * static_cast<Index>(i) + 1] = 1;
}

// lengths: out = n * 3
template <class Index>
__global__ void triples(float* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) out[static_cast<Index>(i) * 3 + 2] = 1;
}

// lengths: out = n * 100
template <class Index>
__global__ void hundreds(char* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) out[static_cast<Index>(i) * 100] = 1;
}

// lengths: out = 4 * n
template <class Index>
__global__ void shifted(int* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) out[static_cast<Index>(i) << 2] = 1;
}

// lengths: out = gridDim.x * 2048
template <class Index>
__global__ void first_of_block(int* out, Wide n) {
  const Index first = static_cast<Index>(blockIdx.x) * 2048;
  if (first < n) out[first + static_cast<Index>(threadIdx.x)] = 1;
}

// lengths: out = gridDim.x * 256
// launch: blockDim.x == 256
template <class Index>
__global__ void last_of_block(int* out, Wide n) {
  const Index last = (static_cast<Index>(blockIdx.x) + 1) * 256 - 1;
  if (threadIdx.x == 0 && n > 0) out[last] = 1;
}

// lengths: out = n + offset
// values: n = 0..2000000000, offset = 0..2000000000
template <class Index>
__global__ void offset_sum(char* out, Index n, Index offset) {
  const Index i = thread_of_grid<Index>();
  if (i < n) out[i + offset] = 1;
}

// lengths: out = n
template <class Index>
__global__ void doubled_and_halved(float* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) out[(static_cast<Index>(i) + static_cast<Index>(i)) / 2] = 1;
}

// lengths: out = n
template <class Index>
__global__ void middle(float* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) out[(static_cast<Index>(i) + static_cast<Index>(n)) / 2] = 0;
}

// lengths: out = n
template <class Index>
__global__ void from_the_middle(char* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  const Index middle = static_cast<Index>(n / 2), from = static_cast<Index>(i) - middle;
  if (i < n) out[middle + from] = 1;
}

// lengths: out = pixels * 3
template <class Index>
__global__ void channels(unsigned char* out, Wide pixels) {
  const Wide i = thread_of_grid<Wide>();
  if (i >= pixels) return;
  for (Index c = 0; c < 3; ++c) out[static_cast<Index>(i) * 3 + c] = 1;
}

// lengths: out = 2 * n
template <class Index>
__global__ void copies(char* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) out[static_cast<Index>(n) + static_cast<Index>(i)] = 1;
}

// lengths: out = n * 16
template <class Index>
__global__ void vectors(char* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) *reinterpret_cast<float4*>(out + static_cast<Index>(i) * static_cast<Index>(16)) = {};
}

// lengths: in = n, out = n
template <class Index>
__global__ void next_element(const char* in, char* out, Wide n) {
  const Index i = thread_of_grid<Index>();
  if (i + 1 < n) out[i] = in[i + 1];
}

// lengths: out = n
template <class Index>
__global__ void strided_by_64(char* out, Wide n) {
  const Index i = thread_of_grid<Index>() * 64;
  if (i < n) out[i] = 1;
}

// lengths: out = 2 * n
template <class Index>
__global__ void two_rounds(char* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  for (Index round = 0; round < 2; ++round) {
    if (i < n) out[static_cast<Index>(i) + round * static_cast<Index>(n)] = 1;
  }
}

// lengths: out = n * 1024
template <class Index>
__global__ void pages(char* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) out[static_cast<Index>(i) * 1024 + 1023] = 1;
}

// lengths: out = rows * 1024
template <class Index>
__global__ void fixed_pitch(char* out, Wide rows) {
  const Wide row = blockIdx.x;
  if (row < rows) out[static_cast<Index>(row) * 1024 + static_cast<Index>(threadIdx.x)] = 1;
}

// lengths: out = n
template <class Index>
__global__ void backwards(char* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  Index place = static_cast<Index>(n);
  place -= static_cast<Index>(i) + 1;
  if (i < n) out[place] = 1;
}

// lengths: out = 5 * n
template <class Index>
__global__ void fifths(char* out, Wide n) {
  const Wide i = thread_of_grid<Wide>();
  if (i < n) out[static_cast<Index>(i) + 4 * static_cast<Index>(n)] = 1;
}

// lengths: out = n, in = n
template <class Index>
__global__ void copied(const int* in, int* out, Wide n) {
  const Index i = thread_of_grid<Index>();
  if (i < n) out[i] = in[i];
}

// lengths: out = n
template <class Index>
__global__ void block_then_thread(char* out, Wide n) {
  const Index base = static_cast<Index>(blockIdx.x) * blockDim.x;
  const Index i = base + static_cast<Index>(threadIdx.x);
  if (i < n) out[i] = 1;
}
