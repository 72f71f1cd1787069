// Launches, symbols and trials, with hand-written PTX.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"
#include "vgpu/schedule/replay.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::cudart {
namespace {

// reverse: every thread stores its value in shared memory and reads the value at the mirrored
// index. scale: out[i] = factor[1] * counter; the address of counter is in `cell`.
constexpr const char* kLaunchApiPtx = R"(
.version 9.0
.target sm_75
.address_size 64

.const .align 4 .b8 factor[8] = {1, 0, 0, 0, 2, 0, 0, 0};
.global .align 4 .u32 counter = 7;
.global .align 8 .u64 cell[1] = {generic(counter)};
.global .align 4 .b8 _ZN5parts7scratchE[16];

.visible .entry reverse(.param .u64 reverse_param_0, .param .u32 reverse_param_1)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b8 tile[4096];

	ld.param.u64 %rd1, [reverse_param_0];
	ld.param.u32 %r1, [reverse_param_1];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r3, [%rd3];
	shl.b32 %r4, %r2, 2;
	mov.u32 %r5, tile;
	add.u32 %r4, %r5, %r4;
	st.shared.u32 [%r4], %r3;
	bar.sync 0;
	sub.u32 %r6, %r1, %r2;
	shl.b32 %r6, %r6, 2;
	add.u32 %r6, %r5, %r6;
	ld.shared.u32 %r7, [%r6+-4];
	st.global.u32 [%rd3], %r7;
	ret;
}

.visible .entry scale(.param .u64 scale_param_0)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<5>;

	ld.param.u64 %rd1, [scale_param_0];
	ld.const.u32 %r1, [factor+4];
	ld.global.u64 %rd2, [cell];
	ld.u32 %r2, [%rd2];
	mul.lo.u32 %r3, %r1, %r2;
	st.global.u32 [%rd1], %r3;
	st.global.u32 [counter], %r3;
	ret;
}

.visible .entry bounded()
.maxntid 128
{
	ret;
}

.visible .entry dies()
{
	trap;
}

.visible .entry spins()
{
$L__BB3_1:
	bra.uni $L__BB3_1;
}

.visible .entry odd(.param .u64 odd_param_0)
{
	frobnicate.u32 %r1, %r2;
	ret;
}
)";

// Host addresses that stand for kernels and variables.
char reverse, scale, bounded, dies, spins, odd, factor, counter, scratch;
char nobody;  // never registered

