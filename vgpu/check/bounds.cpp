// The checker for out-of-bounds and misaligned accesses.  It judges every allocation in every
// space; PTX ISA 6.4.1 requires an address to be a multiple of the access size.
#include "vgpu/check/bounds.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/fault.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns the memory in which the address would be if an index had 64 bits: it is 2^32 elements
// away.  Null: there is none.
const Allocation* memory_without_wrap(const Fault& fault) {
  for (const Allocation* const part : {fault.meant, fault.nearest}) {
    if (part == nullptr || part->space != ptx::Space::global) continue;
    const Allocation* const memory = &part->object();
    for (std::uint64_t element = 1; element <= 16; element *= 2) {
      const std::uint64_t distance = element << 32;
      if (memory->contains(fault.address + distance, fault.bytes) ||
          memory->contains(fault.address - distance, fault.bytes)) {
        return memory;
      }
    }
  }
  return nullptr;
}

// Returns what an address may be that is near no memory.
std::string message_of_nowhere(const Fault& fault) {
  const std::string message = "(1) is outside every allocation: ";
  if (const Allocation* const memory = memory_without_wrap(fault)) {
    return message + fmt::format("an index of 32 bits has wrapped? 2^32 elements away lies {}",
                                 memory->name.empty()
                                     ? "an allocation of " + counted(memory->bytes, "byte")
                                     : memory->name);
  }
  // Where Linux puts programs, heaps and stacks; the memory of devices is far below.
  constexpr std::uint64_t kHostBegin = 0x5500'0000'0000, kHostEnd = 0x8000'0000'0000;
  if (fault.address >= kHostBegin && fault.address < kHostEnd) {
    return message +
           "a pointer of the host (a variable, an array, malloc() or new)? Kernels need "
           "memory of cudaMalloc() or cudaMallocManaged()";
  }
  return message + "a pointer of the host, one that was never set, or an index that has wrapped?";
}

std::string message_of(const Reporter& reporter, const Fault& fault) {
  const std::string_view why = reporter.why_address(*fault.program, fault.pc);
  if (!why.empty()) return fmt::format("the index of (1) has wrapped: {}", why);
  if (is_stray(fault)) return message_of_stray(fault);
  if (fault.frame != nullptr) return "(1) is outside the variables that its address is made from";
  if (fault.nearest != nullptr && fault.nearest->is_region) {
    return "(1) is not inside one region of a memory pool (NVTX)";
  }
  return is_nowhere(fault) ? message_of_nowhere(fault) : "(1) is outside every allocation";
}

// Returns whether it is a use of what has ended, which another checker reports.
bool is_use_after_end(Fault::Kind kind) {
  return kind == Fault::Kind::block_exited || kind == Fault::Kind::use_after_free ||
         kind == Fault::Kind::destroyed_object;
}

std::string message_of_no_region(const Fault& fault) {
  const Allocation* pool = fault.nearest;
  if (pool->is_region && pool->pool != nullptr) pool = pool->pool;
  const std::string name = pool->is_region && !pool->name.empty() ? pool->name : "a memory pool";
  return fmt::format("(1) is in {}, where the program has registered no region (NVTX)", name);
}

std::string_view verb_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::read: return "reads";
    case AccessKind::write: return "writes";
    case AccessKind::atomic: break;
  }
  return "changes";
}

std::string_view noun_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::read: return "reads";
    case AccessKind::write: return "writes";
    case AccessKind::atomic: break;
  }
  return "atomics";
}

class BoundsChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] Watched watches() const override { return Watched::rare(); }

  void on_fault(const Fault& fault) override {
    if (is_use_after_end(fault.kind) || reporter_.count_again(key_of(fault))) return;
    switch (fault.kind) {
      case Fault::Kind::out_of_bounds:
        report_fault(reporter_, fault, FindingKind::out_of_bounds, message_of(reporter_, fault));
        break;
      case Fault::Kind::misaligned:
        report_fault(reporter_, fault, FindingKind::misaligned_access,
                     fmt::format("the address of (1) is not a multiple of {}", fault.bytes));
        break;
      case Fault::Kind::read_only:
        report_fault(reporter_, fault, FindingKind::out_of_bounds, "(1) writes read-only memory");
        break;
      case Fault::Kind::no_such_atomic:
        report_fault(reporter_, fault, FindingKind::out_of_bounds,
                     "(1) is an atomic that local memory does not have: the result is undefined");
        break;
      case Fault::Kind::no_such_block:
        report_fault(
            reporter_, fault, FindingKind::out_of_bounds,
            fmt::format("(1) is in the shared memory of block {} of the cluster, which has "
                        "fewer blocks",
                        fault.block));
        break;
      case Fault::Kind::no_peer_access: {
        const unsigned other = fault.nearest->device;
        if (fault.nearest->of_virtual) {
          report_fault(reporter_, fault, FindingKind::out_of_bounds,
                       fmt::format("(1) is in mapped memory that device {} has no access to: "
                                   "cuMemSetAccess was not called for it",
                                   fault.device));
          break;
        }
        const bool is_of_host = fault.nearest->of_pool && fault.nearest->page_locked;
        const std::string lack =
            fault.nearest->of_pool
                ? "its pool is not open to it (cudaMemPoolSetAccess)"
                : fmt::format("cudaDeviceEnablePeerAccess({}) was not called there", other);
        report_fault(reporter_, fault, FindingKind::out_of_bounds,
                     fmt::format("(1) is in memory of {}, which device {} has no access to: {}",
                                 is_of_host ? "the host" : fmt::format("device {}", other),
                                 fault.device, lack));
        break;
      }
      case Fault::Kind::in_no_region:
        report_fault(reporter_, fault, FindingKind::out_of_bounds, message_of_no_region(fault));
        break;
      case Fault::Kind::not_generic:
        report_fault(reporter_, fault, FindingKind::out_of_bounds,
                     "(1) has no state space, so its address is a generic one, and it is given the "
                     "shared address itself; devices take it as such");
        break;
      case Fault::Kind::no_right:
        report_fault(reporter_, fault, FindingKind::out_of_bounds,
                     fmt::format("(1) {} memory that the program allows no {} to by its NVTX "
                                 "permissions",
                                 verb_of(fault.access), noun_of(fault.access)));
        break;
      case Fault::Kind::block_exited:
      case Fault::Kind::use_after_free:
      case Fault::Kind::destroyed_object: break;
    }
  }
};

}  // namespace

std::unique_ptr<Checker> make_bounds_checker(Reporter& reporter) {
  return std::make_unique<BoundsChecker>(reporter);
}

Finding host_copy_out_of_bounds(std::string_view call, bool write, std::uint64_t address,
                                std::uint64_t bytes, const Allocation* nearest) {
  Finding finding;
  finding.kind = FindingKind::out_of_bounds;
  finding.space = "global";
  finding.object = describe_place(nearest, address, bytes);
  AccessSide side;
  side.role = write ? "host write" : "host copy";
  finding.accesses = {side};
  const bool is_of_pool = nearest != nullptr && nearest->is_region;
  finding.message = fmt::format("{} of {} is not inside one {}", call, counted(bytes, "byte"),
                                is_of_pool ? "region of a memory pool (NVTX)" : "allocation");
  return finding;
}

Finding host_copy_without_access(std::string_view call, bool write, std::uint64_t address,
                                 std::uint64_t bytes, const Allocation& mapped) {
  Finding finding = host_copy_out_of_bounds(call, write, address, bytes, &mapped);
  finding.message = fmt::format(
      "{} of {} is in mapped memory that no device has access to: cuMemSetAccess was not "
      "called for it",
      call, counted(bytes, "byte"));
  return finding;
}

}  // namespace warpcheck::vgpu
