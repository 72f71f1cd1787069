// Programs with cuFFT: correct ones that check their results, and each defect that a program can have at a
// call of the library.
// build: -arch=compute_75 -lcufft
// case round_trip: | | round-trip
// expect round_trip: clean
// case real: | | real
// expect real: clean
// case layouts: | | layouts
// expect layouts: clean
// case graph: | | graph
// expect graph: clean
// case managed: | | managed
// expect managed: clean
// case round_trip_in_any_order: | --runs 3 | round-trip
// expect round_trip_in_any_order: clean
// case statuses: | | statuses
// expect statuses: note api-error
// says statuses: returned CUFFT_INVALID_PLAN: 1 is no plan, or has been destroyed
// prints statuses: 8 3 4 0 4 1 0 1 1 0 0 0 0 13 4 0 512
// case short_output: | | short-output
// expect short_output: error out-of-bounds short_output
// says short_output: output of cufftExecR2C, 13 complex
// case wrong_distance: | | wrong-distance
// expect wrong_distance: error out-of-bounds wrong_distance
// says wrong_distance: output of cufftExecR2C, 13 complex, 3 of them 24 apart
// case uninitialized: | | uninitialized
// expect uninitialized: error uninitialized-read
// says uninitialized: data of cufftExecC2C, 24 complex
// case unordered: | | unordered
// expect unordered: error data-race kernel unordered
// says unordered: nothing orders the kernel of (1) and (2), data of cufftExecC2C, 24 complex: they are in different streams
// case shared_work_area: | | shared-work-area
// expect shared_work_area: error data-race first_user second_user
// says shared_work_area: nothing orders work area of cufftExecC2C, 192 bytes (1) and work area of cufftExecC2C, 192 bytes (2): they are in different streams
// case freed: | | freed
// expect freed: error use-after-free freed data_freed
// says freed: data of cufftExecC2C, 24 complex
// case freed_work_area: | | freed-work-area
// expect freed_work_area: error use-after-free freed_work_area area_freed
// says freed_work_area: work area of cufftExecC2C, 192 bytes
// case consumed_input: | | consumed-input
// expect consumed_input: error uninitialized-read
// says consumed_input: input of cufftExecC2R, which it overwrites, 13 complex
// case managed_too_early: | | managed-too-early
// expect managed_too_early: error data-race read_by_host of_managed
// says managed_too_early: the host does not wait for data of cufftExecC2C, 24 complex (2) before (1)
// prints managed_too_early: sum: 1, not 24
// case callbacks: | | callbacks
// expect callbacks: clean
// says callbacks: cufftXtClearCallback
// prints callbacks: 16
// status callbacks: 2
#include <cufft.h>
#include <cufftXt.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "library_memory.hpp"

namespace {

constexpr int kLength = 24, kBatch = 3;

template <class T>
T* to_device(const std::vector<T>& values) {
  T* pointer = nullptr;
  CHECK(cudaMalloc(&pointer, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return pointer;
}

void expect_near(double got, double want, const char* what) {
  if (std::fabs(got - want) < 1e-4) return;
  std::printf("%s: %g, not %g\n", what, got, want);
  std::exit(1);
}

std::vector<cufftComplex> signal(std::size_t count) {
  std::vector<cufftComplex> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = {std::sin(0.7F * static_cast<float>(i)), std::cos(0.3F * static_cast<float>(i))};
  }
  return values;
}

std::vector<float> real_signal(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(0.7F * static_cast<float>(i));
  return values;
}

__global__ void scale(cufftComplex* values, int count, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = {values[i].x * factor, values[i].y * factor};
}

__global__ void fill(cufftComplex* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = {1.0F, 0.0F};  //~ kernel
}

// Forward and inverse, batch by batch, with a kernel in between.
void round_trip() {
  const auto values = signal(kLength * kBatch);
  cufftComplex* const data = to_device(values);
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, kLength, CUFFT_C2C, kBatch));
  CHECK(cufftExecC2C(plan, data, data, CUFFT_FORWARD));
  cufftComplex sum{};
  for (int i = 0; i < kLength; ++i) sum.x += values[i].x;
  expect_near(to_host(data, 1)[0].x, sum.x, "element 0");
  scale<<<1, 128>>>(data, kLength * kBatch, 1.0F / kLength);
  CHECK(cufftExecC2C(plan, data, data, CUFFT_INVERSE));
  const auto back = to_host(data, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) expect_near(back[i].y, values[i].y, "back");
  CHECK(cufftDestroy(plan));
  CHECK(cudaFree(data));
}

