// Findings of addresses that no memory answers: shared by the bounds and the lifetime checker.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

// "4 bytes, 12 bytes past the end of in (256 bytes)".
//   nearest: null, or far away: the address alone is told.
//   address: as in Fault
std::string describe_place(const Allocation* nearest, std::uint64_t address, std::uint64_t bytes);

// Whether no allocation is anywhere near, nor null.
bool is_nowhere(const Fault& fault);

// Whether it is in memory that is there, but not in the object that its address was made from.
bool is_stray(const Fault& fault);
std::string message_of_stray(const Fault& fault);

// Reports `fault` as `kind`, once for each place in the code and each kind of access.
//   cause: role and place of the second side, which tells findings apart, too; null: there is none
struct FaultCause {
  std::string_view role;
  CodePlace place;
};
void report_fault(Reporter& reporter, const Fault& fault, FindingKind kind, std::string message,
                  const FaultCause* cause = nullptr);

}  // namespace warpcheck::vgpu
