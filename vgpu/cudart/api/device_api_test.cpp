// Streams, events, device queries, errors, and the completeness of the API.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/redirect/unsupported_libraries.hpp"

namespace warpcheck::cudart {
namespace {

class DeviceApi : public testing::Test {
 protected:
  DeviceApi() { begin_trial({}); }
  ~DeviceApi() override { end_trial(); }
};

TEST_F(DeviceApi, HasStreams) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 0x77), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  unsigned flags = 0;
  EXPECT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess);
  EXPECT_EQ(flags, cudaStreamNonBlocking);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);  // also a finding
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemsetAsync(nullptr, 0, 0, stream), cudaErrorInvalidResourceHandle);
}

TEST_F(DeviceApi, HasEvents) {
  cudaEvent_t timed = nullptr, untimed = nullptr;
  EXPECT_EQ(cudaEventCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(&untimed, 0x100), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreate(&timed), cudaSuccess);
  EXPECT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(timed, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(untimed, nullptr), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, timed, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(nullptr, timed, timed), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, timed, timed), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(timed), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, timed, timed), cudaSuccess);
  EXPECT_EQ(milliseconds, 0.0f);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, timed, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, timed, 7), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, nullptr, 0), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(timed), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(timed), cudaErrorInvalidResourceHandle);
}

TEST_F(DeviceApi, RunsHostFunctionsWhenTheyAreWaitedFor) {
  int calls = 0;
  const auto count = [](void* argument) {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorNotPermitted);
    ++*static_cast<int*>(argument);
  };
  EXPECT_EQ(cudaLaunchHostFunc(nullptr, count, &calls), cudaSuccess);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(calls, 1);
}

TEST_F(DeviceApi, DescribesItself) {
  int count = 0, value = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDevice(&value), cudaSuccess);
  EXPECT_EQ(value, 0);
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, "warpcheck virtual GPU");
  EXPECT_EQ(properties.major * 10 + properties.minor, 75);
  EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
  EXPECT_EQ(properties.sharedMemPerBlock, 49152u);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0), cudaSuccess);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrCooperativeLaunch, 0), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, 0), cudaSuccess);
  EXPECT_EQ(value, 1);
  char bus[16] = {};
  EXPECT_EQ(cudaDeviceGetPCIBusId(bus, sizeof bus, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&value, bus), cudaSuccess);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaRuntimeGetVersion(&value), cudaSuccess);
  EXPECT_EQ(value, 13000);
}

TEST_F(DeviceApi, KeepsLimits) {
  std::size_t value = 0;
  EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(value, 1024u);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 4096), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(value, 4096u);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(value, 16u);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1), cudaErrorInvalidValue);
}

TEST_F(DeviceApi, HasALimitOfNestedWaitsBeforeCapability90) {
  std::size_t value = 0;
  EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth), cudaSuccess);
  EXPECT_EQ(value, 2u);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 24), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth), cudaSuccess);
  EXPECT_EQ(value, 24u);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 25), cudaErrorInvalidValue);
  for (const auto& one : virtual_gpu::kCapabilities) {
    EXPECT_EQ(one.has_waits_for_children(), one.sm() < 90) << one.sm();
  }
}

TEST_F(DeviceApi, NamesItsErrors) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorLaunchFailure), "unspecified launch failure");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(5000)), "unrecognized error code");
}

