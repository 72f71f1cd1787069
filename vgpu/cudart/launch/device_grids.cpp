#include "vgpu/cudart/launch/device_grids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/api/calls/api_errors.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/device/attributes.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/graphs/graph_run.hpp"
#include "vgpu/cudart/launch/kernel_limits.hpp"

namespace warpcheck::cudart {
namespace {

using vgpu::DeviceAnswer;
using vgpu::DeviceCall;
using vgpu::DeviceFunction;

constexpr std::uint64_t kTailLaunch = 3, kFireAndForget = 4, kFirstMade = 0x100;
constexpr unsigned kDepthMax = 24;

Dim3 dim3_at(std::span<const std::uint64_t> words) {
  return {static_cast<std::uint32_t>(words[0]), static_cast<std::uint32_t>(words[1]),
          static_cast<std::uint32_t>(words[2])};
}

bool is_in(std::uint64_t address, std::uint64_t window) {
  return address - window < vgpu::kWindowBytes;
}

bool fits(const Grid& grid) {
  const vgpu::Program& program = grid.linked->program;
  return broken_device_limit(grid.grid, grid.block).empty() && grid.grid.count() <= UINT32_MAX &&
         grid.block.count() <= program.max_threads &&
         grid.dynamic_shared_bytes + program.static_shared_bytes <= virtual_gpu::kBlockSharedBytes;
}

}  // namespace

DeviceAnswer DeviceGrids::failed(cudaError_t error) {
  last_error_ = error;
  return {.result = static_cast<std::uint64_t>(error)};
}

bool DeviceGrids::is_stream(Stream stream) const {
  return stream.second < kFirstMade || last_of_.contains(stream);
}

vgpu::DeviceRuntime::Size DeviceGrids::size() const {
  if (dependencies_.is_trial) return {};
  const auto multiprocessors =
      static_cast<std::uint32_t>(dependencies_.capability.multiprocessors());
  const int on_one =
      resident_blocks(dependencies_.capability, parent_.linked->program,
                      static_cast<int>(parent_.block.count()), parent_.dynamic_shared_bytes);
  return {multiprocessors, multiprocessors * static_cast<std::uint32_t>(on_one)};
}

DeviceAnswer DeviceGrids::answer(const DeviceCall& call) {
  const std::span<const std::uint64_t> given = call.arguments;
  switch (call.function) {
    case DeviceFunction::cudaGraphSetConditional: {
      const auto found = dependencies_.conditionals.find(given[0]);
      if (found == dependencies_.conditionals.end()) {
        throw vgpu::Refusal("cudaGraphSetConditional: there is no such handle");
      }
      found->second->value = static_cast<unsigned>(given[1]);
      return {};
    }
    case DeviceFunction::cudaGraphLaunch: return launch_graph(given[0], given[1]);
    case DeviceFunction::__cudaCDP2GetParameterBuffer:
      return {.result = parameter_buffer({}, given[1], "arguments of a launch")};
    case DeviceFunction::__cudaCDP2GetParameterBufferV2:
      return {.result = parameter_buffer_of(grid_of(given[0], given.subspan(1)))};
    case DeviceFunction::__cudaCDP2LaunchDevice:
      return launch(call, given[1], given[9], grid_of(given[0], given.subspan(2)));
    case DeviceFunction::__cudaCDP2LaunchDeviceV2: {
      const auto found = buffers_.find(given[0]);
      if (found == buffers_.end()) return failed(cudaErrorInvalidValue);
      return launch(call, given[0], given[1], found->second.first);
    }
    case DeviceFunction::__cudaCDP2MemcpyAsync: return copy(call);
    case DeviceFunction::__cudaCDP2MemsetAsync: return fill(call);
    case DeviceFunction::__cudaCDP2StreamCreateWithFlags:
    case DeviceFunction::__cudaCDP2StreamDestroy:
    case DeviceFunction::__cudaCDP2EventCreateWithFlags:
    case DeviceFunction::__cudaCDP2EventRecord:
    case DeviceFunction::__cudaCDP2EventRecordWithFlags:
    case DeviceFunction::__cudaCDP2StreamWaitEvent:
    case DeviceFunction::__cudaCDP2EventDestroy: return answer_of_streams(call);
    case DeviceFunction::__cudaCDP2GetLastError:
      return {.result = static_cast<std::uint64_t>(std::exchange(last_error_, cudaSuccess))};
    case DeviceFunction::__cudaCDP2PeekAtLastError:
      return {.result = static_cast<std::uint64_t>(last_error_)};
    case DeviceFunction::__cudaCDP2GetDevice: return {.stored = dependencies_.device.number};
    case DeviceFunction::__cudaCDP2GetDeviceCount: return {.stored = dependencies_.devices};
    case DeviceFunction::__cudaCDP2RuntimeGetVersion:
      return {.stored = virtual_gpu::kRuntimeVersion};
    case DeviceFunction::__cudaCDP2DeviceGetAttribute:
      return {.stored = static_cast<std::uint32_t>(
                  attribute_of(dependencies_.capability, static_cast<int>(given[1])))};
    case DeviceFunction::__cudaCDP2DeviceGetLimit:
      if (given[1] >= DeviceLimits::kCount) return failed(cudaErrorInvalidValue);
      return {.stored = dependencies_.device.limits.get(static_cast<cudaLimit>(given[1]))};
    case DeviceFunction::__cudaCDP2GetErrorName:
      return {.result = text(text_of(static_cast<cudaError_t>(given[0])).name)};
    case DeviceFunction::__cudaCDP2GetErrorString:
      return {.result = text(text_of(static_cast<cudaError_t>(given[0])).text)};
    case DeviceFunction::__cudaCDP2Malloc:
    case DeviceFunction::__cudaCDP2Free: break;  // handled by the device heap
  }
  return failed(cudaErrorNotSupported);
}

// Streams and events are of a block.
DeviceAnswer DeviceGrids::answer_of_streams(const DeviceCall& call) {
  const std::span<const std::uint64_t> given = call.arguments;
  const auto of_block = [&](std::uint64_t handle) { return Stream{call.block, handle}; };
  switch (call.function) {
    case DeviceFunction::__cudaCDP2StreamCreateWithFlags: {
      if (given[1] != cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
      last_of_[of_block(next_handle_)];
      return {.stored = next_handle_++};
    }
    case DeviceFunction::__cudaCDP2StreamDestroy:
      return is_stream(of_block(given[0])) ? DeviceAnswer{}
                                           : failed(cudaErrorInvalidResourceHandle);
    case DeviceFunction::__cudaCDP2EventCreateWithFlags:
      if (given[1] != cudaEventDisableTiming) return failed(cudaErrorInvalidValue);
      events_[of_block(next_handle_)];
      return {.stored = next_handle_++};
    case DeviceFunction::__cudaCDP2EventRecord:
    case DeviceFunction::__cudaCDP2EventRecordWithFlags: {
      const auto event = events_.find(of_block(given[0]));
      if (event == events_.end()) return failed(cudaErrorInvalidResourceHandle);
      event->second = last_of_[of_block(given[1])];
      return {};
    }
    case DeviceFunction::__cudaCDP2StreamWaitEvent: {
      const auto event = events_.find(of_block(given[1]));
      if (event == events_.end()) return failed(cudaErrorInvalidResourceHandle);
      std::vector<std::size_t>& next = last_of_[of_block(given[0])];
      next.insert(next.end(), event->second.begin(), event->second.end());
      return {};
    }
    case DeviceFunction::__cudaCDP2EventDestroy:
      return events_.erase(of_block(given[0])) != 0 ? DeviceAnswer{}
                                                    : failed(cudaErrorInvalidResourceHandle);
    default: return failed(cudaErrorNotSupported);
  }
}

// Returns the grid that the arguments of a launch describe: its extents, those of its blocks, and
// their shared memory.  `linked` is null if there is no such kernel.
Grid DeviceGrids::grid_of(std::uint64_t kernel, std::span<const std::uint64_t> shape) {
  return {.linked = parent_.linked->code->load_at(kernel, dependencies_.device.allocations),
          .grid = dim3_at(shape),
          .block = dim3_at(shape.subspan(3)),
          .dynamic_shared_bytes = static_cast<std::uint32_t>(shape[6]),
          .parameters = {},
          .launched_as = 0,
          .depth = parent_.depth + 1};
}

// Returns why a grid cannot be launched.
cudaError_t DeviceGrids::error_of(const Grid& grid) const {
  if (grid.linked == nullptr) return cudaErrorInvalidDeviceFunction;
  if (grid.depth > kDepthMax) return cudaErrorLaunchMaxDepthExceeded;
  return fits(grid) ? cudaSuccess : cudaErrorInvalidConfiguration;
}

// Returns memory for the arguments of a grid, which the launching thread fills; 0: an error.
std::uint64_t DeviceGrids::parameter_buffer_of(const Grid& grid) {
  if (const cudaError_t error = error_of(grid); error != cudaSuccess) {
    last_error_ = error;
    return 0;
  }
  const vgpu::Program& program = grid.linked->program;
  return parameter_buffer(grid, program.parameter_bytes,
                          fmt::format("arguments of {}", vgpu::kernel_name(program.kernel)));
}

std::uint64_t DeviceGrids::parameter_buffer(const Grid& grid, std::uint64_t bytes,
                                            const std::string& name) {
  vgpu::Allocation* const buffer = dependencies_.device.allocations.allocate(
      std::max<std::uint64_t>(bytes, 8), ptx::Space::global, name);
  if (buffer == nullptr) {
    last_error_ = cudaErrorMemoryAllocation;
    return 0;
  }
  buffers_[buffer->address] = {grid, buffer};
  return buffer->address;
}

DeviceAnswer DeviceGrids::launch(const DeviceCall& call, std::uint64_t address,
                                 std::uint64_t handle, Grid grid) {
  const auto found = buffers_.find(address);
  if (found == buffers_.end()) return failed(cudaErrorInvalidValue);
  if (const cudaError_t error = error_of(grid); error != cudaSuccess) return failed(error);
  vgpu::Allocation* const buffer = found->second.second;
  buffers_.erase(found);
  const Stream stream{call.block, handle};
  const std::uint32_t bytes = grid.linked->program.parameter_bytes;
  ChildGrid child{.grid = grid, .parameters = std::vector<std::byte>(bytes), .after = {}};
  std::copy_n(buffer->data, std::min<std::uint64_t>(bytes, buffer->bytes),
              child.parameters.begin());
  child.grid.parameters = child.parameters;
  if (buffer->bytes < bytes) check_buffer(call, grid, *buffer);
  dependencies_.device.allocations.free(*buffer);
  if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
  check_arguments(call, child.grid);
  return add(std::move(child), stream);
}

// Reports that a buffer, whose size the program chose, is smaller than the arguments of the kernel.
void DeviceGrids::check_buffer(const DeviceCall& call, const Grid& grid,
                               const vgpu::Allocation& buffer) {
  const vgpu::Program& child = grid.linked->program;
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::out_of_bounds;
  finding.space = "global";
  finding.kernel = vgpu::kernel_name(call.by.program->kernel);
  finding.object = fmt::format("parameter buffer of {} bytes", buffer.bytes);
  finding.accesses = {vgpu::side_at("launch", call.by)};
  finding.message = fmt::format("(1) launches {}, whose arguments have {} bytes",
                                vgpu::kernel_name(child.kernel), child.parameter_bytes);
  dependencies_.findings.add(finding);
}

// Checks that no argument points to shared or local memory, which other grids cannot access
// ("Shared and Local Memory").
void DeviceGrids::check_arguments(const DeviceCall& call, const Grid& grid) {
  const vgpu::Program& child = grid.linked->program;
  for (std::size_t i = 0; i < child.parameters.size(); ++i) {
    const vgpu::Parameter& parameter = child.parameters[i];
    for (std::uint32_t at = 0; at + 8 <= parameter.bytes; at += 8) {
      std::uint64_t value = 0;
      std::memcpy(&value, grid.parameters.data() + parameter.offset + at, sizeof value);
      const bool is_shared = value - vgpu::kSharedWindow < vgpu::kReservedSharedOffset;
      if (!is_shared && !is_in(value, vgpu::kLocalWindow)) continue;
      vgpu::Finding finding;
      finding.kind = vgpu::FindingKind::out_of_bounds;
      finding.space = is_shared ? "shared" : "local";
      finding.kernel = vgpu::kernel_name(call.by.program->kernel);
      finding.object = fmt::format("argument {} of {}", i + 1, vgpu::kernel_name(child.kernel));
      finding.accesses = {vgpu::side_at("launch", call.by)};
      finding.message = fmt::format(
          "(1) passes an address of {} memory to a grid, which cannot use memory of another {}",
          finding.space, is_shared ? "block" : "thread");
      dependencies_.findings.add(finding);
    }
  }
}

DeviceAnswer DeviceGrids::add(ChildGrid child, Stream stream) {
  const std::uint32_t number = ++dependencies_.last_launched;
  child.grid.launched_as = number;
  child.is_tail = stream.second == kTailLaunch;
  if (!child.is_tail && stream.second != kFireAndForget) {
    std::vector<std::size_t>& last = last_of_[stream];
    child.after = std::exchange(last, {children_.size()});
  }
  children_.push_back(std::move(child));
  return {.launched = number};
}

// Graphs are launched by kernels of graphs alone.
DeviceAnswer DeviceGrids::launch_graph(std::uint64_t graph, std::uint64_t stream) {
  if (dependencies_.graph_run == nullptr) return failed(cudaErrorInvalidValue);
  const std::uint32_t number = ++dependencies_.last_launched;
  const cudaError_t error =
      dependencies_.graph_run->ask(graph, stream, number, dependencies_.launch);
  return error == cudaSuccess ? DeviceAnswer{.launched = number} : failed(error);
}

DeviceAnswer DeviceGrids::copy(const DeviceCall& call) {
  const std::array given{call.arguments[0], call.arguments[1], call.arguments[2]};
  return run_helper("cudaMemcpyAsync", given, {call.block, call.arguments[4]});
}

DeviceAnswer DeviceGrids::fill(const DeviceCall& call) {
  const std::array given{call.arguments[0], call.arguments[1], call.arguments[2]};
  return run_helper("cudaMemsetAsync", given, {call.block, call.arguments[3]});
}

DeviceAnswer DeviceGrids::run_helper(std::string_view kernel,
                                     std::span<const std::uint64_t> parameters, Stream stream) {
  if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (parameters.back() == 0) return {};  // bytes
  const auto bytes = std::as_bytes(parameters);
  ChildGrid child{
      .grid = {.linked = &dependencies_.copies.load(kernel, dependencies_.device.allocations),
               .grid = {1, 1, 1},
               .block = {256, 1, 1},
               .dynamic_shared_bytes = 0,
               .parameters = {},
               .launched_as = 0,
               .depth = parent_.depth + 1},
      .parameters = {bytes.begin(), bytes.end()},
      .after = {}};
  child.grid.parameters = child.parameters;
  return add(std::move(child), stream);
}

// Places the text in device memory, where device code reads it.
std::uint64_t DeviceGrids::text(std::string_view text) {
  Allocations& allocations = dependencies_.device.allocations;
  vgpu::Allocation* const place =
      allocations.allocate(text.size() + 1, ptx::Space::global, "text of an error");
  if (place == nullptr) return 0;
  std::memcpy(place->data, text.data(), text.size());
  place->data[text.size()] = std::byte{0};
  allocations.fill_from_host(*place);
  return place->address;
}

}  // namespace warpcheck::cudart
