// Memory that host and device share, arrays, three-dimensional copies and pools.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"

extern "C" char __cudaInitModule(void** handle);  // NOLINT(bugprone-reserved-identifier)

namespace warpcheck::cudart {
namespace {

// double_all: every thread doubles its element.
constexpr const char* kSharedMemoryApiPtx = R"(
.version 9.0
.target sm_75
.address_size 64

.visible .entry double_all(.param .u64 values)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;

	ld.param.u64 %rd1, [values];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r2, [%rd3];
	add.u32 %r3, %r2, %r2;
	st.global.u32 [%rd3], %r3;
	ret;
}
)";

char double_all;

class SharedMemory : public testing::Test {
 protected:
  SharedMemory() {
    unit_.kernel(&double_all, "double_all");
    begin_trial({});
  }
  ~SharedMemory() override {
    if (running_) end_trial();
  }
  std::vector<vgpu::Finding> findings() {
    running_ = false;
    return end_trial().findings;
  }
  static void launch(void* values, unsigned count) {
    void* arguments[] = {&values};
    EXPECT_EQ(cudaLaunchKernel(&double_all, dim3(1), dim3(count), arguments, 0, nullptr),
              cudaSuccess);
  }

 private:
  TestUnit unit_{kSharedMemoryApiPtx};
  bool running_ = true;
};

TEST_F(SharedMemory, ManagedMemoryIsTheHostsAndTheKernels) {
  int* values = nullptr;
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&values), 40 * sizeof(int)), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<std::uint64_t>(values), vgpu::kMappedBase + 4096);
  std::iota(values, values + 40, 0);
  const cudaMemLocation here{cudaMemLocationTypeDevice, 0}, nowhere{cudaMemLocationTypeDevice, 1};
  EXPECT_EQ(cudaMemPrefetchAsync(values, 160, here, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync(values, 161, here, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPrefetchAsync(values, 160, nowhere, 0, nullptr), cudaErrorInvalidDevice);
  launch(values, 40);
  EXPECT_EQ(values[39], 39);  // too early
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(values[39], 78);
  int copy[2] = {};
  EXPECT_EQ(cudaMemcpy(copy, values + 1, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(copy[1], 4);
  EXPECT_EQ(cudaMemcpy(copy, values + 2, 8, cudaMemcpyHostToHost), cudaSuccess);
  EXPECT_EQ(copy[1], 6);
  EXPECT_EQ(cudaMemcpy(copy, values, 8, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(copy[1], 2);
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, values + 3), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(attributes.devicePointer, values + 3);
  EXPECT_EQ(attributes.hostPointer, values + 3);
  EXPECT_EQ(cudaFree(values), cudaSuccess);
  EXPECT_TRUE(findings().empty());
}

TEST_F(SharedMemory, ManagedMemoryIsCheckedAsAnyOther) {
  int* values = nullptr;
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&values), 16), cudaSuccess);
  values[0] = values[1] = values[2] = values[3] = 1;
  launch(values, 5);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(values[3], 2);
  const std::vector<vgpu::Finding> found = findings();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].kind, vgpu::FindingKind::out_of_bounds);
  EXPECT_EQ(found[0].object, "4 bytes, 0 bytes past the end of an allocation of 16 bytes");
  EXPECT_EQ(found[1].kind, vgpu::FindingKind::out_of_bounds);
  EXPECT_EQ(found[2].kind, vgpu::FindingKind::leak);
}