class LaunchApi : public testing::Test {
 protected:
  LaunchApi() {
    unit_.kernel(&reverse, "reverse");
    unit_.kernel(&scale, "scale");
    unit_.kernel(&bounded, "bounded");
    unit_.kernel(&dies, "dies");
    unit_.kernel(&spins, "spins");
    unit_.kernel(&odd, "odd");
    unit_.variable(&factor, "factor", 8);
    unit_.variable(&counter, "counter", 4);
    unit_.variable(&scratch, "_ZN5parts7scratchE", 16);
    begin_trial({});
  }
  ~LaunchApi() override {
    if (running_) end_trial();
  }
  TrialResult finish() {
    running_ = false;
    return end_trial();
  }
  void restart(const TrialSettings& settings) {
    if (running_) end_trial();
    begin_trial(settings);
    running_ = true;
  }
  static cudaError_t launch(const void* kernel, dim3 grid, dim3 block, std::size_t shared = 0) {
    return cudaLaunchKernel(kernel, grid, block, nullptr, shared, nullptr);
  }
  static cudaError_t launch_reverse(int* device, unsigned count) {
    void* arguments[] = {&device, &count};
    return cudaLaunchKernel(&reverse, dim3(1), dim3(count), arguments, 0, nullptr);
  }
  // Returns the result of reverse() for 1 ... count.
  static std::vector<int> reversed(unsigned count) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), 1);
    void* device = nullptr;
    EXPECT_EQ(cudaMalloc(&device, count * 4), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(device, values.data(), count * 4, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(launch_reverse(static_cast<int*>(device), count), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(values.data(), device, count * 4, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(cudaFree(device), cudaSuccess);
    return values;
  }

  TestUnit unit_{kLaunchApiPtx};

 private:
  bool running_ = true;
};

TEST_F(LaunchApi, RunsAKernel) {
  std::vector<int> expected(100);
  std::iota(expected.rbegin(), expected.rend(), 1);
  EXPECT_EQ(reversed(100), expected);
  const TrialResult result = finish();
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.launches, 1u);
  EXPECT_EQ(result.steps, 4u * 17);
  EXPECT_EQ(result.lane_steps, 100u * 17);
  EXPECT_EQ(launched_kernels(), std::vector<std::string>{"reverse"});
  EXPECT_TRUE(result.schedule.decisions.empty());
  EXPECT_NE(result.ptx_hash, 0u);
}

TEST_F(LaunchApi, RefusesBadShapesAsCudaDoes) {
  EXPECT_EQ(launch(&bounded, 0, 1), cudaErrorInvalidValue);
  EXPECT_EQ(launch(&bounded, 1, 0), cudaErrorInvalidValue);
  EXPECT_EQ(launch(&dies, 1, 1025), cudaErrorInvalidValue);
  EXPECT_EQ(launch(&dies, 1, dim3(1, 1, 65)), cudaErrorInvalidValue);
  EXPECT_EQ(launch(&dies, 1, dim3(32, 32, 2)), cudaErrorInvalidValue);
  EXPECT_EQ(launch(&dies, dim3(1, 65536), 1), cudaErrorInvalidValue);
  EXPECT_EQ(launch(&dies, dim3(1u << 31), 1), cudaErrorInvalidValue);
  EXPECT_EQ(launch(&bounded, 1, 128), cudaSuccess);
  EXPECT_EQ(launch(&bounded, 1, 129), cudaErrorInvalidValue);
  EXPECT_EQ(launch(nullptr, 1, 1), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(launch(&nobody, 1, 1), cudaErrorInvalidResourceHandle);
  int nothing = 0;
  EXPECT_EQ(cudaLaunchKernel(&bounded, dim3(1), dim3(1), nullptr, 0,
                             reinterpret_cast<cudaStream_t>(&nothing)),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchKernel(&reverse, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(finish().launches, 1u);
}

TEST_F(LaunchApi, LimitsSharedMemory) {
  constexpr std::size_t kLeft = 49152 - 4096;  // what the static array of reverse leaves
  int* device = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 4), cudaSuccess);
  ASSERT_EQ(cudaMemset(device, 0, 4), cudaSuccess);
  unsigned count = 1;
  void* arguments[] = {&device, &count};
  const auto with_shared = [&](std::size_t bytes) {
    return cudaLaunchKernel(&reverse, dim3(1), dim3(1), arguments, bytes, nullptr);
  };
  EXPECT_EQ(with_shared(kLeft), cudaSuccess);
  EXPECT_EQ(with_shared(kLeft + 1), cudaErrorInvalidValue);
  const auto allow = [](int bytes) {
    return cudaFuncSetAttribute(&reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  EXPECT_EQ(allow(65536 - 4096 + 1), cudaErrorInvalidValue);
  EXPECT_EQ(allow(-1), cudaErrorInvalidValue);
  EXPECT_EQ(allow(65536 - 4096), cudaSuccess);
  EXPECT_EQ(with_shared(65536 - 4096), cudaSuccess);
  EXPECT_EQ(with_shared(65536 - 4096 + 1), cudaErrorInvalidValue);
  restart({});  // the attribute does not outlive its trial
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 4), cudaSuccess);
  EXPECT_EQ(with_shared(kLeft + 1), cudaErrorInvalidValue);
}

TEST_F(LaunchApi, PassesALaunchExpressionOn) {
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(2, 3), dim3(4), 5, nullptr), 0u);
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = cudaStreamLegacy;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.y, 3u);
  EXPECT_EQ(block.x, 4u);
  EXPECT_EQ(shared, 5u);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
            cudaErrorMissingConfiguration);
}

