// Streams, events, device queries, errors, and the completeness of the API.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "vgpu/cudart/virtual_device.hpp"

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
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);  // a finding, too
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
  EXPECT_EQ(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth), cudaErrorUnsupportedLimit);
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
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaErrorNotSupported);
  EXPECT_EQ(
      end_trial().refusals,
      (std::vector<std::string>{"cudaDeviceEnablePeerAccess is not supported by the virtual device",
                                "cudaGraphCreate is not supported by the virtual device"}));
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The names "cuda..." that follow `prefix` and some spaces.
std::set<std::string> names_after(const std::string& text, const std::string& prefix) {
  std::set<std::string> names;
  for (std::size_t at = text.find(prefix); at != std::string::npos;
       at = text.find(prefix, at + 1)) {
    const std::size_t start = text.find_first_not_of(' ', at + prefix.size());
    if (start == std::string::npos || text.compare(start, 4, "cuda") != 0) continue;
    names.insert(text.substr(start, text.find_first_of("( )", start) - start));
  }
  return names;
}

// Every function that the header declares is here: implemented, or refused by name.
TEST(UnsupportedApi, TogetherWithTheSupportedIsComplete) {
  const std::set<std::string> declared =
      names_after(text_of(WARPCHECK_CUDA_INCLUDE "/cuda_runtime_api.h"), "CUDARTAPI");
  ASSERT_GT(declared.size(), 250u);
  const std::string here = WARPCHECK_SOURCE_DIR "/vgpu/cudart/";
  std::set<std::string> known = names_after(text_of(here + "unsupported.def"), "UNSUPPORTED(");
  for (const char* file :
       {"copy_api.cpp", "device_api.cpp", "error_api.cpp", "function_api.cpp", "launch_api.cpp",
        "memory_api.cpp", "stream_api.cpp", "symbol_api.cpp"}) {
    for (const char* result : {"\ncudaError_t", "\nconst char*", "\ncudaChannelFormatDesc"}) {
      known.merge(names_after(text_of(here + file), result));
    }
  }
  for (const std::string& name : declared) EXPECT_TRUE(known.contains(name)) << name;
}

}  // namespace
}  // namespace warpcheck::cudart
