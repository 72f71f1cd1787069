// Some threads pass by a barrier at which others wait, and run on behind it: in a branch, in a
// loop, in a vote of the block; lanes pass by a shuffle whose mask names them.  Threads that return
// before the barrier and do nothing more are not waited for.
// case branch: | | branch
// expect branch: error barrier-divergence branch_wait run
// says branch: (1) waits at a barrier that (2) has passed by
// case loop: | | loop
// expect loop: error barrier-divergence loop_wait run
// case count: | | count
// expect count: error barrier-divergence count_wait run
// case warp: | | warp
// expect warp: error barrier-divergence warp_wait run
// case shuffle: | | shuffle
// expect shuffle: error barrier-divergence shuffle_wait run
// says shuffle: (1) waits for the lanes that its mask names, and one of them, (2), has passed it by
// says shuffle: hint: Every lane that the mask of a warp operation names must come to it
// case early: | | early
// expect early: clean
// case unoptimized_branch: -G | | branch
// expect unoptimized_branch: error barrier-divergence branch_wait run
// case unoptimized_loop: -G | | loop
// expect unoptimized_loop: error barrier-divergence loop_wait run
// case unoptimized_count: -G | | count
// expect unoptimized_count: error barrier-divergence count_wait run
// case unoptimized_early: -G | | early
// expect unoptimized_early: clean
// case jobs: | --jobs 2 | branch
// expect jobs: error barrier-divergence branch_wait run
// case schedules: | --runs 3 | loop
// expect schedules: error barrier-divergence loop_wait run
#include <cstdio>
#include <cstring>

enum class Where { branch, loop, count, warp, shuffle, early };

__global__ void kernel(const int* in, int* out, int n, Where where) {
  __shared__ int tile[128];
  const int t = threadIdx.x;
  if (where == Where::early && t >= n) return;
  tile[t] = in[t];
  __syncthreads();
  int v = tile[(t + 1) % n];
  if (where == Where::branch) {
    if (v % 2) {
      v += tile[t];
      __syncthreads();  //~ branch_wait
    }
  } else if (where == Where::loop) {
    for (int i = 0; i < v % 3; ++i) {
      v += 3 * tile[(t + i) % n];
      __syncthreads();  //~ loop_wait
    }
  } else if (where == Where::count) {
    if (v % 2) {
      if (__syncthreads_count(v > 3) > 2) v = 0;  //~ count_wait
    }
  } else if (where == Where::warp) {
    if (t >= 32) __syncthreads();  //~ warp_wait
  } else if (where == Where::shuffle) {
    if (v % 2) v += __shfl_xor_sync(~0u, v, 2);  //~ shuffle_wait
  } else {
    __syncthreads();
  }
  out[t] = v;  //~ run
}

int main(int, char** arguments) {
  const char* const names[] = {"branch", "loop", "count", "warp", "shuffle", "early"};
  int which = 0;
  while (std::strcmp(arguments[1], names[which]) != 0) ++which;
  int values[128], *in = nullptr, *out = nullptr;
  for (int i = 0; i < 128; ++i) values[i] = i;
  cudaMalloc(&in, sizeof values);
  cudaMalloc(&out, sizeof values);
  cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof values);
  const auto where = static_cast<Where>(which);
  kernel<<<1, 128>>>(in, out, where == Where::early ? 100 : 128, where);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(in);
  cudaFree(out);
  return 0;
}
