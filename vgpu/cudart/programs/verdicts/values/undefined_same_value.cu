// Threads that store one value at one place race, and it does not matter: a note.  Where a value is undefined, it is
// the same only because undefined memory begins with one pattern here: an error.
//
// build: -arch=compute_75
// case array: | | array
// expect array: error data-race array
// case array_g: -G | | array
// expect array_g: error data-race array
// case first: | | first
// expect first: error data-race first
// expect first: note data-race first
// case second: | | second
// expect second: error data-race second
// expect second: note data-race second
// case same: | | same
// expect same: note data-race same
// case rewritten: | | rewritten
// expect rewritten: note data-race rewritten
#include <cstring>

__global__ void array(int* p) {
  __shared__ int a[64];
  p[0] = a[threadIdx.x];  //~ array
}

// The value that is stored first is undefined; registers begin with 0 here.  The other threads store one value.
__global__ void first(int* p, int n) {
  int v;
  if (threadIdx.x >= n) v = *(volatile int*)(p + 1);
  p[0] = v;  //~ first
}

__global__ void second(int* p, int n) {
  int v;
  if (threadIdx.x < n) v = *(volatile int*)(p + 1);
  p[0] = v;  //~ second
}

__global__ void same(int* p) { p[0] = 7; }  //~ same

// What was undefined has been written over before.
__global__ void rewritten(int* p, int n) {
  int v;
  if (threadIdx.x > n) v = *(volatile int*)(p + 1);
  if (threadIdx.x == 0) p[0] = v;
  __syncthreads();
  p[0] = 0;  //~ rewritten
}

int main(int, char** arguments) {
  int* p;
  cudaMalloc(&p, 8);
  cudaMemset(p, 0, 8);
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  if (is("array")) array<<<1, 64>>>(p);
  if (is("first")) first<<<1, 64>>>(p, 32);
  if (is("second")) second<<<1, 64>>>(p, 32);
  if (is("same")) same<<<1, 64>>>(p);
  if (is("rewritten")) rewritten<<<1, 64>>>(p, 3);
  cudaDeviceSynchronize();
  cudaFree(p);
  return 0;
}