// Real transforms of two and three dimensions, in place and out of place, in double precision too.
void real_transforms() {
  constexpr int kRows = 6, kColumns = 10, kHalf = kColumns / 2 + 1;
  const auto values = real_signal(kRows * kColumns);
  float* const input = to_device(values);
  auto* const output = allocate<cufftComplex>(kRows * kHalf);
  cufftHandle forward = 0, inverse = 0;
  CHECK(cufftPlan2d(&forward, kRows, kColumns, CUFFT_R2C));
  CHECK(cufftPlan2d(&inverse, kRows, kColumns, CUFFT_C2R));
  CHECK(cufftExecR2C(forward, input, output));
  auto* const padded = allocate<float>(kRows * 2 * kHalf);
  CHECK(cudaMemcpy2D(padded, 2 * kHalf * sizeof(float), input, kColumns * sizeof(float),
                     kColumns * sizeof(float), kRows, cudaMemcpyDeviceToDevice));
  CHECK(cufftExecR2C(forward, padded, reinterpret_cast<cufftComplex*>(padded)));
  const auto a = to_host(output, kRows * kHalf);
  const auto b = to_host(reinterpret_cast<cufftComplex*>(padded), kRows * kHalf);
  for (std::size_t i = 0; i < a.size(); ++i) expect_near(a[i].x, b[i].x, "in place");
  auto* const back = allocate<float>(kRows * kColumns);
  CHECK(cufftExecC2R(inverse, output, back));
  const auto again = to_host(back, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    expect_near(again[i] / (kRows * kColumns), values[i], "real");
  }
  CHECK(cufftDestroy(forward));
  CHECK(cufftDestroy(inverse));

  auto* const box = to_device(std::vector<double>(4 * 3 * 5, 2.0));
  auto* const spectrum = allocate<cufftDoubleComplex>(4 * 3 * 3);
  CHECK(cufftPlan3d(&forward, 4, 3, 5, CUFFT_D2Z));
  CHECK(cufftExecD2Z(forward, box, spectrum));
  expect_near(to_host(spectrum, 1)[0].x, 120, "sum of a box");
  CHECK(cufftDestroy(forward));
  for (void* const pointer :
       {(void*)input, (void*)output, (void*)padded, (void*)back, (void*)box, (void*)spectrum}) {
    CHECK(cudaFree(pointer));
  }
}

// The columns of a matrix, of which only every other one has been written, on a stream, with the
// program's own work area; and half precision.
void layouts() {
  constexpr int kWidth = 4;
  auto* const matrix = allocate<cufftComplex>(kLength * kWidth);
  const auto values = signal(kLength * kWidth);
  CHECK(cudaMemcpy2D(matrix, 2 * sizeof(cufftComplex), values.data(), 2 * sizeof(cufftComplex),
                     sizeof(cufftComplex), kLength * kWidth / 2, cudaMemcpyHostToDevice));
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  cufftHandle plan = 0;
  CHECK(cufftCreate(&plan));
  CHECK(cufftSetAutoAllocation(plan, 0));
  int length = kLength;
  std::size_t bytes = 0;
  CHECK(cufftMakePlanMany(plan, 1, &length, &length, kWidth, 2, &length, kWidth, 2, CUFFT_C2C,
                          kWidth / 2, &bytes));
  char* const area = allocate<char>(bytes);
  CHECK(cufftSetWorkArea(plan, area));
  CHECK(cufftSetStream(plan, stream));
  CHECK(cudaDeviceSynchronize());
  CHECK(cufftExecC2C(plan, matrix, matrix, CUFFT_FORWARD));
  CHECK(cudaStreamSynchronize(stream));
  float sum = 0;
  for (int i = 0; i < kLength; ++i) sum += values[i * kWidth + 2].x;
  expect_near(to_host(matrix + 2, 1)[0].x, sum, "a column");
  CHECK(cufftDestroy(plan));
  CHECK(cudaFree(area));
  CHECK(cudaFree(matrix));
  CHECK(cudaStreamDestroy(stream));

  // 1.0 in half precision is 0x3c00; sixteen of them sum to 0x4c00.
  auto* const halves = to_device(std::vector<unsigned>(16, 0x00003c00U));
  CHECK(cufftCreate(&plan));
  long long size = 16;
  CHECK(cufftXtMakePlanMany(plan, 1, &size, nullptr, 1, 1, CUDA_C_16F, nullptr, 1, 1, CUDA_C_16F, 1,
                            &bytes, CUDA_C_16F));
  CHECK(cufftXtExec(plan, halves, halves, CUFFT_FORWARD));
  expect_near(to_host(halves, 1)[0], 0x4c00, "halves");
  CHECK(cufftDestroy(plan));
  CHECK(cudaFree(halves));
}

