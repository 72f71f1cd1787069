// The requests of one grid's device code to the device runtime: grids to be launched, and their
// order (CUDA Programming Guide, "CUDA Dynamic Parallelism").
//
// Streams and events that device code creates belong to its block.  The null stream of a block, and
// each stream that it created, run their grids one after the other; cudaStreamFireAndForget orders
// nothing; grids in cudaStreamTailLaunch come after the parent grid and everything that it has
// launched.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/cudart/device/device_state.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/graphs/conditionals.hpp"
#include "vgpu/machine/device_runtime.hpp"
#include "vgpu/program/dim3.hpp"

namespace warpcheck::cudart {

class DeviceCode;
class Findings;
class GraphRun;
struct LinkedKernel;

// A grid of an operation that is to run, or has run.
struct Grid {
  LinkedKernel* linked = nullptr;
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;  // not owned
  std::uint32_t launched_as = 0;          // DeviceAnswer::launched; 0: by the host
  unsigned depth = 0;                     // depth below the grid launched by the host
};

struct ChildGrid {
  Grid grid;
  std::vector<std::byte> parameters;  // of the grid
  bool is_tail = false;
  std::vector<std::size_t> after;  // numbers of the parent's other children that it comes after
};

class DeviceGrids final : public vgpu::DeviceRuntime {
 public:
  // Nothing is owned.
  struct Dependencies {
    DeviceState& device;
    Findings& findings;
    const Conditionals& conditionals;
    DeviceCode& copies;            // kernels for copies and fills
    std::uint32_t& last_launched;  // the latest number given to a launch
    unsigned devices = 1;
    const virtual_gpu::Capability& capability;
    vgpu::ConcurrentWork* concurrent_work = nullptr;  // null: there is none
    bool is_trial = true;           // where the device has the size of the case's limits
    GraphRun* graph_run = nullptr;  // of the graph that the grid is of; null: it launches none
    std::uint32_t launch = 0;       // of the grid
  };
  DeviceGrids(const Dependencies& dependencies, const Grid& parent)
      : dependencies_(dependencies), parent_(parent) {}

  vgpu::DeviceAnswer answer(const vgpu::DeviceCall& call) override;
  [[nodiscard]] vgpu::ConcurrentWork* concurrent_work() override {
    return dependencies_.concurrent_work;
  }
  [[nodiscard]] Size size() const override;

  // In the order of their launches.
  [[nodiscard]] const std::vector<ChildGrid>& children() const { return children_; }

 private:
  using Stream = std::pair<std::uint32_t, std::uint64_t>;  // a stream of a block

  vgpu::DeviceAnswer answer_of_streams(const vgpu::DeviceCall& call);
  Grid grid_of(std::uint64_t kernel, std::span<const std::uint64_t> shape);
  [[nodiscard]] cudaError_t error_of(const Grid& grid) const;
  std::uint64_t parameter_buffer_of(const Grid& grid);
  std::uint64_t parameter_buffer(const Grid& grid, std::uint64_t bytes, const std::string& name);
  // grid: a copy, as that of the buffer ends with the buffer
  vgpu::DeviceAnswer launch(const vgpu::DeviceCall& call, std::uint64_t buffer,
                            std::uint64_t stream, Grid grid);
  vgpu::DeviceAnswer launch_graph(std::uint64_t graph, std::uint64_t stream);
  vgpu::DeviceAnswer copy(const vgpu::DeviceCall& call);
  vgpu::DeviceAnswer fill(const vgpu::DeviceCall& call);
  vgpu::DeviceAnswer run_helper(std::string_view kernel, std::span<const std::uint64_t> parameters,
                                Stream stream);
  vgpu::DeviceAnswer add(ChildGrid child, Stream stream);
  vgpu::DeviceAnswer failed(cudaError_t error);
  void check_buffer(const vgpu::DeviceCall& call, const Grid& grid, const vgpu::Allocation& buffer);
  void check_arguments(const vgpu::DeviceCall& call, const Grid& grid);
  std::uint64_t text(std::string_view text);
  [[nodiscard]] bool is_stream(Stream stream) const;

  Dependencies dependencies_;
  const Grid& parent_;
  std::map<std::uint64_t, std::pair<Grid, vgpu::Allocation*>> buffers_;  // by address
  std::vector<ChildGrid> children_;
  // the grids that the next one of the stream comes after
  std::map<Stream, std::vector<std::size_t>> last_of_;
  std::map<Stream, std::vector<std::size_t>> events_;
  std::uint64_t next_handle_ = 0x100;
  cudaError_t last_error_ = cudaSuccess;
};

}  // namespace warpcheck::cudart
