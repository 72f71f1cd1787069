// What values decide in a run: the ground on which one run speaks for many (docs/proofs.md).
//
// Two kinds of values are followed, from where they come to where they decide something: data
// (whatever the host has copied to the device) and order (what depends on which thread came first:
// old values of atomic operations, clocks, accesses that no barrier orders).  They flow through
// registers as undefined values do, which the machine knows (undefined.hpp), and through memory by
// a shadow of a byte a byte.  What is not understood is an obstacle, never ignored.
//
// This is no checker: it finds nothing wrong, and it stands in a run instead of the initialisation
// checker, because a register has one mark for both.
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
#include "vgpu/check/init/init_shadow.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/program/flow/order_sources.hpp"

namespace warpcheck::vgpu {

// Why a run speaks for itself alone.
struct Obstacle {
  enum class Kind : std::uint8_t {
    address,
    branch,          // or the guard of an instruction
    operand,         // which barrier, which lanes, how much
    instruction,     // it is not known what it may depend on
    orders_threads,  // otherwise than by a barrier of the whole block
    shared_with_host,
    host_reads,        // the host goes on after it has read results
    streams,           // nothing orders operations of the host
    opaque_operation,  // of the host, with bytes of the device: what depends on them is not known
    undefined_value,   // nothing has written what an instruction loads or stores
  };
  Kind kind = Kind::branch;
  std::string kernel;  // demangled; empty: the host
  AccessSide at;       // where it decides; of the host nothing but the role
  AccessSide from;     // the load, or whatever gave the value; no line: nothing did
  friend bool operator==(const Obstacle&, const Obstacle&) = default;
};
[[nodiscard]] std::string_view name_of(Obstacle::Kind kind);
[[nodiscard]] Obstacle opaque_obstacle(std::string_view call);
// "data decides an address at scan.cu:12, st.global.u32 (loaded at scan.cu:10)"
[[nodiscard]] std::string text_of(const Obstacle& obstacle, std::string_view values);

// from: a pc, or ptx::kNone, as `pc` may be.
[[nodiscard]] Obstacle obstacle_at(Obstacle::Kind kind, const Program& program, std::uint32_t pc,
                                   std::uint32_t from);

// A value decides at `pc` what is executed; `from`: the load that gave it, ptx::kNone: none did.
struct ValueDecision {
  std::shared_ptr<NativeTier> code;  // of which program: what it keeps, so that no other lies there
  std::uint32_t pc = ptx::kNone, from = ptx::kNone;
  // Nothing is between them but code without branches: where the load is executed, so is `pc`.
  bool follows_load = false;
};

class ValueFlow final : public Observer {
 public:
  struct Sources {
    bool data = true, order = true;
  };
  explicit ValueFlow(Sources sources) : sources_(sources) {}

  // In the order of their first time; each instruction once.
  [[nodiscard]] const std::vector<Obstacle>& obstacles() const { return obstacles_; }
  // Whether there is one, now: for Limits::enough.
  [[nodiscard]] const bool& has_obstacle() const { return has_obstacle_; }
  // Where the first one is, if it is in device code.
  [[nodiscard]] const std::optional<ValueDecision>& first_decision() const {
    return first_decision_;
  }
  // Results that the host has copied and that hold a followed value: what it came from.
  [[nodiscard]] const std::vector<Obstacle>& results() const { return results_; }

  [[nodiscard]] Following follows() const override { return {true, sources_.order}; }
  void on_allocate(const Allocation& allocation) override;
  void on_free(const Allocation& allocation) override;
  void on_sync(const Sync& sync) override;
  void on_access(Access& access) override;
  void on_fence(const Fence& fence) override;
  void on_undefined_use(const UndefinedUse& use) override;
  void on_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;
  void on_opaque_operation(std::string_view call) override;

 private:
  struct Origin {
    const Program* program = nullptr;  // null: the host
    std::uint32_t pc = ptx::kNone;
    friend bool operator==(const Origin&, const Origin&) = default;
  };

  InitShadow& shadow_of(const Allocation& allocation);
  void begin_kernel(const Sync& sync);
  void mark_read(Access& access, const InitShadow& shadow);
  void leave_written(const Access& access, InitShadow& shadow);
  void update(Access& access, const Instr& instr, InitShadow& shadow);
  [[nodiscard]] bool keeps_order_out(const Access& access, const Instr& instr);
  void host_goes_on(std::string_view what);
  void add(Obstacle obstacle);
  void add(Obstacle::Kind kind, const Program& program, std::uint32_t pc, std::uint32_t from);
  std::uint32_t number_of(const Origin& origin);

  Sources sources_;
  std::vector<InitShadow> shadows_;  // by Allocation::id; "undefined" is "followed"
  std::vector<Origin> origins_;
  std::vector<Obstacle> obstacles_, results_;
  std::set<std::tuple<Obstacle::Kind, const Program*, std::uint32_t>> known_;
  // What atomic operations the running kernel does to an allocation.
  std::unordered_map<std::uint32_t, Reduction> reductions_;
  bool has_obstacle_ = false;
  std::optional<ValueDecision> first_decision_;
  bool host_has_results_ = false;
};

}  // namespace warpcheck::vgpu