TEST(ManagedVariables, AreTheHostsAndTheKernels) {
  constexpr const char* kManaged = R"(
.version 9.0
.target sm_75
.address_size 64
.global .attribute(.managed) .align 4 .u32 counter = 5;
.visible .entry count()
{
	.reg .b32 %r<3>;
	ld.global.u32 %r1, [counter];
	add.u32 %r2, %r1, 1;
	st.global.u32 [counter], %r2;
	ret;
}
)";
  TestUnit unit(kManaged);
  char count = 0;
  void* address = nullptr;
  unit.kernel(&count, "count");
  unit.managed(&address, "counter", 4);
  for (int trial = 0; trial < 2; ++trial) {
    begin_trial({});
    address = nullptr;
    // as host code does before it uses a managed variable
    EXPECT_EQ(__cudaInitModule(unit.handle()), 0);
    ASSERT_NE(address, nullptr);
    auto* const value = static_cast<unsigned*>(address);
    EXPECT_EQ(*value, 5u);
    *value = 40;
    EXPECT_EQ(cudaLaunchKernel(&count, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(*value, 41u);
    const TrialResult result = end_trial();
    EXPECT_TRUE(result.findings.empty());
    EXPECT_TRUE(result.refusals.empty());
  }
}

TEST_F(SharedMemory, AdviceIsKept) {
  void* values = nullptr;
  ASSERT_EQ(cudaMallocManaged(&values, 64), cudaSuccess);
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0};
  int value = 0, users[2] = {};
  EXPECT_EQ(cudaMemAdvise(values, 64, cudaMemAdviseSetReadMostly, device), cudaSuccess);
  EXPECT_EQ(cudaMemAdvise(values, 64, cudaMemAdviseSetPreferredLocation, host), cudaSuccess);
  EXPECT_EQ(cudaMemAdvise(values, 64, cudaMemAdviseSetAccessedBy, device), cudaSuccess);
  const auto ask = [&](cudaMemRangeAttribute attribute) {
    EXPECT_EQ(cudaMemRangeGetAttribute(&value, 4, attribute, values, 64), cudaSuccess);
    return value;
  };
  EXPECT_EQ(ask(cudaMemRangeAttributeReadMostly), 1);
  EXPECT_EQ(ask(cudaMemRangeAttributePreferredLocation), cudaCpuDeviceId);
  EXPECT_EQ(ask(cudaMemRangeAttributeLastPrefetchLocation), cudaInvalidDeviceId);
  EXPECT_EQ(cudaMemRangeGetAttribute(users, 8, cudaMemRangeAttributeAccessedBy, values, 64),
            cudaSuccess);
  EXPECT_EQ(users[0], 0);
  EXPECT_EQ(users[1], cudaInvalidDeviceId);
  EXPECT_EQ(cudaFree(values), cudaSuccess);
}

TEST_F(SharedMemory, KernelsUsePageLockedMemory) {
  int *host = nullptr, *device = nullptr;
  ASSERT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&host), 16, cudaHostAllocMapped), cudaSuccess);
  ASSERT_EQ(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device), host, 0), cudaSuccess);
  EXPECT_EQ(device, host);
  for (int i = 0; i < 4; ++i) host[i] = i;
  launch(device, 4);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(host[3], 6);
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  launch(device, 4);
  const std::vector<vgpu::Finding> found = findings();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].kind, vgpu::FindingKind::invalid_free);
  EXPECT_EQ(found[1].kind, vgpu::FindingKind::use_after_free);
}

TEST_F(SharedMemory, KernelsUseRegisteredMemoryByAnAddressOfItsOwn) {
  std::vector<int> host(6, 3);
  int* device = nullptr;
  ASSERT_EQ(cudaHostRegister(host.data(), 24, cudaHostRegisterMapped), cudaSuccess);
  ASSERT_EQ(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device), &host[1], 0), cudaSuccess);
  EXPECT_NE(device, &host[1]);
  host[1] = 5;
  launch(device, 5);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(host, (std::vector{3, 10, 6, 6, 6, 6}));
  host[1] = 1;
  launch(device, 2);
  EXPECT_EQ(cudaHostUnregister(host.data()), cudaSuccess);  // waits
  EXPECT_EQ(host, (std::vector{3, 2, 12, 6, 6, 6}));
  EXPECT_TRUE(findings().empty());
}

TEST_F(SharedMemory, CopiesBoxes) {
  cudaPitchedPtr box{};
  const cudaExtent extent{3, 2, 2};
  ASSERT_EQ(cudaMalloc3D(&box, extent), cudaSuccess);
  EXPECT_EQ(box.pitch, 512u);
  EXPECT_EQ(cudaMemset3D(box, '.', extent), cudaSuccess);
  std::string text = "abcdefghijkl", back(12, ' ');
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {text.data(), 3, 3, 2};
  copy.srcPos = {1, 0, 0};
  copy.dstPtr = box;
  copy.dstPos = {0, 1, 0};
  copy.extent = {2, 1, 2};
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  cudaMemcpy3DParms all{};
  all.srcPtr = box;
  all.dstPtr = {back.data(), 3, 3, 2};
  all.extent = extent;
  all.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaMemcpy3DAsync(&all, nullptr), cudaSuccess);
  EXPECT_EQ(back, "...bc....hi.");
  all.srcPos = {0, 0, 1};  // one slice too many
  EXPECT_EQ(cudaMemcpy3D(&all), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(box.ptr), cudaSuccess);
  const std::vector<vgpu::Finding> found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, vgpu::FindingKind::out_of_bounds);
}

