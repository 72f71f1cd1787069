#include "vgpu/check/bounds.hpp"

#include <fmt/format.h>

#include "vgpu/check/fault.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

std::string message_of(const Fault& fault) {
  if (is_stray(fault)) return message_of_stray(fault);
  return is_nowhere(fault)
             ? "(1) is outside every allocation: a pointer of the host, or one that was never set?"
             : "(1) is outside every allocation";
}

// Returns whether the lifetime checker reports it.
bool is_of_lifetime(Fault::Kind kind) {
  return kind == Fault::Kind::block_exited || kind == Fault::Kind::use_after_free ||
         kind == Fault::Kind::destroyed_object;
}

}  // namespace

std::unique_ptr<Checker> make_bounds_checker(Reporter& reporter) {
  return std::make_unique<BoundsChecker>(reporter);
}

void BoundsChecker::on_fault(const Fault& fault) {
  if (is_of_lifetime(fault.kind) || reporter_.count_again(key_of(fault))) return;
  switch (fault.kind) {
    case Fault::Kind::out_of_bounds:
      report_fault(reporter_, fault, FindingKind::out_of_bounds, message_of(fault));
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
      report_fault(reporter_, fault, FindingKind::out_of_bounds,
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
      const std::string lack =
          fault.nearest->of_pool
              ? "its pool is not open to it (cudaMemPoolSetAccess)"
              : fmt::format("cudaDeviceEnablePeerAccess({}) was not called there", other);
      report_fault(
          reporter_, fault, FindingKind::out_of_bounds,
          fmt::format("(1) is in memory of device {}, which device {} has no access to: {}", other,
                      fault.device, lack));
      break;
    }
    case Fault::Kind::block_exited:
    case Fault::Kind::use_after_free:
    case Fault::Kind::destroyed_object: break;
  }
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
  finding.message =
      fmt::format("{} of {} is not inside one allocation", call, counted(bytes, "byte"));
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
