// Every row of driver_calls.def, called on the virtual GPU: with arguments that are valid, and with
// each of its handles, pointers and addresses null.  The driver function must answer what the
// runtime function answers to the same bits in an equal trial, as a number and in the memory that
// the arguments point to.
//
// Samples (driver_call_samples.hpp) are chosen by the types of the parameters, so a new row needs
// nothing here unless its arguments have special meanings.
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "vgpu/cudart/driver/driver_call_samples.hpp"
#include "vgpu/cudart/driver/driver_errors.hpp"
#include "vgpu/cudart/driver/driver_functions.hpp"
#include "vgpu/cudart/driver/forwarded_call.hpp"

namespace warpcheck::cudart {
namespace {

enum class Frame : std::uint8_t { in_context, after_init };

// Runtime functions whose names are not "cuda" and the rest of the driver function's name.
const std::map<std::string_view, std::string_view> kOtherNames{
    {"cuCtxSynchronize", "cudaDeviceSynchronize"},
    {"cuCtxSetLimit", "cudaDeviceSetLimit"},
    {"cuCtxGetLimit", "cudaDeviceGetLimit"},
    {"cuCtxSetCacheConfig", "cudaDeviceSetCacheConfig"},
    {"cuCtxGetStreamPriorityRange", "cudaDeviceGetStreamPriorityRange"},
    {"cuDeviceGetCount", "cudaGetDeviceCount"},
    {"cuFlushGPUDirectRDMAWrites", "cudaDeviceFlushGPUDirectRDMAWrites"},
    {"cuGraphInstantiateWithFlags", "cudaGraphInstantiate"},
    {"cuMemFreeHost", "cudaFreeHost"},
    {"cuMemHostRegister", "cudaHostRegister"},
    {"cuMemHostUnregister", "cudaHostUnregister"},
    {"cuMemHostGetFlags", "cudaHostGetFlags"},
    {"cuStreamCreate", "cudaStreamCreateWithFlags"},
    {"cuEventCreate", "cudaEventCreateWithFlags"},
    {"cuArrayDestroy", "cudaFreeArray"},
    {"cuMipmappedArrayGetLevel", "cudaGetMipmappedArrayLevel"},
    {"cuMipmappedArrayDestroy", "cudaFreeMipmappedArray"},
    {"cuTexObjectDestroy", "cudaDestroyTextureObject"},
    {"cuSurfObjectDestroy", "cudaDestroySurfaceObject"},
};

// Rows whose valid arguments are not answered by success.
const std::map<std::string_view, CUresult> kOtherAnswers{
    {"cuDeviceGetP2PAttribute", CUDA_ERROR_INVALID_DEVICE},  // there is only one device
    {"cuDeviceGetP2PAtomicCapabilities", CUDA_ERROR_INVALID_DEVICE},
    {"cuFlushGPUDirectRDMAWrites", CUDA_ERROR_NOT_SUPPORTED},
    {"cuIpcGetMemHandle", CUDA_ERROR_NOT_SUPPORTED},  // refused outside of `warpcheck exec`
    {"cuIpcCloseMemHandle", CUDA_ERROR_NOT_SUPPORTED},
    {"cuMemPoolExportPointer", CUDA_ERROR_NOT_SUPPORTED},
    {"cuMemPoolImportPointer", CUDA_ERROR_NOT_SUPPORTED},
    {"cuIpcOpenEventHandle", CUDA_ERROR_NOT_SUPPORTED},
    {"cuIpcGetEventHandle", CUDA_ERROR_INVALID_HANDLE},  // the event is of one process
};

template <typename To, typename From>
To with_the_bits_of(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

// What a call has answered: its result, and what is then in the memory of its arguments.
struct Answer {
  int result = 0;
  std::vector<Slot> slots;
};

// The result must be the same, and so must the bytes: of handles and addresses, whether they are
// null.
void expect_same(const Answer& of_driver, const Answer& of_runtime) {
  EXPECT_EQ(of_driver.result,
            static_cast<int>(result_of(static_cast<cudaError_t>(of_runtime.result))));
  ASSERT_EQ(of_driver.slots.size(), of_runtime.slots.size());
  for (std::size_t i = 0; i < of_driver.slots.size(); ++i) {
    EXPECT_EQ(of_driver.slots[i].known(), of_runtime.slots[i].known()) << "argument " << i;
  }
}

// Calls a function of these parameters in a trial of its own.
//   null: the argument that is null; nothing: none
template <typename... Parameters, std::size_t... kAt, typename Call>
Answer answer_of(std::string_view row, [[maybe_unused]] std::optional<std::size_t> null,
                 const Call& call, std::tuple<Parameters...>*, std::index_sequence<kAt...>) {
  CallObjects objects(row);
  Answer answer;
  answer.slots.resize(sizeof...(Parameters));
  // In braces: evaluated in the order of the parameters.
  std::tuple<Parameters...> arguments{sample<Parameters>(objects, answer.slots[kAt])...};
  [[maybe_unused]] const auto clear = [](auto& argument) { argument = {}; };
  (..., (null == kAt ? clear(std::get<kAt>(arguments)) : void()));
  answer.result = std::apply(call, arguments);
  return answer;
}

template <typename Parameter>
constexpr bool can_be_null() {
  return std::is_pointer_v<Parameter> || std::is_same_v<Parameter, CUdeviceptr>;
}

struct Row {
  std::string_view name;
  Frame frame;
};

template <typename... Parameters, typename... To>
void check(const Row& row, CUresult (*)(Parameters...), cudaError_t (*runtime)(To...)) {
  SCOPED_TRACE(row.name);
  const auto all = driver_functions();
  const auto found = std::ranges::find(all, row.name, &DriverFunction::name);
  ASSERT_NE(found, all.end());
  const auto driver = reinterpret_cast<CUresult (*)(Parameters...)>(found->function);
  const auto call_driver = [&](const Parameters&... arguments) {
    return static_cast<int>(driver(arguments...));
  };
  const auto call_runtime = [&](const Parameters&... arguments) {
    return static_cast<int>(runtime(with_the_bits_of<To>(arguments)...));
  };
  const auto answer = [&](std::optional<std::size_t> null, const auto& call) {
    return answer_of(row.name, null, call, static_cast<std::tuple<Parameters...>*>(nullptr),
                     std::index_sequence_for<Parameters...>());
  };

  const Answer valid = answer({}, call_driver);
  const auto other = kOtherAnswers.find(row.name);
  EXPECT_EQ(valid.result, other == kOtherAnswers.end() ? CUDA_SUCCESS : other->second);
  expect_same(valid, answer({}, call_runtime));
  std::size_t at = 0;
  for (const bool is_nullable : {can_be_null<Parameters>()..., false}) {
    if (is_nullable) {
      SCOPED_TRACE(at);
      expect_same(answer(at, call_driver), answer(at, call_runtime));
    }
    ++at;
  }

  // A thread that has not used the runtime has no context.
  const auto without_context = [&](const Parameters&... arguments) {
    int result = 0;
    std::thread([&] { result = call_driver(arguments...); }).join();
    return result;
  };
  const int result = answer({}, without_context).result;
  EXPECT_EQ(result, row.frame == Frame::in_context ? CUDA_ERROR_INVALID_CONTEXT : valid.result);
}

TEST(DriverCalls, AnswerWhatTheRuntimeAnswers) {
#define FORWARDED(frame, parameters, driver_function, runtime_function)                       \
  check({#driver_function, Frame::frame}, static_cast<decltype(&::driver_function)>(nullptr), \
        &::runtime_function);
#include "vgpu/cudart/driver/driver_calls.def"
#undef FORWARDED
}

TEST(DriverCalls, AreForwardedToTheFunctionOfTheirName) {
  const auto expect_name = [](std::string_view driver, std::string_view runtime) {
    const std::size_t version = driver.rfind("_v");
    const std::string_view name = driver.substr(0, version);
    const auto other = kOtherNames.find(name);
    EXPECT_EQ(runtime, other == kOtherNames.end() ? "cuda" + std::string(name.substr(2))
                                                  : std::string(other->second));
  };
#define FORWARDED(frame, parameters, driver_function, runtime_function) \
  expect_name(#driver_function, #runtime_function);
#include "vgpu/cudart/driver/driver_calls.def"
#undef FORWARDED
}

TEST(DriverCalls, ConvertArgumentsToTheRuntimesTypes) {
  constexpr auto kUnknown = static_cast<CUlimit>(0x7f);
  EXPECT_EQ(number_of(argument_as<cudaLimit>(kUnknown)), 0x7f);  // no value of either enumeration
  int number = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(&number);
  EXPECT_EQ(argument_as<void*>(address), &number);
  const auto location = argument_as<cudaMemLocation>(CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, 3});
  EXPECT_EQ(location.type, cudaMemLocationTypeDevice);
  EXPECT_EQ(location.id, 3);
  EXPECT_EQ(argument_as<int>(CUdevice{-1}), -1);
}

// Libraries of kernels that a program loads, by the runtime's functions and by the driver's.
constexpr const char* kText = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
)";

// The driver's function, as a program finds it.
template <typename Function>
Function* driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result),
            cudaSuccess);
  return reinterpret_cast<Function*>(found);
}
#define DRIVER(function) driver_function<decltype(function)>(#function)

// No device has unified functions, so none is found.
TEST(LibraryApi, HasNoUnifiedFunctions) {
  cudaLibrary_t library = nullptr;
  ASSERT_EQ(cudaLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaSuccess);
  void* function = nullptr;
  EXPECT_EQ(cudaLibraryGetUnifiedFunction(&function, library, "nothing"), cudaErrorSymbolNotFound);
  EXPECT_EQ(cudaLibraryGetUnifiedFunction(nullptr, library, "nothing"), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLibraryGetUnifiedFunction(&function, library, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);

  CUlibrary loaded = nullptr;
  ASSERT_EQ(DRIVER(cuLibraryLoadData)(&loaded, kText, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuLibraryGetUnifiedFunction)(&function, loaded, "nothing"),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(DRIVER(cuLibraryGetUnifiedFunction)(nullptr, loaded, "nothing"),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(DRIVER(cuLibraryUnload)(loaded), CUDA_SUCCESS);
  cudaGetLastError();
}

}  // namespace
}  // namespace warpcheck::cudart