TEST_F(LaunchApi, LaunchesByConfigurationAndByHandle) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  EXPECT_EQ(cudaLaunchKernelExC(&config, &bounded, nullptr), cudaSuccess);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelExC(&config, &bounded, nullptr), cudaSuccess);
  config.gridDim = dim3(65);  // 16 blocks fit on each of 4 multiprocessors
  EXPECT_EQ(cudaLaunchKernelExC(&config, &bounded, nullptr), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaLaunchCooperativeKernel(&bounded, dim3(64), dim3(32), nullptr, 0, nullptr),
            cudaSuccess);
  cudaKernel_t handle = nullptr;
  EXPECT_EQ(cudaGetKernel(&handle, &bounded), cudaSuccess);
  EXPECT_EQ(launch(handle, 1, 1), cudaSuccess);
  const TrialResult result = finish();
  EXPECT_EQ(result.launches, 4u);
  EXPECT_EQ(result.refusals, std::vector<std::string>{});
}

// The results of an H200.
TEST_F(LaunchApi, LaunchesClusters) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  const auto launch_clusters = [&](dim3 grid, unsigned x, unsigned y, unsigned z) {
    config.gridDim = grid;
    attribute.val.clusterDim = {x, y, z};
    return cudaLaunchKernelExC(&config, &bounded, nullptr);
  };
  EXPECT_EQ(launch_clusters(dim3(4), 2, 1, 1), cudaSuccess);
  EXPECT_EQ(launch_clusters(dim3(4, 4), 2, 2, 1), cudaSuccess);
  EXPECT_EQ(launch_clusters(dim3(3), 3, 1, 1), cudaSuccess);
  EXPECT_EQ(launch_clusters(dim3(4), 0, 0, 0), cudaSuccess);
  EXPECT_EQ(launch_clusters(dim3(4), 0, 1, 1), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch_clusters(dim3(5), 2, 1, 1), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch_clusters(dim3(4, 3), 2, 2, 1), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch_clusters(dim3(9), 9, 1, 1), cudaErrorInvalidClusterSize);
  const auto set = [](cudaFuncAttribute which, int value) {
    return cudaFuncSetAttribute(&bounded, which, value);
  };
  EXPECT_EQ(set(cudaFuncAttributeNonPortableClusterSizeAllowed, 1), cudaSuccess);
  EXPECT_EQ(launch_clusters(dim3(9), 9, 1, 1), cudaSuccess);
  EXPECT_EQ(launch_clusters(dim3(32), 32, 1, 1), cudaErrorInvalidClusterSize);
  EXPECT_EQ(set(cudaFuncAttributeClusterDimMustBeSet, 1), cudaErrorInvalidValue);
  EXPECT_EQ(set(cudaFuncAttributeRequiredClusterWidth, -1), cudaErrorInvalidValue);
  EXPECT_EQ(set(cudaFuncAttributeClusterSchedulingPolicyPreference, 3), cudaErrorInvalidValue);
  EXPECT_EQ(set(cudaFuncAttributeRequiredClusterWidth, 2), cudaSuccess);
  EXPECT_EQ(set(cudaFuncAttributeRequiredClusterHeight, 1), cudaSuccess);
  EXPECT_EQ(set(cudaFuncAttributeRequiredClusterDepth, 1), cudaSuccess);
  EXPECT_EQ(launch_clusters(dim3(4), 4, 1, 1), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch_clusters(dim3(4), 2, 1, 1), cudaSuccess);
  EXPECT_EQ(launch(&bounded, 3, 32), cudaErrorInvalidClusterSize);
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &bounded), cudaSuccess);
  EXPECT_EQ(attributes.clusterDimMustBeSet, 0);
  EXPECT_EQ(attributes.requiredClusterWidth, 2);
  EXPECT_EQ(attributes.nonPortableClusterSizeAllowed, 1);
  EXPECT_EQ(finish().launches, 6u);
}

