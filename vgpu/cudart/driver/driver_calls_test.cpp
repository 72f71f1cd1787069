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
#include <array>
#include <cstdint>
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
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &found, 13000, cudaEnableDefault, &result),
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

// Nodes of any kind, made and changed by one structure: in a graph, and in an instantiated one.
TEST(GraphNodes, AreChangedByOneStructureForAllKinds) {
  int* cells = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&cells), 2 * sizeof(int)), cudaSuccess);
  CUgraph graph = nullptr;
  ASSERT_EQ(DRIVER(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
  CUgraphNodeParams fill{};
  fill.type = CU_GRAPH_NODE_TYPE_MEMSET;
  fill.memset = {reinterpret_cast<CUdeviceptr>(cells), 0, 1, 4, 1, 1, nullptr};
  std::vector<int> calls;
  CUgraphNodeParams host{};
  host.type = CU_GRAPH_NODE_TYPE_HOST;
  host.host = {[](void* list) { static_cast<std::vector<int>*>(list)->push_back(1); }, &calls};
  CUgraphNode filled = nullptr, called = nullptr;
  const auto add = DRIVER(cuGraphAddNode);
  ASSERT_EQ(add(&filled, graph, nullptr, nullptr, 0, &fill), CUDA_SUCCESS);
  ASSERT_EQ(add(&called, graph, &filled, nullptr, 1, &host), CUDA_SUCCESS);

  const auto set = DRIVER(cuGraphNodeSetParams);
  fill.memset.value = 2;
  EXPECT_EQ(set(filled, &fill), CUDA_SUCCESS);
  CUgraphExec made = nullptr;
  ASSERT_EQ(DRIVER(cuGraphInstantiate)(&made, graph, 0), CUDA_SUCCESS);
  const auto set_made = DRIVER(cuGraphExecNodeSetParams);
  const auto run = [&] {
    std::array<int, 2> values{};
    EXPECT_EQ(cudaMemset(cells, 0, sizeof values), cudaSuccess);
    EXPECT_EQ(DRIVER(cuGraphLaunch)(made, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cudaMemcpy(values.data(), cells, sizeof values, cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  };
  EXPECT_EQ(run(), (std::array{2, 0}));
  fill.memset.value = 3;
  fill.memset.width = 2;
  host.host.fn = [](void* list) { static_cast<std::vector<int>*>(list)->push_back(2); };
  EXPECT_EQ(set_made(made, filled, &fill), CUDA_SUCCESS);
  EXPECT_EQ(set_made(made, called, &host), CUDA_SUCCESS);
  EXPECT_EQ(run(), (std::array{3, 3}));
  EXPECT_EQ(calls, (std::vector{1, 2}));

  CUgraphNodeParams allocation{};
  allocation.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  EXPECT_EQ(set(filled, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(set(filled, &host), CUDA_ERROR_INVALID_VALUE);  // of another kind
  EXPECT_EQ(set(nullptr, &fill), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(set(filled, &allocation), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(set_made(made, filled, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(set_made(made, filled, &host), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(set_made(nullptr, filled, &fill), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(set_made(made, filled, &allocation), CUDA_ERROR_NOT_SUPPORTED);

  EXPECT_EQ(DRIVER(cuGraphExecDestroy)(made), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuGraphDestroy)(graph), CUDA_SUCCESS);
  EXPECT_EQ(cudaFree(cells), cudaSuccess);
  cudaGetLastError();
}

TEST(GraphNodes, OfEveryKindAreMadeByOneStructure) {
  std::array<int, 2>* cells = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&cells), sizeof *cells), cudaSuccess);
  const std::array<int, 2> host{5, 6};
  CUlibrary library = nullptr;
  CUgraph graph = nullptr, child = nullptr;
  CUevent event = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_EQ(DRIVER(cuLibraryLoadData)(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(DRIVER(cuLibraryGetKernel)(&kernel, library, "nothing"), CUDA_SUCCESS);
  ASSERT_EQ(DRIVER(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(DRIVER(cuGraphCreate)(&child, 0), CUDA_SUCCESS);
  ASSERT_EQ(DRIVER(cuEventCreate)(&event, 0), CUDA_SUCCESS);

  std::vector<CUgraphNode> nodes;
  const auto add = [&](const CUgraphNodeParams& wanted) {
    CUgraphNodeParams parameters = wanted;
    CUgraphNode made = nullptr;
    EXPECT_EQ(DRIVER(cuGraphAddNode)(&made, graph, nodes.empty() ? nullptr : &nodes.back(), nullptr,
                                     nodes.empty() ? 0 : 1, &parameters),
              CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuGraphNodeSetParams)(made, &parameters), CUDA_SUCCESS);
    CUgraphNodeType type{};
    EXPECT_EQ(DRIVER(cuGraphNodeGetType)(made, &type), CUDA_SUCCESS);
    EXPECT_EQ(type, wanted.type);
    nodes.push_back(made);
  };
  CUgraphNodeParams one{};
  one.type = CU_GRAPH_NODE_TYPE_KERNEL;
  one.kernel.kern = kernel;
  one.kernel.gridDimX = one.kernel.gridDimY = one.kernel.gridDimZ = 1;
  one.kernel.blockDimX = one.kernel.blockDimY = one.kernel.blockDimZ = 1;
  add(one);
  one = {};
  one.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  CUDA_MEMCPY3D& copy = one.memcpy.copyParams;
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(cells);
  copy.WidthInBytes = sizeof host;
  copy.Height = copy.Depth = 1;
  add(one);
  one = {};
  one.type = CU_GRAPH_NODE_TYPE_GRAPH;
  one.graph.graph = child;
  add(one);
  one = {};
  one.type = CU_GRAPH_NODE_TYPE_EMPTY;
  add(one);
  one.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  one.eventRecord.event = event;
  add(one);
  one = {};
  one.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  one.eventWait.event = event;
  add(one);

  CUgraphExec made = nullptr;
  std::array<int, 2> values{};
  EXPECT_EQ(DRIVER(cuGraphInstantiate)(&made, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuGraphLaunch)(made, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cudaMemcpy(&values, cells, sizeof values, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(values, host);
  for (const CUgraph each : {graph, child}) EXPECT_EQ(DRIVER(cuGraphDestroy)(each), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuGraphExecDestroy)(made), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuEventDestroy)(event), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuLibraryUnload)(library), CUDA_SUCCESS);
  EXPECT_EQ(cudaFree(cells), cudaSuccess);
}

// A pitch of 0 is the end of the row that is copied.
TEST(DriverCopies, RowsWithoutAPitchAreAsLongAsTheCopyReaches) {
  void* cells = nullptr;
  ASSERT_EQ(cudaMalloc(&cells, 8), cudaSuccess);
  const std::array<std::uint8_t, 8> host{0, 1, 2, 3, 4, 5, 6, 7};
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.srcXInBytes = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(cells);
  copy.WidthInBytes = copy.Height = 2;
  EXPECT_EQ(DRIVER(cuMemcpy2D)(&copy), CUDA_SUCCESS);
  std::array<std::uint8_t, 4> values{};
  EXPECT_EQ(cudaMemcpy(values.data(), cells, sizeof values, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(values, (std::array<std::uint8_t, 4>{1, 2, 4, 5}));
  CUDA_MEMCPY3D slices{};
  slices.srcMemoryType = CU_MEMORYTYPE_HOST;
  slices.srcHost = host.data();
  slices.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  slices.dstDevice = copy.dstDevice;
  slices.WidthInBytes = slices.Height = slices.Depth = 1;
  EXPECT_EQ(DRIVER(cuMemcpy3D)(&slices), CUDA_SUCCESS);
  slices.srcLOD = 1;
  EXPECT_EQ(DRIVER(cuMemcpy3D)(&slices), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cudaFree(cells), cudaSuccess);
}

TEST(DriverMemory, APointerLeadsToItsAllocation) {
  void* cells = nullptr;
  ASSERT_EQ(cudaMalloc(&cells, 100), cudaSuccess);
  const CUdeviceptr begin = reinterpret_cast<CUdeviceptr>(cells);
  std::size_t bytes = 0;
  CUdeviceptr first = 0;
  const auto ask = DRIVER(cuPointerGetAttribute);
  EXPECT_EQ(ask(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, begin + 40), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 100u);
  EXPECT_EQ(ask(&first, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, begin + 40), CUDA_SUCCESS);
  EXPECT_EQ(first, begin);
  EXPECT_EQ(cudaFree(cells), cudaSuccess);
}

// Rows of a fill are a pitch apart.
TEST(GraphNodes, AFillHasAPitch) {
  void* cells = nullptr;
  ASSERT_EQ(cudaMalloc(&cells, 16), cudaSuccess);
  EXPECT_EQ(cudaMemset(cells, 0, 16), cudaSuccess);
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec made = nullptr;
  CUgraphNodeParams fill{};
  fill.type = CU_GRAPH_NODE_TYPE_MEMSET;
  fill.memset = {reinterpret_cast<CUdeviceptr>(cells), 8, 7, 4, 1, 2, nullptr};
  ASSERT_EQ(DRIVER(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuGraphAddNode)(&node, graph, nullptr, nullptr, 0, &fill), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuGraphInstantiate)(&made, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuGraphLaunch)(made, nullptr), CUDA_SUCCESS);
  std::array<int, 4> values{};
  EXPECT_EQ(cudaMemcpy(values.data(), cells, sizeof values, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(values, (std::array{7, 0, 7, 0}));
  EXPECT_EQ(DRIVER(cuGraphExecDestroy)(made), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuGraphDestroy)(graph), CUDA_SUCCESS);
  EXPECT_EQ(cudaFree(cells), cudaSuccess);
}

// Integers of 8 and 16 bits are read as numbers up to 1, unless a flag says otherwise.
TEST(DriverTextures, NarrowIntegersAreReadAsFractions) {
  void* cells = nullptr;
  ASSERT_EQ(cudaMalloc(&cells, 512), cudaSuccess);
  const auto mode_of = [&](CUarray_format format, unsigned flags) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {reinterpret_cast<CUdeviceptr>(cells), format, 1, 512};
    CUDA_TEXTURE_DESC texture{};
    texture.flags = flags;
    CUtexObject object = 0;
    EXPECT_EQ(DRIVER(cuTexObjectCreate)(&object, &resource, &texture, nullptr), CUDA_SUCCESS);
    cudaTextureDesc made{};
    EXPECT_EQ(cudaGetTextureObjectTextureDesc(&made, object), cudaSuccess);
    EXPECT_EQ(DRIVER(cuTexObjectDestroy)(object), CUDA_SUCCESS);
    return made.readMode;
  };
  EXPECT_EQ(mode_of(CU_AD_FORMAT_UNSIGNED_INT8, 0), cudaReadModeNormalizedFloat);
  EXPECT_EQ(mode_of(CU_AD_FORMAT_UNSIGNED_INT8, CU_TRSF_READ_AS_INTEGER), cudaReadModeElementType);
  EXPECT_EQ(mode_of(CU_AD_FORMAT_UNSIGNED_INT32, 0), cudaReadModeElementType);
  EXPECT_EQ(mode_of(CU_AD_FORMAT_FLOAT, 0), cudaReadModeElementType);
  EXPECT_EQ(cudaFree(cells), cudaSuccess);
}

}  // namespace
}  // namespace warpcheck::cudart
