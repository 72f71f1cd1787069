// Follows values to the places where they decide something: the basis on which one run proves
// something about many runs (docs/use/proofs.md).
//
// Two kinds of values are followed: data (what the host has copied to the device) and order (what
// depends on which thread came first: old values of atomic operations, clocks, accesses that no
// barrier orders).  In registers they are followed like undefined values, which the machine tracks
// (undefined.hpp), and in memory by the same plane of marks (undefined_memory.hpp).  An operation
// that is not understood is recorded as an obstacle and never ignored.
//
// This class is no checker: it reports no findings.  It takes the place of the initialisation
// checker in a run, because a register has only one mark for both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/undefined/memory_shadow.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"
#include "vgpu/program/flow/order_sources.hpp"

namespace warpcheck::vgpu {

class NativeTier;  // vgpu/machine

// The reason why a run proves nothing about other runs.
struct Obstacle {
  enum class Kind : std::uint8_t {
    address,
    branch,          // or the guard predicate of an instruction
    operand,         // the number of a barrier, a lane mask, or a size
    instruction,     // the values it depends on are not known
    orders_threads,  // by something other than a whole-block barrier
    shared_with_host,
    host_reads,        // the host continues after it has read results
    streams,           // host operations are not ordered
    opaque_operation,  // of the host, on device bytes: the values that depend on them are not known
    undefined_value,   // an instruction loads or stores unwritten bytes
  };
  Kind kind = Kind::branch;
  std::string kernel;  // demangled; empty: the host
  AccessSide at;       // where the value decides; for the host only the role is set
  AccessSide from;     // the load or other source of the value; no line: there is none
  friend bool operator==(const Obstacle&, const Obstacle&) = default;
};
[[nodiscard]] std::string_view name_of(Obstacle::Kind kind);
[[nodiscard]] Obstacle opaque_obstacle(std::string_view call);
// Returns "data decides an address at scan.cu:12, st.global.u32 (loaded at scan.cu:10)".
[[nodiscard]] std::string text_of(const Obstacle& obstacle, std::string_view values);

// from: a pc, or ptx::kNone.  `pc` may be ptx::kNone too.
[[nodiscard]] Obstacle obstacle_at(Obstacle::Kind kind, const Program& program, std::uint32_t pc,
                                   std::uint32_t from);

// A value decides at `pc` which instructions are executed. from: the load of the value; ptx::kNone:
// no load.
struct ValueDecision {
  std::shared_ptr<NativeTier> code;  // identifies the program; keeps its address in use
  std::uint32_t pc = ptx::kNone, from = ptx::kNone;
  // Only code without branches lies between the two, so whenever the load is executed, `pc` is
  // executed too.
  bool follows_load = false;
};

class ValueFlow : public Observer, protected UndefinedMemory {
 public:
  struct Sources {
    bool data = true, order = true;
  };
  explicit ValueFlow(Sources sources) : sources_(sources) {}

  // Returns the obstacles in order of first occurrence, once for each instruction.
  [[nodiscard]] const std::vector<Obstacle>& obstacles() const { return obstacles_; }
  // Refers to whether an obstacle is known now; for Limits::enough.
  [[nodiscard]] const bool& has_obstacle() const { return has_obstacle_; }
  // Returns where the first obstacle is, if it is in device code.
  [[nodiscard]] const std::optional<ValueDecision>& first_decision() const {
    return first_decision_;
  }
  // Returns the sources of followed values in results that the host has copied.
  [[nodiscard]] const std::vector<Obstacle>& results() const { return results_; }

  [[nodiscard]] Watched watches() const override {
    return {.followed_values = true, .followed_order = sources_.order};
  }
  [[nodiscard]] UndefinedMemory* undefined_memory() override { return this; }
  void on_allocate(const Allocation& allocation) override;
  void on_free(const Allocation& allocation) override;
  void on_sync(const Sync& sync) override;
  void on_access(const Access& access) override;
  void on_fence(const Fence& fence) override;
  void on_undefined_use(const UndefinedUse& use) override;
  void on_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;
  void on_opaque_operation(std::string_view call) override;

 protected:
  struct Origin {
    const Program* program = nullptr;  // null: the host
    std::uint32_t pc = ptx::kNone;
    friend auto operator<=>(const Origin&, const Origin&) = default;
  };

  // In memory, followed values are marked as undefined, as they are in registers.
  void read(Access& access) override;
  void write(const Access& access) override;
  // Returns whether the order of threads that an access shows is followed.
  [[nodiscard]] virtual bool follows_order_of(const Access&) const { return true; }

  MemoryShadow& shadow_of(const Allocation& allocation);
  [[nodiscard]] const Origin& origin_of(const MemoryShadow::Taint& taint) const {
    return origins_[taint.origin];
  }

 private:
  [[nodiscard]] bool shows_order(const Access& access) const;
  void begin_kernel(const Sync& sync);
  void mark_read(Access& access, const MemoryShadow& shadow);
  void leave_written(const Access& access, MemoryShadow& shadow);
  void update(Access& access, const Instr& instr, MemoryShadow& shadow);
  [[nodiscard]] bool keeps_order_out(const Access& access, const Instr& instr);
  void host_goes_on(std::string_view what);
  void add(Obstacle obstacle);
  void add(Obstacle::Kind kind, const Program& program, std::uint32_t pc, std::uint32_t from);
  std::uint32_t number_of(const Origin& origin);

  Sources sources_;
  std::vector<MemoryShadow> shadows_;  // by Allocation::id; "undefined" is "followed"
  std::vector<Origin> origins_;
  std::vector<Obstacle> obstacles_, results_;
  std::set<std::tuple<Obstacle::Kind, const Program*, std::uint32_t>> known_;
  // The operation by which atomics of the running kernel update an allocation.
  std::unordered_map<std::uint32_t, Reduction> reductions_;
  bool has_obstacle_ = false;
  std::optional<ValueDecision> first_decision_;
  bool host_has_results_ = false;
};

}  // namespace warpcheck::vgpu
