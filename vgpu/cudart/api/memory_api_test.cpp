// Allocation, copies and fills, through the API as a program calls it.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"

namespace warpcheck::cudart {
namespace {

using vgpu::FindingKind;

// Every test is a trial; its findings are checked at the end.
class MemoryApi : public testing::Test {
 protected:
  MemoryApi() { begin_trial({}); }
  ~MemoryApi() override {
    if (running_) end_trial();
  }
  // Returns the findings of the trial.  First frees the memory from allocate_ints() that has not
  // been freed.
  std::vector<vgpu::Finding> findings() {
    for (int* pointer : owned_) {
      cudaPointerAttributes attributes{};
      cudaPointerGetAttributes(&attributes, pointer);
      if (attributes.type == cudaMemoryTypeDevice) cudaFree(pointer);
    }
    return findings_with_leaks();
  }
  std::vector<vgpu::Finding> findings_with_leaks() {
    running_ = false;
    return end_trial().findings;
  }
  void expect_one(FindingKind kind, const std::string& object, const std::string& message) {
    const std::vector<vgpu::Finding> found = findings();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, kind);
    EXPECT_EQ(found[0].object, object);
    EXPECT_EQ(found[0].message, message);
  }
  int* allocate_ints(std::size_t count) {
    int* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&pointer), count * sizeof(int)), cudaSuccess);
    owned_.push_back(pointer);
    return pointer;
  }

  std::vector<int> host_ = [] {
    std::vector<int> values(1024);
    std::iota(values.begin(), values.end(), 1);
    return values;
  }();

 private:
  std::vector<int*> owned_;
  bool running_ = true;
};