// Captured once, launched twice: forward and inverse each time.
void graph() {
  const auto values = signal(kLength);
  cufftComplex* const data = to_device(values);
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, kLength, CUFFT_C2C, 1));
  CHECK(cufftSetStream(plan, stream));
  CHECK(cudaDeviceSynchronize());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cufftExecC2C(plan, data, data, CUFFT_FORWARD));
  scale<<<1, 32, 0, stream>>>(data, kLength, 2.0F / kLength);
  CHECK(cufftExecC2C(plan, data, data, CUFFT_INVERSE));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int launch = 0; launch < 2; ++launch) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  const auto back = to_host(data, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) expect_near(back[i].y, 4 * values[i].y, "graph");
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cufftDestroy(plan));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(data));
}

// The statuses that the guide documents.
void statuses() {
  cufftHandle plan = 0;
  std::size_t bytes = 0;
  int length = 8;
  const int answers[] = {
      cufftPlan1d(&plan, 0, CUFFT_C2C, 1),
      cufftPlan1d(&plan, 8, static_cast<cufftType>(3), 1),
      cufftPlanMany(&plan, 4, &length, nullptr, 1, 1, nullptr, 1, 1, CUFFT_C2C, 1),
      cufftPlan1d(&plan, 8, CUFFT_R2C, 2),
      cufftExecR2C(plan, nullptr, nullptr),
      cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes),
      cufftDestroy(plan),
      cufftExecR2C(plan, nullptr, nullptr),  // destroyed
      cufftDestroy(plan),
      cufftDestroy(CUFFT_PLAN_NULL),
      cufftCreate(&plan),
      cufftSetAutoAllocation(plan, 0),
      cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes),
      cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(&bytes),
                   reinterpret_cast<cufftComplex*>(&bytes), CUFFT_FORWARD),  // no work area
      cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(&bytes),
                   reinterpret_cast<cufftComplex*>(&bytes), 2),
      cufftEstimate1d(16, CUFFT_Z2Z, 2, &bytes),
  };
  for (const int status : answers) std::printf("%d ", status);
  std::printf("%zu\n", bytes);
}

// Programs with defects.
void short_output() {
  float* const input = to_device(real_signal(kLength));
  auto* const output = allocate<cufftComplex>(kLength / 2);
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, kLength, CUFFT_R2C, 1));
  CHECK(cufftExecR2C(plan, input, output));  //~ short_output
  CHECK(cudaDeviceSynchronize());
}

void wrong_distance() {
  float* const input = to_device(real_signal(kLength * kBatch));
  auto* const output = allocate<cufftComplex>((kLength / 2 + 1) * kBatch);
  cufftHandle plan = 0;
  int length = kLength;
  CHECK(cufftPlanMany(&plan, 1, &length, &length, 1, kLength, &length, 1, kLength, CUFFT_R2C,
                      kBatch));
  CHECK(cufftExecR2C(plan, input, output));  //~ wrong_distance
  CHECK(cudaDeviceSynchronize());
}

void uninitialized() {
  auto* const data = allocate<cufftComplex>(kLength);
  fill<<<1, kLength - 1>>>(data, kLength);
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, kLength, CUFFT_C2C, 1));
  CHECK(cufftExecC2C(plan, data, data, CUFFT_FORWARD));
  to_host(data, kLength);
}

