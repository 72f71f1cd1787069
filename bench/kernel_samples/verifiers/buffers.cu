//== swapped_buffers
//pass
//--blockDim=64 --gridDim=1
__global__ void swapped_buffers(int* data, int rounds) {
  __shared__ int one[64], two[64];
  int *from = one, *to = two;
  from[threadIdx.x] = data[threadIdx.x];
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();  //twin:
    to[threadIdx.x] = from[(threadIdx.x + 1) % 64] + from[threadIdx.x];  //~ data-race
    int* swap = from;
    from = to;
    to = swap;
  }
  data[threadIdx.x] = from[threadIdx.x];
}
//== barrier_on_loaded
//pass
//--blockDim=64 --gridDim=4
__global__ void barrier_on_loaded(int* a, const int* mode) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (mode[blockIdx.x] > 3) {  //twin: if (mode[threadIdx.x] > 3) {
    __syncthreads();  //~ barrier-divergence
    a[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  }
  __syncthreads();
  s[threadIdx.x] = 0;
}
//== edges_of_graph
//pass
//--blockDim=64 --gridDim=4
// values: from = 0..255, to = 0..255
__global__ void edges_of_graph(const int* from, const int* to, int* degree, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges) {
    atomicAdd(&degree[from[e]], 1);  //~ data-race
    atomicAdd(&degree[to[e]], 1);    //~ data-race //twin: degree[to[e]] += 1;
  }
}
//== exchange_of_halves
//pass
//--blockDim=64 --gridDim=4
__global__ void exchange_of_halves(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {
    int v = a[i];
    a[i] = a[n - 1 - i];  //~ data-race
    a[n - 1 - i] = v;     //~ data-race //twin: a[n - 1 - i / 2] = v;
  }
}
//== strip_of_rows
//pass
//--blockDim=64 --gridDim=4
__global__ void strip_of_rows(float* out, const float* in, int width, int rows) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  float sum = 0;
  for (int y = 0; y < rows; ++y) {
    sum += in[y * width + x];
    out[y * width + x] = sum;  //~ data-race //twin: out[y * width + x / 2] = sum;
  }
}
//== lower_triangle
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void lower_triangle(float* m, int n) {
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i < n && j < i) m[j * n + i] = m[i * n + j];  //~ data-race //twin: if (i < n && j < n && i != j) m[j * n + i] = m[i * n + j];
}
//== shuffle_without_mask
//pass
//--blockDim=32 --gridDim=4
__global__ void shuffle_without_mask(const int* in, int* out) {
  int v = in[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down(v, d);
  if (threadIdx.x == 0) out[blockIdx.x] = v;  //~ data-race //twin: if (threadIdx.x < 2) out[blockIdx.x] = v;
}
//== last_steps_of_a_warp
//pass
//--blockDim=64 --gridDim=4 --warp-sync=32
__global__ void last_steps_of_a_warp(int* a) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];  //~ data-race
  __syncthreads();  //twin:
  if (threadIdx.x < 32) s[threadIdx.x] += s[threadIdx.x + 32];  //~ data-race
  if (threadIdx.x < 16) s[threadIdx.x] += s[threadIdx.x + 16];
  if (threadIdx.x == 0) a[blockIdx.x * 64] = s[0];
}
//== pointer_swap_rounds
//pass
//--blockDim=256 --gridDim=1
__global__ void pointer_swap_rounds(float* out, const float* in, int rounds) {
  __shared__ float one[256], two[256];
  float *from = one, *to = two;
  int t = threadIdx.x;
  one[t] = in[t];
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    to[t] = from[t] + from[(t + 255) & 255];  //~ data-race
    __syncthreads();  //twin:
    float* spare = from;
    from = to;
    to = spare;
  }
  out[t] = from[t];
}
//== in_chunks_of_block
//pass
//--blockDim=32 --gridDim=1
__global__ void in_chunks_of_block(const int* in, int* out, int n) {
  __shared__ int s[32];
  for (int base = 0; base < n; base += 32) {
    int i = base + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = s[31 - threadIdx.x];  //~ data-race
    __syncthreads();  //twin:
  }
}
//== producer_of_next_round
//pass
//--blockDim=64 --gridDim=1
__global__ void producer_of_next_round(const int* in, int* out, int rounds) {
  __shared__ int s[2][64];
  s[0][threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    s[(r + 1) & 1][threadIdx.x] = in[(r + 1) * 64 + threadIdx.x];
    out[r * 64 + threadIdx.x] = s[r & 1][63 - threadIdx.x];  //~ data-race
    __syncthreads();  //twin:
  }
}
//== circular_three_buffers
//pass
//--blockDim=64 --gridDim=1
__global__ void circular_three_buffers(const int* in, int* out, int rounds) {
  __shared__ int s[3][64];
  for (int r = 0; r < rounds; ++r) {
    s[r % 3][threadIdx.x] = in[r * 64 + threadIdx.x];
    __syncthreads();  //twin:
    out[r * 64 + threadIdx.x] = s[r % 3][63 - threadIdx.x];  //~ data-race
  }
}
