// Trial runs of many drawn shapes, for what is assumed of a kernel.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cli/cli.hpp"
#include "cli/kernel/probe.hpp"

namespace warpcheck {

// Conditions, ranges and extents leave nothing that can be drawn.
class NoInput : public UsageError {
 public:
  using UsageError::UsageError;
};

using Probe = std::pair<KernelInput, Extents>;

// Runs shapes that are drawn from the kernel's ranges, with arrays filled as `fill` says.  The same
// ranges give the same shapes.  Throws NoInput.
struct Drawn {
  std::uint64_t seed = 0;         // of the arrays' contents
  std::uint64_t first_shape = 0;  // the number of the first one
};
[[nodiscard]] std::vector<Probe> probes(Prober& prober, const KernelDescription& kernel, int runs,
                                        const std::vector<Fill>& fill, Drawn drawn = {},
                                        Builds builds = Builds::shipped);

[[nodiscard]] inline std::vector<Fill> all_of(const KernelDescription& kernel, Fill fill) {
  return {kernel.arrays.size(), fill};
}

// Gives arrays whose values decide what is accessed a range of values.  Arrays of bytes have none:
// every byte is a possible index, of 256 elements.
inline constexpr ValueRange kIndices{0, 63};
void find_index_arrays(Prober& prober, KernelDescription& kernel);

}  // namespace warpcheck
