// Races that are judged more strictly or more leniently than by the letter of PTX: sums and shifts in the
// style for warps in lockstep, and messages of volatile accesses.  Under any schedule, in both builds.
// case tree: | | tree
// expect tree: error data-race tree
// expect tree: error data-race steps
// says tree: lanes of one warp are not ordered without __syncwarp()
// case synced_tree: | | synced-tree
// expect synced_tree: clean
// case message: | | message
// expect message: note data-race wrote read
// says message: they do not race, but hand over data
// case fenced_message: | | fenced-message
// expect fenced_message: clean
// case shift: | | shift
// expect shift: note data-race shifted stored
// says shift: no execution goes wrong
// case tree_random: | --strategy random --runs 3 | tree
// expect tree_random: error data-race tree
// expect tree_random: error data-race steps
// says tree_random: lanes of one warp are not ordered without __syncwarp()
// case synced_tree_random: | --strategy random --runs 3 | synced-tree
// expect synced_tree_random: clean
// case message_random: | --strategy random --runs 3 | message
// expect message_random: note data-race wrote read
// says message_random: they do not race, but hand over data
// case fenced_message_random: | --strategy random --runs 3 | fenced-message
// expect fenced_message_random: clean
// case shift_random: | --strategy random --runs 3 | shift
// expect shift_random: note data-race shifted stored
// says shift_random: no execution goes wrong
// case tree_pct: | --strategy pct --runs 3 | tree
// expect tree_pct: error data-race tree
// expect tree_pct: error data-race steps
// says tree_pct: lanes of one warp are not ordered without __syncwarp()
// case synced_tree_pct: | --strategy pct --runs 3 | synced-tree
// expect synced_tree_pct: clean
// case message_pct: | --strategy pct --runs 3 | message
// expect message_pct: note data-race wrote read
// says message_pct: they do not race, but hand over data
// case fenced_message_pct: | --strategy pct --runs 3 | fenced-message
// expect fenced_message_pct: clean
// case shift_pct: | --strategy pct --runs 3 | shift
// expect shift_pct: note data-race shifted stored
// says shift_pct: no execution goes wrong
// case tree_unoptimized: -G | | tree
// expect tree_unoptimized: error data-race tree
// expect tree_unoptimized: error data-race steps
// says tree_unoptimized: lanes of one warp are not ordered without __syncwarp()
// case synced_tree_unoptimized: -G | | synced-tree
// expect synced_tree_unoptimized: clean
// case message_unoptimized: -G | | message
// expect message_unoptimized: note data-race wrote read
// says message_unoptimized: they do not race, but hand over data
// case fenced_message_unoptimized: -G | | fenced-message
// expect fenced_message_unoptimized: clean
// case shift_unoptimized: -G | | shift
// expect shift_unoptimized: note data-race shifted stored
// says shift_unoptimized: no execution goes wrong
// case tree_unoptimized_random: -G | --strategy random --runs 3 | tree
// expect tree_unoptimized_random: error data-race tree
// expect tree_unoptimized_random: error data-race steps
// says tree_unoptimized_random: lanes of one warp are not ordered without __syncwarp()
// case synced_tree_unoptimized_random: -G | --strategy random --runs 3 | synced-tree
// expect synced_tree_unoptimized_random: clean
// case message_unoptimized_random: -G | --strategy random --runs 3 | message
// expect message_unoptimized_random: note data-race wrote read
// says message_unoptimized_random: they do not race, but hand over data
// case fenced_message_unoptimized_random: -G | --strategy random --runs 3 | fenced-message
// expect fenced_message_unoptimized_random: clean
// case shift_unoptimized_random: -G | --strategy random --runs 3 | shift
// expect shift_unoptimized_random: note data-race shifted stored
// says shift_unoptimized_random: no execution goes wrong
// case lockstep: | --warp-model lockstep | tree
// expect lockstep: clean
// case weak_message: | --volatile weak | message
// expect weak_message: error data-race wrote read
// expect weak_message: error data-race sets polls
// case lockstep_unoptimized: -G | --warp-model lockstep | tree
// expect lockstep_unoptimized: clean
// case weak_message_unoptimized: -G | --volatile weak | message
// expect weak_message_unoptimized: error data-race wrote read
// expect weak_message_unoptimized: error data-race sets polls
#include <cuda_runtime.h>

#include <cstdio>
#include <string>

// A sum in the style for warps in lockstep.
__global__ void tree(const int* in, int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = in[t + 32];
  __syncthreads();
  s[t] += s[t + 32];  //~ steps
  s[t] += s[t + 16];  //~ tree steps
  s[t] += s[t + 8];  //~ steps
  s[t] += s[t + 4];  //~ steps
  s[t] += s[t + 2];  //~ steps
  s[t] += s[t + 1];  //~ steps
  if (t == 0) *out = s[0];
}

__global__ void synced_tree(const int* in, int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = in[t + 32];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    const int other = s[t + half];
    __syncwarp();
    s[t] += other;
    __syncwarp();
  }
  if (t == 0) *out = s[0];
}

__global__ void message(volatile int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 7;  //~ wrote
    *flag = 1;  //~ sets
  } else {
    while (*flag == 0) {  //~ polls
    }
    *out = *data;  //~ read
  }
}

__global__ void fenced_message(volatile int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 7;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

__global__ void shift(int* a) {
  const int lane = threadIdx.x;
  for (int row = 0; row < 8; ++row) {
    int value = lane > 0 ? a[32 * row + lane - 1] : 0;  //~ shifted
    value = __shfl_up_sync(~0u, value, 1);
    a[32 * row + lane] = value;  //~ stored
  }
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  int* memory = nullptr;
  cudaMalloc(&memory, 1024 * sizeof(int));
  cudaMemset(memory, 0, 1024 * sizeof(int));
  int* const out = memory + 1000;
  if (mode == "tree") tree<<<1, 32>>>(memory, out);
  if (mode == "synced-tree") synced_tree<<<1, 32>>>(memory, out);
  if (mode == "message") message<<<2, 1>>>(memory, memory + 1, out);
  if (mode == "fenced-message") fenced_message<<<2, 1>>>(memory, memory + 1, out);
  if (mode == "shift") shift<<<1, 32>>>(memory);
  int result = 0;
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
  cudaFree(memory);
  return 0;
}
