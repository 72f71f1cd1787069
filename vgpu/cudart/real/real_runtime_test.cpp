// The entry points lead to the virtual device or to a real runtime library; here to a fake one,
// whose device memory is host memory.
#include "vgpu/cudart/real/real_runtime.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "vgpu/cudart/api/entry_points.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"

extern "C" cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* host_function);
extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                          void** arguments, size_t shared, cudaStream_t stream);

namespace warpcheck::cudart {
namespace {

constexpr const char* kRealRuntimePtx = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry store_seven(.param .u64 out) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 5;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

int host_function = 0;

class RealRuntime : public testing::Test {
 protected:
  RealRuntime() { unit_.kernel(&host_function, "store_seven"); }
  ~RealRuntime() override { use_virtual_device(); }

  // Returns what the kernel stores: 7 on the fake device, 5 on the virtual one.
  static int launch_by_handle() {
    cudaKernel_t handle = nullptr;
    EXPECT_EQ(__cudaGetKernel(&handle, &host_function), cudaSuccess);
    int* out = nullptr;
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&out), sizeof *out), cudaSuccess);
    void* arguments[] = {&out};
    EXPECT_EQ(__cudaLaunchKernel(handle, dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
    int result = 0;
    EXPECT_EQ(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(cudaFree(out), cudaSuccess);
    return result;
  }

  TestUnit unit_{kRealRuntimePtx};
};

TEST_F(RealRuntime, EveryCallGoesThereAndBackAgain) {
  begin_trial({});
  EXPECT_EQ(launch_by_handle(), 5);
  EXPECT_EQ(end_trial().findings.size(), 0u);

  const RealDevice device = use_real_runtime(WARPCHECK_FAKE_RUNTIME);
  EXPECT_TRUE(uses_real_runtime());
  EXPECT_EQ(device.name, "Fake GPU");
  EXPECT_EQ(device.runtime_version, 13000);
  EXPECT_EQ(device.driver_version, 13020);
  EXPECT_EQ(launch_by_handle(), 7);
  EXPECT_EQ(launch_by_handle(), 7);
  const RealLaunches launches = take_real_launches();
  EXPECT_EQ(launches.count, 2u);
  EXPECT_EQ(launches.kernels, std::vector<std::string>{"store_seven"});
  EXPECT_EQ(take_real_launches().count, 0u);

  use_virtual_device();
  EXPECT_FALSE(uses_real_runtime());
  begin_trial({});
  EXPECT_EQ(launch_by_handle(), 5);
  EXPECT_EQ(end_trial().launches, 1u);
}

TEST_F(RealRuntime, LaunchesByHostFunctionAndByConfiguration) {
  use_real_runtime(WARPCHECK_FAKE_RUNTIME);
  int out = 0;
  int* pointer = &out;
  void* arguments[] = {&pointer};
  EXPECT_EQ(cudaLaunchKernel(&host_function, dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(out, 7);
  out = 0;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  EXPECT_EQ(cudaLaunchKernelExC(&config, &host_function, arguments), cudaSuccess);
  EXPECT_EQ(out, 7);
  out = 0;
  EXPECT_EQ(cudaLaunchCooperativeKernel(&host_function, dim3(1), dim3(1), arguments, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(out, 7);
  int unknown = 0;
  EXPECT_EQ(cudaLaunchKernel(&unknown, dim3(1), dim3(1), arguments, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
}

TEST_F(RealRuntime, WhatTheVirtualDeviceLacksIsForwardedToo) {
  use_real_runtime(WARPCHECK_FAKE_RUNTIME);
  char id[16] = {};
  EXPECT_EQ(cudaDeviceGetPCIBusId(id, sizeof id, 0), cudaSuccess);
  EXPECT_STREQ(id, "0000:fa:ce.0");
  // The virtual device does not answer for functions that the library lacks.
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorSymbolNotFound);
  use_virtual_device();
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

TEST_F(RealRuntime, SaysWhatIsMissing) {
  const auto reason_of = [](const std::string& library) -> std::string {
    try {
      use_real_runtime(library);
    } catch (const RealRuntimeError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(reason_of("/no/such/library.so").find("cannot be opened: /no/such/library.so"),
            std::string::npos);
  EXPECT_NE(reason_of("libm.so.6").find("it has no cudaGetErrorName"), std::string::npos);
  ASSERT_EQ(setenv("FAKE_GPU", "none", 1), 0);
  EXPECT_EQ(reason_of(WARPCHECK_FAKE_RUNTIME),
            "no CUDA device can be used: cudaGetDeviceCount: cudaErrorNoDevice (no CUDA-capable "
            "device is detected)");
  ASSERT_EQ(unsetenv("FAKE_GPU"), 0);
  EXPECT_FALSE(uses_real_runtime());
}

TEST(EntryPoints, EachHasANameASlotAndAVirtualFunctionOfItsOwn) {
  std::set<std::string> names;
  std::set<void**> slots;
  std::set<void*> functions;
  for (const EntryPoint& entry : entry_points()) {
    names.insert(entry.name);
    slots.insert(entry.slot);
    functions.insert(entry.virtual_function);
    EXPECT_EQ(*entry.slot, entry.virtual_function) << entry.name;
  }
  EXPECT_GT(names.size(), 300u);
  EXPECT_EQ(names.size(), entry_points().size());
  EXPECT_EQ(slots.size(), names.size());
  EXPECT_EQ(functions.size(), names.size());
}

}  // namespace
}  // namespace warpcheck::cudart
