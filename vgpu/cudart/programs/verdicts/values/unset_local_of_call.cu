// What a function leaves on the stack is no value of a variable of the next one: local memory is undefined from the
// return on, and what alloca() has given from the return of its function on.
//
// build: -arch=compute_75
// case updated: | | updated
// expect updated: error uninitialized-read update copy
// case updated_g: -G | | updated
// expect updated_g: error uninitialized-read update copy
// case updated_90_g: -arch=compute_90 -G | | updated
// expect updated_90_g: error uninitialized-read update copy
// case deeper_g: -G | | deeper
// expect deeper_g: error uninitialized-read increment copy
// case twice_g: -G | | twice
// expect twice_g: error uninitialized-read again decides
// case some_lanes: | | some_lanes
// expect some_lanes: error uninitialized-read update copy
// case some_lanes_g: -G | | some_lanes
// expect some_lanes_g: error uninitialized-read update copy
// case recursion_g: -G | | recursion
// expect recursion_g: error uninitialized-read below copy
// case returned: -G | | returned
// expect returned: error uninitialized-read after_return copy
// case filled: | | filled
// expect filled: clean
// case filled_g: -G | | filled
// expect filled_g: clean
// case callers: | | callers
// expect callers: clean
// case callers_g: -G | | callers
// expect callers_g: clean
#include <cuda/atomic>
#include <cstring>

__device__ __noinline__ void increment(int* p) { *p += 2; }  //~ increment

__device__ __noinline__ int filled(int value) {
  int mine = value;
  increment(&mine);
  return mine;
}

__device__ __noinline__ int updated() {
  int mine;
  cuda::atomic_ref<int>(mine).fetch_add(1);  //~ update
  return mine;
}

__device__ __noinline__ int deeper() {
  int mine;
  increment(&mine);
  return mine;
}

__device__ __noinline__ int at_first(bool is_first) {
  int mine;
  if (is_first) mine = 4;
  int* volatile where = &mine;
  if (*where > 7) return 1;  //~ again decides
  return 0;
}

__device__ __noinline__ int descend(int depth, bool is_set) {
  int mine[4];
  if (is_set) mine[depth & 3] = depth;
  const int below = depth == 0 ? 0 : descend(depth - 1, is_set);
  return below + mine[depth & 3];  //~ below
}

__device__ __noinline__ int* address_of_own(int value) {
  int mine = value;
  increment(&mine);
  int* volatile p = &mine;
  return p;
}

__global__ void run(int* out, int which) {
  const int i = static_cast<int>(threadIdx.x);
  int result = filled(i);
  if (which == 0) result += updated();
  if (which == 1) result += deeper();
  if (which == 2) result += at_first(true) + at_first(false);
  if (which == 3) result += i < 7 ? updated() : filled(3);
  if (which == 4) result += descend(3, true) + descend(3, false);
  if (which == 5) result += *address_of_own(i);  //~ after_return
  if (which == 6) result += filled(result) + filled(3);
  if (which == 7) {
    int kept = i;
    increment(&kept);
    result += filled(kept);
    increment(&kept);
    result += kept + descend(4, true);
  }
  out[i] = result;
}

int main(int, char** arguments) {
  int *out, host[32];
  cudaMalloc(&out, sizeof host);
  constexpr const char* kNames[] = {"updated",   "deeper",   "twice",  "some_lanes",
                                    "recursion", "returned", "filled", "callers"};
  for (int which = 0; which < 8; ++which) {
    if (std::strcmp(arguments[1], kNames[which]) == 0) run<<<1, 32>>>(out, which);
  }
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);  //~ copy
  cudaFree(out);
  return 0;
}
