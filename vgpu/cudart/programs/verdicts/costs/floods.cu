// Findings that a loop repeats for every thread: each is one finding with an exact count.  Equal values are compared
// a row at a time, and a place that was reported before is only counted.
//
// build: -arch=compute_80
// case same: | --jobs 1 | same
// expect same: note data-race stores_same
// says same: 130976 times
// case differ: | --jobs 1 | differ
// expect differ: error data-race stores_own
// says differ: 130976 times
// case at_last: | --jobs 1 | at_last
// expect at_last: note data-race stores_last
// expect at_last: error data-race stores_last
// case outside: | --jobs 1 | outside
// expect outside: error out-of-bounds outside
// says outside: 32768 times
// case unwritten: | --jobs 1 | unwritten
// expect unwritten: error uninitialized-read decides
// says unwritten: 1024 times
// case passed_by: | --jobs 1 | passed_by
// expect passed_by: error barrier-divergence wait runs_on
// case clean: | --jobs 1 | clean
// expect clean: clean
#include <cstring>

constexpr int kWords = 32, kPlaces = 1024;

__global__ void same(int* out) {
  for (int i = 0; i < kWords; ++i) out[i] = i;  //~ stores_same
}

__global__ void differ(int* out) {
  for (int i = 0; i < kWords; ++i) out[i] = i + threadIdx.x + blockIdx.x;  //~ stores_own
}

// The last thread of all stores another value.
__global__ void at_last(int* out) {
  const int other = blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1;
  for (int i = 0; i < kWords; ++i) out[i] = i + other;  //~ stores_last
}

__global__ void outside(int* out) {
  for (int i = 0; i < kWords; ++i) out[(i + 1) * kPlaces + threadIdx.x] = i;  //~ outside
}

__global__ void unwritten(const int* in, int* out) {
  for (int i = 0; i < kWords; ++i) {
    if (in[i * 32 + threadIdx.x % 32] == 5) out[threadIdx.x] = 1;  //~ decides
  }
}

__global__ void passed_by(int* out) {
  for (int i = 0; i < kWords; ++i) {
    if (threadIdx.x != 3) {
      __syncthreads();  //~ wait
    } else {
      out[i] = i;  //~ runs_on
    }
  }
}

__global__ void clean(int* out) {
  for (int i = 0; i < kWords; ++i) atomicAdd(&out[i], 1);
}

int main(int, char** arguments) {
  int *in, *out;
  cudaMalloc(&in, kPlaces * sizeof(int));
  cudaMalloc(&out, kPlaces * sizeof(int));
  cudaMemset(out, 0, kPlaces * sizeof(int));
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  if (is("same")) same<<<8, 256>>>(out);
  if (is("differ")) differ<<<8, 256>>>(out);
  if (is("at_last")) at_last<<<8, 256>>>(out);
  if (is("outside")) outside<<<4, 256>>>(out);
  if (is("unwritten")) unwritten<<<4, 256>>>(in, out);
  if (is("passed_by")) passed_by<<<1, 256>>>(out);
  if (is("clean")) clean<<<8, 256>>>(out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
