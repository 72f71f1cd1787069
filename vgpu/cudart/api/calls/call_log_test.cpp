#include "vgpu/cudart/api/calls/call_log.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"

namespace warpcheck::cudart {
namespace {

constexpr const char* kPtx = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 value) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

class Log : public testing::Test {
 protected:
  Log() {
    record_calls(&log_);
    begin_trial({});
  }
  ~Log() override {
    end_trial();
    record_calls(nullptr);
  }

  template <class T>
  const T& call(std::size_t number) const {
    return std::get<T>(log_.calls().at(number));
  }

  CallLog log_;
};

TEST_F(Log, HasAllocationsCopiesFillsAndLaunches) {
  TestUnit unit(kPtx);
  int host_function = 0;
  unit.kernel(&host_function, "store");
  char* memory = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 16), cudaSuccess);
  const int in[] = {1, 2};
  ASSERT_EQ(cudaMemcpy(memory + 4, in, sizeof in, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemset(memory, 0x11, 4), cudaSuccess);
  char* target = memory + 12;
  int value = 9;
  void* arguments[] = {&target, &value};
  ASSERT_EQ(cudaLaunchKernel(&host_function, dim3(2, 3), dim3(1), arguments, 64, nullptr),
            cudaSuccess);
  int out[4] = {};
  ASSERT_EQ(cudaMemcpy(out, memory, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(memory, memory + 8, 4, cudaMemcpyDeviceToDevice), cudaSuccess);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);

  ASSERT_EQ(log_.calls().size(), 7u);
  EXPECT_EQ(call<AllocateCall>(0).bytes, 16u);
  EXPECT_EQ(call<UploadCall>(1).target, (DevicePlace{0, 4}));
  EXPECT_EQ(std::memcmp(call<UploadCall>(1).data.bytes.data(), in, sizeof in), 0);
  EXPECT_TRUE(call<UploadCall>(1).data.pointers.empty());
  EXPECT_EQ(call<FillCall>(2).value, 0x11);
  EXPECT_EQ(call<FillCall>(2).size, 4u);
  const auto& launch = call<LaunchCall>(3);
  EXPECT_EQ(launch.kernel, "store");
  EXPECT_EQ(launch.source.path, "");
  EXPECT_EQ(launch.grid, (Dim3{2, 3, 1}));
  EXPECT_EQ(launch.dynamic_shared_bytes, 64u);
  ASSERT_EQ(launch.arguments.size(), 2u);
  ASSERT_EQ(launch.arguments[0].pointers.size(), 1u);
  EXPECT_EQ(launch.arguments[0].pointers[0].place, (DevicePlace{0, 12}));
  EXPECT_TRUE(launch.arguments[1].pointers.empty());
  EXPECT_EQ(std::memcmp(launch.arguments[1].bytes.data(), &value, sizeof value), 0);
  EXPECT_EQ(std::memcmp(call<DownloadCall>(4).bytes.data(), out, sizeof out), 0);
  EXPECT_EQ(out[3], 9);
  EXPECT_EQ(call<MoveCall>(5).source, (DevicePlace{0, 8}));
  EXPECT_EQ(call<FreeCall>(6).place, (DevicePlace{0, 0}));
}

TEST_F(Log, HasCallsThatFail) {
  char* memory = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 8), cudaSuccess);
  char out[12];
  EXPECT_EQ(cudaMemcpy(out, memory, sizeof out, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory + 1), cudaErrorInvalidValue);
  EXPECT_EQ(call<DownloadCall>(1).size, 12u);
  EXPECT_TRUE(call<DownloadCall>(1).bytes.empty());
  EXPECT_EQ(call<FreeCall>(2).place, (DevicePlace{0, 1}));
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(Log, KnowsDevicePointersAmongBytes) {
  char *first = nullptr, *second = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&first), 8), cudaSuccess);
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&second), 16), cudaSuccess);
  const std::uint64_t table[] = {7, reinterpret_cast<std::uint64_t>(first) + 3};
  ASSERT_EQ(cudaMemcpy(second, table, sizeof table, cudaMemcpyHostToDevice), cudaSuccess);
  const HostBytes& data = call<UploadCall>(2).data;
  ASSERT_EQ(data.pointers.size(), 1u);
  EXPECT_EQ(data.pointers[0].at, 8u);
  EXPECT_EQ(data.pointers[0].place, (DevicePlace{0, 3}));
  ASSERT_EQ(cudaFree(first), cudaSuccess);
  ASSERT_EQ(cudaFree(second), cudaSuccess);
}

}  // namespace
}  // namespace warpcheck::cudart
