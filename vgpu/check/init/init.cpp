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
#include <algorithm>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/checkers.hpp"
#include "vgpu/check/init/init_reports.hpp"
#include "vgpu/check/init/reported_origins.hpp"
#include "vgpu/machine/undefined/unwritten_memory.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns the first byte from `begin` up to `end` that is not in the gap between the rows of
// pitched memory; `end`: there is none.
std::uint32_t skip_between_rows(const Allocation& part, std::uint32_t begin, std::uint32_t end) {
  const Allocation& allocation = part.object();
  if (allocation.pitch == 0) return begin;
  const auto column = static_cast<std::uint32_t>(part.offset_in_object(begin) % allocation.pitch);
  if (column < allocation.row_bytes) return begin;
  return std::min(begin + (allocation.pitch - column), end);
}

class InitChecker final : public Checker, private UndefinedValuesListener {
 public:
  using Checker::Checker;

  void configure(const CheckerSet& set) override {
    is_strict_ = set.strict_init;
    memory_ = reporter_.unwritten();
    memory_->set_listener(this);
  }

  void reset(WarpModel /*model*/) override { origins_.clear(); }
  [[nodiscard]] Watched watches() const override {
    return {.accesses = false, .launches = false, .blocks = false};
  }

  void on_undefined_use(const UndefinedUse& use) override {
    reports_.used(use, [&] { return origins_of(use); });
  }

  void on_host_access(const HostAccess& access) override {
    if (!access.ahead && !access.write) report_copied(access);
  }

  void on_device_copy(const DeviceCopy& copy) override {
    if (copy.ahead || !is_strict_) return;
    HostAccess read;
    read.allocation = copy.source;
    read.offset = copy.source_offset;
    read.bytes = copy.bytes;
    read.call = copy.call;
    report_copied(read);
  }

  void on_operand(const OperandAccess& access) override {
    if (access.undefined.empty()) return;
    if (access.write) {
      origins_.see(*access.undefined_from);
    } else if (is_strict_) {
      reports_.read_by_library(access, origins_.see(*access.operand));
    }
  }

 private:
  void on_origin(const First& first) override { origins_.see(first); }

  void on_stored(const UndefinedUse& use, bool is_atomic) override {
    if (is_strict_) reports_.stored(use, is_atomic, [&] { return origins_of(use); });
  }

  [[nodiscard]] InitReports::Origins origins_of(const UndefinedUse& use) {
    UndefinedOrigins& all = memory_->origins();
    const std::uint32_t own = all.of_use(use.program, use.origin, use.place, use.lanes);
    if (own == ptx::kNone) return {};
    const std::uint32_t earliest = all.earliest_of(own);
    InitReports::Origins origins{.own = origins_.of(own, all.at(own)), .earlier = {}};
    if (earliest != own) origins.earlier = origins_.of(earliest, all.at(earliest));
    return origins;
  }

  // Returns the origin of a byte that holds an undefined value.
  [[nodiscard]] Origin origin_at(const MemoryShadow& shadow, std::uint32_t offset) const {
    const std::uint32_t index = shadow.taint_at(offset).origin;
    return origins_.of(index, memory_->origins().at(index));
  }

  // The bytes go to the host, or, if the checker is strict, to another place in device memory.
  void report_copied(const HostAccess& access) {
    const MemoryShadow& shadow = memory_->of(*access.allocation);
    const std::uint32_t end = access.offset + access.bytes;
    const std::uint32_t first = shadow.find_undefined(access.offset, end);
    std::uint32_t element = ptx::kNone;  // first byte of an element that was never written
    for (std::uint32_t at = first, next = 0; at < end; at = shadow.find_undefined(next, end)) {
      next = at + 1;
      if (shadow.state_at(at) == MemoryShadow::kNeverWritten) {
        next = shadow.find_written(at, end);
        const std::uint32_t begin = skip_between_rows(*access.allocation, at, next);
        const bool is_first = element == ptx::kNone && begin != next;
        // Whoever copies pitched memory as a whole takes the gaps with the rows, and no gap alone.
        if (element == ptx::kNone && begin == next && at == access.offset && next == end)
          element = at;
        if (is_first && !memory_->shapes().may_be_padding(shadow, begin, next, access.offset))
          element = begin;
      } else if (!shadow.taint_at(at).next_to_defined) {
        reports_.copied_value(access, at, origin_at(shadow, at));
        return;
      }
    }
    if (element != ptx::kNone) {
      reports_.copied_element(access, element, shadow.find_written(element, end) - element);
    } else if (first != end && shadow.state_at(first) == MemoryShadow::kUndefined) {
      reports_.copied_padding(access, first, origin_at(shadow, first));
    } else if (first != end) {
      reports_.copied_bytes(access, first);
    }
  }

  UnwrittenMemory* memory_ = nullptr;  // set by configure()
  ReportedOrigins origins_{reporter_};
  InitReports reports_{reporter_};
  bool is_strict_ = false;
};

}  // namespace

std::unique_ptr<Checker> make_init_checker(Reporter& reporter) {
  return std::make_unique<InitChecker>(reporter);
}

}  // namespace warpcheck::vgpu
