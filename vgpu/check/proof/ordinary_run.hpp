// What an ordinary run (with checkers and machine code) tells a proof besides findings: whether the
// code alone shows that data decides nothing, and which calls the host made.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/check/proof/host_calls.hpp"
#include "vgpu/check/proof/value_flow.hpp"
#include "vgpu/program/flow/stored_constants.hpp"

namespace warpcheck::vgpu {

class NativeTier;  // vgpu/machine

// What the code of programs tells about uses of data (program/flow/data_uses.hpp); each program is
// analysed once.
class DataUses {
 public:
  struct Of {
    bool may_decide = true;    // data
    bool times_alone = false;  // may show the order of threads
  };
  [[nodiscard]] Of of(const Program& program);
  // As stored_constant() does.
  [[nodiscard]] std::optional<StoredConstant> stored_by(const Program& program, std::uint32_t pc);

 private:
  // The key keeps the program's machine code alive, so no other program can get its address.
  std::map<std::shared_ptr<NativeTier>, Of> known_;
  std::map<std::pair<std::shared_ptr<NativeTier>, std::uint32_t>, std::optional<StoredConstant>>
      stored_;
};

// Places where values decided something in earlier runs.
class KnownDecisions {
 public:
  struct Known {
    ValueDecision decision;
    Obstacle obstacle;
    // In the current run: whether the load was executed again, and whether its value decided again.
    bool loads = false, decides = false;
    [[nodiscard]] bool is_again() const { return loads && (decides || decision.follows_load); }
  };
  void add(const ValueDecision& decision, const Obstacle& obstacle);
  void begin_run();
  void begin_kernel(const Program& program);
  void executes(std::uint32_t pc);
  // Returns whether a decision in the running kernel is known.
  [[nodiscard]] bool watch_kernel() const { return !of_kernel_.empty(); }
  // Returns a decision that happened again; null: none did.
  [[nodiscard]] const Obstacle* again() const;

 private:
  std::vector<Known> all_;
  std::vector<Known*> of_kernel_;
};

// Observes an ordinary run beside the initialisation checker.  It records whether unwritten bytes
// were read or written, because the use of such a value may depend on data, and whether an
// operation took part about which the kernels' code says nothing.
class OrdinaryRun final : public HostCalls {
 public:
  OrdinaryRun(DataUses& uses, KnownDecisions& decisions) : uses_(uses), decisions_(decisions) {}
  // Starts another run.
  void begin();

  [[nodiscard]] const std::vector<Obstacle>& obstacles() const { return obstacles_; }
  // False: the code alone shows that data decides nothing, so values need not be followed.
  [[nodiscard]] bool may_be_decided() const { return may_be_decided_; }
  // The code alone shows that the order of threads affects clock values at most, which decide
  // nothing.
  [[nodiscard]] bool times_decide_nothing() const { return times_alone_ && !may_be_decided_; }
  // Returns whether a note of the run is about two stores of a launch that store one constant,
  // whatever the data and the order of threads are.
  [[nodiscard]] bool is_of_one_constant(const Finding& note) const;
  // The first result that the host has read.
  [[nodiscard]] std::span<const std::byte> result() const { return result_; }

  [[nodiscard]] Watched watches() const override {
    // The shared memory of blocks is never shared with the host.
    return {.shared = decisions_.watch_kernel(), .rows = true, .blocks = false};
  }
  void on_sync(const Sync& sync) override;
  void on_access(const Access& access) override;
  void on_rows(const Program& program, std::span<const RowAccess> rows) override;
  void on_host_access(const HostAccess& access) override;
  void on_opaque_operation(std::string_view call) override;

 private:
  DataUses& uses_;
  KnownDecisions& decisions_;
  std::vector<Obstacle> obstacles_;
  std::vector<const Program*> programs_;  // that ran
  std::vector<std::byte> result_;
  bool may_be_decided_ = false;
  bool times_alone_ = true;
  bool host_has_results_ = false;
};

}  // namespace warpcheck::vgpu