TEST_F(MemoryApi, CopiesThereAndBack) {
  int* const device = allocate_ints(1024);
  EXPECT_EQ(cudaMemcpy(device, host_.data(), 4096, cudaMemcpyHostToDevice), cudaSuccess);
  int* const other = allocate_ints(1024);
  EXPECT_EQ(cudaMemcpyAsync(other, device, 4096, cudaMemcpyDeviceToDevice, nullptr), cudaSuccess);
  std::vector<int> back(1024);
  EXPECT_EQ(cudaMemcpy(back.data(), other, 4096, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(back, host_);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(other), cudaSuccess);
  EXPECT_TRUE(findings().empty());
}

TEST_F(MemoryApi, CopiesPartsOfAnAllocation) {
  int* const device = allocate_ints(4);
  EXPECT_EQ(cudaMemset(device, 0xff, 16), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device + 1, host_.data(), 8, cudaMemcpyHostToDevice), cudaSuccess);
  std::vector<int> back(4);
  EXPECT_EQ(cudaMemcpy(back.data(), device, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, (std::vector{-1, 1, 2, -1}));
  EXPECT_TRUE(findings().empty());
}

TEST_F(MemoryApi, CopiesRectangles) {
  void* device = nullptr;
  std::size_t pitch = 0;
  EXPECT_EQ(cudaMallocPitch(&device, &pitch, 12, 2), cudaSuccess);
  EXPECT_EQ(pitch, 512u);
  EXPECT_EQ(cudaMemset2D(device, pitch, 0, 12, 2), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(device, pitch, host_.data(), 16, 8, 2, cudaMemcpyHostToDevice),
            cudaSuccess);
  std::vector<int> back(6);
  EXPECT_EQ(cudaMemcpy2D(back.data(), 12, device, pitch, 12, 2, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(back, (std::vector{1, 2, 0, 5, 6, 0}));
  EXPECT_EQ(cudaMemcpy2D(device, 8, host_.data(), 8, 9, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemset2D(device, 8, 0, 9, 2), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2D(device, 8, host_.data(), 8, 8, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_TRUE(findings().empty());
}

// What attributes say, and which copies each of them is for.
TEST_F(MemoryApi, CopiesBatches) {
  int* const device = allocate_ints(4);
  std::vector<int> back(4);
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  void* targets[] = {device, device + 1, device + 2};
  const void* sources[] = {&host_[0], &host_[1], &host_[2]};
  const std::size_t sizes[] = {sizeof(int), sizeof(int), 2 * sizeof(int)};
  std::array<cudaMemcpyAttributes, 4> how{};
  for (cudaMemcpyAttributes& one : how) one.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  how[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  how[1].flags = cudaMemcpyFlagPreferOverlapWithCompute;
  const auto copy = [&](std::vector<std::size_t> first_of, cudaStream_t in) {
    return cudaMemcpyBatchAsync(targets, sources, sizes, 3, how.data(), first_of.data(),
                                first_of.size(), in);
  };
  EXPECT_EQ(copy({0, 1}, stream), cudaSuccess);
  host_[1] = 0;  // its source was read during the call
  EXPECT_EQ(cudaMemcpyAsync(back.data(), device, 4 * sizeof(int), cudaMemcpyDefault, stream),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(back, (std::vector{1, 2, 3, 4}));
  EXPECT_EQ(copy({0, 1, 2}, stream), cudaSuccess);
  EXPECT_EQ(copy({1}, stream), cudaErrorInvalidValue);
  EXPECT_EQ(copy({0, 0}, stream), cudaErrorInvalidValue);
  EXPECT_EQ(copy({0, 2, 1}, stream), cudaErrorInvalidValue);
  EXPECT_EQ(copy({0, 3}, stream), cudaErrorInvalidValue);
  EXPECT_EQ(copy({0, 1, 2, 3}, stream), cudaErrorInvalidValue);
  EXPECT_EQ(copy({0}, cudaStreamLegacy), cudaErrorInvalidValue);
  how[0].flags = 2;
  EXPECT_EQ(copy({0}, stream), cudaErrorInvalidValue);
  how[0] = {};
  EXPECT_EQ(copy({0}, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_TRUE(findings().empty());
}

TEST_F(MemoryApi, RefusesWhatCudaRefuses) {
  int* const device = allocate_ints(4);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaMalloc(&pointer, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMemcpy(nullptr, host_.data(), 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host_.data(), 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host_.data(), device, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, host_.data(), 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, host_.data(), 4, static_cast<cudaMemcpyKind>(9)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemset(nullptr, 0, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host_.data(), 0, 4), cudaErrorInvalidValue);
  EXPECT_EQ(host_[0], 1);
  EXPECT_TRUE(findings().empty());
}

TEST_F(MemoryApi, ReportsACopyPastTheEnd) {
  int* const device = allocate_ints(32);
  EXPECT_EQ(cudaMemcpy(device + 1, host_.data(), 128, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const std::vector<vgpu::Finding> found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::out_of_bounds);
  EXPECT_EQ(found[0].space, "global");
  EXPECT_EQ(found[0].message, "cudaMemcpy of 128 bytes is not inside one allocation");
}

TEST_F(MemoryApi, ReportsACopyThatBeginsBeforeTheFirstAllocation) {
  int* const device = allocate_ints(32);
  EXPECT_EQ(cudaMemcpy(host_.data(), device - 1, 128, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device - 1, host_.data(), 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device - 2, 0, 4), cudaErrorInvalidValue);
  const std::vector<vgpu::Finding> found = findings();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].object, "128 bytes, 4 bytes before an allocation of 128 bytes");
  EXPECT_EQ(found[1].object, "8 bytes, 4 bytes before an allocation of 128 bytes");
  EXPECT_EQ(found[2].object, "4 bytes, 8 bytes before an allocation of 128 bytes");
  EXPECT_EQ(found[2].kind, FindingKind::out_of_bounds);
}

TEST_F(MemoryApi, ReportsAFillAndAReadPastTheEnd) {
  int* const device = allocate_ints(32);
  EXPECT_EQ(cudaMemset(device, 0, 129), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host_.data(), device, 4096, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  const std::vector<vgpu::Finding> found = findings();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].message, "cudaMemset of 129 bytes is not inside one allocation");
  EXPECT_EQ(found[1].message, "cudaMemcpy of 4096 bytes is not inside one allocation");
}

TEST_F(MemoryApi, ReportsACopyToFreedMemory) {
  int* const device = allocate_ints(32);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host_.data(), 128, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  const std::vector<vgpu::Finding> found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::use_after_free);
  EXPECT_EQ(found[0].message, "cudaMemcpy of 128 bytes uses memory that has been freed");
}

TEST_F(MemoryApi, ReportsADoubleFree) {
  int* const device = allocate_ints(16);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  expect_one(FindingKind::invalid_free, "allocation of 64 bytes",
             "cudaFree of memory that has been freed");
}

TEST_F(MemoryApi, ReportsAFreeInsideAnAllocation) {
  EXPECT_EQ(cudaFree(allocate_ints(16) + 1), cudaErrorInvalidValue);
  expect_one(FindingKind::invalid_free, "byte 4 of an allocation of 64 bytes",
             "cudaFree of a pointer that no allocation begins at");
}

TEST_F(MemoryApi, ReportsAFreeOfHostMemory) {
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFree(host_.data()), cudaErrorInvalidValue);
  expect_one(FindingKind::invalid_free, "", "cudaFree of a pointer that is not to device memory");
}

TEST_F(MemoryApi, ReportsAFreeOfPageLockedMemory) {
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 64), cudaSuccess);
  EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue);
  expect_one(FindingKind::invalid_free, "allocation of 64 bytes",
             "cudaFree of page-locked memory: cudaFreeHost frees what cudaMallocHost or "
             "cudaHostAlloc allocated, and cudaHostUnregister ends cudaHostRegister");
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(MemoryApi, ReportsAFreeOfDeviceMemoryAsOfTheHost) {
  EXPECT_EQ(cudaFreeHost(allocate_ints(16)), cudaErrorInvalidValue);
  expect_one(FindingKind::invalid_free, "allocation of 64 bytes",
             "cudaFreeHost of device memory, which cudaFree frees");
}

TEST_F(MemoryApi, ReportsWhatIsLeftInTheEnd) {
  allocate_ints(16);
  EXPECT_EQ(cudaFree(allocate_ints(4)), cudaSuccess);
  allocate_ints(8);
  const std::vector<vgpu::Finding> found = findings_with_leaks();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::leak);
  EXPECT_EQ(found[0].severity, vgpu::Severity::error);
  EXPECT_EQ(found[0].space, "global");
  EXPECT_EQ(found[0].object, "allocation of 64 bytes");
  EXPECT_EQ(found[0].count, 2u);
  ASSERT_EQ(found[0].accesses.size(), 1u);
  EXPECT_EQ(found[0].accesses[0].role, "host allocate");
  EXPECT_EQ(found[0].message, "nothing has freed what (1) allocated");
}

TEST_F(MemoryApi, ADeviceThatIsResetLeavesNothing) {
  allocate_ints(16);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_TRUE(findings_with_leaks().empty());
}

TEST_F(MemoryApi, LeaksAreNotReportedWithoutTheirChecker) {
  findings();
  TrialSettings settings;
  settings.checkers.lifetime = false;
  begin_trial(settings);
  allocate_ints(1);
  EXPECT_TRUE(end_trial().findings.empty());
}

TEST_F(MemoryApi, HoldsZerosAndIsNeverFreedInATrialThatSupposesIt) {
  using Kinds = std::vector<FindingKind>;
  findings();
  for (const bool supposed : {true, false}) {
    TrialSettings settings;
    settings.supposed.zeroed_memory = settings.supposed.late_frees = supposed;
    begin_trial(settings);
    int* const device = allocate_ints(1);
    int value = 1;
    EXPECT_EQ(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(value == 0, supposed);
    EXPECT_EQ(cudaFree(device), cudaSuccess);
    Kinds kinds;
    for (const vgpu::Finding& finding : end_trial().findings) kinds.push_back(finding.kind);
    EXPECT_EQ(kinds, (Kinds{supposed ? FindingKind::leak : FindingKind::uninitialized_read}));
  }
}

TEST_F(MemoryApi, GivesPageLockedHostMemory) {
  void* block = nullptr;
  EXPECT_EQ(cudaMallocHost(&block, 64), cudaSuccess);
  int* const device = allocate_ints(32);
  EXPECT_EQ(cudaMemcpy(device, block, 64, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, block, 65, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, block), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, block);
  EXPECT_EQ(cudaFreeHost(static_cast<char*>(block) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(block), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(block), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
  EXPECT_EQ(cudaHostAlloc(&block, 4, 0xff), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(host_.data(), 64, 0), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(host_.data(), 64, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostUnregister(host_.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(host_.data()), cudaErrorHostMemoryNotRegistered);
}

TEST_F(MemoryApi, KnowsItsPointers) {
  int* const device = allocate_ints(16);
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, device + 5), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.devicePointer, device + 5);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, host_.data()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.device, -2);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, device), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

TEST_F(MemoryApi, CountsItsMemory) {
  std::size_t free_before = 0, free_after = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
  EXPECT_EQ(free_before, total);
  EXPECT_EQ(total, std::size_t{4} << 30);
  allocate_ints(256);
  EXPECT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
  EXPECT_EQ(free_before - free_after, 1024u);
}

TEST_F(MemoryApi, CopiesTakeVirtualTime) {
  int* const device = allocate_ints(1024);
  cudaEvent_t start = nullptr, end = nullptr;
  EXPECT_EQ(cudaEventCreate(&start), cudaSuccess);
  EXPECT_EQ(cudaEventCreate(&end), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host_.data(), 4096, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(end, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_FLOAT_EQ(milliseconds, 1256e-6f);  // 1,000 cycles and one for 16 bytes, at 1 GHz
}

}  // namespace
}  // namespace warpcheck::cudart
