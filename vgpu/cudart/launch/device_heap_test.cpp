// The device heap: malloc() and free() of kernels, from launch to launch.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"

namespace warpcheck::cudart {
namespace {

constexpr const char* kHeapPtx =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 a)\n;\n"
    ".extern .func free(.param .b64 a)\n;\n"
    ".visible .entry takes(.param .u64 bytes, .param .u64 slot)\n{\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [bytes];\nld.param.u64 %rd2, [slot];\n"
    "{\n.param .b64 p;\nst.param.b64 [p+0], %rd1;\n.param .b64 q;\n"
    "call.uni (q), malloc, (p);\nld.param.b64 %rd3, [q+0];\n}\n"
    "st.global.u64 [%rd2], %rd3;\nret;\n}\n"
    ".visible .entry gives(.param .u64 slot)\n{\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd2, [slot];\nld.global.u64 %rd1, [%rd2];\n"
    "{\n.param .b64 p;\nst.param.b64 [p+0], %rd1;\ncall.uni free, (p);\n}\nret;\n}\n";

class DeviceHeap : public testing::Test {
 protected:
  DeviceHeap() {
    unit_.kernel(&takes_, "takes");
    unit_.kernel(&gives_, "gives");
    begin_trial({});
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&slot_), sizeof *slot_), cudaSuccess);
    EXPECT_EQ(cudaMemset(slot_, 0, sizeof *slot_), cudaSuccess);
  }
  // Returns the address that malloc(bytes) returns in a kernel.
  std::uint64_t take(std::uint64_t bytes) {
    void* arguments[] = {&bytes, &slot_};
    EXPECT_EQ(cudaLaunchKernel(&takes_, dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
    std::uint64_t address = 0;
    EXPECT_EQ(cudaMemcpy(&address, slot_, sizeof address, cudaMemcpyDeviceToHost), cudaSuccess);
    return address;
  }
  void give(std::uint64_t address) {
    EXPECT_EQ(cudaMemcpy(slot_, &address, sizeof address, cudaMemcpyHostToDevice), cudaSuccess);
    void* arguments[] = {&slot_};
    EXPECT_EQ(cudaLaunchKernel(&gives_, dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
  }
  TrialResult finish() {
    EXPECT_EQ(cudaFree(slot_), cudaSuccess);
    return end_trial();
  }

  TestUnit unit_{kHeapPtx};
  std::uint64_t* slot_ = nullptr;
  char takes_ = 0, gives_ = 0;
};

TEST_F(DeviceHeap, OutlivesItsLaunchAndGivesNoAddressTwice) {
  const std::uint64_t first = take(1), second = take(16);
  EXPECT_EQ(first % 16, 0u);
  EXPECT_EQ(second % 16, 0u);
  EXPECT_GT(second, first);
  give(first);
  const std::uint64_t third = take(1);
  EXPECT_GT(third, second);
  give(second);
  give(third);
  give(0);
  EXPECT_TRUE(finish().findings.empty());
}

TEST_F(DeviceHeap, HasEightMebibytes) {
  std::size_t bytes = 0;
  EXPECT_EQ(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize), cudaSuccess);
  EXPECT_EQ(bytes, 8u << 20);
  const std::uint64_t all = take(8 << 20);
  EXPECT_NE(all, 0u);
  EXPECT_EQ(take(1), 0u);
  give(all);
  EXPECT_EQ(take((8 << 20) + 1), 0u);
  EXPECT_EQ(take(~std::uint64_t{0}), 0u);
  const std::uint64_t nothing = take(0);  // takes up 16 bytes
  EXPECT_NE(nothing, 0u);
  EXPECT_EQ(take(8 << 20), 0u);
  const std::uint64_t rest = take((8 << 20) - 16);
  EXPECT_NE(rest, 0u);
  give(nothing);
  give(rest);
  EXPECT_TRUE(finish().findings.empty());
}

TEST_F(DeviceHeap, ItsSizeIsFixedByTheFirstKernelThatUsesIt) {
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1024), cudaSuccess);
  EXPECT_EQ(take(1025), 0u);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2048), cudaErrorInvalidValue);
  std::size_t bytes = 0;
  EXPECT_EQ(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize), cudaSuccess);
  EXPECT_EQ(bytes, 1024u);
  const std::uint64_t all = take(1024);
  EXPECT_NE(all, 0u);
  give(all);
  EXPECT_TRUE(finish().findings.empty());
  begin_trial({});  // a new device
  EXPECT_EQ(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize), cudaSuccess);
  EXPECT_EQ(bytes, 8u << 20);
  end_trial();
}

TEST_F(DeviceHeap, IsOutOfReachOfTheHost) {
  const std::uint64_t address = take(4);
  auto* const pointer = reinterpret_cast<void*>(address);
  int value = 0;
  EXPECT_EQ(cudaMemcpy(&value, pointer, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pointer), cudaErrorInvalidValue);
  give(address);
  EXPECT_EQ(cudaMemset(pointer, 0, 4), cudaErrorInvalidValue);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 3u);
  EXPECT_EQ(result.findings[0].kind, vgpu::FindingKind::out_of_bounds);
  EXPECT_EQ(result.findings[0].message,
            "cudaMemcpy of 4 bytes is on the device heap, where no host call reaches");
  EXPECT_EQ(result.findings[1].kind, vgpu::FindingKind::invalid_free);
  EXPECT_EQ(result.findings[1].message, "cudaFree of memory that device code allocated");
  EXPECT_EQ(result.findings[2].kind, vgpu::FindingKind::use_after_free);
  ASSERT_EQ(result.findings[2].accesses.size(), 2u);
  EXPECT_EQ(result.findings[2].accesses[0].role, "host write");
  EXPECT_EQ(result.findings[2].accesses[1].role, "free");
  EXPECT_EQ(result.findings[2].accesses[1].ptx, "call.uni free");
}

TEST_F(DeviceHeap, CountsTheLeaksOfALine) {
  take(24);
  take(8);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 1u);
  const vgpu::Finding& leak = result.findings[0];
  EXPECT_EQ(leak.kind, vgpu::FindingKind::leak);
  EXPECT_EQ(leak.kernel, "takes");
  EXPECT_EQ(leak.object, "allocation of 24 bytes");
  EXPECT_EQ(leak.count, 2u);
  ASSERT_EQ(leak.accesses.size(), 1u);
  EXPECT_EQ(leak.accesses[0].role, "allocate");
  EXPECT_EQ(leak.accesses[0].ptx, "call.uni malloc");
}

}  // namespace
}  // namespace warpcheck::cudart
