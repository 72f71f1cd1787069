// The checker for uninitialised reads.
//
// Memory keeps track of bytes that nothing has written, and registers of values that were made from
// them (machine/undefined).  The checker reports such a value where it can matter: in an address,
// in a branch, or when the host copies it out.  The result of a shfl from a lane that did not take
// part is treated the same way.  Undefined bytes that were written together with defined bits may
// be padding; a host copy of them is a note.  Bytes that were never written are also a note if they
// may be padding (store_shapes.hpp); a whole unwritten element is an error.
//
// Strict (CheckerSet::strict_init): stores of undefined values to global and shared memory, copies
// within device memory and operands of library functions are uses as well.
#pragma once

#include "vgpu/check/checker.hpp"
#include "vgpu/check/init/init_reports.hpp"
#include "vgpu/check/init/reported_origins.hpp"
#include "vgpu/machine/undefined/unwritten_memory.hpp"

namespace warpcheck::vgpu {

class InitChecker final : public Checker, private UndefinedValuesListener {
 public:
  using Checker::Checker;
  void configure(const CheckerSet& set) override;
  void reset(WarpModel /*model*/) override { origins_.clear(); }
  [[nodiscard]] Watched watches() const override {
    return {.accesses = false, .launches = false, .blocks = false};
  }
  void on_undefined_use(const UndefinedUse& use) override;
  void on_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;
  void on_operand(const OperandAccess& access) override;

 private:
  void on_origin(const First& first) override { origins_.see(first); }
  void on_stored(const UndefinedUse& use, bool is_atomic) override;
  [[nodiscard]] InitReports::Origins origins_of(const UndefinedUse& use);
  [[nodiscard]] Origin origin_at(const MemoryShadow& shadow, std::uint32_t offset) const;
  void report_copied(const HostAccess& access);

  UnwrittenMemory* memory_ = nullptr;  // set by configure()
  ReportedOrigins origins_{reporter_};
  InitReports reports_{reporter_};
  bool is_strict_ = false;
};

}  // namespace warpcheck::vgpu