TEST_F(SharedMemory, CopiesToArraysAndBack) {
  const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindSigned};
  cudaArray_t array = nullptr, other = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &format, 4, 2), cudaSuccess);
  ASSERT_EQ(cudaMallocArray(&other, &format, 4, 2), cudaSuccess);
  std::vector<int> values(8), back(8);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, values.data(), 16, 16, 2, cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 4, 0, values.data(), 16, 16, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, 16, 2, cudaMemcpyDeviceToDevice),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DFromArray(back.data(), 16, other, 0, 0, 16, 2, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(back, values);
  cudaMemcpy3DParms copy{};  // positions and extents count elements
  copy.srcArray = array;
  copy.srcPos = {2, 1, 0};
  copy.dstPtr = {back.data(), 8, 2, 1};
  copy.extent = {2, 1, 1};
  copy.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  EXPECT_EQ(back[0], 7);
  EXPECT_EQ(back[1], 8);
  cudaExtent extent{};
  cudaChannelFormatDesc found{};
  EXPECT_EQ(cudaArrayGetInfo(&found, &extent, nullptr, array), cudaSuccess);
  EXPECT_EQ(extent.width, 4u);
  EXPECT_EQ(found.x, 32);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(other), cudaSuccess);
  EXPECT_TRUE(findings().empty());
}

TEST_F(SharedMemory, MipmappedArraysHaveLevels) {
  const cudaChannelFormatDesc format{8, 8, 8, 8, cudaChannelFormatKindUnsigned};
  cudaMipmappedArray_t mipmapped = nullptr;
  EXPECT_EQ(cudaMallocMipmappedArray(&mipmapped, &format, {8, 4, 0}, 5), cudaErrorInvalidValue);
  ASSERT_EQ(cudaMallocMipmappedArray(&mipmapped, &format, {8, 4, 0}, 4), cudaSuccess);
  cudaArray_t level = nullptr;
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&level, mipmapped, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&level, mipmapped, 3), cudaSuccess);
  cudaExtent extent{};
  EXPECT_EQ(cudaArrayGetInfo(nullptr, &extent, nullptr, level), cudaSuccess);
  EXPECT_EQ(extent.width, 1u);
  EXPECT_EQ(extent.height, 1u);
  EXPECT_EQ(cudaFreeArray(level), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeMipmappedArray(mipmapped), cudaSuccess);
  EXPECT_TRUE(findings().empty());
}

