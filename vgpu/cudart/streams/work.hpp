// The work of the operations of streams and of the nodes of graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "vgpu/cudart/copies/box.hpp"
#include "vgpu/cudart/graphs/conditionals.hpp"
#include "vgpu/cudart/streams/order.hpp"
#include "vgpu/cudart/streams/process_events.hpp"
#include "vgpu/program/dim3.hpp"

namespace warpcheck::vgpu {
struct Allocation;
}

namespace warpcheck::cudart {

class GraphRun;
struct Kernel;
class LibraryCall;
struct LinkedKernel;

enum class Where : std::uint8_t { host, device };

struct KernelWork {
  unsigned device = 0;  // the device that runs it
  Kernel* kernel = nullptr;
  LinkedKernel* linked = nullptr;
  Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  bool may_begin_early = false;       // before the previous kernel has completed
  Stamp early_after{};                // of the previous kernel
  bool explicit_cluster = false;      // the launch or the kernel defines the cluster
  std::vector<std::byte> parameters;  // as copied at the call
  // Of a graph whose device code may launch graphs; otherwise null.
  std::shared_ptr<GraphRun> graph_run{};
  std::uint32_t launched_as = 0;  // DeviceAnswer::launched, if device code has launched its graph
};

struct CopyEnds;
struct LateHostSide;

struct CopyWork {
  std::string_view call;
  Place target, source;
  Where target_in = Where::host, source_in = Where::host;
  Box box;
  int kind = cudaMemcpyDefault;    // as the caller passed it
  bool staged = false;             // the source was copied at the call:
  std::vector<std::byte> bytes{};  // rows without gaps
  bool host_waits = false;         // from the call until it has run
  // Set if it uses memory of the program after its call (late_host_sides.hpp).
  std::shared_ptr<const LateHostSide> late{};
  // Both sides, if memory cannot be allocated or freed until the copy runs; not owned.
  const CopyEnds* ends = nullptr;
};

// A copy's source, which is read before the copy's turn in its stream
// (cudaMemcpySrcAccessOrderDuringApiCall and Any).  It moves nothing: an access that nothing orders
// with the read is a race, so the bytes at the copy's turn are the same.
struct EarlyReadWork {
  std::string_view call;
  Place source;
  Where source_in = Where::device;
  Box box;
};

struct FillWork {
  std::string_view call;
  Place target;
  Box box;
  std::uint32_t value = 0;
  unsigned element_bytes = 1;  // 1, 2 or 4
};

// cudaLaunchHostFunc, or cudaStreamAddCallback.
struct HostWork {
  cudaHostFn_t function = nullptr;
  cudaStreamCallback_t callback = nullptr;
  cudaStream_t stream = nullptr;
  void* argument = nullptr;
};

struct FreeWork {
  std::string_view call;
  vgpu::Allocation* allocation = nullptr;
};

// Memory of a pool or of a graph begins to exist, for operations that come after this one.
struct AllocateWork {
  vgpu::Allocation* allocation = nullptr;
  std::string_view call{};
  bool of_graph = false;  // allocated again: its old content is gone
};

// A function of a library (vgpu/cudart/libraries).
struct LibraryWork {
  std::shared_ptr<const LibraryCall> call;
};

// A conditional node: runs the bodies that its value selects.
struct ConditionalWork {
  Choice choice;
  std::shared_ptr<GraphRun> graph_run{};
};

// All nodes of a graph have ended: runs the graphs that its kernels have launched.
struct GraphEndWork {
  std::shared_ptr<GraphRun> graph_run;
};

// A graph begins: its conditions get their initial values.
struct ResetWork {
  std::vector<std::shared_ptr<Conditional>> conditions;
};

// A stream writes a value, or waits until memory has one (CUDA Driver API, "Stream Memory
// Operations").
struct ValueWork {
  std::string_view call;
  void* pointer = nullptr;
  unsigned bytes = 4;  // or 8
  std::uint64_t value = 0;
  bool is_wait = false;
  unsigned condition = 0;  // for a wait: CU_STREAM_WAIT_VALUE_GEQ etc.
  bool releases = true;  // a write: what observes it comes after everything before it in the stream
};

struct EmptyWork {};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, FreeWork,
                          AllocateWork, LibraryWork, ConditionalWork, ResetWork, ValueWork,
                          ProcessEventWork, GraphEndWork, EarlyReadWork>;

}  // namespace warpcheck::cudart
