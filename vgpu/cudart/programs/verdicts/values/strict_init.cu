// Unwritten values that only reach device memory: `--init strict` reports them, the default does not.  Padding that
// is moved with its struct is no value.
//
// build: -arch=compute_75
// case sum: | --init strict | sum
// expect sum: error uninitialized-read sum
// case sum_g: -G | --init strict | sum
// expect sum_g: error uninitialized-read sum
// case sum_default: | | sum
// expect sum_default: clean
// case moved: | --init strict | moved
// expect moved: error uninitialized-read moved
// case staged: | --init strict | staged
// expect staged: error uninitialized-read into_shared
// expect staged: error uninitialized-read into_shared out_of_shared
// case atomic: | --init strict | atomic
// expect atomic: error uninitialized-read atomic
// case copied: | --init strict | copied
// expect copied: error uninitialized-read device_copy
// case copied_default: | | copied
// expect copied_default: clean
// case local: | --init strict | local
// expect local: error uninitialized-read local
// case padding: | --init strict | padding
// expect padding: clean
// case unused: | --init strict | unused
// expect unused: clean
// case written: | --init strict | written
// expect written: clean
#include <cstring>

struct Item {
  char key;
  int value;
};

__global__ void sum(int* v) { v[threadIdx.x] += threadIdx.x; }                   //~ sum
__global__ void moved(const int* v, int* to) { to[threadIdx.x] = v[threadIdx.x]; }  //~ moved
__global__ void staged(const int* v, int* to) {
  __shared__ int tile[64];
  tile[threadIdx.x] = v[threadIdx.x];  //~ into_shared
  __syncthreads();
  to[threadIdx.x] = tile[63 - threadIdx.x];  //~ out_of_shared
}
__global__ void atomic(int* v) { atomicAdd(v + threadIdx.x / 2, 1); }  //~ atomic
__global__ void local(int* to, int n) {
  int v;
  if (n > 100) v = to[n];
  to[threadIdx.x] = v;  //~ local
}
__global__ void fill(Item* items) {
  items[threadIdx.x].key = 'a';
  items[threadIdx.x].value = 1;
}
__global__ void pass_on(const Item* items, Item* to) { to[threadIdx.x] = items[63 - threadIdx.x]; }
__global__ void unused(const int* v, int* to, int n) {
  const int found = ((volatile const int*)v)[threadIdx.x];
  to[threadIdx.x] = n > 100 ? found : n;
}

int main(int, char** arguments) {
  int *v, *to;
  cudaMalloc(&v, 64 * sizeof(Item));
  cudaMalloc(&to, 64 * sizeof(Item));
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  cudaMemset(to, 0, 64 * sizeof(Item));
  if (is("sum")) sum<<<1, 64>>>(v);
  if (is("moved")) moved<<<1, 64>>>(v, to);
  if (is("staged")) staged<<<1, 64>>>(v, to);
  if (is("atomic")) atomic<<<1, 64>>>(v);
  if (is("copied")) cudaMemcpy(to, v, 256, cudaMemcpyDeviceToDevice);  //~ device_copy
  if (is("local")) local<<<1, 64>>>(to, 3);
  if (is("padding")) {
    fill<<<1, 64>>>((Item*)v);
    pass_on<<<1, 64>>>((Item*)v, (Item*)to);
  }
  if (is("unused")) unused<<<1, 64>>>(v, to, 3);
  if (is("written")) {
    cudaMemset(v, 0, 256);
    sum<<<1, 64>>>(v);
    moved<<<1, 64>>>(v, to);
    staged<<<1, 64>>>(v, to);
    atomic<<<1, 64>>>(v);
  }
  cudaDeviceSynchronize();
  cudaFree(v);
  cudaFree(to);
  return 0;
}
