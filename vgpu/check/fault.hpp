// Findings of addresses that no memory answers: shared by the bounds and the lifetime checker.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

// "4 bytes, 12 bytes past the end of in (256 bytes)".
//   nearest: null, or far away: the address alone is told.
//   address: as in Fault
std::string describe_place(const Allocation* nearest, std::uint64_t address, std::uint64_t bytes);

// Reports `fault` as `kind`, once for each place in the code and each side of the allocation.
void report_fault(Reporter& reporter, const Fault& fault, FindingKind kind, std::string message);

}  // namespace warpcheck::vgpu
