// The lengths of arrays and of dynamic shared memory, from what trial runs touch.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cli/kernel/lengths.hpp"
#include "cli/kernel/probes.hpp"

namespace warpcheck {

// What somebody has said, or what was found before.
struct KnownOfArrays {
  std::set<std::string> lengths;  // arrays whose length is said
  std::set<std::string> values;   // whose values are said
  std::set<std::string> counted;  // whose values are few rounds of loops, and no indices
  // Integers by one more than which the kernel multiplies: tables have a border.
  std::set<std::string> bordered;
};

// What else is known of the lengths.
struct AssumedLengths {
  std::vector<std::string> notes;       // sentences
  std::vector<std::string> conditions;  // as Assumptions::conditions
  std::vector<bool> written;            // of the arrays
  bool is_shared_guessed = false;       // the bytes of dynamic shared memory
};

// Gives the kernel's arrays and its shared memory their lengths, and arrays that trial runs say too
// little of an open end; and arrays of where rows begin their order.  Throws NoInput.
//   lower_ranges: makes integers smaller if runs do not end; returns false if it cannot
[[nodiscard]] AssumedLengths assume_lengths(Prober& prober, KernelDescription& kernel,
                                            const KnownOfArrays& known,
                                            const std::function<bool()>& lower_ranges);

}  // namespace warpcheck
