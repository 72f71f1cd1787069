//== histogram
//pass
//--blockDim=256 --gridDim=16
__global__ void histogram(const unsigned char* data, unsigned* bins) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[data[i]], 1);  //~ data-race //twin: bins[data[i]] += 1;
}
//== shared_histogram
//pass
//--blockDim=256 --gridDim=8
__global__ void shared_histogram(const unsigned char* data, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * 8) atomicAdd(&local[data[i]], 1);
  __syncthreads();  //twin:
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);  //~ data-race
}
//== add_thread_number
//pass
//--blockDim=64 --gridDim=64 --no-inline
__global__ void add_thread_number(int* sum) {
  atomicAdd(sum, threadIdx.x);  //~ data-race //twin: *sum += threadIdx.x;
}
//== returned_counter
//pass
//--blockDim=64 --gridDim=4
// lengths: out = 1024
__global__ void returned_counter(int* out, unsigned* next) {
  unsigned place = atomicInc(next, 0xffffffffu);
  if (place < 1024) out[place] = threadIdx.x;  //~ data-race //twin: if (place < 1024) out[place / 2] = threadIdx.x;
}
//== returned_counter_of_positive
//pass
//--blockDim=64 --gridDim=4
__global__ void returned_counter_of_positive(const int* in, int* out, int* count) {
  int v = in[blockIdx.x * 64 + threadIdx.x];
  if (v > 0) out[atomicAdd(count, 1) & 255] = v;  //~ data-race //twin: if (v > 0) out[atomicAdd(count, 1) & 127] = v;
}
//== exchange
//pass
//--blockDim=64 --gridDim=4
__global__ void exchange(int* turn) {
  int v = atomicExch(turn, threadIdx.x);
  atomicMax(turn, v);  //~ data-race //twin: if (v >= 0) *turn = v;
}
//== swap_loop
//pass
//--blockDim=64 --gridDim=2
__global__ void swap_loop(unsigned* place, unsigned add) {
  unsigned seen = atomicAdd(place, 0), before;
  do {
    before = seen;
    seen = atomicCAS(place, before, before + add);
  } while (seen != before);
}
//== read_beside_atomic
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void read_beside_atomic(int* sum, int* out) {
  atomicAdd(sum, 1);  //~ data-race
  out[threadIdx.x] = *sum;  //~ data-race
}
//== last_block
//pass
//--blockDim=64 --gridDim=8
__device__ unsigned finished = 0;
__global__ void last_block(int* sums, int* total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    atomicAdd(&sums[blockIdx.x], 1);
    __threadfence();
    is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x < 8) atomicAdd(total, atomicAdd(&sums[threadIdx.x], 0));  //~ data-race //twin: if (is_last) *total += sums[threadIdx.x % 8];
}
//== flag_of_block
//pass
//--blockDim=64 --gridDim=1
__global__ void flag_of_block(const int* in, int* found) {
  __shared__ int any;
  if (threadIdx.x == 0) any = 0;
  __syncthreads();
  if (in[threadIdx.x] < 0) atomicOr(&any, 1);
  __syncthreads();  //twin:
  if (threadIdx.x == 0) *found = any;  //~ data-race
}
//== atomic_through_pointer
//pass
//--blockDim=64 --gridDim=4
__device__ void count(int* p) { atomicAdd(p + 1, 1); }
__global__ void atomic_through_pointer(int* a) { count(&a[threadIdx.x % 4]); }
//== minimum_of_all
//pass
//--blockDim=128 --gridDim=4
__global__ void minimum_of_all(const int* in, int* least, int n) {
  __shared__ int best;
  if (threadIdx.x == 0) best = 0x7fffffff;
  __syncthreads();  //twin:
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicMin(&best, in[i]);  //~ data-race
  __syncthreads();
  if (threadIdx.x == 0) atomicMin(least, best);
}
//== device_variable
//pass
//--blockDim=64 --gridDim=4
__device__ int total[4];
__global__ void device_variable(const int* in) {
  atomicAdd(&total[threadIdx.x % 4], in[threadIdx.x]);  //~ data-race //twin: total[threadIdx.x % 4] += in[threadIdx.x];
}
//== slots_of_an_empty_list
//pass
// values: count = 0
// lengths: out = blockDim.x * gridDim.x
__global__ void slots_of_an_empty_list(const int* in, int* out, int* count) {
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (v > 0) out[atomicAdd(count, 1)] = v;  //~ data-race //twin: if (v > 0) out[atomicAdd(count, 1) / 2] = v;
}
//== atomic_slots_of_block
//pass
//--blockDim=128 --gridDim=4
// lengths: out = 128 * gridDim.x
__global__ void atomic_slots_of_block(const int* in, int* out) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  int v = in[blockIdx.x * 128 + threadIdx.x];
  if (v > 0) out[blockIdx.x * 128 + atomicAdd(&next, 1)] = v;  //~ data-race //twin: if (v > 0) out[atomicAdd(&next, 1)] = threadIdx.x + blockIdx.x;
}
//== atomic_cas_max
//pass
//--blockDim=64 --gridDim=4
__global__ void atomic_cas_max(float* best, const float* in) {
  float v = in[blockIdx.x * 64 + threadIdx.x];
  int* place = (int*)best;
  int old = atomicAdd(place, 0);
  while (__int_as_float(old) < v) {
    int seen = atomicCAS(place, old, __float_as_int(v));
    if (seen == old) break;
    old = seen;
  }
}
//== exchanged_mailbox
//pass
//--blockDim=32 --gridDim=8
__global__ void exchanged_mailbox(int* box, int* out) {
  int got = atomicExch(&box[threadIdx.x], blockIdx.x);
  out[blockIdx.x * 32 + threadIdx.x] = got;  //~ data-race //twin: out[threadIdx.x] = blockIdx.x;
}
