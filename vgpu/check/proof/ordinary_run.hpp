// What is learnt from an ordinary run, with its checkers and with machine code, beside its
// findings: whether the code alone says that data decides nothing, and what the host asked for.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "vgpu/check/proof/host_calls.hpp"
#include "vgpu/check/proof/value_flow.hpp"

namespace warpcheck::vgpu {

// What the code of programs says (program/data_uses.hpp), looked at once of each.
class DataUses {
 public:
  struct Of {
    bool may_decide = true;    // data
    bool times_alone = false;  // show the order of threads
  };
  [[nodiscard]] Of of(const Program& program);

 private:
  // By the machine code that a program keeps, so that no other ever lies there.
  std::map<std::shared_ptr<NativeTier>, Of> known_;
};

// Where values have decided something in earlier runs.
class KnownDecisions {
 public:
  struct Known {
    ValueDecision decision;
    Obstacle obstacle;
    // In the running run: the load is executed again, and what it decides.
    bool loads = false, decides = false;
  };
  void add(const ValueDecision& decision, const Obstacle& obstacle);
  void begin_run();
  void begin_kernel(const Program& program);
  void executes(std::uint32_t pc);
  // Whether any is known of the kernel that runs.
  [[nodiscard]] bool watch_kernel() const { return !of_kernel_.empty(); }
  // One that is decided again; null: none.
  [[nodiscard]] const Obstacle* again() const;

 private:
  std::vector<Known> all_;
  std::vector<Known*> of_kernel_;
};

// Stands in an ordinary run beside the initialisation checker, and remembers whether anything was
// read or written that nothing had written: whether such a value matters may depend on data; and
// whether an operation had a say of which the kernels' code says nothing.
class OrdinaryRun final : public HostCalls {
 public:
  OrdinaryRun(DataUses& uses, KnownDecisions& decisions) : uses_(uses), decisions_(decisions) {}
  // Another run.
  void begin();

  [[nodiscard]] const std::vector<Obstacle>& obstacles() const { return obstacles_; }
  // False: by its code alone data decides nothing, so that values need not be followed.
  [[nodiscard]] bool may_be_decided() const { return may_be_decided_; }
  // By the code alone the order of threads shows in times at most, which decide nothing.
  [[nodiscard]] bool times_decide_nothing() const { return times_alone_ && !may_be_decided_; }
  // What the host has read first.
  [[nodiscard]] std::span<const std::byte> result() const { return result_; }

  [[nodiscard]] bool watches_accesses() const override { return true; }
  void on_sync(const Sync& sync) override;
  void on_access(Access& access) override;
  bool takes_row(const RowAccess& row) override;  // all of it is defined
  // No memory of blocks is shared with the host.
  bool lends_notes(std::uint32_t /*slot*/, RowNotes& /*notes*/) override {
    return !decisions_.watch_kernel();
  }
  void on_host_access(const HostAccess& access) override;
  void on_opaque_operation(std::string_view call) override;

 private:
  DataUses& uses_;
  KnownDecisions& decisions_;
  std::vector<Obstacle> obstacles_;
  std::vector<std::byte> result_;
  bool may_be_decided_ = false;
  bool times_alone_ = true;
  bool host_has_results_ = false;
};

}  // namespace warpcheck::vgpu
