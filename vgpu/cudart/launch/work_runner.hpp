// Runs the operations of a device; each kind of work is performed by its component.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include "vgpu/cudart/streams/execution.hpp"
#include "vgpu/cudart/streams/host_loops.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::vgpu {
class DeviceMemory;
}

namespace warpcheck::cudart {

class Allocations;
class Arrivals;
class CopyRunner;
class Findings;
class HostAccesses;
class KernelRunner;
class LibraryRunner;
class PrintBuffer;
class RunAhead;
class StreamValues;
class Transfers;
class Trial;

class GraphRun;
struct Graph;
struct GraphRequest;
struct Node;

class WorkRunner final : public OperationRunner {
 public:
  // Nothing is owned.
  struct Dependencies {
    std::mutex& mutex;  // that of Execution
    Trial& trial;
    PrintBuffer& prints;
    KernelRunner& kernels;
    CopyRunner& copies;
    LibraryRunner& libraries;
    Allocations& allocations;
    Findings& findings;
    Transfers& transfers;
    Arrivals& arrivals;
    HostAccesses& host_accesses;
    StreamValues& values;
    RunAhead& ahead;
    const vgpu::DeviceMemory& memory;
  };
  explicit WorkRunner(const Dependencies& dependencies)
      : dependencies_(dependencies), host_loops_(dependencies.memory, dependencies.findings) {}

  void run(const Operation& operation, const HostState& host) override;
  void run(const CopyWork& work, const Operation& operation, const HostState& host) override;
  bool can_begin(const Operation& operation) override;
  const OperationSet* comes_after(const Operation& operation, const OperationSet& done) override;
  void give_up_waiting(const Operation& operation) override;
  void run_ahead(const Operations& operations, const OperationSet& goal,
                 const HostState& host) override;
  void asked_for(Work& work) override;
  void report_host_accesses(Operations& operations) override;
  void suspended(const Operation& operation) override;
  void reported_beside(const Operation& suspended) override;
  void signalled(const Operation& kernel, const Operation& by) override;
  void resumes(const Operation& kernel, const OperationSet& known_to_host) override;
  const OperationSet* host_may_know() override;
  bool has_other_processes() override;
  void host_knows_all(bool has_waited) override;
  void bring_out_prints() override;
  void all_done(const OperationSet& known_to_host, std::uint32_t operations) override;

 private:
  void choose(const ConditionalWork& work, const Operation& operation, const HostState& host);
  struct Body;
  void run_launched(GraphRun& run, const Operation& operation, const HostState& host);
  void run_launched(GraphRun& by, const GraphRequest& request,
                    const std::vector<std::uint32_t>& unordered, const Operation& operation,
                    const HostState& host);
  void run_graph(Body& body, const Graph& graph, const std::set<const Node*>& before_graph);
  void free(const FreeWork& work, const Operation& operation);
  void kernel_has_run();
  [[nodiscard]] bool watches_loops() const;

  Dependencies dependencies_;
  HostLoops host_loops_;
};

}  // namespace warpcheck::cudart
