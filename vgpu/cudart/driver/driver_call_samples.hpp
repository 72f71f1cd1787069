// Valid arguments for calls of the driver API, by the types of the parameters; and what they refer
// to, made anew for each call.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/driver/driver_functions.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"

namespace warpcheck::cudart {

// Calls a function of libcuda.so.1 by its name there.
template <typename... Arguments>
CUresult call_entry(std::string_view name, Arguments... arguments) {
  const auto found = std::ranges::find(driver_functions(), name, &DriverFunction::name);
  return reinterpret_cast<CUresult (*)(Arguments...)>(found->function)(arguments...);
}

// The memory that one argument points to.
struct Slot {
  alignas(16) std::array<std::byte, 1024> bytes{};
  bool has_handle = false;  // a handle or an address, which is another one in each trial

  // What must be equal in equal trials.
  [[nodiscard]] std::string known() const {
    if (has_handle)
      return std::all_of(bytes.begin(), bytes.begin() + 8,
                         [](std::byte byte) { return byte == std::byte{0}; })
                 ? "null"
                 : "not null";
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  template <typename T>
  T* put(const T& value) {
    std::memcpy(bytes.data(), &value, sizeof value);
    return reinterpret_cast<T*>(bytes.data());
  }
};

inline void CUDART_CB do_nothing(void*) {}
inline void CUDA_CB do_nothing_in_stream(CUstream, CUresult, void*) {}

// A trial in which a row of driver_calls.def is called, with one object of each kind.
class CallObjects {
 public:
  explicit CallObjects(std::string_view row) : row_(row) {
    begin_trial({});
    CUcontext context = nullptr;
    call_entry("cuInit", 0u);
    call_entry("cuDevicePrimaryCtxRetain", &context, CUdevice{0});
    call_entry("cuCtxSetCurrent", context);
    unit_.kernel(&kernel_, "nothing");
    cudaStreamCreate(&stream);
    for (cudaEvent_t* const each : {&event, &later_event}) {
      cudaEventCreate(each);
      cudaEventRecord(*each, stream);
    }
    cudaStreamSynchronize(stream);
    cudaMallocManaged(&managed, kBytes);
    cudaMallocHost(&page_locked, kBytes);
    cudaHostRegister(registered_.data(), kBytes, 0);
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPoolCreate(&pool, &properties);
    const cudaChannelFormatDesc format =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaMallocArray(&array, &format, 8, 8, cudaArraySurfaceLoadStore);
    cudaMallocMipmappedArray(&mipmapped, &format, {8, 8, 0}, 2, 0);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaTextureDesc texture_description{};
    cudaCreateTextureObject(&texture, &resource, &texture_description, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
    cudaUserObjectCreate(&user_object, &kernel_, do_nothing, 2, cudaUserObjectNoDestructorSync);
    make_graphs();
    prepare();
  }
  ~CallObjects() {
    cudaGraph_t captured = nullptr;
    cudaStreamEndCapture(stream, &captured);
    cudaStreamCaptureMode of_thread = cudaStreamCaptureModeGlobal;
    cudaThreadExchangeStreamCaptureMode(&of_thread);
    call_entry("cuCtxSetCurrent", CUcontext{nullptr});
    call_entry("cuDevicePrimaryCtxRelease_v2", CUdevice{0});
    end_trial();
  }
  CallObjects(const CallObjects&) = delete;
  CallObjects& operator=(const CallObjects&) = delete;

  static constexpr std::size_t kBytes = 4096;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr, later_event = nullptr;
  void *managed = nullptr, *page_locked = nullptr;
  cudaMemPool_t pool = nullptr;
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t mipmapped = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  cudaUserObject_t user_object = nullptr;
  cudaGraphExec_t instance = nullptr;

  [[nodiscard]] bool is(std::string_view part) const {
    return row_.find(part) != std::string_view::npos;
  }
  [[nodiscard]] CUfunction kernel() {
    cudaFunction_t function = nullptr;
    cudaGetFuncBySymbol(&function, &kernel_);
    return function;
  }
  // The first and the second graph, event or node among the arguments are different ones.
  CUgraph next_graph() {
    if (is("FindInClone")) return clone_;
    if (is("MemAlloc") || is("MemFree")) return memory_graph_;
    return graphs_++ == 0 ? graph_ : child_;
  }
  CUevent next_event() { return events_++ == 0 ? event : later_event; }
  CUgraphNode next_node() {
    if (is("KernelNode")) return kernel_node_;
    if (is("HostNode")) return host_node_;
    if (is("ChildGraphNode") && !is("Add")) return child_node_;
    if (is("EventRecordNode") && !is("Add")) return record_node_;
    if (is("EventWaitNode") && !is("Add")) return wait_node_;
    if (is("MemAllocNode") || (is("MemFreeNode") && is("Add"))) return allocate_node_;
    if (is("MemFreeNode")) return free_node_;
    if (is("Enabled")) return fill_node_;
    return nodes_++ == 0 ? first_node_ : last_node_;
  }
  [[nodiscard]] void* address() const { return is("MemFreeNode") ? allocated_ : managed; }
  [[nodiscard]] unsigned long long number_or_address() const {
    if (is("Batch") || is("WithFlags")) return 0;  // flags
    if (is("TexObject")) return texture;
    if (is("SurfObject")) return surface;
    return reinterpret_cast<unsigned long long>(address());
  }
  [[nodiscard]] void* pointer(Slot& slot) {
    if (is("MemFreeHost") || is("MemHostGetFlags")) return page_locked;
    if (is("MemHostRegister")) return plain_.data();
    if (is("MemHostUnregister")) return registered_.data();
    return slot.bytes.data();
  }
  [[nodiscard]] int integer() {
    if (is("Occupancy")) return 32;
    return is("DeviceGetPCIBusId") && integers_++ == 0 ? 32 : 0;
  }
  [[nodiscard]] unsigned natural() const {
    if (is("AttachMem")) return cudaMemAttachSingle;
    return is("UserObject") || is("Capabilities") ? 1 : 0;
  }
  [[nodiscard]] std::size_t size() const {
    if (is("AttachMem") || is("GetParamInfo")) return 0;
    if (is("MemHostRegister")) return kBytes;
    return is("MemRangeGetAttribute") && !is("Attributes") ? 4 : 1;
  }
  [[nodiscard]] std::size_t size_behind_pointer() { return is("Batch") && sizes_++ == 1 ? 0 : 4; }
  [[nodiscard]] std::string text() const {
    std::array<char, 32> bus{};
    cudaDeviceGetPCIBusId(bus.data(), bus.size(), 0);
    return is("PCIBusId") ? bus.data() : "/dev/null";
  }

 private:
  void make_graphs() {
    for (cudaGraph_t* const each : {&graph_, &child_, &memory_graph_}) cudaGraphCreate(each, 0);
    cudaGraphNode_t in_child = nullptr;
    cudaGraphAddEmptyNode(&in_child, child_, nullptr, 0);
    cudaGraphAddEmptyNode(&first_node_, graph_, nullptr, 0);
    cudaGraphAddEmptyNode(&last_node_, graph_, nullptr, 0);
    const cudaHostNodeParams host{do_nothing, nullptr};
    cudaGraphAddHostNode(&host_node_, graph_, nullptr, 0, &host);
    cudaGraphAddChildGraphNode(&child_node_, graph_, nullptr, 0, child_);
    cudaGraphAddEventRecordNode(&record_node_, graph_, nullptr, 0, event);
    cudaGraphAddEventWaitNode(&wait_node_, graph_, nullptr, 0, event);
    cudaMemsetParams fill{};
    fill.dst = managed;
    fill.elementSize = fill.width = fill.height = 1;
    cudaGraphAddMemsetNode(&fill_node_, graph_, nullptr, 0, &fill);
    cudaKernelNodeParams launch{};
    launch.func = &kernel_;
    launch.gridDim = launch.blockDim = dim3(1);
    void* arguments[] = {&managed};
    launch.kernelParams = arguments;
    cudaGraphAddKernelNode(&kernel_node_, graph_, nullptr, 0, &launch);
    cudaGraphInstantiate(&instance, graph_, 0);
    cudaGraphClone(&clone_, graph_);
    cudaMemAllocNodeParams allocation{};
    allocation.poolProps.allocType = cudaMemAllocationTypePinned;
    allocation.poolProps.location = {cudaMemLocationTypeDevice, 0};
    allocation.bytesize = kBytes;
    cudaGraphAddMemAllocNode(&allocate_node_, memory_graph_, nullptr, 0, &allocation);
    allocated_ = allocation.dptr;
    if (is("MemFreeNodeGetParams")) {
      cudaGraphAddMemFreeNode(&free_node_, memory_graph_, &allocate_node_, 1, allocated_);
    }
  }
  // What must have happened before the call.
  void prepare() {
    if (is("EndCapture") || is("CaptureDependencies")) {
      cudaStreamBeginCaptureToGraph(stream, graph_, nullptr, nullptr, 0,
                                    cudaStreamCaptureModeRelaxed);
    }
    if (is("RemoveDependencies")) {
      cudaGraphAddDependencies(graph_, &first_node_, &last_node_, nullptr, 1);
    }
    if (is("ReleaseUserObject")) cudaGraphRetainUserObject(graph_, user_object, 1, 0);
  }

  static constexpr std::string_view kText =
      ".version 9.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry nothing(.param .u64 nothing_param_0) { ret; }\n";
  std::string_view row_;
  TestUnit unit_{kText};
  char kernel_ = 0;
  alignas(4096) std::array<std::byte, kBytes> registered_{}, plain_{};
  cudaGraph_t graph_ = nullptr, child_ = nullptr, clone_ = nullptr, memory_graph_ = nullptr;
  cudaGraphNode_t first_node_ = nullptr, last_node_ = nullptr, host_node_ = nullptr,
                  child_node_ = nullptr, record_node_ = nullptr, wait_node_ = nullptr,
                  fill_node_ = nullptr, kernel_node_ = nullptr, allocate_node_ = nullptr,
                  free_node_ = nullptr;
  void* allocated_ = nullptr;
  unsigned graphs_ = 0, events_ = 0, nodes_ = 0, integers_ = 0, sizes_ = 0;
};

// Returns a valid argument; what it points to is in the slot.
template <typename T>
T sample(CallObjects& objects, Slot& slot) {
  const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  if constexpr (std::is_same_v<T, CUstream>)
    return objects.stream;
  else if constexpr (std::is_same_v<T, CUevent>)
    return objects.next_event();
  else if constexpr (std::is_same_v<T, CUgraph>)
    return objects.next_graph();
  else if constexpr (std::is_same_v<T, CUgraphNode>)
    return objects.next_node();
  else if constexpr (std::is_same_v<T, CUgraphExec>)
    return objects.instance;
  else if constexpr (std::is_same_v<T, CUfunction>)
    return objects.kernel();
  else if constexpr (std::is_same_v<T, CUmemoryPool>)
    return objects.pool;
  else if constexpr (std::is_same_v<T, CUarray>)
    return reinterpret_cast<T>(objects.array);
  else if constexpr (std::is_same_v<T, CUmipmappedArray>)
    return reinterpret_cast<T>(objects.mipmapped);
  else if constexpr (std::is_same_v<T, CUuserObject>)
    return objects.user_object;
  else if constexpr (std::is_same_v<T, CUhostFn>)
    return do_nothing;
  else if constexpr (std::is_same_v<T, CUstreamCallback>)
    return do_nothing_in_stream;
  else if constexpr (std::is_same_v<T, CUdeviceptr>)
    return objects.number_or_address();
  else if constexpr (std::is_same_v<T, int>)
    return objects.integer();
  else if constexpr (std::is_same_v<T, unsigned>)
    return objects.natural();
  else if constexpr (std::is_same_v<T, std::size_t>)
    return objects.size();
  else if constexpr (std::is_same_v<T, CUflushGPUDirectRDMAWritesTarget>)
    return T{};
  else if constexpr (std::is_same_v<T, CUflushGPUDirectRDMAWritesScope>)
    return CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER;
  else if constexpr (std::is_enum_v<T>)
    return static_cast<T>(1);
  else if constexpr (std::is_same_v<T, CUmemLocation>)
    return location;
  else if constexpr (std::is_same_v<T, CUmemAccessDesc>)
    return {location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  else if constexpr (std::is_same_v<T, CUDA_HOST_NODE_PARAMS>)
    return {do_nothing, nullptr};
  else if constexpr (std::is_same_v<T, CUmemcpyAttributes>) {
    T attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    return attributes;
  } else if constexpr (std::is_same_v<T, CUDA_MEMCPY3D_BATCH_OP>) {
    T copy{};
    copy.src.type = copy.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.src.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(objects.managed);
    copy.dst.op.ptr.ptr = copy.src.op.ptr.ptr + CallObjects::kBytes / 2;
    copy.extent = {4, 1, 1};
    copy.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    return copy;
  } else if constexpr (std::is_same_v<T, CUDA_MEM_ALLOC_NODE_PARAMS>) {
    T parameters{};
    parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location = location;
    parameters.bytesize = CallObjects::kBytes;
    return parameters;
  } else if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_void_v<Target>)
      return objects.pointer(slot);
    else if constexpr (std::is_same_v<Target, char>) {
      const std::string text = objects.text();
      std::memcpy(slot.bytes.data(), text.c_str(), text.size() + 1);
      return reinterpret_cast<T>(slot.bytes.data());
    } else if constexpr (std::is_same_v<Target, CUdeviceptr>) {
      slot.has_handle = true;
      return slot.put(reinterpret_cast<CUdeviceptr>(objects.address()));
    } else if constexpr (std::is_same_v<Target, std::size_t>)
      return slot.put(objects.size_behind_pointer());
    else if constexpr (std::is_void_v<std::remove_pointer_t<Target>>) {  // void**
      slot.has_handle = true;
      return slot.put(static_cast<void*>(slot.bytes.data() + slot.bytes.size() / 2));
    } else {
      slot.has_handle = std::is_pointer_v<Target>;
      return slot.put(sample<Target>(objects, slot));
    }
  } else
    return T{};
}

}  // namespace warpcheck::cudart
