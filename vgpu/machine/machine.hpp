// The machine: runs a kernel on the virtual GPU and turns a Program into Access and Sync events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/machine/limits.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/observer_list.hpp"
#include "vgpu/program/dim3.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// Resolves every compute instruction to its function for this host's instruction set.  Throws
// Refusal, with file, line and mnemonic, for a form that the machine cannot execute.
void link(Program& program);

struct AccessRights;
struct BlockSample;
class BlockShare;
class DeviceRuntime;
class SharedGrid;
class TextureTable;
class WeakMemory;

struct Launch {
  const Program* program = nullptr;  // linked, its address patches applied
  std::uint32_t index = 0;           // of this launch in the trial
  Dim3 grid, block;
  Dim3 cluster;                   // blocks; a divisor of the grid, at most kClusterBlocksMax
  bool explicit_cluster = false;  // the launch or the kernel asks for clusters
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;  // parameter_bytes of them
  bool cooperative = false;               // all blocks are resident at once
  std::uint32_t stack_bytes = 1024;       // per lane, if the program's need is not known
  // Earlier launches of the trial that are not ordered before this one (streams).
  std::span<const std::uint32_t> unordered_launches{};
  // Everything else of the trial comes before this launch, or after it.
  bool is_alone = false;
  // The previous launch, if this one may begin before that has completed (until
  // griddepcontrol.wait); it is one of the unordered launches. kNone: there is none.
  std::uint32_t early_after = ptx::kNone;
  // The texture and surface objects behind the handles; null: there are none.
  const TextureTable* textures = nullptr;
  std::uint32_t asked_as = 0;  // the launch's number in the order of the host's requests
  // The host may write its mapped memory while the launch runs.
  bool host_runs = false;
  DeviceRuntime* device_runtime = nullptr;  // null: device code makes no calls to the runtime
  std::uint32_t launched_as = 0;            // for a launch by device code: DeviceAnswer::launched
  std::uint64_t graph = 0;  // the handle of its graph, if device code can launch that
  // Null: every access finds the latest write.  If set, it must be among the observers too.
  WeakMemory* weak_memory = nullptr;
  // If several machines run the launch: the blocks of this machine.  Null: this machine runs all
  // blocks.
  BlockShare* share = nullptr;
  // Null: all blocks run.  Otherwise those of the sample, on this machine alone.
  const BlockSample* sample = nullptr;
  // If other machines run other launches on the same memory meanwhile: the attempt, which they may
  // give up.  Null: there are none.
  const SharedGrid* beside = nullptr;
  unsigned device = 0;      // the device that runs it
  unsigned devices = 1;     // the number of devices
  std::uint32_t peers = 0;  // one bit for each device whose memory this one may use
  // Null: the program restricts no accesses.
  const AccessRights* rights = nullptr;
};

struct Outcome {
  enum class End : std::uint8_t {
    completed,
    step_limit,
    deadlock,
    trap,
    refused,
    enough,
    given_up
  };
  End end = End::completed;
  Trap::Cause cause = Trap::Cause::trap;  // if end is trap
  std::string refusal;                    // not empty: what could not be executed, and why
  std::uint64_t steps = 0;                // warp instructions
  std::uint64_t lane_steps = 0;           // thread instructions: sum of active lanes
  std::uint64_t look_units = 0;           // spent by looks without a result (look_costs.hpp)
  std::uint64_t faults = 0;               // number of lanes with bad accesses
  std::uint64_t blocks = 0;               // that have ended
  std::vector<Decision> decisions;        // where the strategy deviated from the default
};

// A machine.  Its execution resources are kept and reused between launches.
class Machine {
 public:
  explicit Machine(DeviceMemory& memory);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Runs a launch. observers: called in the given order. want_edges: call on_edge at every control
  // transfer.
  Outcome run(const Launch& launch, WarpModel model, Strategy& strategy,
              const ObserverList& observers, const Limits& limits, bool want_edges = false);
  Outcome run(const Launch& launch, WarpModel model, Strategy& strategy,
              std::span<Observer* const> observers, const Limits& limits, bool want_edges = false) {
    return run(launch, model, strategy, ObserverList(observers), limits, want_edges);
  }

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns the event that observers receive when a launch begins.
Sync kernel_start_of(const Launch& launch);

// Returns why no program is compiled to machine code here; empty: programs are.
std::string_view why_no_machine_code();

}  // namespace warpcheck::vgpu
