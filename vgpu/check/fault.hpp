// Findings for accesses to addresses where no memory is.  The bounds checker and the lifetime
// checker share this code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {

// Returns "4 bytes, 12 bytes past the end of in (256 bytes)".
//   nearest: where it is null or far away, the text gives the address alone.
//   address: as in Fault.
std::string describe_place(const Allocation* nearest, std::uint64_t address, std::uint64_t bytes);

// Returns whether the address is neither near an allocation nor near null.
bool is_nowhere(const Fault& fault);

// Returns whether the address lies in existing memory, but outside the object that the address was
// computed from.
bool is_stray(const Fault& fault);
std::string message_of_stray(const Fault& fault);

// Reports `fault` as `kind`, once for each place in the code and each kind of access.
//   cause: role and place of the second side. Findings with different causes are different
//   findings. Null: there is no second side.
struct FaultCause {
  std::string_view role;
  CodePlace place;
};
// Returns the key of the finding without a second side.
Reporter::Key key_of(const Fault& fault);
void report_fault(Reporter& reporter, const Fault& fault, FindingKind kind, std::string message,
                  const FaultCause* cause = nullptr);

}  // namespace warpcheck::vgpu
