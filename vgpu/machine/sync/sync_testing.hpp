// Test helper: compiles a kernel from PTX text, and records the events of threads that synchronise.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::vgpu {

// A Meeting with copies of its spans.
struct SeenMeeting {
  std::vector<WarpLanes> arrived, released;
};

inline bool operator==(const WarpLanes& a, const WarpLanes& b) {
  return a.warp == b.warp && a.lanes == b.lanes;
}
inline void PrintTo(const WarpLanes& party, std::ostream* out) {
  *out << "warp " << party.warp << " lanes " << std::hex << party.lanes << std::dec;
}

class SyncRecorder final : public Observer {
 public:
  [[nodiscard]] Watched watches() const override { return {.accesses = keeps_accesses}; }
  void on_access(const Access& access) override { accesses.push_back(access); }
  void on_sync(const Sync& sync) override {
    phases += sync.kind == Sync::Kind::barrier_complete ? 1 : 0;
  }
  void on_meeting(const Meeting& meeting) override {
    meetings.push_back({{meeting.arrived.begin(), meeting.arrived.end()},
                        {meeting.released.begin(), meeting.released.end()}});
  }
  void on_barrier_object(const BarrierObject& event) override { objects.push_back(event); }
  void on_cluster_barrier(const ClusterBarrier& event) override {
    cluster_barriers.push_back(event);
  }
  void on_copy_commit(const CopyCommit& commit) override { commits.push_back(commit); }
  void on_copy_wait(const CopyWait& wait) override { waits.push_back(wait); }
  void on_fault(const Fault& fault) override { faults.push_back(fault); }
  void on_barrier_divergence(const BarrierDivergence& d) override { divergences.push_back(d); }
  void on_deadlock(const Deadlock& deadlock) override {
    ++deadlocks;
    deadlock_of_launch = deadlock.of_launch;
    repeats = deadlock.repeats;
    host_waits = deadlock.host_waits;
    blocks_not_started = deadlock.blocks_not_started;
    waiting.assign(deadlock.waiting.begin(), deadlock.waiting.end());
  }
  void on_step_limit(const StepLimit& limit) override {
    limits.push_back(limit);
    waiting.assign(limit.waiting.begin(), limit.waiting.end());
  }

  bool keeps_accesses = true;
  std::vector<Access> accesses;
  int phases = 0, deadlocks = 0;
  bool deadlock_of_launch = false, repeats = false, host_waits = false;  // of the last deadlock
  std::uint32_t blocks_not_started = 0;
  std::vector<SeenMeeting> meetings;
  std::vector<BarrierObject> objects;
  std::vector<ClusterBarrier> cluster_barriers;
  std::vector<CopyCommit> commits;
  std::vector<CopyWait> waits;
  std::vector<Fault> faults;
  std::vector<BarrierDivergence> divergences;
  std::vector<StepLimit> limits;
  std::vector<Waiting> waiting;  // of the last deadlock or step limit
};

class SyncTest : public testing::Test {
 protected:
  // Compiles a kernel `k` whose one parameter is a pointer; `body` has %tid.x in %r1, the pointer
  // in %rd1, and %rd2 = %rd1 + 4 * thread.
  void compile(const std::string& body, const std::string& before = "") {
    const std::string text =
        ".version 8.6\n.target sm_90\n.address_size 64\n" + before +
        ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n"
        ".reg .b64 %rd<20>;\n\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd2, %rd1, %rd3;\n" +
        body + "\nret;\n}\n";
    program_ = decode(ptx::parse(text, "test.ptx"), "k");
    link(program_);
  }

  Outcome run(Dim3 grid, Dim3 block, Strategy& strategy) {
    seen_ = {};
    seen_.keeps_accesses = keeps_accesses_;
    if (out_ == nullptr) {
      out_ = is_mapped_ ? memory_.allocate_mapped(1024 * 4) : memory_.allocate(1024 * 4);
    }
    std::memset(out_->data, 0, out_->bytes);
    const std::uint64_t address = out_->address;
    Launch launch;
    launch.program = &program_;
    launch.grid = grid;
    launch.block = block;
    launch.cluster = cluster_;
    launch.explicit_cluster = cluster_.count() != 1;
    launch.cooperative = cooperative_;
    launch.host_runs = host_runs_;
    launch.device_runtime = device_runtime_;
    launch.share = share_;
    launch.parameters = std::as_bytes(std::span(&address, 1));
    Observer* const observers[] = {&seen_};
    return machine_.run(launch, model_, strategy, observers, limits_);
  }
  Outcome run(Dim3 grid, Dim3 block) {
    DefaultPolicy policy;
    return run(grid, block, policy);
  }
  Outcome run(std::uint32_t threads) { return run({1, 1, 1}, {threads, 1, 1}); }

  std::vector<std::uint32_t> ints(std::size_t count) {
    std::vector<std::uint32_t> values(count);
    std::memcpy(values.data(), out_->data, count * 4);
    return values;
  }
  // Returns the pc of the first instruction with that PTX text; kNone: there is none.
  std::uint32_t pc_of(const std::string& text) const {
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      if (program_.source_of(pc).text == text) return pc;
    }
    return ptx::kNone;
  }

  DeviceMemory memory_;
  Machine machine_{memory_};
  Program program_;
  Allocation* out_ = nullptr;
  bool cooperative_ = false, host_runs_ = false;
  DeviceRuntime* device_runtime_ = nullptr;
  BlockShare* share_ = nullptr;
  bool keeps_accesses_ = true;
  bool is_mapped_ = false;  // the host has mapped the memory
  Dim3 cluster_;
  WarpModel model_ = WarpModel::independent;
  Limits limits_;
  SyncRecorder seen_;
};

}  // namespace warpcheck::vgpu
