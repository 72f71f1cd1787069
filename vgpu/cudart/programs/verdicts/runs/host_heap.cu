// Memory of the host's heap that the program never writes is copied to the device, and decides
// there.  Fresh memory of malloc() is mostly zero, so nothing shows.  Some of several runs fill the
// heap; what differs then is told as what it is, with the copy, and not as a schedule.  Bytes that
// nothing uses decide nothing.
//
// case index: | --runs 4 | 0
// expect index: error uninitialized-read copy
// expect index: error out-of-bounds store
// says index: at byte 0 of copy 1 to the device, by cudaMemcpy of 4 bytes
// says index: filled with 0xfe, it leads to out-of-bounds in kernel scatter
// says index: first seen in run 3: --strategy random --seed 2 --heap 254
// case two_runs: | --runs 2 | 0
// expect two_runs: error uninitialized-read copy
// expect two_runs: error out-of-bounds store
// says two_runs: first seen in run 2: --strategy random --seed 1 --heap 254
// case one_run: | --heap 254 | 0
// expect one_run: error out-of-bounds store
// case value: | --runs 4 | 1
// expect value: error uninitialized-read copy_values
// says value: copy 1 to the device, by cudaMemcpy of 400 bytes
// says value: this decides: filled with 0xfe, it leads to
// case second: | --runs 4 | 2
// expect second: error uninitialized-read second
// says second: copy 2 to the device
// case argument: | --runs 4 | 3
// expect argument: error uninitialized-read launch
// case symbol: | --runs 4 | 4
// expect symbol: error uninitialized-read symbol
// case printed: | --runs 4 | 5
// expect printed: error uninitialized-read copy_values
// case cleared: | --runs 4 | 6
// expect cleared: clean
// case padding: | --runs 4 | 7
// expect padding: clean
// case unused: | --runs 4 | 8
// expect unused: clean
// case written: | --runs 4 | 9
// expect written: clean
// case schedule: | --runs 4 | 10
// expect schedule: note data-race last
// expect schedule: error schedule-dependent
// case unchecked: | --runs 4 --check race,bounds | 0
// expect unchecked: clean
// case not_filled: | --runs 4 --heap 0 | 0
// expect not_filled: clean
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int kValues = 100;
struct Padded {
  char a;
  double b;
};

__constant__ int offset[2];

__global__ void scatter(const unsigned* start, int* to) {
  to[*start + threadIdx.x] = 1;  //~ store
}
__global__ void add_up(const int* values, int n, int* sum) {
  int total = 0;
  for (int i = 0; i < n; ++i) total += values[i] + offset[0];
  *sum = total;
}
__global__ void twice(Padded* values) { values[threadIdx.x].b *= 2; }
__global__ void print(const int* values) { printf("value %d\n", values[3]); }
__global__ void last_writer(volatile int* last) {
  *last = blockIdx.x;  //~ last
}

void copy_to_device(void* to, const void* from, size_t bytes) {
  cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);  //~ copy_values
}

int main(int, char** arguments) {
  const int kind = std::atoi(arguments[1]);
  int *values, *sum, result = 0;
  cudaMalloc(&values, 4096);
  cudaMalloc(&sum, 2 * sizeof(int));
  cudaMemset(values, 0, 4096);
  cudaMemset(sum, 0, 2 * sizeof(int));
  // So large that its memory is fresh: zeros, unless a run fills it.
  constexpr size_t kFresh = 1 << 20;
  int* host = static_cast<int*>(kind == 6 ? std::calloc(kFresh, 1) : std::malloc(kFresh));
  int n = kValues;
  if (kind == 0) {
    cudaMemcpy(values, host, sizeof(unsigned), cudaMemcpyHostToDevice);  //~ copy
    scatter<<<1, 2>>>(reinterpret_cast<unsigned*>(values), sum);
  }
  if (kind == 1 || kind == 6) copy_to_device(values, host, kValues * sizeof(int));
  if (kind == 2) {
    for (int i = 0; i < kValues / 2; ++i) host[i] = i;
    copy_to_device(values, host, kValues / 2 * sizeof(int));
    int *to = values + kValues / 2, *from = host + kValues / 2;
    cudaMemcpy(to, from, kValues / 2 * sizeof(int), cudaMemcpyHostToDevice);  //~ second
  }
  if (kind == 3) {
    cudaMemset(values, 1, 64);
    add_up<<<1, 1>>>(values, host[9] & 3, sum);  //~ launch
  }
  if (kind == 4) {
    cudaMemcpyToSymbol(offset, host, sizeof offset);  //~ symbol
  }
  if (kind == 5) {
    copy_to_device(values, host, kValues * sizeof(int));
    print<<<1, 1>>>(values);
    n = 0;
  }
  if (kind == 7) {
    auto* const structs = static_cast<Padded*>(std::malloc(32 * sizeof(Padded)));
    for (int i = 0; i < 32; ++i) structs[i].a = 'a', structs[i].b = i;
    copy_to_device(values, structs, 32 * sizeof(Padded));
    twice<<<1, 32>>>(reinterpret_cast<Padded*>(values));
    cudaMemcpy(structs, values, 32 * sizeof(Padded), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; ++i) result += static_cast<int>(structs[i].b);
    std::free(structs);
    std::printf("%d\n", result);
    return 0;
  }
  if (kind == 8) {
    // The kernel uses the first half; all of it comes back.
    for (int i = 0; i < kValues / 2; ++i) host[i] = i;
    copy_to_device(values, host, kValues * sizeof(int));
    n = kValues / 2;
  }
  if (kind == 9) {
    for (int i = 0; i < kValues; ++i) host[i] = i;
    copy_to_device(values, host, kValues * sizeof(int));
  }
  if (kind == 10) {
    copy_to_device(values, host, kValues * sizeof(int));  // of no use
    last_writer<<<4, 1>>>(sum);
    n = 0;
  }
  if (kind != 0 && kind != 3 && kind != 10) add_up<<<1, 1>>>(values, n, sum);
  cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
  cudaMemcpy(host, values, kValues * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
  std::free(host);
  cudaFree(sum);
  cudaFree(values);
  return 0;
}
