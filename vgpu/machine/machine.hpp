// Runs a kernel on the virtual GPU: Program -> Access and Sync events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// Resolves every compute instruction to its function for this host's instruction set.
// Throws Refusal for a form that the machine cannot execute, naming file, line and mnemonic.
void link(Program& program);

inline constexpr std::uint64_t kNoLimit = UINT64_MAX;

// When programs are compiled to machine code of the host.  What they do is the same.
enum class Compile : std::uint8_t { never, when_it_pays, at_once };

struct Limits {
  std::uint64_t steps_max = 50'000'000;  // warp instructions of one launch; kNoLimit: any number
  std::uint32_t quantum = 4'096;         // warp instructions before another warp gets its turn
  std::uint32_t resident_blocks = 32;
  // Warp instructions after which it is looked for the first time whether the launch can end.
  std::uint32_t look_after = 65'536;
  Compile compile = Compile::when_it_pays;
  // Not owned; once it is true, nobody wants to see more: the launch ends, and one that begins
  // executes nothing.  Null: never.
  const bool* enough = nullptr;
};

class BlockShare;
class DeviceRuntime;
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
  std::uint32_t stack_bytes = 1024;       // a lane, where the program's need is not known
  // Earlier launches of the trial that nothing orders before this one (streams).
  std::span<const std::uint32_t> unordered_launches{};
  // Of these, the one before, if this one may begin before that has completed, up to
  // griddepcontrol.wait; or kNone.
  std::uint32_t early_after = ptx::kNone;
  // What the handles of texture and surface objects stand for; null: there are none.
  const TextureTable* textures = nullptr;
  std::uint32_t asked_as = 0;  // its number in the order of what the host has asked for
  // The host may write its mapped memory while the launch runs.
  bool host_runs = false;
  DeviceRuntime* device_runtime = nullptr;  // null: device code asks for nothing
  std::uint32_t launched_as = 0;            // by device code: DeviceAnswer::launched
  // Null: every access finds the latest write.  Else it has to be among the observers, too.
  WeakMemory* weak_memory = nullptr;
  // Of a launch that several machines run: the blocks of this one.  Null: it runs all.
  BlockShare* share = nullptr;
  unsigned device = 0;      // that runs it
  unsigned devices = 1;     // how many there are
  std::uint32_t peers = 0;  // a bit for each device whose memory this one may use
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
  Trap::Cause cause = Trap::Cause::trap;  // of a trap
  std::string refusal;                    // not empty: what was reached that cannot be run
  std::uint64_t steps = 0;                // warp instructions
  std::uint64_t lane_steps = 0;           // thread instructions: sum of active lanes
  std::uint64_t faults = 0;               // of lanes
  std::vector<Decision> decisions;        // where the strategy differed from the default
};

// The execution resources, kept and reused between launches.
class Machine {
 public:
  explicit Machine(DeviceMemory& memory);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // observers: called in the order given.  Want_edges: call on_edge at every control transfer.
  Outcome run(const Launch& launch, WarpModel model, Strategy& strategy,
              std::span<Observer* const> observers, const Limits& limits, bool want_edges = false);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// What observers are told when a launch begins.
Sync kernel_start_of(const Launch& launch);

// "avx512", "avx2" or "baseline": what this host runs.  WARPCHECK_SIMD in the environment may
// lower it (used by tests, so that every level is tested on one machine).
std::string_view simd_level();

}  // namespace warpcheck::vgpu
