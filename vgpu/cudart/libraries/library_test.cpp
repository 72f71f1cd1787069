// Library functions as operations of streams: the memory that they may access, undefined bytes, and
// unordered operations.
#include "vgpu/cudart/libraries/library_interface.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"

namespace warpcheck::cudart {
namespace {

using Floats = std::vector<float>;
using Texts = std::vector<std::string>;
constexpr std::int64_t kFloat = sizeof(float);

// A library with one function: target[row][i] += source[row][i].
struct Shape {
  std::int64_t width = 4, height = 1, pitch = 0, shift = 0, growth = 0;
};

float* at(const LibraryView& view, const Shape& shape, std::int64_t row) {
  std::byte* const begin = view.data + row * (view.pitch + shape.shift * kFloat);
  return reinterpret_cast<float*>(begin);
}

void add_rows(void* state, const LibraryView* views) {
  const auto& shape = *static_cast<const Shape*>(state);
  for (std::int64_t row = 0; row < shape.height; ++row) {
    for (std::int64_t i = 0; i < shape.width + row * shape.growth; ++i) {
      at(views[1], shape, row)[i] += at(views[0], shape, row)[i];
    }
  }
}

LibraryRegion region(const char* name, void* pointer, const Shape& shape) {
  return {.name = name,
          .pointer = pointer,
          .element_bytes = kFloat,
          .width = shape.width,
          .height = shape.height,
          .pitch = shape.pitch,
          .shape = {.shift = shape.shift, .growth = shape.growth}};
}

cudaError_t add_arrays(void* target, void* source, Shape shape = {},
                       cudaStream_t stream = nullptr) {
  std::array regions{region("x of add", source, shape), region("y of add", target, shape)};
  regions[0].reads = regions[1].reads = regions[1].writes = true;
  const LibraryRequest request{.function = "add",
                               .return_address = __builtin_return_address(0),
                               .stream = stream,
                               .regions = regions.data(),
                               .region_count = regions.size(),
                               .state = new Shape(shape),
                               .compute = add_rows,
                               .release = [](void* state) { delete static_cast<Shape*>(state); }};
  return warpcheck_library_services()->enqueue(&request);
}

class Library : public testing::Test {
 protected:
  Library() { begin_trial({}); }
  ~Library() override {
    if (!ended_) end_trial();
  }
  static float* undefined(std::size_t count) {
    void* pointer = nullptr;
    cudaMalloc(&pointer, count * sizeof(float));
    return static_cast<float*>(pointer);
  }
  static float* device(const Floats& values) {
    float* const pointer = undefined(values.size());
    cudaMemcpy(pointer, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
    return pointer;
  }
  static Floats host(const float* pointer, std::size_t count) {
    Floats values(count);
    cudaMemcpy(values.data(), pointer, count * sizeof(float), cudaMemcpyDeviceToHost);
    return values;
  }
  // Returns "kind [role, role] object: message" for each finding except leaks.
  Texts found() {
    ended_ = true;
    Texts texts;
    for (const vgpu::Finding& finding : end_trial().findings) {
      if (finding.kind == vgpu::FindingKind::leak) continue;
      std::string roles;
      for (const auto& side : finding.accesses) roles += (roles.empty() ? "" : ", ") + side.role;
      texts.push_back(std::string(name_of(finding.kind)) + " [" + roles + "] " + finding.object +
                      ": " + finding.message);
    }
    return texts;
  }

 private:
  bool ended_ = false;
};

TEST_F(Library, ComputesInTheOrderOfItsStream) {
  float* const x = device({1, 2, 3, 4});
  float* const y = device({10, 20, 30, 40});
  add_arrays(y, x);
  cudaMemset(x, 0, 16);
  add_arrays(y, x);
  EXPECT_EQ(host(y, 4), (Floats{11, 22, 33, 44}));
  EXPECT_EQ(found(), Texts{});
}

TEST_F(Library, IsCapturedIntoAGraphThatComputesItAgain) {
  float* const x = device({1, 2, 3, 4});
  float* const y = device({0, 0, 0, 0});
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(add_arrays(y, x, {}, stream), cudaSuccess);
  cudaStreamEndCapture(stream, &graph);
  EXPECT_EQ(host(y, 4), (Floats{0, 0, 0, 0}));
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  EXPECT_EQ(host(y, 4), (Floats{3, 6, 9, 12}));
  EXPECT_EQ(found(), Texts{});
}

TEST_F(Library, OverrunsAreToldAndReadAsZeros) {
  float* const x = device({1, 2, 3});
  float* const y = device({10, 20, 30, 40});
  add_arrays(y, x);
  EXPECT_EQ(host(y, 4), (Floats{11, 22, 33, 40}));
  EXPECT_EQ(found(), (Texts{"out-of-bounds [library read] 16 bytes at byte 0 of an allocation of "
                            "12 bytes: (1) x of add takes up 16 bytes, which are not inside one "
                            "allocation"}));
}

TEST_F(Library, LeadingDimensionsCount) {
  float* const x = device({1, 2, 9, 3, 4});  // two rows of two elements, three apart
  float* const y = device({0, 0, 9, 0, 0});
  add_arrays(y, x, {.width = 2, .height = 2, .pitch = 3 * kFloat});
  EXPECT_EQ(host(y, 5), (Floats{1, 2, 9, 3, 4}));
  add_arrays(y, x, {.width = 2, .height = 2, .pitch = 4 * kFloat});
  cudaDeviceSynchronize();
  EXPECT_EQ(found().size(), 2u);  // for x and for y
}

TEST_F(Library, WhatDependsOnUndefinedBytesIsToldWhereItComesToTheHost) {
  float* const x = undefined(4);
  float* const y = device({10, 20, 30, 40});
  const float one = 1;
  cudaMemcpy(x + 1, &one, sizeof one, cudaMemcpyHostToDevice);
  add_arrays(y, x);
  EXPECT_EQ(host(y + 1, 1), Floats{21});
  (void)host(y, 2);
  EXPECT_EQ(found(),
            (Texts{"uninitialized-read [library read, host copy] allocation of 16 bytes [0], first "
                   "of a copy of 8 bytes: (2) takes a value made from bytes that nothing had "
                   "written: x of add"}));
}

TEST_F(Library, MemoryThatIsGoneIsToldWhenTheFunctionRuns) {
  float* const x = device({1, 2, 3, 4});
  float* const y = device({10, 20, 30, 40});
  cudaFree(x);
  add_arrays(y, x);
  EXPECT_EQ(host(y, 4), (Floats{10, 20, 30, 40}));
  EXPECT_EQ(found(), (Texts{"use-after-free [library read] 16 bytes at byte 0 of an allocation of "
                            "16 bytes: (1) x of add is in memory that has been freed"}));
}

TEST_F(Library, MemoryOfTheHostAndOfNobodyIsOutOfReach) {
  float* const y = device({1, 2, 3, 4});
  Floats plain(4);
  add_arrays(y, plain.data());
  cudaDeviceSynchronize();
  add_arrays(y, nullptr);
  cudaDeviceSynchronize();
  EXPECT_EQ(found(),
            (Texts{"out-of-bounds [library read] x of add: (1) is memory of the host, which no "
                   "code on the device can reach",
                   "out-of-bounds [library read] x of add: (1) is a null pointer"}));
}

TEST_F(Library, PageLockedAndManagedMemoryIsTheDevices) {
  void *page_locked = nullptr, *shared = nullptr;
  cudaMallocHost(&page_locked, 16);
  cudaMallocManaged(&shared, 16);
  auto* const pinned = static_cast<float*>(page_locked);
  auto* const managed = static_cast<float*>(shared);
  std::fill_n(pinned, 4, 2.0f);
  std::fill_n(managed, 4, 3.0f);
  add_arrays(managed, pinned);
  cudaDeviceSynchronize();
  EXPECT_EQ(Floats(managed, managed + 4), (Floats{5, 5, 5, 5}));
  EXPECT_EQ(found(), Texts{});
}

TEST_F(Library, StreamsThatNothingOrdersRace) {
  float* const x = device({1, 2, 3, 4});
  float* const y = device({0, 0, 0, 0});
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemsetAsync(x + 3, 0, 4);
  add_arrays(y, x, {}, stream);
  cudaDeviceSynchronize();
  EXPECT_EQ(found(), (Texts{"data-race [host write, library read] allocation of 16 bytes [12]: "
                            "nothing orders cudaMemsetAsync (1) and x of add (2): they are in "
                            "different streams"}));
}

// The lower triangle of a 3 x 3 matrix, column by column, and its upper triangle without the
// diagonal.
TEST_F(Library, TrianglesOfOneMatrixDoNotMeet) {
  float* const x = device(Floats(9, 1));
  float* const y = undefined(9);
  const Shape lower{.width = 3, .height = 3, .pitch = 3 * kFloat, .shift = 1, .growth = -1};
  const Shape upper{.width = 0, .height = 3, .pitch = 3 * kFloat, .shift = 0, .growth = 1};
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  add_arrays(y, x, lower);
  add_arrays(y, x, upper, stream);
  cudaDeviceSynchronize();
  EXPECT_EQ(found(), Texts{});
}

TEST_F(Library, CopiesAndFailuresAreTheLibrarys) {
  float* const x = device({1, 2, 3, 4});
  const Floats values{5, 6, 7, 8};
  LibraryCopy copy{.function = "cublasSetVector",
                   .target = x,
                   .source = values.data(),
                   .target_pitch = 16,
                   .source_pitch = 16,
                   .width = 16,
                   .kind = cudaMemcpyHostToDevice};
  EXPECT_EQ(warpcheck_library_services()->copy(&copy), cudaSuccess);
  EXPECT_EQ(host(x, 4), values);
  copy.target = x + 1;
  EXPECT_EQ(warpcheck_library_services()->copy(&copy), cudaErrorInvalidValue);
  EXPECT_EQ(warpcheck_library_services()->memory_at(x), LibraryMemory::device);
  EXPECT_EQ(warpcheck_library_services()->memory_at(values.data()), LibraryMemory::host);
  EXPECT_EQ(found(), (Texts{"out-of-bounds [host write] 16 bytes at byte 4 of an allocation of "
                            "16 bytes: cublasSetVector of 16 bytes is not inside one allocation"}));
}

}  // namespace
}  // namespace warpcheck::cudart
