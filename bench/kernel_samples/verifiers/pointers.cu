//== null_check
//pass
//--blockDim=64 --gridDim=1
__global__ void null_check(int* a, int* optional) {
  if (optional != nullptr) optional[threadIdx.x] = 1;  //~ data-race //twin: if (optional != nullptr) optional[threadIdx.x / 2] = threadIdx.x;
  if (a) a[threadIdx.x] = 2;
}
//== chosen_array
//pass
//--blockDim=64 --gridDim=4
__global__ void chosen_array(int* a, int* b, int which) {
  int* p = which ? a : b;
  p[blockIdx.x * 64 + threadIdx.x] = 1;  //~ data-race //twin: p[blockIdx.x + threadIdx.x] = threadIdx.x;
}
//== chosen_by_thread
//pass
//--blockDim=64 --gridDim=1
__global__ void chosen_by_thread(int* a, int* b) {
  int* p = threadIdx.x % 2 ? a : b;
  p[threadIdx.x] = 1;  //~ data-race //twin: p[threadIdx.x / 4] = threadIdx.x;
}
//== shared_or_global
//pass
//--blockDim=64 --gridDim=1
__global__ void shared_or_global(int* a, int flag) {
  __shared__ int s[64];
  int* p = flag ? s : a;
  p[threadIdx.x] = threadIdx.x;
  __syncthreads();  //twin:
  a[threadIdx.x] = flag ? p[63 - threadIdx.x] : 0;  //~ data-race
}
//== walking_pointer
//pass
//--blockDim=64 --gridDim=1
__global__ void walking_pointer(int* a, int n) {
  for (int* p = a + threadIdx.x; p < a + n; p += 64) *p = n;  //~ data-race //twin: for (int* p = a + threadIdx.x; p < a + n; p += 63) *p = threadIdx.x;
}
//== difference
//pass
//--blockDim=64 --gridDim=1
__global__ void difference(int* a, long long* distance) {
  int* p = a + 2 * threadIdx.x;
  distance[threadIdx.x] = p - a;  //~ data-race //twin: distance[(p - a) / 4] = threadIdx.x;
}
//== bytes_of_ints
//pass
//--blockDim=64 --gridDim=1
__global__ void bytes_of_ints(int* a) {
  char* bytes = reinterpret_cast<char*>(a);
  bytes[4 * threadIdx.x + 3] = 1;  //~ data-race //twin: bytes[4 * (threadIdx.x / 2) + 3] = threadIdx.x;
}
//== overlapping_widths
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void overlapping_widths(short* a) {
  if (threadIdx.x % 2 == 0) *reinterpret_cast<int*>(a + threadIdx.x) = 5;  //~ data-race
  else
    a[threadIdx.x] = 7;  //~ data-race
}
//== row_pointers
//pass
//--blockDim=64 --gridDim=8
__global__ void row_pointers(float* m) {
  float* row = &m[blockIdx.x * 64];
  float* end = row + 64;
  float* own = row + threadIdx.x;
  if (own < end) *own = 0;  //~ data-race //twin: if (own < end) row[threadIdx.x / 2] = threadIdx.x;
}
//== local_pointers
//pass
//--blockDim=64 --gridDim=1
__global__ void local_pointers(int* a, int k) {
  int few[8];
  for (int i = 0; i < 8; ++i) few[i] = i * k;
  int* p = few + (threadIdx.x & 7);
  a[threadIdx.x] = *p;  //~ data-race //twin: a[few - p + 7] = threadIdx.x;
}
//== pointer_in_local_array
//pass
//--blockDim=64 --gridDim=1
__global__ void pointer_in_local_array(int* a, int* b, int n) {
  int* both[2] = {a, b};
  for (int i = 0; i < 2; ++i) both[i][threadIdx.x] = n;  //~ data-race //twin: for (int i = 0; i < 2; ++i) both[i][threadIdx.x / 2] = threadIdx.x;
}
//== two_dimensional_local
//pass
//--blockDim=64 --gridDim=1
__global__ void two_dimensional_local(int* a, int k) {
  int t[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) t[i][j] = i * k + j;
  a[threadIdx.x] = t[threadIdx.x & 3][(threadIdx.x >> 2) & 3];  //~ data-race //twin: a[threadIdx.x & 3] = t[threadIdx.x & 3][(threadIdx.x >> 2) & 3];
}
//== copied_struct
//pass
//--blockDim=64 --gridDim=1
struct Pair {
  int first, second;
};
__global__ void copied_struct(Pair* out, const Pair* in) {
  memcpy(&out[threadIdx.x], &in[threadIdx.x], sizeof(Pair));  //~ data-race //twin: memcpy(&out[threadIdx.x / 2], &in[threadIdx.x], sizeof(Pair));
}
//== copied_too_long
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
struct Pair {
  int first, second;
};
__global__ void copied_too_long(Pair* out, const Pair* in) {
  memcpy(&out[threadIdx.x], &in[0], 2 * sizeof(Pair));  //~ data-race
}
//== set_row
//pass
//--blockDim=32 --gridDim=1
__global__ void set_row(int* m) {
  memset(m + threadIdx.x * 16, 0, 16 * sizeof(int));  //~ data-race //twin: for (int i = 0; i < 17; ++i) m[threadIdx.x * 16 + i] = threadIdx.x;
}
//== from_shared_to_global
//pass
//--blockDim=64 --gridDim=1
__device__ void copy(int* to, const int* from) { *to = *from; }  //~ data-race
__global__ void from_shared_to_global(int* a) {
  __shared__ int s[64];
  copy(&s[threadIdx.x], &a[threadIdx.x]);
  __syncthreads();  //twin:
  copy(&a[threadIdx.x], &s[63 - threadIdx.x]);
}
//== two_kernel_offsets
//pass
//--blockDim=64 --gridDim=8
__global__ void two_kernel_offsets(int* a, int offset) {
  __requires(offset >= 512);
  __requires(offset <= 100000);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i + offset] = a[i];  //~ data-race //twin: a[i + offset - 511] = a[i];
}
//== offset_pointer_parameters
//pass
//--blockDim=64 --gridDim=8
__global__ void offset_pointer_parameters(int* p) {
  int* low = p;
  int* high = p + blockDim.x * gridDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  low[i] = high[511 - i];  //~ data-race //twin: low[i] = high[-i];
}