TEST_F(LaunchApi, CountsClustersThatFit) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(8);
  config.blockDim = dim3(128);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int count = -1;
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&count, &bounded, &config), cudaSuccess);
  EXPECT_EQ(count, 8);  // 8 blocks fit on each of 4 multiprocessors
  config.gridDim = dim3(6);
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&count, &bounded, &config), cudaErrorInvalidClusterSize);
  config.gridDim = dim3(0);
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&count, &bounded, &config), cudaErrorInvalidValue);
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(nullptr, &bounded, &config), cudaErrorInvalidValue);
  config.gridDim = dim3(8);
  config.numAttrs = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&count, &bounded, &config), cudaSuccess);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&count, &bounded, &config), cudaSuccess);
  EXPECT_EQ(count, 8);
  EXPECT_EQ(cudaFuncSetAttribute(&bounded, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            cudaSuccess);
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&count, &bounded, &config), cudaSuccess);
  EXPECT_EQ(count, 16);
  config.blockDim = dim3(2048);
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&count, &bounded, &config), cudaSuccess);
  EXPECT_EQ(count, 0);
}

TEST_F(LaunchApi, DescribesItsKernels) {
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &reverse), cudaSuccess);
  EXPECT_EQ(attributes.sharedSizeBytes, 4096u);
  EXPECT_EQ(attributes.constSizeBytes, 8u);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.ptxVersion, 75);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 49152 - 4096);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &bounded), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 128);
  EXPECT_EQ(cudaFuncGetAttributes(nullptr, &bounded), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &nobody), cudaErrorInvalidResourceHandle);
  int blocks = -1;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &dies, 1, 0), cudaSuccess);
  EXPECT_EQ(blocks, 16);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &dies, 512, 0), cudaSuccess);
  EXPECT_EQ(blocks, 2);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &reverse, 32, 12288),
            cudaSuccess);
  EXPECT_EQ(blocks, 4);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &dies, 2048, 0), cudaSuccess);
  EXPECT_EQ(blocks, 0);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &dies, 0, 0),
            cudaErrorInvalidValue);
  const char* name = nullptr;
  EXPECT_EQ(cudaFuncGetName(&name, &bounded), cudaSuccess);
  EXPECT_STREQ(name, "bounded");
}

