// Kernels in which data decide addresses, branches or ends of loops, for bench/kernel_command.py.
// `// try:` stands before a kernel that is tried, with the command's options; `//~ KIND` on each
// line that a finding of this kind names.

// try:
__global__ void gather(const int* index, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

// try:
__global__ void gather_of_gather(const int* first, const int* second, const float* in, float* out,
                                 int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[second[first[i]]];
}

// try: --let index=0..99 --length in=m --requires 'm >= 100'
__global__ void gather_given(const unsigned short* index, const float* in, float* out, int n,
                             int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && index[i] < m) out[i] = in[index[i]];
}

// try:
__global__ void guarded_gather(const int* index, const float* in, float* out, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && index[i] >= 0 && index[i] < m) out[i] = in[index[i]];
}

// try: --length in=m --let index=-5..200
__global__ void half_guarded_gather(const int* index, const float* in, float* out, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && index[i] < m) out[i] = in[index[i]];  //~ out-of-bounds
}

// try:
__global__ void scatter_add(const unsigned* index, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[index[i]], in[i]);
}

// try: --let index=distinct
__global__ void scatter_of_a_permutation(const unsigned* index, const float* in, float* out,
                                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

// values: index = distinct 100..2000
// try: --length out=2001
__global__ void scatter_of_distinct(const unsigned* index, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

// try:
__global__ void scatter_race(const unsigned* index, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];  //~ data-race
}

// try:
__global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned counts[256];
  for (int t = threadIdx.x; t < 256; t += blockDim.x) counts[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[in[i]], 1U);
  __syncthreads();
  for (int t = threadIdx.x; t < 256; t += blockDim.x) atomicAdd(&bins[t], counts[t]);
}

// try:
__global__ void histogram_of_floats(const float* in, unsigned* bins, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || count <= 0) return;
  const int bin = static_cast<int>(in[i] * count);
  atomicAdd(&bins[min(max(bin, 0), count - 1)], 1U);
}

// try:
__global__ void shared_bins(const int* in, int* out, int n) {
  __shared__ int counts[32];
  if (threadIdx.x < 32) counts[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[in[i] & 31], 1);
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}

// try:
__global__ void spmv(int rows, const int* row_begin, const int* column, const float* value,
                     const float* x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = row_begin[row]; k < row_begin[row + 1]; ++k) sum += value[k] * x[column[k]];
  y[row] = sum;
}

// try:
__global__ void segment_fill(int segments, const int* begin, float* out) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= segments) return;
  for (int k = begin[s]; k < begin[s + 1]; ++k) out[k] = s;
}

// try: --let begin=0..63
__global__ void rows_in_any_order(int segments, const int* begin, float* out) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= segments) return;
  for (int k = begin[s]; k < begin[s + 1]; ++k) out[k] = s;  //~ data-race
}

// try:
__global__ void breadth_first(const int* begin, const int* edges, int* level, int* changed,
                              int nodes, int depth) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || level[node] != depth) return;  //~ data-race
  for (int e = begin[node]; e < begin[node + 1]; ++e) {
    if (atomicCAS(&level[edges[e]], -1, depth + 1) == -1) atomicExch(changed, 1);  //~ data-race
  }
}

// try:
__global__ void binary_search(const int* sorted, const int* keys, int* places, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  int low = 0, high = n;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (sorted[middle] < keys[i])
      low = middle + 1;
    else
      high = middle;
  }
  places[i] = low;
}

// try:
__global__ void compact(const int* in, int* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) out[atomicAdd(count, 1)] = in[i];
}

// try:
__global__ void list_of_next(const int* next, const float* value, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float total = 0;
  int at = i;
  for (int steps = 0; at >= 0 && steps < 8; ++steps) {
    total += value[at];
    at = next[at];
  }
  sum[i] = total;
}

// try:
__global__ void permute_rows(const int* order, const float* in, float* out, int rows, int columns) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && column < columns)
    out[row * columns + column] = in[order[row] * columns + column];
}

// try:
__global__ void embedding(const long long* token, const float* table, float* out, int tokens,
                          int width) {
  for (int i = blockIdx.x; i < tokens; i += gridDim.x) {
    for (int k = threadIdx.x; k < width; k += blockDim.x)
      out[i * width + k] = table[token[i] * width + k];
  }
}
