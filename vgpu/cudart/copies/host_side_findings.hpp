// Findings for copies whose side in memory of the host is wrong: not mapped, barred, freed or
// changed before the copy uses it.  Only calls of the host show them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "vgpu/check/finding.hpp"

namespace warpcheck::cudart {

// What is wrong with the first byte that a copy cannot access.
enum class HostDefect : std::uint8_t {
  unmapped,      // nothing is mapped there
  barred,        // the mapping allows no access
  read_only,     // a copy that writes it
  gone,          // it was mapped at the call, and the copy runs later
  frame_is_gone  // a local variable of a function that has returned before the copy runs
};

// A row of a copy in memory of the host.
struct HostRow {
  std::size_t bytes = 0;
  std::size_t good_bytes = 0;  // before the first one that cannot be accessed
};

// Makes the finding for a copy of `bytes` bytes with such a row.
//   call: the API function, e.g. "cudaMemcpy"
//   write: whether it writes memory of the host
vgpu::Finding host_memory_missing(std::string_view call, bool write, std::size_t bytes,
                                  const HostRow& row, HostDefect defect);

// Makes the finding for a copy that reads its source when it runs in its stream, if the source has
// changed since the call.
vgpu::Finding host_source_changed(std::string_view call, std::size_t bytes);

}  // namespace warpcheck::cudart