TEST_F(LaunchApi, CopiesSymbols) {
  int value = 0;
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 7);
  const int values[2] = {10, 20};
  EXPECT_EQ(cudaMemcpyToSymbol(&factor, values, 8, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, &factor, 4, 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(value, 20);
  EXPECT_EQ(cudaMemcpyToSymbol(&factor, values, 8, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyToSymbol(&nobody, values, 8, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(&factor, nullptr, 8, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  std::size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &scratch), cudaSuccess);
  EXPECT_EQ(bytes, 16u);
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &scratch), cudaSuccess);
  int zeros[4] = {1, 1, 1, 1};
  EXPECT_EQ(cudaMemcpy(zeros, address, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(zeros[3], 0);
  EXPECT_EQ(cudaGetSymbolAddress(&address, &nobody), cudaErrorInvalidSymbol);
  EXPECT_TRUE(finish().findings.empty());
}

TEST_F(LaunchApi, ReportsACopyPastASymbol) {
  const int values[3] = {};
  EXPECT_EQ(cudaMemcpyToSymbol(&factor, values, 8, 4, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&scratch, values, 12, 8, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 2u);
  EXPECT_EQ(result.findings[0].kind, vgpu::FindingKind::out_of_bounds);
  EXPECT_EQ(result.findings[0].object, "8 bytes at byte 4 of factor (8 bytes)");
  EXPECT_EQ(result.findings[1].object, "12 bytes at byte 8 of scratch (16 bytes)");
}

TEST_F(LaunchApi, GivesKernelsTheirVariables) {
  for (int trial = 0; trial < 3; ++trial) {
    restart({});
    int* device = nullptr;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 4 * (trial + 1)), cudaSuccess);
    void* arguments[] = {&device};
    EXPECT_EQ(cudaLaunchKernel(&scale, dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
    int value = 0;
    EXPECT_EQ(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(value, 14);  // 2 * 7: initial bytes in every trial
    EXPECT_EQ(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(value, 14);
    EXPECT_EQ(cudaFree(device), cudaSuccess);
    EXPECT_TRUE(finish().findings.empty());
  }
}

TEST_F(LaunchApi, SticksToTheErrorOfADeadLaunch) {
  EXPECT_EQ(launch(&dies, 1, 1), cudaSuccess);  // as if it were still running
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  void* pointer = nullptr;
  int number = -1;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetDevice(&number), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(launch(&bounded, 1, 1), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(launch(&bounded, 1, 1), cudaSuccess);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, vgpu::FindingKind::trap);
}

TEST_F(LaunchApi, StopsALaunchThatNeverEnds) {
  TrialSettings settings;
  settings.limits.steps_max = 10'000;
  restart(settings);
  EXPECT_EQ(launch(&spins, 1, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, vgpu::FindingKind::deadlock);
}

TEST_F(LaunchApi, RefusesAKernelByName) {
  int* device = nullptr;
  void* arguments[] = {&device};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cudaLaunchKernel(&odd, dim3(1), dim3(1), arguments, 0, nullptr),
              cudaErrorNotSupported);
  }
  EXPECT_EQ(launch(&bounded, 1, 1), cudaSuccess);  // the other kernels of the unit still run
  const TrialResult result = finish();
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_NE(result.refusals[0].find("frobnicate"), std::string::npos) << result.refusals[0];
  EXPECT_EQ(launched_kernels(), std::vector<std::string>{"bounded"});
}

TEST_F(LaunchApi, RefusesAMissingUnoptimisedBuildByName) {
  char lonely = 0;
  TestUnit unit(
      ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry lonely()\n{\nret;\n}\n");
  unit.kernel(&lonely, "lonely");
  EXPECT_EQ(launch(&lonely, 1, 1), cudaSuccess);
  TrialSettings settings;
  settings.build = Build::unoptimized;
  restart(settings);
  EXPECT_EQ(launch(&lonely, 1, 1), cudaErrorNotSupported);
  const TrialResult result = finish();
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].find("lonely: no unoptimised build"), 0u) << result.refusals[0];
}

TEST_F(LaunchApi, RunsTheUnoptimisedBuild) {
  warpcheck_register_unoptimized(kLaunchApiPtx, std::char_traits<char>::length(kLaunchApiPtx));
  TrialSettings settings;
  settings.build = Build::unoptimized;
  restart(settings);
  EXPECT_EQ(reversed(3), (std::vector{3, 2, 1}));
  EXPECT_TRUE(finish().findings.empty());
}

TEST_F(LaunchApi, ADeadLaunchLeaksNothing) {
  int* device = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 4), cudaSuccess);
  EXPECT_EQ(launch(&dies, 1, 1), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorLaunchFailure);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, vgpu::FindingKind::trap);
}

TEST_F(LaunchApi, TrialsMustNotNest) {
  EXPECT_THROW(begin_trial({}), std::logic_error);
  finish();
  EXPECT_THROW(end_trial(), std::logic_error);
}

TEST_F(LaunchApi, TrialsAreAllTheSame) {
  TrialSettings settings;
  restart(settings);
  reversed(70);
  const TrialResult first = finish();
  restart(settings);
  reversed(70);
  const TrialResult second = finish();
  EXPECT_EQ(first.findings, second.findings);
  EXPECT_EQ(first.steps, second.steps);
  EXPECT_EQ(first.ptx_hash, second.ptx_hash);
}

TEST_F(LaunchApi, RecordedDecisionsReplay) {
  for (const vgpu::StrategyRow& row : vgpu::strategies()) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      TrialSettings settings;
      const auto strategy = row.make(seed);
      settings.strategy = strategy.get();
      restart(settings);
      const std::vector<int> values = reversed(100);
      const TrialResult recorded = finish();

      vgpu::Replay replay(recorded.schedule);
      settings.strategy = &replay;
      restart(settings);
      EXPECT_EQ(reversed(100), values);
      const TrialResult replayed = finish();
      EXPECT_EQ(replayed.schedule, recorded.schedule) << row.name << " " << seed;
      EXPECT_EQ(replayed.decisions_ignored, 0u) << row.name << " " << seed;
      EXPECT_EQ(replayed.findings, recorded.findings);
      EXPECT_EQ(replayed.steps, recorded.steps);
    }
  }
}

TEST_F(LaunchApi, MemoryOfATrialCanBeFreedAfterIt) {
  int* device = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 4), cudaSuccess);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, vgpu::FindingKind::leak);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

}  // namespace
}  // namespace warpcheck::cudart