TEST_F(SharedMemory, TexturesRememberWhatTheyWereMadeOf) {
  const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &format, 4, 2), cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture{};
  texture.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t object = 0;
  ASSERT_EQ(cudaCreateTextureObject(&object, &resource, &texture, nullptr), cudaSuccess);
  cudaTextureDesc told{};
  EXPECT_EQ(cudaGetTextureObjectTextureDesc(&told, object), cudaSuccess);
  EXPECT_EQ(told.filterMode, cudaFilterModeLinear);
  cudaSurfaceObject_t surface = 0;
  EXPECT_EQ(cudaCreateSurfaceObject(&surface, &resource), cudaSuccess);
  EXPECT_EQ(cudaDestroySurfaceObject(surface), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(object), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(object), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(SharedMemory, TexturesThatHardwareHasNotAreRefused) {
  cudaArray_t bytes = nullptr, words = nullptr, floats = nullptr, halves = nullptr;
  const cudaChannelFormatDesc byte{8, 0, 0, 0, cudaChannelFormatKindUnsigned};
  const cudaChannelFormatDesc word{32, 0, 0, 0, cudaChannelFormatKindUnsigned};
  const cudaChannelFormatDesc real{32, 0, 0, 0, cudaChannelFormatKindFloat};
  const cudaChannelFormatDesc half{16, 0, 0, 0, cudaChannelFormatKindFloat};
  ASSERT_EQ(cudaMallocArray(&bytes, &byte, 4, 2), cudaSuccess);
  ASSERT_EQ(cudaMallocArray(&words, &word, 4, 2), cudaSuccess);
  ASSERT_EQ(cudaMallocArray(&floats, &real, 4, 2), cudaSuccess);
  ASSERT_EQ(cudaMallocArray(&halves, &half, 4, 2), cudaSuccess);
  const auto make = [](cudaArray_t array, cudaTextureFilterMode filter, cudaTextureReadMode read) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc texture{};
    texture.filterMode = filter;
    texture.readMode = read;
    cudaTextureObject_t object = 0;
    return cudaCreateTextureObject(&object, &resource, &texture, nullptr);
  };
  constexpr auto kPoint = cudaFilterModePoint, kLinear = cudaFilterModeLinear;
  constexpr auto kElement = cudaReadModeElementType, kFraction = cudaReadModeNormalizedFloat;
  EXPECT_EQ(make(bytes, kLinear, kElement), cudaErrorInvalidFilterSetting);
  EXPECT_EQ(make(bytes, kLinear, kFraction), cudaSuccess);
  EXPECT_EQ(make(words, kLinear, kFraction), cudaErrorInvalidFilterSetting);
  EXPECT_EQ(make(words, kPoint, kFraction), cudaErrorInvalidNormSetting);
  EXPECT_EQ(make(floats, kLinear, kFraction), cudaErrorInvalidNormSetting);
  EXPECT_EQ(make(halves, kLinear, kElement), cudaSuccess);
  EXPECT_EQ(make(halves, kPoint, kFraction), cudaErrorInvalidNormSetting);
  for (cudaArray_t array : {bytes, words, floats, halves}) {
    EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  }
}

TEST_F(SharedMemory, PoolsCountWhatIsTakenFromThem) {
  cudaMemPool_t pool = nullptr, current = nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = 256;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  EXPECT_EQ(cudaDeviceSetMemPool(0, pool), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetMemPool(&current, 0), cudaSuccess);
  EXPECT_EQ(current, pool);
  void *first = nullptr, *second = nullptr;
  EXPECT_EQ(cudaMallocAsync(&first, 200, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMallocFromPoolAsync(&second, 57, pool, nullptr), cudaErrorMemoryAllocation);
  std::uint64_t bytes = 0;
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes), cudaSuccess);
  EXPECT_EQ(bytes, 200u);
  EXPECT_EQ(cudaFreeAsync(first, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes), cudaSuccess);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes), cudaSuccess);
  EXPECT_EQ(bytes, 200u);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetMemPool(&current, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  EXPECT_EQ(current, pool);
  EXPECT_TRUE(findings().empty());
}

TEST_F(SharedMemory, PoolsKeepWhatIsFreedUpToTheirThreshold) {
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  const auto reserved = [&](cudaMemPoolAttr which) {
    std::uint64_t bytes = 0;
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, which, &bytes), cudaSuccess);
    return bytes;
  };
  const auto take_and_free = [&](std::size_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMallocAsync(&memory, bytes, nullptr), cudaSuccess);
    EXPECT_EQ(reserved(cudaMemPoolAttrReservedMemCurrent), bytes);
    EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  };
  take_and_free(300);
  EXPECT_EQ(reserved(cudaMemPoolAttrReservedMemCurrent), 0u);
  std::uint64_t threshold = 200;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
            cudaSuccess);
  EXPECT_EQ(reserved(cudaMemPoolAttrReservedMemCurrent), 0u);
  take_and_free(400);
  EXPECT_EQ(reserved(cudaMemPoolAttrReservedMemCurrent), 200u);
  EXPECT_EQ(cudaMemPoolTrimTo(pool, 50), cudaSuccess);
  EXPECT_EQ(reserved(cudaMemPoolAttrReservedMemCurrent), 50u);
  EXPECT_EQ(reserved(cudaMemPoolAttrReservedMemHigh), 400u);
  std::uint64_t none = 0;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &none), cudaSuccess);
  EXPECT_EQ(reserved(cudaMemPoolAttrReservedMemHigh), 50u);
}

}  // namespace
}  // namespace warpcheck::cudart