TEST_F(DeviceApi, RemembersTheLastError) {
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(UnsupportedApi, AnswersByName) {
  begin_trial({});
  EXPECT_EQ(cudaDestroyExternalMemory(nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphicsUnregisterResource(nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphicsUnregisterResource(nullptr), cudaErrorNotSupported);
  EXPECT_EQ(end_trial().refusals,
            (std::vector<std::string>{
                "cudaDestroyExternalMemory is not supported by the virtual device",
                "cudaGraphicsUnregisterResource is not supported by the virtual device"}));
}

TEST(UnsupportedLibraries, AreKnownByTheirNames) {
  for (const char* file : {"libcudart.so.13", "libc.so.6", "libcublas_static.a", "libcublasfree.so",
                           "libcudadebug.so", "libcuda.so.1", "libnvrtc.so.13", ""}) {
    EXPECT_EQ(why_unsupported(file), "") << file;
  }
  for (const char* file : {"libcublas.so.13", "libcudnn_ops.so.9", "libnppig.so.13"}) {
    EXPECT_NE(why_unsupported(file).find("machine code"), std::string::npos) << file;
  }
  EXPECT_NE(why_unsupported("libnvcuvid.so.1").find("the driver"), std::string::npos);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the names in "WORD(name)" for every WORD( of a list of functions.
std::set<std::string> names_in(const std::string& list) {
  std::set<std::string> names;
  std::istringstream lines(text_of(WARPCHECK_SOURCE_DIR "/vgpu/cudart/api/" + list));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t open = line.find('('), end = line.find_first_of(",)");
    if (line.starts_with("//") || open == std::string::npos) continue;
    EXPECT_TRUE(names.insert(line.substr(open + 1, end - open - 1)).second) << line;
  }
  return names;
}

// Every function that programs can link: implemented, or refused by name.  The libraries are built
// from these lists, so every name in them exists.
std::set<std::string> known_names() {
  std::set<std::string> known = names_in("entry_points.def");
  const std::size_t implemented = known.size();
  const std::set<std::string> refused = names_in("unsupported/unsupported.def");
  known.insert(refused.begin(), refused.end());
  EXPECT_EQ(known.size(), implemented + refused.size());
  for (const char* name :
       {"__cudaPopCallConfiguration", "__cudaPushCallConfiguration", "__cudaRegisterFatBinary",
        "__cudaRegisterFatBinaryEnd", "__cudaRegisterFunction", "__cudaRegisterManagedVar",
        "__cudaRegisterVar", "__cudaUnregisterFatBinary"}) {
    known.insert(name);
  }
  return known;
}

TEST(UnsupportedApi, TogetherWithTheSupportedHasWhatTheHeaderDeclares) {
  const std::set<std::string> known = known_names();
  const std::string header = text_of(WARPCHECK_CUDA_INCLUDE "/cuda_runtime_api.h");
  std::size_t declared = 0;
  for (std::size_t at = header.find("CUDARTAPI"); at != std::string::npos;
       at = header.find("CUDARTAPI", at + 1)) {
    const std::size_t start = header.find_first_not_of(' ', at + std::strlen("CUDARTAPI"));
    if (header.compare(start, 4, "cuda") != 0) continue;
    const std::string name = header.substr(start, header.find_first_of("( )", start) - start);
    EXPECT_TRUE(known.contains(name)) << name;
    ++declared;
  }
  EXPECT_GT(declared, 250u);
}

TEST(UnsupportedApi, TogetherWithTheSupportedHasWhatTheRealLibraryExports) {
  const std::string library = WARPCHECK_CUDA_INCLUDE "/../lib64/libcudart.so.13";
  if (!std::ifstream(library)) GTEST_SKIP() << "there is no " << library;
  FILE* const list = ::popen(("nm -D --defined-only " + library).c_str(), "r");
  ASSERT_NE(list, nullptr);
  const std::set<std::string> known = known_names();
  std::size_t exported = 0;
  char line[512];
  while (std::fgets(line, sizeof line, list) != nullptr) {
    char type = 0, name[256] = {};
    if (std::sscanf(line, "%*s %c %255[^@\n]", &type, name) != 2 || type != 'T') continue;
    EXPECT_TRUE(known.contains(name)) << name;
    ++exported;
  }
  EXPECT_EQ(::pclose(list), 0);
  EXPECT_EQ(exported, 422u);
}

}  // namespace
}  // namespace warpcheck::cudart
