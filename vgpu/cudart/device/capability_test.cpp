// The compute capability of the virtual device, in trials and in programs without trials.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"

namespace warpcheck::cudart {
namespace {

// A kernel with 4 KiB of shared memory.
constexpr const char* kCapabilityPtx = R"(
.version 9.0
.target sm_75
.address_size 64
.visible .entry kernel() {
  .shared .b8 tile[4096];
  ret;
}
)";
char some_kernel;  // its address stands for the kernel

// Without trials, the device has the target of the program's newest PTX; in a trial it does not.
TEST(VirtualGpu, APlainProgramsDeviceIsOfItsNewestTarget) {
  TestUnit unit(kCapabilityPtx);
  unit.kernel(&some_kernel, "kernel");
  const TestUnit newer("", 1, 90);
  begin_trial({});
  const auto attribute = [](cudaDeviceAttr id) {
    int value = -1;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, id, 0), cudaSuccess);
    return value;
  };
  const auto opt_in = [](int bytes) {
    return cudaFuncSetAttribute(&some_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  const auto resident = [](int threads, std::size_t shared) {
    int blocks = -1;
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &some_kernel, threads, shared),
              cudaSuccess);
    return blocks;
  };
  EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMajor), 7);
  EXPECT_EQ(attribute(cudaDevAttrReservedSharedMemoryPerBlock), 0);
  EXPECT_EQ(resident(32, 0), 16);  // blocks with 4 KiB each of 64 KiB
  EXPECT_EQ(opt_in(64 * 1024 - 4096 + 1), cudaErrorInvalidValue);
  end_trial();
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(properties.major * 10 + properties.minor, 90);
  EXPECT_EQ(properties.sharedMemPerBlock, 48u * 1024);
  EXPECT_EQ(properties.sharedMemPerBlockOptin, 227u * 1024);
  EXPECT_EQ(properties.sharedMemPerMultiprocessor, 228u * 1024);
  EXPECT_EQ(properties.reservedSharedMemPerBlock, 1024u);
  EXPECT_EQ(properties.maxThreadsPerMultiProcessor, 2048);
  EXPECT_EQ(properties.maxBlocksPerMultiProcessor, 32);
  EXPECT_EQ(properties.l2CacheSize, 60 << 20);
  EXPECT_EQ(properties.persistingL2CacheMaxSize, 45 << 20);
  EXPECT_EQ(properties.memoryBusWidth, 6144);
  EXPECT_EQ(properties.clusterLaunch, 1);
  EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMajor), 9);
  EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), 227 * 1024);
  EXPECT_EQ(resident(32, 0), 32);
  EXPECT_EQ(resident(1024, 0), 2);
  EXPECT_EQ(resident(32, 40 * 1024), 5);  // blocks of 45 KiB each, in 228 KiB
  EXPECT_EQ(opt_in(227 * 1024 - 4096 + 1), cudaErrorInvalidValue);
  EXPECT_EQ(opt_in(227 * 1024 - 4096), cudaSuccess);
  EXPECT_EQ(resident(32, 227 * 1024 - 4096), 1);
}

// The toolkit's device runtime, which has PTX for the newest device, is linked into relocatable
// code; the program's own PTX is older.
TEST(VirtualGpu, APlainProgramsDeviceIsNotThatOfALibraryOfDeviceCode) {
  const std::string library =
      ".version 9.0\n.target sm_121\n.address_size 64\n"
      ".visible .func (.param .b64 r) cudaGetParameterBufferV2(\n.param .b64 x\n)\n{\nret;\n}\n";
  TestUnit unit({kCapabilityPtx, library}, {80, 121});
  unit.kernel(&some_kernel, "kernel");
  begin_trial({});
  end_trial();
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(properties.major * 10 + properties.minor, 80);
}

TEST(VirtualGpu, CapabilitiesAreThoseOfTheTable) {
  using namespace virtual_gpu;
  EXPECT_EQ(&capability_of(0), &kCapabilities.front());
  EXPECT_EQ(capability_of(90).multiprocessors(), 132);
  EXPECT_EQ(kTrialCapability.sm(), 75u);
  EXPECT_EQ(kTrialCapability.block_shared_bytes_opt_in(), 64u * 1024);
  EXPECT_EQ(capability_of(80).block_shared_bytes_opt_in(), 163u * 1024);
  EXPECT_EQ(capability_of(86).block_shared_bytes_opt_in(), 99u * 1024);
  EXPECT_EQ(capability_of(89).multiprocessor_blocks_max, 24);
  EXPECT_EQ(capability_of(101).sm(), 100u);
  EXPECT_EQ(capability_of(100).cluster_blocks_max, 16);
  EXPECT_EQ(capability_of(121).cluster_blocks_max, 8);
  EXPECT_FALSE(capability_of(89).has_clusters());
  EXPECT_EQ(capability_of(75).persisting_l2_bytes(), 0u);
  EXPECT_EQ(capability_of(999).sm(), kCapabilities.back().sm());
}

}  // namespace
}  // namespace warpcheck::cudart