void unordered() {
  auto* const data = allocate<cufftComplex>(kLength);
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, kLength, CUFFT_C2C, 1));
  CHECK(cufftSetStream(plan, streams[1]));
  CHECK(cudaDeviceSynchronize());
  fill<<<1, 32, 0, streams[0]>>>(data, kLength);
  CHECK(cufftExecC2C(plan, data, data, CUFFT_FORWARD));  //~ unordered
  CHECK(cudaDeviceSynchronize());
}

void shared_work_area() {
  auto* const a = to_device(signal(kLength));
  auto* const b = to_device(signal(kLength));
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, kLength, CUFFT_C2C, 1));
  CHECK(cudaDeviceSynchronize());
  CHECK(cufftSetStream(plan, streams[0]));
  CHECK(cufftExecC2C(plan, a, a, CUFFT_FORWARD));  //~ first_user
  CHECK(cufftSetStream(plan, streams[1]));
  CHECK(cufftExecC2C(plan, b, b, CUFFT_FORWARD));  //~ second_user
  CHECK(cudaDeviceSynchronize());
}

void freed() {
  auto* const data = to_device(signal(kLength));
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, kLength, CUFFT_C2C, 1));
  CHECK(cudaFree(data));  //~ data_freed
  CHECK(cufftExecC2C(plan, data, data, CUFFT_FORWARD));  //~ freed
  CHECK(cudaDeviceSynchronize());
}

void freed_work_area() {
  auto* const data = to_device(signal(kLength));
  cufftHandle plan = 0;
  CHECK(cufftCreate(&plan));
  CHECK(cufftSetAutoAllocation(plan, 0));
  std::size_t bytes = 0;
  CHECK(cufftMakePlan1d(plan, kLength, CUFFT_C2C, 1, &bytes));
  char* const area = allocate<char>(bytes);
  CHECK(cufftSetWorkArea(plan, area));
  CHECK(cudaFree(area));  //~ area_freed
  CHECK(cufftExecC2C(plan, data, data, CUFFT_FORWARD));  //~ freed_work_area
  CHECK(cudaDeviceSynchronize());
}

void consumed_input() {
  auto* const spectrum = to_device(std::vector<cufftComplex>(kLength / 2 + 1));
  auto* const output = allocate<float>(kLength);
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, kLength, CUFFT_C2R, 1));
  CHECK(cufftExecC2R(plan, spectrum, output));
  to_host(spectrum, kLength / 2 + 1);
}

// Managed memory may be used by the host again when it has waited.
void managed(bool waits) {
  cufftComplex* data = nullptr;
  CHECK(cudaMallocManaged(&data, kLength * sizeof *data));
  for (int i = 0; i < kLength; ++i) data[i] = {1, 0};
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, kLength, CUFFT_C2C, 1));
  CHECK(cufftExecC2C(plan, data, data, CUFFT_FORWARD));  //~ of_managed
  if (waits) CHECK(cudaDeviceSynchronize());
  expect_near(data[0].x, kLength, "sum");  //~ read_by_host
}

void callbacks() {
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, kLength, CUFFT_C2C, 1));
  std::printf("%d\n", cufftXtClearCallback(plan, CUFFT_CB_LD_COMPLEX));
}

struct Mode {
  const char* name;
  void (*run)();
};
constexpr Mode kModes[] = {{"round-trip", round_trip},
                           {"real", real_transforms},
                           {"layouts", layouts},
                           {"graph", graph},
                           {"statuses", statuses},
                           {"short-output", short_output},
                           {"wrong-distance", wrong_distance},
                           {"uninitialized", uninitialized},
                           {"unordered", unordered},
                           {"shared-work-area", shared_work_area},
                           {"freed", freed},
                           {"freed-work-area", freed_work_area},
                           {"consumed-input", consumed_input},
                           {"managed", [] { managed(true); }},
                           {"managed-too-early", [] { managed(false); }},
                           {"callbacks", callbacks}};

}  // namespace

int main(int, char** arguments) {
  for (const Mode& mode : kModes) {
    if (std::strcmp(mode.name, arguments[1]) == 0) mode.run();
  }
  return 0;
}
