#include "vgpu/check/operand.hpp"

#include <fmt/format.h>

#include <utility>

#include "vgpu/check/fault.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

Finding finding_of(FindingKind kind, const LibraryOperand& operand, bool write) {
  Finding finding;
  finding.kind = kind;
  finding.space = "global";
  finding.accesses = {side_of(operand, write)};
  return finding;
}

}  // namespace

AccessSide side_of(const LibraryOperand& operand, bool write) {
  AccessSide side = host_side(write ? "library write" : "library read");
  SourceLine place = operand.find_place();
  side.file = std::move(place.file);
  side.line = place.line;
  return side;
}

Finding operand_out_of_bounds(const LibraryOperand& operand, bool write, std::uint64_t address,
                              std::uint64_t bytes, const Allocation* nearest) {
  Finding finding = finding_of(FindingKind::out_of_bounds, operand, write);
  finding.object = describe_place(nearest, address, bytes);
  finding.message = fmt::format("(1) {} takes up {}, which are not inside one allocation",
                                operand.name, counted(bytes, "byte"));
  return finding;
}

Finding operand_of_freed(const LibraryOperand& operand, bool write, std::uint64_t address,
                         std::uint64_t bytes, const Allocation& freed, const HostPlace& freed_at) {
  Finding finding = finding_of(FindingKind::use_after_free, operand, write);
  finding.object = describe_place(&freed, address, bytes);
  finding.message = fmt::format("(1) {} is in memory that has been freed", operand.name);
  if (freed.freed_at.program != nullptr) {
    finding.accesses.push_back(side_at("free", freed.freed_at));
  }
  add_free_by_host(finding, freed_at);
  return finding;
}

Finding operand_misaligned(const LibraryOperand& operand, bool write, const Allocation& allocation,
                           std::uint64_t offset, std::uint32_t element_bytes) {
  Finding finding = finding_of(FindingKind::misaligned_access, operand, write);
  finding.object = describe(allocation, offset, 1);
  finding.variable = variable_of(allocation, offset);
  finding.message =
      fmt::format("(1) the address of {} is not a multiple of {}", operand.name, element_bytes);
  return finding;
}

Finding operand_on_host(const LibraryOperand& operand, bool write, bool is_null) {
  Finding finding = finding_of(FindingKind::out_of_bounds, operand, write);
  finding.object = operand.name;
  finding.message = is_null ? "(1) is a null pointer"
                            : "(1) is memory of the host, which no code on the device can reach";
  return finding;
}

Finding host_operand_on_device(const LibraryOperand& operand, bool write) {
  Finding finding = finding_of(FindingKind::out_of_bounds, operand, write);
  finding.object = operand.name;
  finding.message = fmt::format(
      "(1) is device memory, and the host {} it: the function is told that the pointer "
      "is one to memory of the host",
      write ? "writes" : "reads");
  return finding;
}

Finding undefined_host_result(const LibraryOperand& result, const LibraryOperand& from) {
  Finding finding = finding_of(FindingKind::uninitialized_read, from, false);
  finding.object = from.name;
  finding.message = fmt::format(
      "(1) gives the host a value made from bytes that nothing has written: {}", result.name);
  return finding;
}

Finding undefined_address(const LibraryOperand& operand, const Allocation& allocation,
                          std::uint64_t offset) {
  Finding finding = finding_of(FindingKind::uninitialized_read, operand, false);
  finding.object = describe(allocation, offset, 1);
  finding.variable = variable_of(allocation, offset);
  finding.message = fmt::format(
      "(1) uses addresses or indices made from bytes that nothing has written: {}", operand.name);
  return finding;
}

}  // namespace warpcheck::vgpu
